"""What a start of two servers takes, and each case on them: cases that share one and cases alone, in turns."""

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.build import Program
from zerolap.cases import core_suite
from zerolap.engines import SharedStart, shared_servers
from zerolap.engines.timed import PAIRS_PER_START, TimedStart, time_start
from zerolap.host import choose_pinning, read_processors
from zerolap.records import BASE, HEAD, Amounts, Case, EnvironmentMissing, ServerSpec
from zerolap.sandbox import Cancellation

MEASURED: Final = ("get-100B", "hset", "zadd")
TURNS: Final = 6


@dataclass(frozen=True)
class StartSeconds:
    """Seconds of a start of servers without a case, of each case on it, and of a case that has one alone."""

    of_start: float
    of_case: float
    alone: float
    samples: Sequence[tuple[float, float]]


def measured_seconds() -> StartSeconds:
    """Measure the installed server against itself; raises `EnvironmentMissing` where there is none."""
    found = shutil.which("redis-server")
    if found is None:
        raise EnvironmentMissing("there is no redis-server to be timed")
    program, cases = Program(Path(found)), [case for case in core_suite() if case.name in MEASURED]
    amounts: dict[str, Amounts] = {}
    samples: list[tuple[float, float]] = []
    with Cancellation().current() as cancellation:
        for case in cases:
            amounts[case.name] = _chosen(case, program)
        for turn in range(TURNS):
            began = time.monotonic()
            for case in cases:
                _time(case, program, amounts[case.name], turn, None)
            between = time.monotonic()
            with shared_servers(cancellation, None) as shared:
                for case in cases:
                    _time(case, program, amounts[case.name], turn, shared)
            samples.append((between - began, time.monotonic() - between))
    alone, together = (min(of) for of in zip(*samples, strict=True))
    # Alone, each case has a start; together, they have one.
    of_start = max(0.0, (alone - together) / (len(cases) - 1))
    return StartSeconds(of_start, alone / len(cases) - of_start, alone / len(cases), samples)


def _chosen(case: Case, program: Program) -> Amounts:
    return _time(case, program, Amounts(pairs=PAIRS_PER_START), 0, None)


def _time(case: Case, program: Program, amounts: Amounts, seed: int, shared: SharedStart | None) -> Amounts:
    spec = ServerSpec(build="measured", topology=case.topology, config=case.config)
    with tempfile.TemporaryDirectory(prefix="zerolap-seconds-") as directory:
        start = TimedStart(
            case=case,
            servers={BASE: spec, HEAD: spec},
            programs={BASE: program, HEAD: program},
            seed=seed,
            directory=Path(directory).resolve(),
            pinning=choose_pinning(read_processors()),
            amounts=amounts,
            shared=shared,
        )
        return time_start(start).amounts
