"""What to do next: a resolved request and its results in, the next jobs out. Pure: no clock, file, blob or process."""

import contextlib
import gc
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

from zerolap.documents import Results, TimedTrials, Trials, worth_profiling, worth_sampling
from zerolap.engines import ALLOCATED, COMPARING, PAIRS_PER_START, PASSES, TRACED_PASSES
from zerolap.judge import (
    ALL_LOOKS,
    LOOKS,
    MAX_BLOCKS,
    MIN_BLOCKS,
    Bank,
    blocks_are_undecided,
    changed_in_time,
    undecided_in_time,
)
from zerolap.lab.regime_plan import RegimePlan
from zerolap.lab.regimes import ChosenRegimes
from zerolap.records import (
    ANCHOR,
    BASE,
    HEAD,
    QUICK_SCALE,
    TRACED,
    Activity,
    Amounts,
    ArchiveSource,
    Block,
    BuildJob,
    BuildSpec,
    Case,
    Progress,
    Request,
    Resolved,
    ServerSpec,
    Side,
    TrialsJob,
)

SEEDS_PER_REQUEST = 1000
"""Blocks of one request take seeds next to each other, requests with different `--seed` seeds far apart."""

STARTS_AS_BUILT = LOOKS[0]
"""Starts of the programs as they were built, of a case whose time changed."""

RUN_BLOCKS = 3
"""Blocks of a case that is counted on one server only: enough to show how well it repeats."""


def build_jobs(request: Request, specs: Mapping[Side, BuildSpec], there: Container[str]) -> list[BuildJob]:
    """Return the jobs that can be begun of those that build the servers of a request which are not `there`.

    Those that are built from source may use the objects of the first such one, which is the anchor or the base of a
    comparison, or of an earlier build that the request names: what a change was made to is trusted before the change.
    """
    first = request.objects_of or next((spec.digest for spec in specs.values() if spec.recipe), None)
    missing: dict[str, BuildJob] = {}
    for side, spec in specs.items():
        server = request.servers[side]
        if spec.digest not in there and isinstance(server.source, ArchiveSource):
            objects_of = first if spec.recipe and spec.digest != first else None
            job = BuildJob(
                request=request.id, source=server.source, variant=server.variant, spec=spec, objects_of=objects_of
            )
            missing[job.id] = job
    awaited = {job.spec.digest for job in missing.values()}
    return [job for job in missing.values() if job.objects_of not in awaited]


