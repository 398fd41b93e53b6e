"""Texts on a change at its host: the comment, the check run and status, notices of regressions."""

from zerolap.report.document import MOST_COMMENT_BYTES as MOST_COMMENT_BYTES, body_markdown as body_markdown
from zerolap.report.pull_request.check_run import (
    CheckOutput as CheckOutput,
    CommitStatus as CommitStatus,
    check_output as check_output,
    commit_status as commit_status,
    unmeasured_output as unmeasured_output,
)
from zerolap.report.pull_request.notices import (
    closed_notice as closed_notice,
    closing_text as closing_text,
    issue_body as issue_body,
    issue_title as issue_title,
    opened_notice as opened_notice,
    slack_closed as slack_closed,
    slack_opened as slack_opened,
)
from zerolap.report.pull_request.sarif import comparison_sarif as comparison_sarif
