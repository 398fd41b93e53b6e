"""Gathers the evidence for a case and has it explained: what a change is due to, and what could not be measured."""

import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

from zerolap.build import BuiltServer, changes_between, commands_of_tests, source_functions
from zerolap.cases import core_suite, packaged_cases
from zerolap.documents import (
    TIMER_COST,
    CaseResults,
    ComparedCode,
    Proposals,
    Results,
    TimedTrials,
    Trials,
    allocation_sites,
    call_counts,
    graph_kind,
    merged_graph,
    not_measured,
    repeated_steps,
    sampled_side,
    string_place_findings,
)
from zerolap.engines import ALLOCATED
from zerolap.explain import (
    BuildFacts,
    Evidence,
    StatedFigure,
    Structure,
    Structures,
    explain_build,
    explain_bytes,
    explain_cause,
    explain_change,
    explain_layout,
    explain_opposed_work,
    explain_placement,
    explain_slow_starts,
    explain_times,
    with_calls_of_inlined,
    with_times,
)
from zerolap.judge import CaseAnswers
from zerolap.lab.lab import Lab
from zerolap.records import (
    BASE,
    CHANGED,
    HEAD,
    METRICS,
    CallGraph,
    ChangedFunction,
    Changes,
    Finding,
    FunctionCode,
    PerSide,
    SampledSide,
    Side,
    Source,
    SourceFunction,
    UnknownChanges,
    Verdict,
)
from zerolap.sandbox import confined_reader
from zerolap.store import BlobDamaged, Blobs

T = TypeVar("T")
MOST_PROPOSED: Final = 20
HANDLER: Final = re.compile(r"(\w+?)_?[cC]ommand")
"""The name of a function that carries out a command."""


