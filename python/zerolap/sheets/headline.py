"""The headline of a comment: "XADD does 10 % more work and takes 4 % longer; 11 cases unchanged"."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerolap.records import CHANGED, Answer, Comparison, Verdict
from zerolap.sheets.case_rows import CaseRow, CaseRows, cases_of, rows_of
from zerolap.sheets.case_words import CaseAnswer, is_missing
from zerolap.sheets.detail import Lengths
from zerolap.sheets.format import COMMIT_DIGITS, count, counted, metric_label, rough_duration, rough_percent
from zerolap.sheets.measured_change import (
    Acknowledgement,
    Building,
    Cancelled,
    Done,
    Failed,
    PlatformOutcome,
    PlatformState,
    Running,
    Superseded,
    Unaffected,
    Waiting,
)
from zerolap.sheets.phrases import PHRASES, Phrase
from zerolap.sheets.pooled import pooled_statements
from zerolap.sheets.regime_words import with_regime
from zerolap.sheets.unexecuted import unexecuted_code

NAMED_PLATFORMS = 2
"""The most platforms that a sentence names; more are counted."""
USUAL_LENGTHS = Lengths()
COMMAND = re.compile(r"[A-Z]{1,24}( [A-Z]{1,24})?")


@dataclass(frozen=True)
class Headline:
    """The most important statement, and further statements by importance; names stand in backticks."""

    lead: str
    rest: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it; names stand in backticks."""
        return "; ".join([self.lead, *self.rest])

    @property
    def plain(self) -> str:
        """All of it without backticks, for where it is shown as it is."""
        return self.text.replace("`", "")


def headline_of(
    platforms: Sequence[PlatformOutcome],
    acknowledgements: Sequence[Acknowledgement] = (),
    needs_approval: str = "",
    lengths: Lengths = USUAL_LENGTHS,
) -> Headline:
    """Return the headline on all platforms; a failure of any platform is in it, also next to a success."""
    return headline_of_rows(rows_of(platforms, acknowledgements), platforms, needs_approval, lengths)


def headline_of_rows(
    rows: Sequence[CaseRow],
    platforms: Sequence[PlatformOutcome],
    needs_approval: str = "",
    lengths: Lengths = USUAL_LENGTHS,
) -> Headline:
    """Return the headline on all platforms from the rows of their cases."""
    if needs_approval:
        return Headline(f"Not measured: {lengths.foreign(needs_approval)}")
    return _Statements(platforms, cases_of(rows), lengths).headline()


def state_text(state: PlatformState, lengths: Lengths) -> str:
    """Return the state of a platform in a few words."""
    match state:
        case Waiting(reason):
            text = f"waiting: {lengths.foreign(reason)}" if reason else "waiting"
        case Building():
            text = "building"
        case Running(done, total, seconds):
            left = "" if seconds is None else f", about {rough_duration(seconds)} left"
            text = f"running: {done:,} of {total:,} jobs{left}"
        case Done():
            text = "done"
        case Unaffected():
            text = "nothing to measure"
        case Failed(reason, hint):
            text = f"failed: {lengths.foreign(reason)}" + (f" ({lengths.foreign(hint)})" if hint else "")
        case Cancelled(person):
            text = f"cancelled by {lengths.named(person)}" if person else "cancelled"
        case Superseded(commit):
            newer = lengths.named(commit[:COMMIT_DIGITS]) if commit else "a newer commit"
            text = f"superseded by {newer}"
    return text


def effect_of(case: CaseRows, cases: Sequence[CaseRows], platforms: int, lengths: Lengths) -> str:
    """Return what a change does to a case, and on which of so many platforms, as a sentence without its end.

    `cases` are all: a command names its case where no other case has it.
    """
    first = case.first
    agreeing = [row for row in case.rows if _words(row) == _words(first)]
    subject, changes = subject_of(first, cases, lengths), _changes(agreeing, lengths)
    return f"{subject} {changes}{_where(case, agreeing, platforms, lengths)}"


def subject_of(row: CaseRow, cases: Sequence[CaseRows], lengths: Lengths) -> str:
    """Return the name of a case in a sentence: its command, or its own name if the command is ambiguous."""
    commands, regime = row.case.commands, row.case.regime
    alike = sum(other.first.case.commands == commands and other.first.case.regime == regime for other in cases)
    if len(commands) != 1 or COMMAND.fullmatch(commands[0]) is None:
        return lengths.named(row.case.case)
    if alike == 1:
        return with_regime(commands[0], row.case, lengths)
    return f"{commands[0]} in {lengths.named(row.case.case)}"


