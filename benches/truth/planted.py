"""Changes of known size: chains of instructions planted in a command, whose time is measured outside of the server.

A chain is a number of square roots, each of the result of the one before. No processor can shorten it, and whatever
else runs on the core hardly makes it longer. Fences before and after keep it apart from the code around. It is a loop,
and the base has a chain of one square root: both sides have the same code but for the number of rounds. So the change
is the chain's time and nothing else, and its instructions are its length. A program that executes nothing but fences
and chains measures the time, before and after each comparison, on the processor of the servers, with a busy neighbour
on that of the load generator.

The command takes the server far longer than the load generator. In one that takes a microsecond, what surrounds the
chain gets slower too: 14.1 % planted in GET came to 15.0 %, though by the time-stamp counter the chain took in the
server what it takes alone.
"""

import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benches.truth.case_data import CaseData, MetricData, cases_in, cases_of, data_of
from benches.truth.changes_in_time import WAIT, insert
from benches.truth.edited import Edited
from benches.truth.estimates import share_error
from benches.truth.harmless import Edit, harmless_edits
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.neighbours import endless
from benches.truth.nulls import TIMED_ALONE
from benches.truth.samples import Data, Experiment, PlannedSample, Sample, Unavailable
from benches.truth.sampling import METRIC, pair_of
from zerolap import Options
from zerolap.host import choose_pinning, read_processors
from zerolap.judge import DEFAULT_MIN_EFFECT, LOOKS, judge_timed, look_at_time, spread_of_starts
from zerolap.records import Spread

CASE = "geosearch-100km"
GEOSEARCH = "void geosearchCommand(client *c) {\n"
LENGTHS = (0, 37, 74, 185, 445)
"""Square roots more than the base's; one takes about five nanoseconds, the command some ten to twenty thousand."""
BASE_LENGTH = 1
INSTRUCTIONS_PER_ROUND = 3
COMPARISONS = 40
"""Of each length."""
WAITED_NS = 500
LEVEL = 0.95
BLOCKS, CALLS = 40, 2_000
LARGEST_DOUBT = 0.003
"""Of the change: with more between before and after a comparison, its truth is not known well enough."""
CHAIN = """
#if defined(__x86_64__)
#define PLANTED_FENCE "lfence\\n"
#define PLANTED_ROUND "sqrtsd %0, %0\\nsubl $1, %1\\njnz 1b\\n"
#define PLANTED_REGISTER "+x"
#elif defined(__aarch64__)
#define PLANTED_FENCE "isb\\n"
#define PLANTED_ROUND "fsqrt %d0, %d0\\nsubs %w1, %w1, #1\\nb.ne 1b\\n"
#define PLANTED_REGISTER "+w"
#else
#error "no chain is known for this processor"
#endif
#define PLANTED_CHAIN(LENGTH) do { double value = 1; int left = LENGTH; __asm__ volatile( \\
    PLANTED_FENCE "1:\\n" PLANTED_ROUND PLANTED_FENCE \\
    : PLANTED_REGISTER(value), "+r"(left) : : "memory", "cc"); } while (0)

"""
CALIBRATION = """
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}
#define BLOCK(NAME, WORK) do { double began = nanoseconds(); \\
    for (int call = 0; call < CALLS; call++) { WORK; } \\
    printf("%s %.4f\\n", NAME, (nanoseconds() - began) / CALLS); } while (0)
int main(int count, char **arguments) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(atoi(arguments[count - 1]), &processors);
    if (sched_setaffinity(0, sizeof processors, &processors)) return 1;
    for (int block = 0; block < BLOCKS; block++) {
        WORKS
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Calibration:
    """How much longer a chain takes than the base's, by length, and the time of a wait of `WAITED_NS`.

    In nanoseconds: medians of blocks.
    """

    chains_ns: Mapping[int, float]
    wait_ns: float


def plant(length: int) -> Edit:
    """Return an edit that plants a chain in GEOSEARCH, so much longer than the base's."""
    return lambda source: insert(source, CHAIN, GEOSEARCH, _chain(length), name="geo.c")