class Planner:
    """Plans one request. `bank` is how much starts differed on the platform before."""

    def __init__(self, resolved: Resolved, bank: Bank | None = None) -> None:
        self.resolved = resolved
        self._bank = bank or {}
        self._most_starts = resolved.request.most_starts
        self._first_amounts = first_amounts(resolved)
        self._servers = {case.name: servers_of(resolved, case) for case in resolved.cases}
        count_specs = {side: server.count_spec for side, server in resolved.servers.items()}
        self._count_builds = {side: spec.digest for side, spec in count_specs.items() if spec is not None}
        # Where a case was read from is of this machine; it is known by its name.
        unplaced = {"file": "", "line": 0, "warnings": []}
        self._sent_cases = {case.name: case.model_copy(update=unplaced) for case in resolved.cases}
        # What takes longest is not to begin last, when nothing else is left to do beside it.
        self._counting_order = sorted(resolved.cases, key=_setup_commands, reverse=True)
        # What follows from results that do not change any more, once for all plans.
        self._blocks_go_on: dict[tuple[str, str, int], bool] = {}
        self._jobs: dict[tuple[str, str, int], TrialsJob] = {}
        self._looks: dict[tuple[tuple[str, int], ...], frozenset[str]] = {}
        self._changes: dict[tuple[object, ...], frozenset[str]] = {}
        self._sampled: list[Case] | None = None
        self._profiled: list[Case] | None = None
        self._regimes: RegimePlan | None = None

    def awaits_regimes(self, results: Results) -> bool:
        """Return whether all cases are counted, and it is to be chosen in which regimes they are counted besides."""
        asked = self.resolved.kind == "compare" and self.resolved.request.regimes != "none"
        if not asked or self._regimes is not None:
            return False
        left = results.seconds_left(counting=True)
        return not self._counting(results, left) and (left is None or left > 0)

    def add_regimes(self, chosen: ChosenRegimes) -> None:
        """Have these cases in regimes counted too, and timed where they changed."""
        self._regimes = RegimePlan(chosen, self._bank)
        self._servers |= {case.name: servers_of(self.resolved, case) for case in chosen.cases}
        self._sent_cases |= {case.name: case.model_copy(update={"file": "", "line": 0}) for case in chosen.cases}

    def next_jobs(self, results: Results) -> list[TrialsJob]:
        """Return the jobs that can be begun, in order; none when the request is done.

        All of them are of one engine. The same results give the same jobs.
        """
        left = results.seconds_left()
        with _garbage_kept():
            jobs = self._counting(results, results.seconds_left(counting=True))
            if jobs or (left is not None and left <= 0):
                return jobs
            jobs = self._timing(results, left) or self._measuring(results, left) or self._sampling(results, left)
            return jobs or self._profiling(results, left) or self._starts_as_built(results, left)

    def progress(self, results: Results, job: TrialsJob) -> Progress:
        """Return how far the trials of a job's kind have come."""
        activity, expected, done = self._expected(results, job.engine)
        return Progress(
            activity=activity,
            subject=job.case.name,
            cases=len(expected),
            done=done,
            expected=max(done, sum(expected.values())),
        )

    def _expected(self, results: Results, engine: str) -> tuple[Activity, Mapping[str, int], int]:
        """Return the activity, about how many trials each case takes, and how many have been carried out."""
        names = [case.name for case in self.resolved.cases]
        sides = len(self.resolved.servers)
        if engine == "timed":
            timed = results.timed
            starts = {name: timed[name].all_starts if name in timed else 0 for name in names}
            expected = {
                name: starts[name] if name in timed and timed[name].is_over else max(starts[name], LOOKS[0])
                for name in names
                if self._may_be_timed(results, name)
            }
            return "timing", expected, sum(starts.values())
        by_case = {"counted": results.counted, "sampled": results.sampled}.get(engine, results.other.get(engine, {}))
        done = {name: len(by_case[name].all) if name in by_case else 0 for name in names}
        if engine == "counted":
            least = self._first_blocks * sides
            over = results.identical | {name for name, trials in by_case.items() if trials.is_over}
            expected = {name: done[name] if name in over else max(done[name], least) for name in names}
            return "counting", expected, sum(done.values())
        if engine == "sampled":
            chosen = {case.name: sides * PASSES for case in self._worth_sampling(results)}
            return "sampling", chosen, sum(done.values())
        if engine == ALLOCATED:
            return "measuring", {case.name: sides for case in self._profiled or ()}, sum(done.values())
        least = sides * (MIN_BLOCKS if self.resolved.kind == "compare" else 1)
        if engine == TRACED:
            least = sides * TRACED_PASSES
        return "measuring", {name: max(done[name], least) for name in names}, sum(done.values())

    @property
    def _first_blocks(self) -> int:
        if self.resolved.kind == "compare":
            return MIN_BLOCKS
        chosen = self.resolved.request.counted_blocks
        return chosen or (1 if self.resolved.settings.quick else RUN_BLOCKS)

    def _counting(self, results: Results, left: float | None) -> list[TrialsJob]:
        if "counted" not in self.resolved.settings.engines or (left is not None and left <= 0):
            return []
        jobs = []
        for case in self._counting_order:
            trials = results.counted.get(case.name)
            chosen = self.resolved.request.windows.get(case.name)
            windows = chosen if trials is None or not trials.jobs_done else trials.windows
            amounts = Amounts(windows=windows, scale=QUICK_SCALE if self.resolved.settings.quick else 1.0)
            jobs += [self._job(case, "counted", blocks, amounts, left) for blocks in self._next_blocks(trials, results)]
        jobs += self._counting_in_regimes(results, left)
        # First blocks take longest, as they record more than others. A budget that is short is used up case by case.
        return jobs if left is not None else sorted(jobs, key=lambda job: job.blocks[0].number > 0)

    def _next_blocks(self, trials: Trials | None, results: Results) -> Sequence[Sequence[int]]:
        """Return the blocks of each of a case's next counted jobs.

        The first block of a comparison shows whether both sides execute the same instructions, which ends it unless
        their bytes differ. Else the
        first few follow, each by a job of its own, as they may be carried out side by side; then one more as long as
        that may decide.
        """
        if trials is not None and trials.is_over:
            return []
        if trials is None or not trials.jobs_done:
            return [range(self._first_blocks if self.resolved.kind == "run" else 1)]
        if self.resolved.kind == "run" or results.is_counted_out(trials):
            return []
        done = trials.whole_blocks
        missing = [[block] for block in range(self._first_blocks) if block not in done]
        if missing:
            return missing if trials.jobs_done < self._first_blocks else []
        if len(done) >= MAX_BLOCKS:
            return []
        return [[len(done)]] if self._is_undecided("counted", trials) else []

    def _counting_in_regimes(self, results: Results, left: float | None) -> list[TrialsJob]:
        jobs: list[TrialsJob] = []
        if self._regimes is None:
            return jobs
        for case in self._regimes.cases:
            trials = results.counted.get(case.name)
            windows = None if trials is None or not trials.jobs_done else trials.windows
            amounts = Amounts(windows=windows, scale=QUICK_SCALE if self.resolved.settings.quick else 1.0)
            blocks = self._regimes.next_blocks(case, results, partial(self._is_undecided, "counted"))
            jobs += [self._job(case, "counted", of_job, amounts, left) for of_job in blocks]
        return jobs

    def _is_undecided(self, engine: str, trials: Trials) -> bool:
        key = (engine, trials.case.name, trials.blocks)
        if key not in self._blocks_go_on:
            blocks, cases = (trials.whole[BASE], trials.whole[HEAD]), len(self.resolved.cases)
            self._blocks_go_on[key] = blocks_are_undecided(engine, blocks, self.resolved.settings, cases)
        return self._blocks_go_on[key]

    def _timing(self, results: Results, left: float | None) -> list[TrialsJob]:
        """Return the next start of each case that has not had as many as its next look takes.

        Starts of all cases alternate: what the machine does for a while meets every case, and none alone. All cases are
        looked at together, as how much starts differ is judged from all of them.
        """
        settings = self.resolved.settings
        if "timed" not in settings.engines or settings.quick:
            return []
        cases = [case for case in self.resolved.cases if self._may_be_timed(results, case.name)]
        cases += self._regimes.to_be_timed(results) if self._regimes is not None else []
        jobs = self._next_starts(cases, results, left)
        if not jobs and results.not_to_be_timed and self._sample_has_changed(results, len(cases)):
            # What identical code shows of some cases it may show of all.
            uncertain = [
                case for case in self.resolved.cases if self._may_be_timed(results, case.name, also_identical=True)
            ]
            jobs = self._next_starts(uncertain, results, left)
        return jobs

    def _starts_as_built(self, results: Results, left: float | None) -> list[TrialsJob]:
        """Return the next start of the programs as they were built, of each case whose time changed in random layouts.

        What users get has one layout, in which the change may be another. It decides nothing, so that it comes last.
        """
        if self._most_starts is not None:
            return []
        starts = {
            name: trials.of_cost.blocks
            for name, trials in results.timed.items()
            if trials.of_cost.usable and trials.of_cost.blocks >= LOOKS[0] and trials.of_cost.is_placed
        }
        jobs = []
        for case in self.resolved.cases:
            if case.name not in starts or case.name not in self._changed_in_time(starts, results, len(starts)):
                continue
            trials = results.timed[case.name]
            as_built = trials.as_built
            if as_built is None or (as_built.blocks < STARTS_AS_BUILT and not as_built.is_over):
                amounts = trials.of_cost.amounts_after(1).model_copy(update={"as_built": True, "open_loop": None})
                jobs.append(self._next_start(case, as_built, amounts, left))
        first = min((job.blocks[0].number for job in jobs), default=0)
        return [job for job in jobs if job.blocks[0].number == first]

    def _changed_in_time(self, starts: Mapping[str, int], results: Results, cases: int) -> frozenset[str]:
        """Return the cases whose time has changed for certain, by so many starts of each.

        It holds also if no other of so many `cases` has changed.
        """
        key = (cases, *sorted(starts.items()))
        if key not in self._changes:
            looked_at = {name: results.timed[name].looked_at(number) for name, number in starts.items()}
            comparisons = results.metrics_judged * cases
            self._changes[key] = changed_in_time(looked_at, self.resolved.settings, self._bank, comparisons)
        return self._changes[key]

    def _next_starts(self, cases: Sequence[Case], results: Results, left: float | None) -> list[TrialsJob]:
        looks = {case.name: 1 for case in cases}
        while True:
            missing = [
                job
                for case in cases
                if (job := self._start(case, looks[case.name], results.timed.get(case.name), left)) is not None
            ]
            if missing:
                first = min(job.blocks[0].number for job in missing)
                return sorted((job for job in missing if job.blocks[0].number == first), key=_turn_in_block)
            if len(self.resolved.servers) < 2 or self._has_most_starts(looks):
                return []
            wanted = self._undecided(looks, results)
            if not wanted:
                return []
            looks = {name: look + (name in wanted) for name, look in looks.items()}

    def _has_most_starts(self, looks: Mapping[str, int]) -> bool:
        """Whether no case may have more starts than these looks take."""
        most = self._most_starts
        return most is not None and all(ALL_LOOKS[look - 1] >= most for look in looks.values())

    def _sample_has_changed(self, results: Results, cases: int) -> bool:
        """Whether one of so many timed cases takes another time although its code is identical."""
        sampled = {
            case.name: trials.of_cost.blocks
            for case in self.resolved.cases
            if case.name in results.identical
            and (trials := results.timed.get(case.name)) is not None
            and trials.of_cost.usable
            and case.name not in results.not_to_be_timed
        }
        return bool(self._changed_in_time(sampled, results, cases))

    def _may_be_timed(self, results: Results, name: str, *, also_identical: bool = False) -> bool:
        """Whether nothing that was counted speaks against timing a case."""
        if name in results.counted and results.counted[name].speaks_against_case:
            return False
        return also_identical or name not in results.not_to_be_timed

    def _start(self, case: Case, looks: int, at_full_speed: TimedTrials | None, left: float | None) -> TrialsJob | None:
        """Return the next start of a case that is to have so many looks; none where it has had them.

        Where requests came in unequal batches at full speed, as many starts at an equal rate are wanted.
        """
        wanted = ALL_LOOKS[looks - 1]
        if self._most_starts is not None:
            wanted = min(wanted, self._most_starts)
        if at_full_speed is None:
            return self._job(case, "timed", [0], self._first_amounts, left)
        if at_full_speed.blocks < wanted and not at_full_speed.is_over:
            return self._next_start(case, at_full_speed, self._first_amounts, left)
        batching = at_full_speed.batching()
        paced = at_full_speed.paced
        if batching is None or (paced is not None and (paced.blocks >= wanted or paced.is_over)):
            return None
        amounts = at_full_speed.amounts_after(LOOKS[0])
        amounts = amounts.model_copy(update={"per_second": batching.per_second, "open_loop": None})
        return self._next_start(case, paced, amounts, left)

    def _next_start(self, case: Case, trials: TimedTrials | None, amounts: Amounts, left: float | None) -> TrialsJob:
        """Return the start after those of some trials; what the one before chose holds for it too."""
        if trials is not None and trials.blocks:
            amounts = trials.amounts_after(trials.blocks)
        return self._job(case, "timed", [0 if trials is None else trials.next_block], amounts, left)

    def _undecided(self, looks: Mapping[str, int], results: Results) -> frozenset[str]:
        """Return the cases that a further look could decide, judged by the starts up to the looks that they had."""
        key = tuple(sorted(looks.items()))
        if key not in self._looks:
            looked_at = {
                name: trials.looked_at(ALL_LOOKS[look - 1])
                for name, look in looks.items()
                if (trials := results.timed.get(name)) is not None
                and trials.of_cost.usable
                and trials.of_cost.blocks >= LOOKS[0]
            }
            # q is over all metrics of all cases: a change has to hold against as many in the end.
            comparisons = results.metrics_judged * len(looks)
            sample, settings = results.sample_of_identical, self.resolved.settings
            undecided = undecided_in_time(looked_at, sample, settings, self._bank, comparisons)
            self._looks[key] = frozenset(name for name in undecided if not results.timed[name].of_cost.is_over)
        return self._looks[key]

    def _measuring(self, results: Results, left: float | None) -> list[TrialsJob]:
        """Return the next trials of the other engines: tracing, a load tool on one server, and plugins."""
        others = [engine for engine in self.resolved.settings.engines if engine not in COMPARING]
        load_tool = self.resolved.settings.load_tool
        return [
            self._job(case, engine, blocks, Amounts(), left, load_tool=load_tool)
            for case in self.resolved.cases
            for engine in others
            if (blocks := self._blocks_of_other(engine, results.other.get(engine, {}).get(case.name)))
            and not (engine == TRACED and self._speaks_against_tracing(case, results))
        ]

    def _speaks_against_tracing(self, case: Case, results: Results) -> bool:
        """Whether a trial of the case by another engine failed or was invalid, as a traced one would be too."""
        others = (results.counted.get(case.name), results.timed.get(case.name))
        return any(trials is not None and trials.speaks_against_case for trials in others)

    def _blocks_of_other(self, engine: str, trials: Trials | None) -> Sequence[int]:
        """Return the blocks of a case's next job: of a run one, of a comparison as counted ones, without identity.

        What is traced is not judged: it has as many passes in both.
        """
        if engine == TRACED:
            return [] if trials is not None and trials.jobs_done else range(TRACED_PASSES)
        if trials is None or not trials.jobs_done:
            return range(MIN_BLOCKS if self.resolved.kind == "compare" else 1)
        if self.resolved.kind == "run" or trials.is_over or not MIN_BLOCKS <= trials.blocks < MAX_BLOCKS:
            return []
        return [trials.blocks] if self._is_undecided(engine, trials) else []

    def _sampling(self, results: Results, left: float | None) -> list[TrialsJob]:
        if "sampled" not in self.resolved.settings.engines:
            return []
        return [
            self._job(case, "sampled", range(PASSES), Amounts(), left)
            for case in self._worth_sampling(results)
            if case.name not in results.sampled or not results.sampled[case.name].jobs_done
        ]

    def _profiling(self, results: Results, left: float | None) -> list[TrialsJob]:
        """Return a trial that finds out where bytes are allocated, of each case whose counted bytes changed."""
        if self.resolved.kind != "compare" or not results.counted:
            return []
        if self._profiled is None:
            self._profiled = worth_profiling(results, self._bank)
        profiled = results.other.get(ALLOCATED, {})
        return [
            self._job(case, ALLOCATED, [0], Amounts(windows=results.counted[case.name].windows), left)
            for case in self._profiled
            if case.name not in profiled or not profiled[case.name].jobs_done
        ]

    def _worth_sampling(self, results: Results) -> list[Case]:
        """Return the cases to be sampled, which the trials of all other engines decide."""
        if self._sampled is None:
            self._sampled = worth_sampling(results, self._bank)
        return self._sampled

    def _job(
        self,
        case: Case,
        engine: str,
        blocks: Sequence[int],
        amounts: Amounts,
        left: float | None,
        load_tool: str | None = None,
    ) -> TrialsJob:
        # Counted jobs of a case may be under way together; of others only the last is asked for again.
        key = (case.name, engine, blocks[0] if engine == "counted" else 0)
        job = self._jobs.get(key)
        if job is None or job.amounts != amounts or [block.number for block in job.blocks] != [*blocks]:
            seed = self.resolved.settings.seed
            job = self._jobs[key] = TrialsJob(
                request=self.resolved.id,
                case=self._sent_cases[case.name],
                servers=self._servers[case.name],
                count_builds=self._count_builds if engine == "counted" and blocks[0] == 0 else {},
                engine=engine,
                blocks=tuple(Block(number=block, seed=seed_of(seed, block)) for block in blocks),
                amounts=amounts,
                load_tool=load_tool,
            )
        return job if left is None else job.model_copy(update={"seconds_left": left})