@dataclass(frozen=True)
class _Statements:
    platforms: Sequence[PlatformOutcome]
    cases: Sequence[CaseRows]
    lengths: Lengths

    @property
    def regressions(self) -> list[CaseRows]:
        """The regressions that are not acknowledged."""
        return [case for case in self.cases if case.first.is_open_regression]

    @property
    def accepted(self) -> list[CaseRows]:
        return [case for case in self._of_word("regression") if not case.first.is_open_regression]

    @property
    def unchanged(self) -> list[CaseRows]:
        return [case for case in self.cases if case.first.is_unchanged]

    @property
    def _open_tails(self) -> list[CaseRows]:
        """The unsure cases of which p99 alone is open."""
        return [case for case in self._of_word("unsure") if case.first.case.has_open_tail]

    @property
    def ongoing(self) -> list[PlatformOutcome]:
        return [platform for platform in self.platforms if platform.is_ongoing]

    def headline(self) -> Headline:
        lead_kind, lead = self._lead()
        trouble = [*self._stopped(), *self._unmeasured(), *self._together(), *self._unexecuted()]
        if trouble and lead_kind != "regressions":
            joint = ": " if lead_kind == "nothing" else ", but "
            lead, trouble = lead + joint + " and ".join(trouble), []
        return Headline(lead, tuple(text for kind, text in self._clauses(trouble) if kind != lead_kind))

    def _lead(self) -> tuple[str, str]:
        if self.regressions:
            return "regressions", self._effects(self.regressions, "regresses", "regress")
        if self.ongoing:
            return "ongoing", _progress(self.ongoing)
        if improvements := self._of_word("improvement"):
            return "improvements", self._effects(improvements, "improves", "improve")
        if self.accepted:
            return "accepted", f"{self._effects(self.accepted, 'regresses', 'regress')}: acknowledged"
        if self.unchanged:
            return "unchanged", f"No change in {_unchanged(self.unchanged, '')}"
        return self._nothing()

    def _nothing(self) -> tuple[str, str]:
        if self.platforms and all(isinstance(platform.state, Unaffected) for platform in self.platforms):
            return "unaffected", "No case can be affected by this change"
        if open_tails := self._open_tails:
            same = f"CPU time and throughput in {counted(len(open_tails), 'case', 'cases')}"
            return "open tails", f"No change of {same}, p99 open"
        return "nothing", "Nothing was decided" if self.cases else "Nothing was measured"

    def _clauses(self, trouble: Sequence[str]) -> Iterator[tuple[str, str]]:
        if self.ongoing:
            yield "ongoing", _progress(self.ongoing).lower()
        if improvements := self._of_word("improvement"):
            yield "improvements", counted(len(improvements), "case improves", "cases improve")
        if self.accepted:
            yield "accepted", counted(len(self.accepted), "acknowledged regression", "acknowledged regressions")
        yield from (("trouble", text) for text in trouble)
        open_tails = self._open_tails
        if unsure := len(self._of_word("unsure")) - len(open_tails):
            yield "unsure", f"{unsure:,} unsure"
        if open_tails:
            yield "open tails", f"p99 open in {counted(len(open_tails), 'case', 'cases')} otherwise the same"
        if self.unchanged:
            yield "unchanged", _unchanged(self.unchanged, " unchanged")

    def _of_word(self, word: str) -> list[CaseRows]:
        return [case for case in self.cases if case.first.word == word]

    def _effects(self, changed: Sequence[CaseRows], does: str, do: str) -> str:
        platforms = sum(not platform.on_request for platform in self.platforms)
        text = effect_of(changed[0], self.cases, platforms, self.lengths)
        further = len(changed) - 1
        if not further:
            return text
        return f"{text}, and {counted(further, f'further case {does}', f'further cases {do}')}"

    def _stopped(self) -> list[str]:
        words = {Failed: "failed", Cancelled: "was cancelled", Superseded: "was superseded"}
        stopped = []
        for kind, verb in words.items():
            names = [platform.name for platform in self.platforms if isinstance(platform.state, kind)]
            if not names:
                continue
            if len(names) > NAMED_PLATFORMS:
                stopped.append(f"{len(names)} of {len(self.platforms)} platforms {verb.replace('was', 'were')}")
            else:
                stopped += [f"{self.lengths.named(name)} {verb}" for name in names]
        return stopped

    @property
    def _finished(self) -> list[Comparison]:
        finished = [platform.comparison for platform in self.platforms if not platform.is_ongoing]
        return [comparison for comparison in finished if comparison is not None]

    def _together(self) -> list[str]:
        """Return the statement that cases together got worse, which no regression of a case states."""
        return [] if self._of_word("regression") else pooled_statements(self._finished, self.lengths)

    def _unexecuted(self) -> list[str]:
        """Return the statement that nothing of the change was measured, on a platform that has finished."""
        statement = unexecuted_code(self._finished).statement
        return [] if statement is None else [statement]

    def _unmeasured(self) -> list[str]:
        failed, invalid = len(self._of_word("failed")), len(self._of_word("invalid"))
        return [
            *([counted(failed, "case failed", "cases failed")] if failed else []),
            *([counted(invalid, "case is invalid", "cases are invalid")] if invalid else []),
        ]