def replant(length: int) -> Edit:
    """Return an edit that makes the base's chain longer."""

    def edit(source: Path) -> None:
        file = source / "geo.c"
        file.write_text(file.read_text("latin-1").replace(_chain(0), _chain(length)), "latin-1")

    return edit


def _chain(length: int) -> str:
    return f"    PLANTED_CHAIN({BASE_LENGTH + length});\n"


def calibration_program(directory: Path) -> Path:
    """Compile the program that measures chains and waits; raises `Unavailable` where that fails."""
    works = [f'BLOCK("{length}", PLANTED_CHAIN({BASE_LENGTH + length}));' for length in LENGTHS]
    works.append(f'BLOCK("wait", waitNanoseconds({WAITED_NS}));')
    directory.mkdir(parents=True, exist_ok=True)
    source, program = directory / "calibration.c", directory / "calibration"
    text = CALIBRATION.replace("WORKS", "\n        ".join(works))
    source.write_text(f"#define _GNU_SOURCE\n#define CALLS {CALLS}\n#define BLOCKS {BLOCKS}\n" + WAIT + CHAIN + text)
    compiled = subprocess.run(
        ["cc", "-O2", "-o", str(program), str(source)], check=False, capture_output=True, text=True
    )
    if compiled.returncode:
        raise Unavailable(f"the calibration cannot be compiled: {compiled.stderr.strip()[-300:]}")
    return program


def calibrate(program: Path) -> Calibration:
    """Measure for about a second, on the processor of servers, with a busy neighbour on that of the client."""
    pinning = choose_pinning(read_processors())
    with endless(1, pinning.client):
        printed = subprocess.run(
            [str(program), str(pinning.server[0])], capture_output=True, text=True, check=True
        ).stdout
    blocks: dict[str, list[float]] = {}
    for line in printed.splitlines():
        name, value = line.split()
        blocks.setdefault(name, []).append(float(value))
    medians = {name: statistics.median(values) for name, values in blocks.items()}
    return Calibration({length: medians[str(length)] - medians["0"] for length in LENGTHS}, medians["wait"])


def edited(length: int, directory: Path) -> Edited:
    """Return a clone whose head has a longer chain than its base; with no more length it has an unused function."""
    change = replant(length) if length else harmless_edits()["unused function of 8 lines in sds.c"]
    return Edited.make(directory / "edited" / str(length), plant(0), change)


def _timed(length: int, directory: Path, seed: int) -> Data:
    program, clone, store = calibration_program(directory), edited(length, directory), directory / "store"
    before = calibrate(program)
    compared = clone.compare(Options(engines=TIMED_ALONE, seed=seed), store, [CASE])
    after = calibrate(program)
    planted_ns = [round(calibration.chains_ns[length], 3) for calibration in (before, after)]
    return data_of(compared, store, length=length, planted_ns=planted_ns)


def _counted(length: int, directory: Path, seed: int) -> Data:
    compared = edited(length, directory).compare(Options(engines=["counted"], seed=seed), directory / "store", [CASE])
    return data_of(compared, directory / "store", length=length)


def _plan(directory: Path) -> list[PlannedSample]:
    return [
        PlannedSample(f"{length}, {number}", partial(_timed, length, directory))
        for number in range(1, COMPARISONS + 1)
        for length in LENGTHS
    ]


def _plan_of_work(directory: Path) -> list[PlannedSample]:
    return [PlannedSample(str(length), partial(_counted, length, directory)) for length in LENGTHS if length]


EXPERIMENT = Experiment(
    "planted", 2, ["planted.py", "changes_in_time.py"], _plan, lambda data: truth_of(data) is not None
)
WORK = Experiment("planted_work", 2, ["planted.py"], _plan_of_work)


@dataclass(frozen=True)
class Interval:
    """An interval of a change that has a known truth."""

    low: float
    high: float
    truth: float

    @property
    def holds(self) -> bool:
        """Whether the truth is in it."""
        return self.low <= self.truth <= self.high