class Explainer:
    """Explains cases of one comparison; what is the same for all of them is read once."""

    def __init__(self, base: BuiltServer, head: BuiltServer, sources: tuple[Source, Source], blobs: Blobs) -> None:
        self._base = base
        self._head = head
        self._sources = sources
        self._blobs = blobs

    @functools.cached_property
    def code(self) -> ComparedCode:
        """The code of both sides; raises `OSError`, `UnreadableFile`."""
        changes = self.changes if isinstance(self.changes, Changes) else Changes(files=[])
        changed = {name.removeprefix("src/") for file in changes.files for name in (file.old_file, file.new_file)}
        files = changed & {function.file for of_side in self.functions for function in of_side}
        return ComparedCode(
            functions={BASE: self.functions[0], HEAD: self.functions[1]},
            programs=self._programs(),
            code_lines=self._of_sides(
                lambda path, root: confined_reader.code_lines(path, root, files) if files else {}
            ),
            changes=self.changes,
        )

    def _programs(self) -> dict[Side, dict[tuple[str, str], FunctionCode]] | None:
        """Return the code of the functions of both builds.

        None where nothing is to be compared: no functions are known of a build without debug information, or its
        instructions cannot be read.
        """
        if not all(self.functions):
            return None
        try:
            return self._of_sides(confined_reader.function_code)
        except confined_reader.UnreadableFile:
            return None

    def _of_sides(self, read: Callable[[str, str], T]) -> dict[Side, T]:
        """Return what is read of each side's program, below its source root; of a build that both sides are, once."""
        base = read(str(self._base.program.path), self._base.record.source_root)
        if self._base.record.build == self._head.record.build:
            return {BASE: base, HEAD: base}
        return {BASE: base, HEAD: read(str(self._head.program.path), self._head.record.source_root)}

    def proposals(self, unexecuted: Sequence[ChangedFunction]) -> Proposals:
        """Return the package's cases whose commands have their handlers in files of these functions, or are tested.

        By the names that the family gives to handlers, such as `zaddCommand`, and by the tests that the change changes.
        What both name comes first, then what the tests do; of these the core suite's.
        """
        cases = {case.name: {verb.partition(" ")[0] for verb in case.verbs} for case in packaged_cases()}
        known = self._commands_handled({function.file for of_side in self.functions for function in of_side})
        known |= {command for commands in cases.values() for command in commands}
        handled = self._commands_handled({function.file for function in unexecuted if function.in_diff})
        tested = commands_of_tests(self.changes, known) if isinstance(self.changes, Changes) else []
        places = {command: place for place, command in enumerate(sorted(tested, key=lambda one: one not in handled))}
        named = {
            name: min(places.get(command, len(places)) for command in commands & (handled | places.keys()))
            for name, commands in cases.items()
            if commands & (handled | places.keys())
        }
        core = {case.name for case in core_suite()}
        likeliest = sorted(named, key=lambda name: (named[name], name not in core))
        return Proposals(likeliest[:MOST_PROPOSED], tested)

    def _commands_handled(self, files: Collection[str]) -> set[str]:
        """Return the commands that files of either side have handlers of, by the names of these functions."""
        names = {function.name for of_side in self.functions for function in of_side if function.file in files}
        return {match[1].upper() for name in names if (match := HANDLER.fullmatch(name)) is not None}

    @functools.cached_property
    def functions(self) -> tuple[list[SourceFunction], list[SourceFunction]]:
        """The functions in the debug information of the base and of the head."""
        base = source_functions(self._base)
        return base, base if self._base.record.build == self._head.record.build else source_functions(self._head)

    @functools.cached_property
    def changes(self) -> Changes | UnknownChanges:
        """What differs between the sources: first of all in the files from which the programs were made."""
        files = {function.file for functions in self.functions for function in functions}
        return changes_between(*self._sources, self._blobs, files)

    @functools.cached_property
    def _structures(self) -> tuple[Structures, Structures]:
        return _structures_of(self._base), _structures_of(self._head)

    def _explain_build(self) -> list[Finding]:
        return explain_build(_facts_of(self._base), _facts_of(self._head))

    def findings(self, answers: CaseAnswers, verdicts: Sequence[Verdict], measured: CaseResults) -> list[Finding]:
        """Return reasons for a change, what counting and timing show together, and what could not be measured.

        Whether both sides execute the same is among them where the work of requests did not change.
        """
        if answers.verdict == "invalid":
            return []
        findings: list[Finding] = []
        if answers.work in CHANGED or answers.time in CHANGED or _is_opposed(answers, verdicts):
            try:
                findings = self._reasons(answers, verdicts, measured)
            except (ValueError, OSError, BlobDamaged) as fault:
                # What was measured stands, though a binary's debug information or a recorded profile cannot be read.
                findings = [Finding(kind="limits", rank=0, text=f"The change cannot be explained: {fault}")]
        if answers.memory in CHANGED:
            findings += self._allocations(measured)
        if measured.counted is not None:
            findings += string_place_findings(verdicts, measured.counted, self._blobs)
        causes = (explain_opposed_work(verdicts), explain_slow_starts(verdicts), explain_cause(verdicts))
        findings += [cause for cause in causes if cause is not None]
        if measured.identity is not None and (answers.work not in CHANGED or answers.work_deciding == TIMER_COST):
            findings.append(measured.identity.finding())
        limits = [*measured.case.limits, *not_measured(measured)]
        findings += [Finding(kind="limits", rank=0, text=text) for text in limits]
        return [finding.model_copy(update={"rank": rank}) for rank, finding in enumerate(findings, 1)]

    def _reasons(self, answers: CaseAnswers, verdicts: Sequence[Verdict], measured: CaseResults) -> list[Finding]:
        """Return the functions behind a change: of the work, unless time alone changed, or the other way.

        Where counts speak against each other, they are those of the count that lost, whatever time did.
        """
        times = self._times(measured.sampled, verdicts) if measured.sampled is not None else None
        is_of_time = answers.time in CHANGED and answers.work != answers.time and not _is_opposed(answers, verdicts)
        if is_of_time or answers.work_deciding is None:
            return self._explain_times(times, measured.timed)
        if measured.counted is None or answers.work_deciding not in METRICS:
            # What a plugin measures has no call graph.
            return self._explain_build()
        findings = self._explain_work(measured.counted, answers.work_deciding)
        return with_times(findings, *times) if times is not None else findings

    def _explain_work(self, trials: Trials, metric: str) -> list[Finding]:
        """Return the findings on a case whose `metric` changed."""
        kind = graph_kind(metric)
        measured = [trials.measurements[side] for side in (BASE, HEAD)]
        if not all(any(getattr(one, kind) for one in side) for side in measured):
            text = f"An older version counted this: it recorded no functions for {METRICS[metric].label}."
            return [Finding(kind="limits", rank=0, text=text)]
        graphs = [merged_graph(side, self._blobs, kind) for side in measured]
        steps = repeated_steps(measured[0], measured[1], self._blobs) if kind == "graph" else {}
        findings = self.explain_work(graphs[0], graphs[1], metric, steps)
        counts = [call_counts(side, self._blobs) for side in measured] if kind == "graph" else []
        known = [of_side for of_side in counts if of_side is not None]
        return with_calls_of_inlined(findings, *known) if len(known) == len(measured) else findings

    def explain_work(
        self, base: CallGraph, head: CallGraph, metric: str, steps: Mapping[str, PerSide] | None = None
    ) -> list[Finding]:
        """Return the findings on a change of `metric` between two call graphs; `steps` are those of repeated stores."""
        base_functions, head_functions = self.functions
        findings = explain_change(
            Evidence(
                base=base,
                head=head,
                base_functions=base_functions,
                head_functions=head_functions,
                changes=self.changes,
                base_stripped=self._base.record.stripped,
                head_stripped=self._head.record.stripped,
                metric=metric,
                repeated_steps={name: StatedFigure.of(sides) for name, sides in (steps or {}).items()},
            )
        )
        return [*findings, *self._explain_build()]

    def _allocations(self, measured: CaseResults) -> list[Finding]:
        """Return where more or fewer bytes are allocated, as far as that was profiled; what prevented it is a limit."""
        trials = measured.other.get(ALLOCATED)
        if trials is None:
            return []
        if not trials.usable or not trials.blocks:
            reason = trials.refusal or (trials.failure.message if trials.failure is not None else "it was cut short")
            return [Finding(kind="limits", rank=0, text=f"Where the bytes are allocated is not known: {reason}.")]
        try:
            sides = [allocation_sites(trials.whole[side][0], self._blobs) for side in (BASE, HEAD)]
            changed = _changed_names(self.changes, self.functions)
        except (ValueError, OSError, BlobDamaged) as fault:
            return [Finding(kind="limits", rank=0, text=f"Where the bytes are allocated cannot be read: {fault}")]
        return explain_bytes(sides[0], sides[1], changed)

    def _explain_times(self, times: tuple[SampledSide, SampledSide] | None, timed: TimedTrials | None) -> list[Finding]:
        """Return the findings on a case whose time changed otherwise than its work: functions, then the builds."""
        findings = explain_times(*times) if times is not None else []
        placed = timed is None or timed.of_cost.is_placed
        findings += [*self._explain_build(), *explain_layout(*self._structures), *explain_placement(is_placed=placed)]
        return findings

    def _times(self, trials: Trials, verdicts: Sequence[Verdict]) -> tuple[SampledSide, SampledSide] | None:
        """Return what functions cost in time on both sides; none where stacks are missing or not valid."""
        if not trials.usable or trials.blocks == 0:
            return None
        timed = next((one for one in verdicts if one.metric == "cpu_ns_per_op"), None)
        base = sampled_side(trials.measurements[BASE], timed.base if timed else None, self._blobs)
        head = sampled_side(trials.measurements[HEAD], timed.head if timed else None, self._blobs)
        return None if base is None or head is None else (base, head)


