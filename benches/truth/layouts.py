"""What random placement leaves of the bias of a layout: the release of the demo's Redis with unused additions.

Each addition, a variable, constant or function of some size that nothing uses, moves what lies behind it. The release
with it is timed against the release alone, each start with a placement of its own. If placement makes variance of all
that layout is, the mean change of every addition is 0 but for the error of sampling.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.comparing import DEMO_REPOSITORY
from benches.figures import DIRECTORY, Figure
from zerolap.build import Builder, BuiltServer, Program, resolve
from zerolap.build.compilers import SECTIONS_FLAGS
from zerolap.build.placement import Relinkable
from zerolap.cases import core_suite
from zerolap.engines.timed import TimedStart, time_start
from zerolap.host import choose_pinning, read_processors
from zerolap.judge import TimedPair
from zerolap.records import BASE, HEAD, Amounts, Case, ServerSpec
from zerolap.sandbox import SandboxPolicy

METRIC = "cpu_ns_per_op"
CASES = ("xadd-auto-id", "get-100B")
SIZES_BYTES = (1, 8, 24, 64, 100, 200, 500, 1000, 2048, 8192)
ADDITIONS = {
    "bss": "char unusedAddition[{size}];",
    "data": "char unusedAddition[{size}] = {{1}};",
    "rodata": "extern const char unusedAddition[{size}]; const char unusedAddition[{size}] = {{1}};",
    "text": 'void unusedAddition(void) {{ __asm__ volatile(".fill {size}, 1, 0x90"); }}',
}
"""The source of an addition, by the section that it goes to."""
ADDED_TO = "networking.o"
"""Placed as a part of this file, whose functions every request executes."""
STARTS = 12
"""Of each addition and case."""
LEVEL = 0.95
SAMPLES = DIRECTORY / "truth-layouts.json"
PERCENT = 100


@dataclass(frozen=True)
class Sample:
    """What one start came to: the log ratio of the build with an addition to the build without."""

    build: str
    case: str
    addition: str
    seed: int
    log_ratio: float


@dataclass(frozen=True)
class Spread:
    """The standard deviation of the true mean changes of groups about 0, with its interval, as log ratios."""

    deviation: float
    low: float
    high: float


def residual_layout_sd() -> dict[str, Figure]:
    """Time every addition; starts that an earlier call has measured are kept, so that it can be continued."""
    samples: list[Sample] = []
    for sample in _measured():
        samples.append(sample)
        print(f"{sample.case}, {sample.addition}: {sample.log_ratio:+.2%}", file=sys.stderr)
    return {"residual_layout_sd": figure_of(samples)}


def figure_of(samples: Sequence[Sample]) -> Figure:
    """Return the figure of what was measured: of all additions in all cases, and in the notes of each case."""
    by_case = {
        case: [sample for sample in samples if sample.case == case]
        for case in {sample.case: None for sample in samples}
    }
    groups = {case: _groups(of_case) for case, of_case in by_case.items()}
    spread = spread_of([group for of_case in groups.values() for group in of_case])
    return Figure(
        value=PERCENT * spread.deviation,
        unit=f"%, interval {PERCENT * spread.low:.2f} to {PERCENT * spread.high:.2f}",
        samples=[asdict(sample) for sample in samples],
        trials=len(samples),
        notes=[f"{case}: {_described(of_case)}" for case, of_case in groups.items()],
    )


@dataclass(frozen=True)
class Group:
    """The starts of one addition in one case: their mean, and the variance of its sampling error."""

    mean: float
    variance: float


def spread_of(groups: Sequence[Group]) -> Spread:
    """Estimate the random effect of groups whose mean is known to be 0.

    The estimate is that of Paule and Mandel (1982), which is DerSimonian and Laird's where all groups have the same
    variance; the interval is from the profile of Q (Viechtbauer, Statistics in Medicine 26, 2007).
    """
    tail = (1 - LEVEL) / 2
    low, high = (_effect_of(groups, _chi_squared(len(groups), share)) for share in (1 - tail, tail))
    return Spread(_effect_of(groups, len(groups)), low, high)


def _effect_of(groups: Sequence[Group], wanted: float) -> float:
    """Return the standard deviation of the effect with which Q is as wanted, or 0 if it is less without any."""

    def q(effect: float) -> float:
        return sum(group.mean**2 / (group.variance + effect**2) for group in groups)

    if q(0.0) <= wanted:
        return 0.0
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if q(middle) > wanted else (low, middle)
    return high


def _chi_squared(freedom: int, share: float) -> float:
    """Return a quantile of the chi-squared distribution (Wilson and Hilferty, 1931)."""
    scale = 2 / (9 * freedom)
    return freedom * float(1 - scale + statistics.NormalDist().inv_cdf(share) * math.sqrt(scale)) ** 3


def _groups(samples: Sequence[Sample]) -> list[Group]:
    """Return the additions of one case; starts of all differ alike, whatever was added."""
    ratios: dict[str, list[float]] = {}
    for sample in samples:
        ratios.setdefault(sample.addition, []).append(sample.log_ratio)
    several = [one for one in ratios.values() if len(one) > 1]
    freedom = sum(len(one) - 1 for one in several)
    variance = sum(statistics.variance(one) * (len(one) - 1) for one in several) / freedom
    return [Group(statistics.mean(one), variance / len(one)) for one in ratios.values()]


def _described(groups: Sequence[Group]) -> str:
    spread = spread_of(groups)
    error = math.sqrt(statistics.mean(group.variance for group in groups))
    return (
        f"{spread.deviation:.2%} ({spread.low:.2%} to {spread.high:.2%}), {len(groups)} additions,"
        f" mean {statistics.mean(group.mean for group in groups):+.2%}, each with an error of {error:.2%}"
    )


def _measured() -> Iterator[Sample]:
    """Yield the sample of every start, those first that are recorded."""
    builder = Builder(
        DIRECTORY.absolute() / "truth" / "layouts", lambda name: print(f"building {name}", file=sys.stderr)
    )
    built = builder.build(resolve("HEAD~1", DEMO_REPOSITORY))
    samples = [sample for sample in read_samples() if sample.build == built.record.build]
    yield from samples
    recorded = {(sample.case, sample.addition, sample.seed) for sample in samples}
    cases = {case.name: case for case in core_suite()}
    amounts: dict[str, Amounts] = {}
    with tempfile.TemporaryDirectory(prefix="zerolap-layouts-") as directory:
        release = Relinkable.read(builder.builds.directory / built.record.build)
        edited = _edited(release, Path(directory))
        # By start first: what was measured of all additions so far can be used.
        for start in range(STARTS):
            for number, (addition, relinkable) in enumerate(edited.items()):
                seed = number * STARTS + start
                wanted = [case for case in CASES if (case, addition, seed) not in recorded]
                if not wanted:
                    continue
                placed = [one.relink(seed, SandboxPolicy.REQUIRED) for one in (release, relinkable)]
                for case in wanted:
                    log_ratio = _log_ratio(cases[case], placed, built, seed, amounts)
                    samples.append(Sample(built.record.build, case, addition, seed, log_ratio))
                    SAMPLES.write_text(json.dumps([asdict(sample) for sample in samples]))
                    yield samples[-1]
                for program in placed:
                    program.unlink()


def read_samples() -> list[Sample]:
    """Return what earlier calls have measured."""
    return [Sample(**sample) for sample in json.loads(SAMPLES.read_text())] if SAMPLES.exists() else []


def _edited(release: Relinkable, directory: Path) -> Mapping[str, Relinkable]:
    """Return the release with each addition, as what is linked."""
    edited = {}
    for section, source in ADDITIONS.items():
        for size in SIZES_BYTES:
            name = f"{section} of {size} bytes"
            own = directory / name.replace(" ", "-")
            own.mkdir()
            (own / "addition.c").write_text(source.format(size=size) + "\n")
            flags = ["-O2", "-fPIE", *SECTIONS_FLAGS]
            subprocess.run(["cc", "-c", *flags, "-o", own / "addition.o", own / "addition.c"], check=True)
            subprocess.run(["ld", "-r", "-o", own / "code.o", str(release.code), own / "addition.o"], check=True)
            relinking = release.relinking.model_copy(
                update={
                    "sections": (*release.relinking.sections, f".{section}.unusedAddition"),
                    "files": (*release.relinking.files, ADDED_TO),
                }
            )
            edited[name] = Relinkable(relinking, own / "code.o")
    return edited


def _log_ratio(case: Case, placed: Sequence[Path], built: BuiltServer, seed: int, amounts: dict[str, Amounts]) -> float:
    """Time one start of both; `amounts` are those of earlier starts, by case."""
    spec = ServerSpec(build=built.record.build, topology=case.topology, config=case.config)
    base, head = (Program(path, policy=SandboxPolicy.REQUIRED) for path in placed)
    with tempfile.TemporaryDirectory(prefix="zerolap-layouts-") as directory:
        start = time_start(
            TimedStart(
                case=case,
                servers={BASE: spec, HEAD: spec},
                programs={BASE: base, HEAD: head},
                seed=seed,
                directory=Path(directory).resolve(),
                pinning=choose_pinning(read_processors()),
                amounts=amounts.get(case.name, Amounts()),
            )
        )
    amounts[case.name] = start.amounts
    return TimedPair.of(start.timelines[BASE], start.timelines[HEAD]).changes[METRIC]
