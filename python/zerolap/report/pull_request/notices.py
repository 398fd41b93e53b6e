"""Notices of a regression on a branch: an issue, a document for other programs, a message for Slack."""

from typing import Any, Final, Literal

from pydantic import Field

from zerolap.records import Record
from zerolap.report.markdown import bullets, code, link, link_target, sentence_with_names
from zerolap.report.sheet_markdown import content_markdown, title_markdown
from zerolap.sheets import (
    COMMENT,
    COMMIT_DIGITS,
    BranchRegression,
    CaseRow,
    CommitRange,
    Headline,
    Lengths,
    Section,
    answers,
    changed_cases,
    headline_of,
    in_order_of_names,
    plain,
    reason_section,
    reasons_of,
    rows_of,
    statement,
)

NOTICE_SCHEMA: Final = "zerolap.notice/1"
TITLE_CHARACTERS: Final = 256
"""The limit of GitHub."""
TITLE_NAMES: Final = (48, 32, 16)
"""Characters of a name in a title; the first that fits is used."""
FULL: Final = COMMENT[0]


class NoticeCase(Record):
    """A case that changed on a platform: its verdict, and the sentences on its work and time."""

    case: str
    platform: str
    verdict: str
    statements: list[str]


class Notice(Record):
    """The notice for other programs that a regression of a branch began, or ended, with `head`.

    `text` is a sentence on it. `cases` are those that changed when it began, `reports` the addresses by platform.
    """

    schema_: Literal["zerolap.notice/1"] = Field(default=NOTICE_SCHEMA, alias="schema", serialization_alias="schema")
    event: Literal["opened", "closed"]
    repository: str
    branch: str
    base: str
    head: str
    text: str
    cases: list[NoticeCase]
    reports: dict[str, str]


def issue_title(regression: BranchRegression) -> str:
    """Return an issue's title: code spans are the only Markdown that GitHub shows in it."""
    commit = code(regression.commits.head[:COMMIT_DIGITS])
    for name in TITLE_NAMES:
        lead = headline_of(regression.platforms, lengths=Lengths(name, 2 * name)).lead
        title = f"{sentence_with_names(lead)} ({code(regression.branch, name)}, {commit})"
        if len(title) <= TITLE_CHARACTERS:
            return title
    return f"Regression with {commit}"


def issue_body(regression: BranchRegression) -> str:
    """Return an issue's body in Markdown, without a marker."""
    commits = regression.commits
    rows = [row for row in rows_of(regression.platforms) if row.has_changed]
    headline, table = _headline(regression), changed_cases(rows, len(regression.platforms), FULL)
    reasons = reason_section(rows, reasons_of(rows, commits.changed), commits, FULL)
    blocks = [
        title_markdown(headline.lead, "; ".join(headline.rest)),
        f"On {code(regression.branch, 80)} since {_commit(commits)}: {code(regression.subject, 120)}",
        content_markdown(Section(tables=[table], sections=[reasons])),
        bullets(f"{code(name, 60)}: {link('report', url)}" for name, url in _reports(regression).items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def closing_text(repaired: CommitRange, subject: str) -> str:
    """Return the comment that closes an issue: the regression ended with the head of `repaired`."""
    return f"It went away with {_commit(repaired)}: {code(subject, 120)}\n"


def opened_notice(regression: BranchRegression) -> Notice:
    """Return the notice of a regression for another program."""
    commits = regression.commits
    rows = [row for row in rows_of(regression.platforms) if row.has_changed]
    return Notice(
        event="opened",
        repository=commits.repository,
        branch=regression.branch,
        base=commits.base,
        head=commits.head,
        text=_headline(regression).plain,
        cases=[_notice_case(row) for row in rows],
        reports=_reports(regression),
    )


def closed_notice(repaired: CommitRange, branch: str, subject: str) -> Notice:
    """Return the notice for another program that a regression ended with the head of `repaired`."""
    return Notice(
        event="closed",
        repository=repaired.repository,
        branch=branch,
        base=repaired.base,
        head=repaired.head,
        text=f"it went away with commit {repaired.head}: {plain(subject, 120)}",
        cases=[],
        reports={},
    )


def slack_opened(regression: BranchRegression) -> dict[str, Any]:
    """Return a regression as a message for one of Slack's incoming webhooks."""
    commits, headline = regression.commits, _headline(regression)
    since = f"{slack_code(commits.repository)}, {slack_code(regression.branch)} since {_slack_commit(commits)}"
    reports = [f"<{link_target(url)}|report of {slack(name, 60)}>" for name, url in _reports(regression).items()]
    lines = [
        f"*{slack(headline.lead)}*",
        slack("; ".join(headline.rest)),
        f"{since}: {slack_code(regression.subject, 120)}",
        *reports,
    ]
    return _slack_message(headline.plain, "\n".join(filter(None, lines)))


def slack_closed(repaired: CommitRange, branch: str, subject: str) -> dict[str, Any]:
    """Return the message for Slack that a regression ended with the head of `repaired`."""
    where = f"{slack_code(repaired.repository)}, {slack_code(branch)}"
    text = f"{where}: a regression went away with {_slack_commit(repaired)}: {slack_code(subject, 120)}"
    return _slack_message(f"A regression went away with {repaired.head[:COMMIT_DIGITS]}", text)


def _slack_message(fallback: str, text: str) -> dict[str, Any]:
    """Return a message of one section; `verbatim` keeps Slack from making links and mentions of words."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
    return {"text": slack(fallback), "blocks": [section], "unfurl_links": False, "unfurl_media": False}


def _headline(regression: BranchRegression) -> Headline:
    return headline_of(regression.platforms)


def _commit(commits: CommitRange) -> str:
    return link(code(commits.head[:COMMIT_DIGITS]), commits.commit_url(commits.head))


def _slack_commit(commits: CommitRange) -> str:
    return f"<{link_target(commits.commit_url(commits.head))}|{slack(commits.head[:COMMIT_DIGITS])}>"


def _reports(regression: BranchRegression) -> dict[str, str]:
    platforms = in_order_of_names(regression.platforms)
    return {platform.name: platform.report_url for platform in platforms if platform.report_url}


def _notice_case(row: CaseRow) -> NoticeCase:
    statements = [statement(answered) for answered in answers(row.case) if answered.decided is not None]
    return NoticeCase(case=row.case.case, platform=row.platform, verdict=row.word, statements=statements)


def slack(text: str, longest: int | None = None) -> str:
    """Return foreign text for Slack, in which neither links nor mentions remain; names in backticks are code."""
    return plain(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_code(text: str, longest: int | None = None) -> str:
    """Return foreign text as code in Slack's markup, in which code cannot contain a backtick."""
    shown = slack(text, longest).replace("`", "'")
    return f"`{shown}`" if shown else ""