def _changed_names(
    changes: Changes | UnknownChanges, functions: tuple[Sequence[SourceFunction], Sequence[SourceFunction]]
) -> frozenset[str]:
    """Return the names of the functions with lines that differ, on either side."""
    if not isinstance(changes, Changes):
        return frozenset()
    names: set[str] = set()
    for lines, of_side in zip(changes.lines(), functions, strict=True):
        by_file = {file.removeprefix("src/"): numbers for file, numbers in lines.items()}
        for function in of_side:
            numbers = by_file.get(function.file.removeprefix("src/"), ())
            if any(has_code and function.holds(function.file, number) for number, has_code in numbers):
                names.add(function.name)
    return frozenset(names)


def _is_opposed(answers: CaseAnswers, verdicts: Sequence[Verdict]) -> bool:
    """Whether work is unsure though the metric that it rests on changed: others changed the other way."""
    deciding = next((verdict for verdict in verdicts if verdict.metric == answers.work_deciding), None)
    return answers.work not in CHANGED and deciding is not None and deciding.verdict in CHANGED


def explainer_of(results: Results, lab: Lab) -> Explainer:
    """Return the explainer of a comparison, whose builds and sources the lab has."""
    base, head = results.resolved.servers[BASE], results.resolved.servers[HEAD]
    builds = lab.builds.get(base.spec.digest), lab.builds.get(head.spec.digest)
    return Explainer(*builds, (base.source, head.source), lab.store.blobs)


def _facts_of(server: BuiltServer) -> BuildFacts:
    record = server.record
    return BuildFacts(record.compiler, record.flags, record.allocator, record.libc)


def _structures_of(server: BuiltServer) -> Structures:
    structures = confined_reader.structures(str(server.program.path), server.record.source_root)
    return {(name, file): Structure(size_bytes, _members(members)) for file, name, size_bytes, members in structures}


def _members(text: str) -> tuple[tuple[str, int], ...]:
    parted = [member.rpartition("@") for member in text.split()]
    return tuple((name, int(begins)) for name, _, begins in parted)
