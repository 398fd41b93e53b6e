"""The comment on a pull request, of at most 6 KiB."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.records import FalseAlarms
from zerolap.report.markdown import AnswerColumns, bullets, code, link, numbered, sentence_with_names
from zerolap.report.pull_request.change_reasons import Reason, reasons_of
from zerolap.report.pull_request.comment_detail import DETAILS, Detail
from zerolap.report.pull_request.comment_tables import answer_columns, changed_table, everything_else
from zerolap.report.pull_request.headline import headline_of_rows, state_text
from zerolap.report.pull_request.outcome import (
    Acknowledgement,
    ChangedLines,
    CommitRange,
    PlatformOutcome,
    PullRequestState,
    in_order_of_names,
)
from zerolap.report.pull_request.rows import Row, rows_of
from zerolap.sheets import ARROW, COMMIT_DIGITS, counted

MOST_BYTES: Final = 6 * 1024
DAY = slice(0, len("2026-11-20"))


def body_markdown(state: PullRequestState, most_bytes: int = MOST_BYTES) -> str:
    """Return the comment, without a marker, with as much detail as fits into so many bytes of UTF-8."""
    rows = rows_of(state.platforms, state.acknowledgements)
    content = _Content(state, rows, reasons_of(rows, state.commits.changed), answer_columns(rows))
    body = ""
    for detail in DETAILS:
        body = "\n\n".join(_blocks(content, detail)) + "\n"
        if len(body.encode()) <= most_bytes:
            break
    return body


@dataclass(frozen=True)
class _Content:
    """The content that a comment of any detail is made from."""

    state: PullRequestState
    rows: Sequence[Row]
    reasons: Sequence[Reason]
    columns: AnswerColumns


def _blocks(content: _Content, detail: Detail) -> Iterator[str]:
    state, rows = content.state, content.rows
    yield headline_of_rows(rows, state.platforms, detail.writing, state.needs_approval).markdown
    yield from changed_table(rows, content.columns, len(state.platforms), detail)
    yield from reason_lines(rows, content.reasons, state.commits, detail)
    yield from _unexecuted_files(state, detail)
    yield from _acknowledgements(state.acknowledgements, detail)
    yield from _platforms(state, detail)
    if not state.needs_approval or state.platforms:
        label = f", for the label {code(state.label, detail.name)}" if state.label else ""
        yield _compared(state.commits) + label
    yield from everything_else(state, rows, detail)


def reason_lines(rows: Sequence[Row], reasons: Sequence[Reason], commits: CommitRange, detail: Detail) -> Iterator[str]:
    """Yield a list of the first reasons, one line each, with links to the changed lines."""
    names_cases = len({row.case.case for row in rows if row.has_changed}) > 1
    lines = [_reason(reason, commits, detail, names_case=names_cases) for reason in reasons[: detail.reasons]]
    if lines:
        yield numbered(lines)


def _reason(reason: Reason, commits: CommitRange, detail: Detail, *, names_case: bool) -> str:
    """Return a reason in a line: its case if there are several, its sentence, and links to the changed lines."""
    links = [_lines_link(lines, commits, detail) for lines in reason.places[: detail.places]]
    if reason.file is not None and detail.places:
        links.append(link(code(reason.file, detail.name), commits.file_url(reason.file)))
    text = sentence_with_names(reason.finding.text, detail.sentence)
    further = (
        f" Also in {counted(reason.further_cases, 'further case', 'further cases')}." if reason.further_cases else ""
    )
    where = f" {ARROW} {', '.join(links)}" if links else ""
    case = f"{code(reason.row.case.case, detail.name)}: " if names_case else ""
    return f"{case}{text}{further}{where}"


def _lines_link(lines: ChangedLines, commits: CommitRange, detail: Detail) -> str:
    first, last = lines.first_line, lines.last_line
    numbers = f"{first}-{last}" if last > first else f"{min(first, last)}"
    return link(code(f"{lines.file}:{numbers}", detail.name), commits.lines_url(lines))


def unexecuted_files(platforms: Sequence[PlatformOutcome]) -> list[str]:
    """Return the changed files that no measured case executes on any platform; none where one does not know it."""
    compared = [platform.comparison for platform in platforms if platform.comparison is not None]
    known = [comparison.changed_files for comparison in compared if comparison.changed_files is not None]
    if not known or len(known) < len(compared):
        return []
    return [file for file in known[0].unexecuted if all(file in of.unexecuted for of in known)]


def _unexecuted_files(state: PullRequestState, detail: Detail) -> Iterator[str]:
    """Yield a line with the changed files that no measured case executes."""
    files = unexecuted_files(state.platforms)
    shown = [code(file, detail.name) for file in files[: detail.files]]
    if shown:
        further = f" and {len(files) - len(shown):,} more" if len(files) > len(shown) else ""
        which = "it" if len(files) == 1 else "them"
        yield f"Not measured: {', '.join(shown)}{further}: no measured case executes a function of {which}"


def _acknowledgements(acknowledgements: Sequence[Acknowledgement], detail: Detail) -> Iterator[str]:
    """Yield the acknowledgements, the newest first."""
    for accepted in list(reversed(acknowledgements))[: detail.acknowledgements]:
        person, reason = code(accepted.person, detail.name), code(accepted.reason, detail.sentence)
        yield f"Acknowledged by {person} on {code(accepted.when[DAY])}: {reason}"


def _platforms(state: PullRequestState, detail: Detail) -> Iterator[str]:
    """Yield a list of the platforms: state, links to the report, false alarms."""
    platforms = in_order_of_names(state.platforms)
    shown = platforms[: detail.platforms]
    lines = [_platform(platform, detail) for platform in shown]
    if len(platforms) > len(shown):
        lines.append(f"{counted(len(platforms) - len(shown), 'further platform', 'further platforms')}")
    if lines:
        yield bullets(lines)


def _platform(platform: PlatformOutcome, detail: Detail) -> str:
    parts = [f"{code(platform.name, detail.name)}: {state_text(platform.state, detail.writing)}"]
    if platform.report_url:
        parts.append(link("report", platform.report_url))
    if platform.json_url:
        parts.append(link("JSON", platform.json_url))
    if platform.false_alarms is not None:
        parts.append(false_alarms_text(platform.false_alarms))
    return " · ".join(parts)


def false_alarms_text(false_alarms: FalseAlarms) -> str:
    """Return how many false alarms a platform had: `false alarms: 0 of 360 timed cases of identical work since …`."""
    period = f" {false_alarms.period}" if false_alarms.period else ""
    cases = "timed case" if false_alarms.timed_cases == 1 else "timed cases"
    return f"false alarms: {false_alarms.alarms:,} of {false_alarms.timed_cases:,} {cases} of identical work{period}"


def _compared(commits: CommitRange) -> str:
    base, head = commits.base[:COMMIT_DIGITS], commits.head[:COMMIT_DIGITS]
    return f"Compared: {link(code(f'{base}...{head}'), commits.compare_url)}"
