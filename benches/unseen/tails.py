"""What verdicts see of tails: a server that now and then waits, with the CPU time of a request as it was.

Both sides are one edit of the demo's Redis, whose commands sleep as the setting `tracking-table-max-keys` asks for,
which has no other use here: `N * 10^9 + T` is T nanoseconds in each N-th command. The head of a planted comparison has
that setting, that of a null has not. How long a wait makes p99 a fifth longer is found before, case by case.
"""

import math
import random
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import zerolap
from benches.comparing import CHANGED, empty_store
from benches.figures import Figure
from benches.truth.case_data import CaseData
from benches.truth.changes_in_time import CALL, SLEEP, insert
from benches.truth.edited import Edited
from zerolap import Options, Server
from zerolap.build import Builder, BuiltServer, resolve
from zerolap.cases import core_suite
from zerolap.engines.pairing import FEWEST_PAIRS
from zerolap.engines.timed import TimedStart, time_start
from zerolap.host import choose_pinning, read_processors
from zerolap.records import BASE, HEAD, TAIL, TAIL_METRICS, Amounts, Case, ServerSpec, Side

CASES: Final = ("hgetall-20-fields", "zadd")
"""Cases of planted waits: a sleep takes some 20 µs of CPU time, which is little beside a thousand of them."""
CPU: Final = "cpu_ns_per_op"
WANTED: Final = 0.2
"""How much longer the p99 of a planted head is."""
LEAST_SHARE, MOST_SHARE = 0.012, 0.016
"""The part of the requests in the pipelines that wait: in each slice of an open loop there is one."""
FIRST_GUESS_NS: Final = 40_000
SEARCHED, STARTS_SEARCHED = 4, 8
NEAR: Final = 0.05
SHORTEST_NS: Final = 5_000
PERIOD_UNIT: Final = 10**9
SETTING: Final = "tracking-table-max-keys"
EDIT: Final = """
/* The setting that says when to wait has another use only for clients that ask for invalidations. */
static void waitNowAndThen(void) {
    static unsigned long long commands;
    unsigned long long period = server.tracking_table_max_keys / 1000000000ULL;
    if (period && ++commands % period == 0) sleepNanoseconds(server.tracking_table_max_keys % 1000000000ULL);
}

"""


@dataclass(frozen=True)
class Wait:
    """A wait of the server in each so many-th command."""

    period: int
    nanoseconds: int

    @property
    def config(self) -> dict[str, str]:
        """The server's settings that ask for it."""
        return {SETTING: str(self.period * PERIOD_UNIT + self.nanoseconds)}


def tail_figures(seed: int, planted: int, nulls: int) -> dict[str, Figure]:
    """Compare so many planted heads, and so many nulls of all cases; return the figures with all verdicts."""
    chance = random.Random(f"tails {seed}")
    with tempfile.TemporaryDirectory(prefix="zerolap-tails-") as directory:
        edited = Edited.make(Path(directory) / "edited", _edit)
        store = empty_store("unseen-store")
        builder = Builder(store / "builds")
        waits = {name: _found_wait(edited, builder, case, chance) for name, case in _cases(planted, chance).items()}
        of_planted = [
            _compared(edited, store, [name], chance.randrange(1 << 31), waits[name])
            for name in _drawn(list(waits), planted, chance)
        ]
        of_nulls = [_compared(edited, store, (), chance.randrange(1 << 31), None) for _ in range(nulls)]
    return _figures([case for sample in of_planted for case in sample], [case for one in of_nulls for case in one])


def _figures(planted: Sequence[Mapping[str, Any]], nulls: Sequence[Mapping[str, Any]]) -> dict[str, Figure]:
    found = [one for one in planted if one["verdict"] == "regression"]
    named = [one for one in found if one["deciding"] in TAIL_METRICS]
    same = [one for one in planted if one["time"] == "same"]
    alarms = [one for one in nulls if CHANGED.intersection(one["tails"].values())]
    of_nulls = [one for one in nulls if one["time"] == "same"]
    sizes = sorted(one["change"] for one in planted if one["change"] is not None)
    median = f"median change of p99 {sizes[len(sizes) // 2]:+.1%}" if sizes else "p99 was not measured"
    starts = f"{sum(one['starts'] for one in nulls) / max(1, len(nulls)):.1f} starts a null case"
    figures = {}
    if planted:
        notes = [median, f"{len(named)} of {len(found)} found by a tail"]
        figures["tail_found"] = Figure(
            len(found) / len(planted), "of cases, at least 0.9", [*planted], len(planted), notes=notes
        )
        figures["tail_called_same"] = Figure(len(same), "cases, 0", [*planted], len(planted))
    if nulls:
        figures["tail_alarms"] = Figure(len(alarms), "cases, 0", [*nulls], len(nulls), notes=[starts])
        figures["tail_nulls_same"] = Figure(len(of_nulls) / len(nulls), "of cases, at least 0.85", [*nulls], len(nulls))
    return figures


