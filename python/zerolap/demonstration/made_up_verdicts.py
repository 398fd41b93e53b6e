"""Verdicts on made-up cases, with the reasons that they have: they agree with the changes that were planted."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.demonstration.made_up_functions import file_of
from zerolap.demonstration.made_up_server import PLANTED, Machine, MadeUpServer, PlantedChange, relative
from zerolap.demonstration.made_up_trials import COUNTED_BLOCKS, COUNTED_SCATTER, START_SCATTER, STARTS
from zerolap.records import (
    METRICS,
    Caller,
    Case,
    CaseResult,
    Check,
    Finding,
    PerSide,
    Validity,
    Verdict,
    VerdictWord,
)

MIN_EFFECTS: Final = {"counted": 0.005, "timed": 0.02}
Q: Final = 0.01
HALF_WIDTHS: Final = {"counted": 3.3 * COUNTED_SCATTER / math.sqrt(COUNTED_BLOCKS), "timed": 0.0105}
SLOWEST_METRICS: Final = {"latency_p99_us": 6.0, "latency_p50_us": 1.6, "ops_per_sec": 1.3}
"""How much wider their intervals are than that of CPU time."""
COUNTED: Final = ("instructions_per_op", "allocations_per_op", "syscalls_per_op", "clock_readings_per_op")
TIMED: Final = ("cpu_ns_per_op", "whole_cpu_ns_per_op", "elapsed_ns_per_op", *SLOWEST_METRICS)


@dataclass(frozen=True)
class MadeUpCase:
    """A case of two commits on a machine, counted and timed so often; `is_timed` where time was measured at all."""

    server: MadeUpServer
    case: Case
    base: int
    head: int
    machine: Machine
    is_timed: bool
    counted_blocks: int = COUNTED_BLOCKS
    starts: int = STARTS

    @property
    def is_identical(self) -> bool:
        """Whether both sides execute the same."""
        return self.server.is_identical(self.base, self.head, self.case.name)

    def result(self) -> CaseResult:
        """Return what a comparison concludes."""
        verdicts = [*self._of_work(), *(self._of_time() if self.is_timed else ())]
        by_metric = {verdict.metric: verdict for verdict in verdicts}
        work = by_metric["instructions_per_op"].verdict
        timed = by_metric.get("cpu_ns_per_op")
        time = None if timed is None else timed.verdict
        decided_by_time = time in ("regression", "improvement", "same")
        word = time if time is not None and time != "unsure" else work
        if time == "unsure" and work not in ("regression", "improvement"):
            word = "unsure"
        return CaseResult(
            case=self.case.name,
            commands=self.case.verbs,
            group=self.case.group,
            topology=self.case.topology.name,
            verdict="same" if word == "identical" else word,
            work=work,
            time=None if time == "identical" else time,
            deciding="cpu_ns_per_op" if decided_by_time else "instructions_per_op",
            work_deciding="instructions_per_op",
            time_deciding=None if time is None else "cpu_ns_per_op",
            confirmed=decided_by_time and time != "same",
            validity=Validity.of(
                [
                    Check(check="errors", ok=True, value=0.0, limit="<= 0"),
                    Check(check="hit_rate", ok=True, value=1.0, limit=">= 0.99"),
                ]
            ),
            verdicts=verdicts,
            findings=self._findings(),
        )

    def invalid(self, fault: Check, failed_sides: Sequence[str] = (), failure: str | None = None) -> CaseResult:
        """Return the case as invalid because of a failed check, or because trials of a side failed."""
        return CaseResult(
            case=self.case.name,
            commands=self.case.verbs,
            group=self.case.group,
            topology=self.case.topology.name,
            verdict="invalid",
            confirmed=False,
            validity=Validity.of([Check(check="errors", ok=True, value=0.0, limit="<= 0"), fault]),
            verdicts=[],
            findings=[],
            failure=failure,
            failed_sides=list(failed_sides),
        )

    def _of_work(self) -> Iterable[Verdict]:
        name = self.case.name
        for metric in COUNTED:
            if metric == "instructions_per_op":
                base, head = (self.server.instructions(name, place) for place in (self.base, self.head))
                scatter = self.server.draw("verdict", name, self.base, self.head).gauss(0, COUNTED_SCATTER / 2)
                yield self._verdict(metric, "counted", base, head * (1.0 if self.is_identical else 1 + scatter))
            else:
                value = {"allocations_per_op": 6.4375, "syscalls_per_op": 0.1875}.get(metric, 2.296)
                yield self._verdict(metric, "counted", value, value)

    def _of_time(self) -> Iterable[Verdict]:
        name = self.case.name
        base, head = (self.server.nanoseconds(name, place, self.machine) for place in (self.base, self.head))
        draw = self.server.draw("verdict of time", name, self.base, self.head, self.machine)
        ratio = head / base * math.exp(draw.gauss(0, START_SCATTER / math.sqrt(STARTS)))
        for metric in TIMED:
            if metric == "ops_per_sec":
                yield self._verdict(metric, "timed", 1e9 / (1.06 * base), 1e9 / (1.06 * base * ratio))
            else:
                factor = {"whole_cpu_ns_per_op": 1.043, "elapsed_ns_per_op": 1.06}.get(metric, 1.0)
                factor = {"latency_p50_us": 0.34, "latency_p99_us": 0.70}.get(metric, factor)
                yield self._verdict(metric, "timed", factor * base, factor * base * ratio)

    def _verdict(self, metric: str, engine: str, base: float, head: float) -> Verdict:
        change = relative(base, head)
        half = HALF_WIDTHS[engine] * SLOWEST_METRICS.get(metric, 1.0)
        smallest = MIN_EFFECTS[engine]
        low, high = change - half, change + half
        word: VerdictWord = "unsure"
        if engine == "counted" and self.is_identical:
            word = "identical"
        elif (low > 0 and change > smallest) or (high < 0 and change < -smallest):
            word = "regression" if (change > 0) == METRICS[metric].less_is_better else "improvement"
        elif -smallest < low and high < smallest:
            word = "same"
        is_changed = word in ("regression", "improvement")
        samples = self.counted_blocks if engine == "counted" else self.starts
        return Verdict(
            metric=metric,
            engine=engine,
            verdict=word,
            base=base,
            head=head,
            change=change,
            low=low,
            high=high,
            q=max(1e-9, Q * math.exp(-4 * abs(change) / half)) if is_changed else 0.31 if word == "unsure" else None,
            samples=samples,
            pairs=samples,
            min_effect=smallest,
            detectable=smallest + half,
        )

    @property
    def planted(self) -> list[PlantedChange]:
        """The planted changes between both commits, in the order of the range."""
        low, high = sorted((self.base, self.head))
        return [one for one in PLANTED if one.case == self.case.name and low < one.position <= high]

    def _findings(self) -> list[Finding]:
        if self.is_identical:
            text = (
                "Identical as counted: over one connection, the case executes the same 18,412 instructions in 214"
                " functions on both sides."
            )
            return [Finding(kind="identity", rank=0, text=text)]
        findings = [self._culprit(rank, change) for rank, change in enumerate(self.planted, 1)]
        return [*findings, *self._difference()]

    def _difference(self) -> list[Finding]:
        if self.planted:
            return []
        text = "The executed instructions differ: `processCommand`: `cmp eax, 4` → `cmp eax, 5`."
        return [Finding(kind="identity", rank=0, text=text)]

    def _culprit(self, rank: int, change: PlantedChange) -> Finding:
        before = self.server.function_weights(change.case, change.position - 1)
        after = self.server.function_weights(change.case, change.position)
        path = next(path for path in before if path[-1] == change.function)
        total = self.server.instructions(change.case, change.position - 1)
        cost = self.server.nanoseconds(change.case, change.position - 1, self.machine)
        own = PerSide(base=round(total * before[path], 1), head=round(total * (before[path] + change.instructions), 1))
        added = total * change.instructions
        file = file_of(change.function)
        verb = "takes more instructions" if added > 0 else "takes fewer instructions"
        caller = path[-2]
        return Finding(
            kind="culprit",
            rank=rank,
            function=change.function,
            file=file,
            lines=[change.line, change.line + 3],
            instructions_per_op=own,
            self_instructions_per_op=own,
            calls_per_op=PerSide(base=1.0, head=1.0),
            cpu_ns_per_op=PerSide(base=round(cost * before[path], 1), head=round(cost * after[path], 1)),
            self_cpu_ns_per_op=PerSide(base=round(cost * before[path], 1), head=round(cost * after[path], 1)),
            share_of_change=1.0 if len(self.planted) == 1 else round(1 / len(self.planted), 3),
            in_diff=True,
            callers=[
                Caller(function=caller, file=file_of(caller), calls_per_op=PerSide(base=1.0, head=1.0), in_diff=False)
            ],
            text=(
                f"`{change.function}` ({file}, changed here) itself {verb} ({own.base:,.0f} -> {own.head:,.0f} per"
                f" request): {added:+,.0f} instructions, 100 % of the change."
            ),
        )
