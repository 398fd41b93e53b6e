"""From a trigger (a label, a push, a tag, a schedule) to submissions, and from their results to what is reported."""