@contextlib.contextmanager
def _garbage_kept() -> Iterator[None]:
    """Keep the garbage collector from looking through all results while a plan is made.

    With hundreds of cases that takes longer than the plan, in which there is nothing for it to find. At the end it
    looks through the new objects only; without that, the next new object would start the pass over all results.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.collect(0)
            gc.enable()


def first_amounts(resolved: Resolved) -> Amounts:
    """Return what the first start of a case is asked for: of a comparison that is to be judged an open loop too.

    Searches of a history, with an anchor or few starts of each commit, ask for CPU time alone.
    """
    is_searched = resolved.request.most_starts is not None or ANCHOR in resolved.servers
    has_open_loop = resolved.kind == "compare" and not is_searched
    return Amounts(pairs=PAIRS_PER_START, open_loop=() if has_open_loop else None)


def _turn_in_block(job: TrialsJob) -> int:
    """Return what cases are ordered by within a block: those that share a start do not always follow the same one."""
    return zlib.crc32(f"{job.blocks[0].seed} {job.case.name}".encode())


def seed_of(seed: int, block: int) -> int:
    """Return the seed of a block of a request with that `--seed`."""
    return (seed * SEEDS_PER_REQUEST + block) % 2**64


def servers_of(resolved: Resolved, case: Case) -> dict[Side, ServerSpec]:
    """Return the servers that a case is measured on: the user's settings go before those of the case."""
    return {
        side: ServerSpec(build=server.spec.digest, topology=case.topology, config={**case.config, **server.config})
        for side, server in resolved.servers.items()
    }


def _setup_commands(case: Case) -> int:
    return 0 if case.dataset is None else len(case.dataset.after_load) + len(case.dataset.setup)
