"""The check run and the commit status of a pull request's head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from zerolap.fail_on import FailOn
from zerolap.records import CHANGED, CaseResult
from zerolap.report.document import body_markdown
from zerolap.report.markdown import code
from zerolap.sheets import (
    Acknowledgement,
    Cancelled,
    CaseRow,
    ChangedLines,
    Done,
    Failed,
    PullRequestState,
    Reason,
    Superseded,
    Unaffected,
    answers,
    cases_of,
    counted,
    headline_of,
    plain,
    reasons_of,
    rows_of,
    statement,
)

Conclusion: TypeAlias = Literal["success", "failure", "neutral", "cancelled", "action_required"]
AnnotationLevel: TypeAlias = Literal["notice", "warning"]

MOST_ANNOTATIONS: Final = 50
"""The limit of GitHub for a request."""
TITLE_CHARACTERS: Final = 255
DESCRIPTION_CHARACTERS: Final = 140
MESSAGE_CHARACTERS: Final = 2_000
MOST_TEXTS: Final = 30
"""The most texts in an annotation, whose message GitHub limits to 64 KiB."""


@dataclass(frozen=True)
class Annotation:
    """A text at changed lines of the head: `path` is in the repository, lines begin at 1, both ends are included."""

    path: str
    start_line: int
    end_line: int
    annotation_level: AnnotationLevel
    title: str
    message: str


@dataclass(frozen=True)
class CheckOutput:
    """A check run; it has a conclusion when it is completed. `title` is plain text, `summary` is Markdown.

    Annotations are sent with the conclusion: GitHub cannot remove any, and they change while platforms report.
    """

    status: Literal["queued", "in_progress", "completed"]
    conclusion: Conclusion | None
    title: str
    summary: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class CommitStatus:
    """A commit status, with a description of at most 140 characters."""

    state: Literal["pending", "success", "failure", "error"]
    description: str


def check_output(state: PullRequestState, fail_on: FailOn) -> CheckOutput:
    """Return the check run; `fail_on` decides when it is a failure, as on the command line."""
    conclusion = conclusion_of(state, fail_on)
    is_queued = all(platform.comparison is None and platform.is_ongoing for platform in state.platforms)
    return CheckOutput(
        status="completed" if conclusion is not None else "queued" if is_queued else "in_progress",
        conclusion=conclusion,
        title=plain(_title(state, conclusion), TITLE_CHARACTERS),
        summary=body_markdown(state),
        annotations=() if conclusion is None else annotations_of(state),
    )


def unmeasured_output(labels: Sequence[str], *, is_queued: bool) -> tuple[CheckOutput, CommitStatus]:
    """Return the neutral check and the status of a commit that is not measured.

    `is_queued`: the commit is that of a group of the merge queue. `labels` are those that start a measurement.
    """
    if is_queued:
        reason = "pull requests are measured before they enter the merge queue"
    else:
        reason = "the pull request has no label that has it measured"
    named = " or ".join(code(label) for label in labels)
    summary = f"Set the label {named} to have it measured." if named and not is_queued else f"{reason.capitalize()}."
    title = f"Not measured: {reason}"
    return CheckOutput("completed", "neutral", title, summary, ()), CommitStatus("success", title)


def commit_status(state: PullRequestState, fail_on: FailOn) -> CommitStatus:
    """Return the commit status. Statuses have no neutral state: a neutral conclusion is a success.

    Without any result the status is an error; while it waits for approval it is pending.
    """
    conclusion = conclusion_of(state, fail_on)
    has_result = any(platform.comparison is not None for platform in state.platforms)
    states: dict[Conclusion | None, Literal["pending", "success", "failure", "error"]] = {
        None: "pending",
        "action_required": "pending",
        "success": "success",
        "neutral": "success" if has_result else "error",
        "failure": "failure",
        "cancelled": "error",
    }
    return CommitStatus(states[conclusion], plain(_title(state, conclusion), DESCRIPTION_CHARACTERS))


def conclusion_of(state: PullRequestState, fail_on: FailOn) -> Conclusion | None:
    """Return the conclusion, None while a platform is not finished.

    `fail_on` decides what is a failure; acknowledged cases are none, and under `unmeasured` and `unsure` a platform
    without a result is one too. So are cases of which none has an answer, as a regression cannot be ruled out then. It
    is a success if every case is decided and none got worse, on every platform. Otherwise it is neutral.
    """
    if state.needs_approval:
        return "action_required"
    if not state.platforms or any(platform.is_ongoing for platform in state.platforms):
        return None
    if all(isinstance(platform.state, Cancelled | Superseded) for platform in state.platforms):
        return "cancelled"
    comparisons = [platform.comparison for platform in state.platforms if platform.comparison is not None]
    failing = [case for comparison in comparisons for case in comparison.failing_cases(fail_on)]
    is_worse = any(comparison.failing_together(fail_on) or comparison.is_unseen(fail_on) for comparison in comparisons)
    if is_worse or any(not _is_acknowledged(case, state.acknowledgements) for case in failing):
        return "failure"
    is_without_result = any(isinstance(platform.state, Failed) for platform in state.platforms) or not all(
        comparison.has_answer_for(fail_on) for comparison in comparisons
    )
    asked = [comparison for comparison in comparisons if comparison.cases]
    is_without_any = bool(asked) and not any(comparison.has_answer_for(fail_on) for comparison in asked)
    if is_without_any or (fail_on in ("unmeasured", "unsure") and is_without_result):
        return "failure"
    return "success" if _is_all_well(state) else "neutral"


def annotations_of(state: PullRequestState) -> tuple[Annotation, ...]:
    """Return annotations at the changed lines that are reasons of changes, the most important first.

    Reasons that point to the same lines share an annotation, at the first of these lines.
    """
    rows = rows_of(state.platforms, state.acknowledgements)
    measured = [platform.name for platform in state.platforms if not platform.on_request]
    by_places: dict[tuple[str, tuple[ChangedLines, ...]], list[Reason]] = {}
    for reason in reasons_of(rows, state.commits.changed):
        if places := tuple(lines for lines in reason.locations if not lines.is_removal):
            by_places.setdefault((reason.row.word, places), []).append(reason)
    annotations = [
        _annotation(reasons, places, names_platform=[reasons[0].row.platform] != measured)
        for (_, places), reasons in by_places.items()
    ]
    return tuple(annotations[:MOST_ANNOTATIONS])


def _title(state: PullRequestState, conclusion: Conclusion | None) -> str:
    """Return the headline, after what the conclusion rests on where the headline begins with something else."""
    headline = headline_of(state.platforms, state.acknowledgements, state.needs_approval).plain
    cases = cases_of(rows_of(state.platforms, state.acknowledgements))
    if conclusion == "failure":
        failing = sum(any(row.case.fails_on_head_only for row in case.rows) for case in cases)
        return f"{counted(failing, 'case fails', 'cases fail')} on the head only; {headline}" if failing else headline
    if conclusion != "neutral" or not all(isinstance(one.state, Done | Unaffected) for one in state.platforms):
        return headline
    comparisons = [platform.comparison for platform in state.platforms if platform.comparison is not None]
    undecided = len({case.case for each in comparisons for case in each.cases if each.is_undecided(case)})
    if not undecided or not all(case.first.is_unchanged or case.first.word == "unsure" for case in cases):
        return headline
    same = len(cases) - undecided
    return f"{same:,} same, {undecided:,} undecided" if same else f"{undecided:,} undecided"


def _is_all_well(state: PullRequestState) -> bool:
    """Whether every platform has decided every case, and none got worse.

    A platform on which no case can be affected needs no result.
    """
    for platform in state.platforms:
        if isinstance(platform.state, Unaffected):
            continue
        comparison = platform.comparison
        if not isinstance(platform.state, Done) or comparison is None or not comparison.cases:
            return False
        if any(case.is_regression or comparison.is_undecided(case) for case in comparison.cases):
            return False
    return True


def _is_acknowledged(case: CaseResult, acknowledgements: Sequence[Acknowledgement]) -> bool:
    is_worse = case.is_regression or case.fails_on_head_only
    return is_worse and any(accepted.covers(case.case) for accepted in acknowledgements)


def _annotation(reasons: Sequence[Reason], places: Sequence[ChangedLines], *, names_platform: bool) -> Annotation:
    """Return the text of reasons that point to the same places."""
    row, lines = reasons[0].row, places[0]
    # The title must not change when a person asks for further cases: it identifies the annotation.
    where = f" on {row.platform}" if names_platform else ""
    is_warning = row.word == "regression" and row.acknowledgement is None
    texts = [reason.finding.text for reason in reasons]
    # Reasons of several cases can point to the same places.
    texts += dict.fromkeys(verdict for reason in reasons for verdict in _verdicts(reason.row))
    if further := max(reason.further_cases for reason in reasons):
        texts.append(f"also in {counted(further, 'further case', 'further cases')}")
    if others := [f"{other.file}:{other.first_line}" for other in places[1:]]:
        texts.append(f"also at {', '.join(others)}")
    return Annotation(
        path=lines.file,
        start_line=lines.first_line,
        end_line=lines.last_line,
        annotation_level="warning" if is_warning else "notice",
        title=plain(f"{row.word} of {row.case.case}{where}", TITLE_CHARACTERS),
        message="\n".join(plain(text, MESSAGE_CHARACTERS) for text in texts[:MOST_TEXTS]),
    )


def _verdicts(row: CaseRow) -> list[str]:
    changed = [answered for answered in answers(row.case) if answered.word in CHANGED]
    return [statement(answered) for answered in changed if answered.decided is not None]