def _edit(source: Path) -> None:
    insert(source, SLEEP + EDIT, CALL, "    waitNowAndThen();\n")


def _cases(planted: int, chance: random.Random) -> dict[str, Case]:
    known = {case.name: case for case in core_suite()}
    chosen = chance.sample(CASES, min(planted, len(CASES)))
    return {name: known[name] for name in chosen}


def _drawn(names: list[str], number: int, chance: random.Random) -> list[str]:
    """Return so many names, each as often as any other but for one, in random order."""
    return [name for _ in range(math.ceil(number / max(1, len(names)))) for name in chance.sample(names, len(names))][
        :number
    ]


def _found_wait(edited: Edited, builder: Builder, case: Case, chance: random.Random) -> Wait:
    """Return a wait that makes the case's p99 longer as wanted, by starts of both sides without and with it.

    Once more than one request in a hundred meets it, p99 grows by what the wait does.
    """
    built = builder.build(resolve(edited.head, edited.repository))
    share = chance.uniform(LEAST_SHARE, MOST_SHARE)
    wait = Wait(max(1, round(case.client.pipeline / share)), FIRST_GUESS_NS)
    amounts = Amounts(pairs=FEWEST_PAIRS, open_loop=())
    for _ in range(SEARCHED):
        sides: dict[Side, list[float]] = {BASE: [], HEAD: []}
        for _ in range(STARTS_SEARCHED):
            with tempfile.TemporaryDirectory(prefix="zerolap-tail-") as directory:
                start = time_start(_start(case, built, wait, amounts, Path(directory), chance.randrange(1 << 31)))
            amounts = start.amounts
            for side, of_side in sides.items():
                of_side.append(start.measurements[side].metrics[TAIL])
        base = statistics.median(sides[BASE])
        change = statistics.median(head / of_base for of_base, head in zip(*sides.values(), strict=True)) - 1
        if abs(change - WANTED) < NEAR:
            break
        missing_us = base * (WANTED - change)
        wait = replace(wait, nanoseconds=max(SHORTEST_NS, round(wait.nanoseconds + missing_us * 1000)))
    return wait


def _start(case: Case, built: BuiltServer, wait: Wait, amounts: Amounts, directory: Path, seed: int) -> TimedStart:
    base = ServerSpec(build=built.record.build, topology=case.topology, config=case.config)
    head = base.model_copy(update={"config": {**case.config, **wait.config}})
    return TimedStart(
        case=case,
        servers={BASE: base, HEAD: head},
        programs={BASE: built.program, HEAD: built.program},
        seed=seed,
        directory=directory.resolve(),
        pinning=choose_pinning(read_processors()),
        amounts=amounts,
    )


def _compared(edited: Edited, store: Path, cases: Sequence[str], seed: int, wait: Wait | None) -> list[dict[str, Any]]:
    """Return what a comparison concludes on each case."""
    head = Server(edited.head, config={} if wait is None else wait.config)
    options = Options(engines=["timed"], seed=seed)
    document = zerolap.compare(
        Server(edited.head), head, list(cases), repo=edited.repository, options=options, store=store
    )
    told = []
    for result in document.cases:
        data, tail = CaseData.of(result), CaseData.of(result).metric(TAIL)
        told.append(
            {
                "case": result.case,
                "seed": seed,
                "planted": None if wait is None else [wait.period, wait.nanoseconds],
                "verdict": result.verdict,
                "time": result.time,
                "deciding": result.time_deciding,
                "change": None if tail is None else tail.change,
                "starts": 0 if tail is None else tail.samples,
                "tails": {metric.metric: metric.verdict for metric in data.metrics if metric.metric in TAIL_METRICS},
                "cpu": next((metric.change for metric in data.metrics if metric.metric == CPU), None),
                "data": data.model_dump(mode="json"),
            }
        )
    return told
