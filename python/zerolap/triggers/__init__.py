"""From a trigger (a label, a push, a tag, a schedule) to requests, and from their results to what is reported."""