def interval(
    log_ratios: Sequence[float], truth: float, earlier: Sequence[Spread], level: float = LEVEL
) -> Interval | None:
    """Return the interval that verdicts would have, had they one look at this level.

    A comparison states an interval for all looks at 99 %. The judge gets as q the error of all looks together at which
    the look that it ended with has this level. Its prior is of the comparisons before.
    """
    effect, pairs = DEFAULT_MIN_EFFECT["timed"], list(map(pair_of, log_ratios))
    q = look_at_time(effect, len(pairs)).of_all(1 - level)
    judged = judge_timed(METRIC, {CASE: pairs}, effect, earlier, q).get(CASE)
    return None if judged is None else Interval(judged.verdict.low, judged.verdict.high, truth)


def truth_of(data: Data) -> tuple[CaseData, MetricData, float] | None:
    """Return a planted case, its verdict on CPU time, and the true change; none where one of them is not known."""
    [case] = cases_in(data)
    metric = case.metric(METRIC)
    if metric is None or not metric.base or not case.log_ratios:
        return None
    before, after = (planted_ns / metric.base for planted_ns in data["planted_ns"])
    return None if abs(after - before) / 2 > LARGEST_DOUBT else (case, metric, (before + after) / 2)


def coverage(samples: Sequence[Sample]) -> Estimate | None:
    """Return the share of intervals at 95 % that hold the planted change."""
    held: dict[int, list[bool]] = {}
    errors: dict[int, list[float]] = {}
    first, stated = [], []
    earlier: list[Spread] = []
    for sample in samples:
        known = truth_of(sample.data)
        if known is None:
            continue
        case, metric, truth = known
        whole = interval(case.log_ratios, truth, earlier)
        of_first = interval(case.log_ratios[: LOOKS[0]], truth, earlier)
        spread = spread_of_starts(METRIC, [*map(pair_of, case.log_ratios)])
        if spread is not None:
            earlier.append(spread)
        if whole is None or of_first is None:
            continue
        held.setdefault(sample.data["length"], []).append(whole.holds)
        errors.setdefault(sample.data["length"], []).append((metric.change or 0.0) - truth)
        first.append(of_first.holds)
        stated.append(metric.holds(truth))
    every = [one for of_length in held.values() for one in of_length]
    if not every:
        return None
    share = sum(every) / len(every)
    notes = [
        f"standard error {share_error(share, len(every)):.1%};"
        f" {len(samples) - len(every)} comparisons without a known truth",
        f"of the first {LOOKS[0]} starts: {sum(first) / len(first):.1%}; as stated, at 99 % for all looks:"
        f" {sum(stated) / len(stated):.1%}",
        *(
            f"{length} square roots: {sum(of_length)} of {len(of_length)}, mean error"
            f" {statistics.fmean(errors[length]):+.2%}"
            for length, of_length in sorted(held.items())
        ),
    ]
    return Estimate(share, len(every), notes)


def exact_work(samples: Sequence[Sample]) -> Estimate:
    """Return the share of counted comparisons whose interval holds the planted instructions."""
    held, notes = 0, []
    for sample in samples:
        [case] = cases_of(sample)
        metric, planted = case.metric("instructions_per_op"), INSTRUCTIONS_PER_ROUND * sample.data["length"]
        if metric is None or not metric.base or metric.change is None:
            notes.append(f"{planted} instructions: not counted")
            continue
        held += metric.holds(planted / metric.base)
        notes.append(f"{planted} instructions: {metric.base * metric.change:+.2f} counted")
    return Estimate(held / len(samples), len(samples), notes)


FIGURES = [
    TruthFigure(
        "coverage_95",
        "of intervals",
        [EXPERIMENT],
        len(LENGTHS) * COMPARISONS,
        "comparisons",
        coverage,
        Limit(least=0.93, most=0.97),
    ),
    TruthFigure(
        "planted_instructions",
        "of lengths",
        [WORK],
        len(LENGTHS) - 1,
        "comparisons",
        exact_work,
        Limit(least=1.0),
    ),
]
