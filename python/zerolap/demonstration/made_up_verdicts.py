"""Verdicts on made-up cases, with the reasons that they have: they agree with the changes that were planted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.demonstration.made_up_functions import file_of, function_tree
from zerolap.demonstration.made_up_server import PLANTED, Machine, MadeUpServer, PlantedChange, relative
from zerolap.demonstration.made_up_trials import COUNTED_BLOCKS, COUNTED_SCATTER, STARTS, MadeUpMetrics
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

    case: Case
    of_base: MadeUpMetrics
    of_head: MadeUpMetrics
    is_timed: bool
    counted_blocks: int = COUNTED_BLOCKS
    starts: int = STARTS

    @property
    def server(self) -> MadeUpServer:
        """The server of which both are commits."""
        return self.of_head.server

    @property
    def base(self) -> int:
        """The position of the base."""
        return self.of_base.position

    @property
    def head(self) -> int:
        """The position of the head."""
        return self.of_head.position

    @property
    def machine(self) -> Machine:
        """Where it was measured."""
        return self.of_head.machine

    @property
    def is_identical(self) -> bool:
        """Whether both sides execute the same."""
        return self.server.is_identical(self.base, self.head, self.case.name)

    def result(self) -> CaseResult:
        """Return what a comparison concludes."""
        verdicts = [self._verdict(metric, "counted") for metric in COUNTED]
        verdicts += [self._verdict(metric, "timed") for metric in TIMED if self.is_timed]
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

    def _verdict(self, metric: str, engine: str) -> Verdict:
        """Return the verdict on a metric: its values are the means of the trials."""
        samples = self.counted_blocks if engine == "counted" else self.starts
        base, head = (side.mean(engine, metric, samples) for side in (self.of_base, self.of_head))
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
        own, own_cpu = (_per_side(*self._own(change, machine)) for machine in (None, self.machine))
        path = next(path for path in function_tree(change.case) if path[-1] == change.function)
        before, after = self._own(change, None)
        added = after - before
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
            cpu_ns_per_op=own_cpu,
            self_cpu_ns_per_op=own_cpu,
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

    def _own(self, change: PlantedChange, machine: Machine | None) -> tuple[float, float]:
        """Return what a function itself takes before and after its change: CPU time of a machine, or instructions."""
        before, after = (self._own_at(change, place, machine) for place in (change.position - 1, change.position))
        return before, after

    def _own_at(self, change: PlantedChange, place: int, machine: Machine | None) -> float:
        weights = self.server.function_weights(change.case, place, machine)
        cost = (
            self.server.instructions(change.case, place)
            if machine is None
            else self.server.nanoseconds(change.case, place, machine)
        )
        own = sum(weight for path, weight in weights.items() if path[-1] == change.function)
        return round(cost * own / sum(weights.values()), 1)


def _per_side(base: float, head: float) -> PerSide:
    return PerSide(base=base, head=head)
