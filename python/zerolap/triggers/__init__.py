"""What makes the lab start by itself, and where it reports to: events of GitHub, comments, checks, statuses, issues."""
