"""A change on all platforms that measured it, as a comment on a pull request has it, and as Markdown of its own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from zerolap.records import CHANGED, Comparison, FalseAlarms, MeasuredServer
from zerolap.sheets.case_rows import CaseRow, cases_of, rows_of
from zerolap.sheets.case_section import case_section, is_worth_a_section
from zerolap.sheets.case_table import AnswerColumns, all_cases_table, changed_table, group_table
from zerolap.sheets.case_words import effort, in_order, state_line
from zerolap.sheets.change_reasons import Reason, reasons_of
from zerolap.sheets.comparison_sheet import how_to_repeat, outcome_of
from zerolap.sheets.detail import Detail
from zerolap.sheets.environment import build_text, server_text, settings_text, skipped_line
from zerolap.sheets.format import COMMIT_DIGITS, counted
from zerolap.sheets.headline import headline_of_rows, state_text
from zerolap.sheets.measured_change import (
    Acknowledgement,
    ChangedLines,
    CommitRange,
    PlatformOutcome,
    PullRequestState,
    in_order_of_names,
)
from zerolap.sheets.pooled import pooled_sentences
from zerolap.sheets.regime_words import regime_sentences
from zerolap.sheets.sheet import Fact, Section, Sentence, Sheet, Table, WebLink, as_name, folded, with_names
from zerolap.sheets.traced_section import traced_of_comparison
from zerolap.sheets.unexecuted import unexecuted_code

COMMAND_BYTES = 400
"""A longer command is left to the report, as a part of a command cannot be run."""
DAY = slice(0, len("2026-11-20"))


def pull_request_sheets(state: PullRequestState, details: Iterable[Detail]) -> Iterator[Sheet]:
    """Yield what came of a pull request on all platforms, with links to its changed lines, in each of these details."""
    rows = rows_of(state.platforms, state.acknowledgements)
    measured = _Measured(state.platforms, rows, state.commits.changed)
    for detail in details:
        yield _pull_request_sheet(state, _Change(measured, detail))


def _pull_request_sheet(state: PullRequestState, change: "_Change") -> Sheet:
    detail = change.detail
    is_measured = not state.needs_approval or bool(state.platforms)
    sections = [
        change.reasons(state.commits),
        Section(
            sentences=[
                *change.together(),
                *change.regimes(),
                *change.unexecuted(),
                *_acknowledgements(state.acknowledgements, detail),
            ]
        ),
        Section(sentences=list(_platforms(state.platforms, detail))),
        Section(sentences=[_compared(state, detail)] if is_measured else []),
        *_everything_else(change, state.command),
    ]
    return change.sheet(sections, state.needs_approval)


def comparison_documents(comparison: Comparison, details: Iterable[Detail]) -> Iterator[Sheet]:
    """Yield a comparison as a comment has it, with all that is folded, and without links to a host of its commits."""
    platforms = [outcome_of(comparison)]
    measured = _Measured(platforms, rows_of(platforms))
    for detail in details:
        yield _comparison_document(comparison, _Change(measured, detail))


def _comparison_document(comparison: Comparison, change: "_Change") -> Sheet:
    detail, cases = change.detail, in_order(comparison.cases)
    notable = [case for case in cases if is_worth_a_section(case)]
    unchanged = [row.case for row in change.measured.rows if row.is_unchanged]
    traced = [section for case in cases if (section := traced_of_comparison(case)) is not None]
    sections = [
        Section(facts=list(_sides(comparison))),
        change.reasons(None),
        Section(sentences=[*change.together(), *change.regimes(), *change.unexecuted()]),
        *(folded(case_section(case)) for case in notable[: detail.cases]),
        *_left_out(comparison, len(notable) - detail.cases, "more cases in full"),
    ]
    if unchanged and detail.facts:
        table = all_cases_table(unchanged, change.measured.columns)
        left_out = max(0, len(unchanged) - detail.rows)
        shown = table.model_copy(update={"rows": table.rows[: detail.rows], "left_out": left_out})
        title = counted(len(unchanged), "unchanged case", "unchanged cases")
        sections.append(Section(title=title, is_folded=True, tables=[shown]))
    sections += [
        *traced[: detail.traced],
        *_left_out(comparison, len(traced) - detail.traced, "more were traced"),
    ]
    sheet = change.sheet([*sections, how_to_repeat(comparison)])
    names = {case.case for case in comparison.cases}
    notes = [with_names(detail.told(note), names) for note in comparison.notes[: detail.notes]]
    return sheet.model_copy(update={"notes": notes})


def changed_cases(
    rows: Sequence[CaseRow], platforms: int, detail: Detail, columns: AnswerColumns | None = None
) -> Table:
    """Return a table of the cases that changed or are not decided, and how many rows are left out."""
    columns = columns or AnswerColumns.of_cases([row.case for row in rows])
    table = changed_table(rows, columns, names_platform=platforms > 1, most_rows=detail.rows, lengths=detail)
    more = f"and {table.left_out:,} more in the report" if table.left_out else ""
    return table.model_copy(update={"left_out": 0, "remark": more})


def reason_section(
    rows: Sequence[CaseRow], reasons: Sequence[Reason], commits: CommitRange | None, detail: Detail
) -> Section:
    """Return the first reasons, a sentence each, with links to the changed lines."""
    names_cases = len({row.case.case for row in rows if row.has_changed}) > 1
    shown = reasons[: detail.reasons]
    return Section(
        is_ranked=True, sentences=[_reason(reason, commits, detail, names_case=names_cases) for reason in shown]
    )


@dataclass(frozen=True)
class _Measured:
    """What sheets of any detail on a change are made from, found once for all of them."""

    platforms: Sequence[PlatformOutcome]
    rows: Sequence[CaseRow]
    changed: Sequence[ChangedLines] = ()

    @cached_property
    def columns(self) -> AnswerColumns:
        return AnswerColumns.of_cases([row.case for row in self.rows])

    @cached_property
    def reasons(self) -> Sequence[Reason]:
        return reasons_of(self.rows, self.changed)


@dataclass(frozen=True)
class _Change:
    """A change as a sheet of one detail has it."""

    measured: _Measured
    detail: Detail

    def sheet(self, sections: Sequence[Section], needs_approval: str = "") -> Sheet:
        platforms = self.measured.platforms
        headline = headline_of_rows(self.measured.rows, platforms, needs_approval, self.detail)
        table = changed_cases(self.measured.rows, len(platforms), self.detail, self.measured.columns)
        return Sheet(
            kind="change",
            title=headline.lead,
            continuation="; ".join(headline.rest),
            tables=[table] if table.rows or table.remark else [],
            sections=[section for section in sections if section.has_content],
        )

    def reasons(self, commits: CommitRange | None) -> Section:
        return reason_section(self.measured.rows, self.measured.reasons, commits, self.detail)

    def together(self) -> Iterator[Sentence]:
        """Yield what the cases of each platform show together, where that is a change."""
        platforms = self.measured.platforms
        for platform in platforms[: self.detail.platforms]:
            if platform.comparison is not None and any(of.verdict in CHANGED for of in platform.comparison.suite):
                where = f" on {self.detail.named(platform.name)}" if len(platforms) > 1 else ""
                for text in pooled_sentences(platform.comparison, self.detail):
                    yield Sentence(label=f"Together{where}", text=text)

    def regimes(self) -> Iterator[Sentence]:
        """Yield what the cases of each platform do in other regimes."""
        platforms = self.measured.platforms
        for platform in platforms[: self.detail.platforms]:
            if platform.comparison is not None and self.detail.facts:
                where = f" on {self.detail.named(platform.name)}" if len(platforms) > 1 else ""
                for text in regime_sentences(platform.comparison, self.detail):
                    yield Sentence(label=f"Regimes{where}", text=text)

    def unexecuted(self) -> Iterator[Sentence]:
        """Yield what of the change no measured case executes."""
        compared = [platform.comparison for platform in self.measured.platforms if platform.comparison is not None]
        return unexecuted_code(compared).sentences(self.detail.unexecuted, self.detail)


def _reason(reason: Reason, commits: CommitRange | None, detail: Detail, *, names_case: bool) -> Sentence:
    """Return a reason: its case if there are several, its sentence, and links to the changed lines."""
    links = []
    if commits is not None:
        for lines in reason.locations[: detail.links]:
            first, last = lines.first_line, lines.last_line
            numbers = f"{first}-{last}" if last > first else f"{min(first, last)}"
            text = detail.named(f"{lines.file}:{numbers}")
            links.append(WebLink(text=text, address=commits.lines_url(lines)))
        if reason.file is not None and detail.links:
            links.append(WebLink(text=detail.named(reason.file), address=commits.file_url(reason.file)))
    further = counted(reason.further_cases, "further case", "further cases")
    return Sentence(
        label=detail.named(reason.row.case.case) if names_case else "",
        text=detail.told(reason.finding.text) + (f" Also in {further}." if reason.further_cases else ""),
        links=links,
    )


def _acknowledgements(acknowledgements: Sequence[Acknowledgement], detail: Detail) -> Iterator[Sentence]:
    for accepted in list(reversed(acknowledgements))[: detail.acknowledgements]:
        person, day = detail.named(accepted.person), as_name(accepted.when[DAY])
        yield Sentence(label=f"Acknowledged by {person} on {day}", text=as_name(detail.told(accepted.reason)))


def _platforms(platforms: Sequence[PlatformOutcome], detail: Detail) -> Iterator[Sentence]:
    """Yield each platform with its state, its false alarms, and links to the report."""
    ordered = in_order_of_names(platforms)
    for platform in ordered[: detail.platforms]:
        addresses = {"report": platform.report_url, "JSON": platform.json_url}
        text = state_text(platform.state, detail)
        if platform.false_alarms is not None:
            text += f"; {_false_alarms(platform.false_alarms)}"
        links = [WebLink(text=name, address=address) for name, address in addresses.items() if address]
        yield Sentence(label=detail.named(platform.name), text=text, links=links)
    if detail.platforms < len(ordered):
        yield Sentence(text=counted(len(ordered) - detail.platforms, "further platform", "further platforms"))


def _false_alarms(false_alarms: FalseAlarms) -> str:
    """Return how many false alarms a platform had: `false alarms: 0 of 360 timed cases of identical work since …`."""
    period = f" {false_alarms.period}" if false_alarms.period else ""
    cases = "timed case" if false_alarms.timed_cases == 1 else "timed cases"
    return f"false alarms: {false_alarms.alarms:,} of {false_alarms.timed_cases:,} {cases} of identical work{period}"


def _compared(state: PullRequestState, detail: Detail) -> Sentence:
    base, head = state.commits.base[:COMMIT_DIGITS], state.commits.head[:COMMIT_DIGITS]
    label = f" for the label {detail.named(state.label)}" if state.label else ""
    return Sentence(
        text=f"Compared{label}", links=[WebLink(text=as_name(f"{base}...{head}"), address=state.commits.compare_url)]
    )


def _everything_else(change: _Change, command: str) -> Iterator[Section]:
    """Yield a folded section: unchanged cases, settings, builds, how to repeat the comparison."""
    detail, platforms = change.detail, change.measured.platforms
    if not detail.facts or all(platform.comparison is None for platform in platforms):
        return
    unchanged = [case for case in cases_of(change.measured.rows) if case.first.is_unchanged]
    groups = group_table(unchanged, detail.groups, detail)
    number = [counted(len(unchanged), "unchanged case", "unchanged cases")] if unchanged else []
    yield Section(
        title=", ".join([*number, "settings, builds, how to repeat it"]),
        is_folded=True,
        sections=[
            *([Section(tables=[groups])] if groups.rows else []),
            Section(sentences=list(_facts(platforms, command, detail))),
        ],
    )


def _facts(platforms: Sequence[PlatformOutcome], command: str, detail: Detail) -> Iterator[Sentence]:
    measured = [
        (platform.name, platform.comparison)
        for platform in in_order_of_names(platforms)
        if platform.comparison is not None
    ]
    for name, comparison in measured[: detail.platforms]:
        yield from _platform_facts(name, comparison, detail)
    texts = dict.fromkeys(settings_text(comparison.settings) for _, comparison in measured)
    yield from (Sentence(text=text) for text in texts)
    for name, comparison in measured[: detail.builds]:
        where = f" on {detail.named(name)}" if len(measured) > 1 else ""
        yield Sentence(label=f"base{where}", text=build_text(comparison.base))
        yield Sentence(label=f"head{where}", text=build_text(comparison.head))
        yield from _differing_flags(comparison.base, comparison.head)
    if command:
        is_short = len(command.encode()) <= COMMAND_BYTES
        yield Sentence(label="to repeat it", text=as_name(command) if is_short else "the command in the report")


def _platform_facts(name: str, comparison: Comparison, detail: Detail) -> Iterator[Sentence]:
    platform, label = comparison.platform, detail.named(name)
    machine = f"{detail.named(platform.cpu)}, {platform.cores} cores, kernel {detail.named(platform.kernel)}"
    parts = [machine, effort(comparison), state_line(comparison), skipped_line(comparison.skipped)]
    yield Sentence(label=label, text="; ".join(part for part in parts if part))
    names = {case.case for case in comparison.cases}
    for note in comparison.notes[: detail.notes]:
        yield Sentence(label=label, text=with_names(detail.told(note), names))


def _differing_flags(base: MeasuredServer, head: MeasuredServer) -> Iterator[Sentence]:
    of_base, of_head = base.flags.split(), head.flags.split()
    only = {
        "base": [flag for flag in of_base if flag not in of_head],
        "head": [flag for flag in of_head if flag not in of_base],
    }
    differing = [f"{side} {as_name(' '.join(of_side))}" for side, of_side in only.items() if of_side]
    if differing:
        yield Sentence(label="flags that differ", text=", ".join(differing))


def _sides(comparison: Comparison) -> Iterator[Fact]:
    yield Fact(label="base", text=server_text(comparison.base))
    yield Fact(label="head", text=server_text(comparison.head))
    yield Fact(label="measured", text=effort(comparison))
    for label, text in (("state", state_line(comparison)), ("skipped", skipped_line(comparison.skipped))):
        if text is not None:
            yield Fact(label=label, text=text)


def _left_out(comparison: Comparison, number: int, what: str) -> list[Section]:
    sentence = Sentence(text=f"{number:,} {what}: {as_name(f'zerolap explain {comparison.id} --all')}")
    return [Section(sentences=[sentence])] if number > 0 else []