def _progress(ongoing: Sequence[PlatformOutcome]) -> str:
    running = [platform.state for platform in ongoing if isinstance(platform.state, Running)]
    if running:
        left = [state.seconds_left for state in running if state.seconds_left is not None]
        time = f", about {rough_duration(max(left))} left" if len(left) == len(ongoing) else ""
        done, total = sum(state.done_jobs for state in running), sum(state.total_jobs for state in running)
        return f"Running: {done:,} of {total:,} jobs{time}"
    return "Building" if any(isinstance(platform.state, Building) for platform in ongoing) else "Waiting"


def _unchanged(cases: Sequence[CaseRows], word: str) -> str:
    identical = sum(case.is_identical for case in cases)
    part = {0: "", len(cases): ", identical" if len(cases) == 1 else ", all of them identical"}.get(
        identical, f", {identical:,} of them identical"
    )
    return f"{counted(len(cases), 'case', 'cases')}{word}{part}"


def _words(row: CaseRow) -> list[tuple[Answer, str]]:
    return [(answered.answer, answered.word) for answered in row.answers.values()]


def _changes(rows: Sequence[CaseRow], lengths: Lengths) -> str:
    """Return the changes in rows of a case that have the same words, with the largest figures."""
    of_first = rows[0].answers
    changed = [answered for answered in of_first.values() if answered.word in CHANGED and answered.decided is not None]
    phrases = [_phrase(_decided(rows, answered), lengths) for answered in changed]
    if not phrases:
        return "regresses" if rows[0].word == "regression" else "improves"
    if len(phrases) > 1:
        joint = " and " if len({answered.word for answered in changed}) == 1 else " but "
        return joint.join(phrases)
    time = of_first.get("time")
    if changed[0].answer == "work" and time is None and is_missing(rows[0].case, "time") and rows[0].time_asked:
        return f"{phrases[0]}, its time was not measured"
    if changed[0].answer == "work" and time is not None:
        return phrases[0] + {"same": " but takes as long as before", "unsure": ", its time is unsure"}.get(
            time.word, ""
        )
    return phrases[0]


def _decided(rows: Sequence[CaseRow], wanted: CaseAnswer) -> list[Verdict]:
    decided = [row.answers[wanted.answer].decided for row in rows if wanted.answer in row.answers]
    metric = wanted.decided.metric if wanted.decided is not None else None
    return [verdict for verdict in decided if verdict is not None and verdict.metric == metric]


def _phrase(verdicts: Sequence[Verdict], lengths: Lengths) -> str:
    largest = max(verdicts, key=lambda verdict: abs(verdict.change))
    label = lengths.foreign(metric_label(largest.metric))
    if not math.isfinite(largest.change):
        return f"has {count(largest.head)} instead of {count(largest.base)} {label}"
    sizes = {rough_percent(verdict.change) for verdict in verdicts}
    size = ("up to " if len(sizes) > 1 else "") + rough_percent(largest.change)
    phrase = PHRASES.get(largest.metric) or Phrase("has", label)
    return phrase.headline(largest.change, size)


def _where(case: CaseRows, agreeing: Sequence[CaseRow], platforms: int, lengths: Lengths) -> str:
    """Return the platforms of a statement; an empty string if there is only one platform.

    Of a case that was also measured on request, only the original result counts, if there is one.
    """
    if platforms == 1:
        return ""
    own = [row for row in case.rows if not row.on_request]
    agreeing = [row for row in agreeing if not row.on_request] or agreeing
    if len(agreeing) == platforms:
        return " on both platforms" if platforms == 2 else f" on all {platforms} platforms"
    if len(agreeing) > NAMED_PLATFORMS:
        return f" on {len(agreeing)} of {platforms} platforms"
    names = " and ".join(lengths.named(row.platform) for row in agreeing)
    unchanged = [lengths.named(row.platform) for row in own if row.is_unchanged]
    return f" on {names}" + (f", not on {' and '.join(unchanged)}" if 0 < len(unchanged) <= NAMED_PLATFORMS else "")
