"""Texts on a change: the comment, the check run and status, notices of regressions."""

from zerolap.report.pull_request.check_run import (
    CheckOutput,
    CommitStatus,
    check_output,
    commit_status,
    unmeasured_output,
)
from zerolap.report.pull_request.comment import MOST_BYTES, body_markdown
from zerolap.report.pull_request.false_alarms import FalseAlarmRecord
from zerolap.report.pull_request.headline import headline_of
from zerolap.report.pull_request.notices import (
    closed_notice,
    closing_text,
    issue_body,
    issue_title,
    opened_notice,
    slack_closed,
    slack_opened,
)
from zerolap.report.pull_request.outcome import (
    Acknowledgement,
    BranchRegression,
    Building,
    Cancelled,
    ChangedLines,
    CommitRange,
    Done,
    Failed,
    PlatformOutcome,
    PlatformState,
    PullRequestState,
    Running,
    Superseded,
    Unaffected,
    Waiting,
    changed_lines,
)
from zerolap.report.pull_request.stored_comparisons import PullRequestPlace, state_of_comparisons
from zerolap.report.pull_request.writing import plain_writing

__all__ = [
    "MOST_BYTES",
    "Acknowledgement",
    "BranchRegression",
    "Building",
    "Cancelled",
    "ChangedLines",
    "CheckOutput",
    "CommitRange",
    "CommitStatus",
    "Done",
    "Failed",
    "FalseAlarmRecord",
    "PlatformOutcome",
    "PlatformState",
    "PullRequestPlace",
    "PullRequestState",
    "Running",
    "Superseded",
    "Unaffected",
    "Waiting",
    "body_markdown",
    "changed_lines",
    "check_output",
    "closed_notice",
    "closing_text",
    "commit_status",
    "headline_of",
    "issue_body",
    "issue_title",
    "opened_notice",
    "plain_writing",
    "slack_closed",
    "slack_opened",
    "state_of_comparisons",
    "unmeasured_output",
]
