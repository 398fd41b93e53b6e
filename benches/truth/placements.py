"""Draws what placements do to one source: `python -m benches.truth.placements` writes docs/placements.svg.

The release of the demo's Redis is timed against itself: linked in eight orders, and as eight copies of one file.
"""

import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.comparing import DEMO_REPOSITORY
from zerolap.build import Builder, Program, resolve
from zerolap.cases import core_suite
from zerolap.engines.timed import TimedStart, time_start
from zerolap.host import choose_pinning, read_processors
from zerolap.judge import TimedPair
from zerolap.records import BASE, HEAD, Amounts, Case, ServerSpec

DRAWN = ("hset", "zrange-100-withscores", "lrange-100", "xadd-auto-id")
METRIC = "cpu_ns_per_op"
LINKS, COPIES, STARTS = 8, 8, 4
PAIRS = 40
PICTURE = Path("docs/placements.svg")

WIDTH, ROW, LEFT, TOP = 720, 96, 170, 40
PERCENT_SHOWN = 12.0


@dataclass(frozen=True)
class Spread:
    """Changes against the program as it was built: of each start of each link, and of each copy's start."""

    links: Sequence[Sequence[float]]
    copies: Sequence[float]


def measure(case: Case, plain: Program, links: Sequence[Program], build: str) -> Spread:
    """Time a case's starts of all programs against the one that was built, in turns."""
    amounts = Amounts(pairs=PAIRS)
    pinning = choose_pinning(read_processors())

    def change_of(program: Program, seed: int) -> float:
        nonlocal amounts
        spec = ServerSpec(build=build, topology=case.topology, config=case.config)
        with tempfile.TemporaryDirectory(prefix="zerolap-placements-") as directory:
            start = time_start(
                TimedStart(
                    case=case,
                    servers={BASE: spec, HEAD: spec},
                    programs={BASE: plain, HEAD: program},
                    seed=seed,
                    directory=Path(directory).resolve(),
                    pinning=pinning,
                    amounts=amounts,
                )
            )
        amounts = start.amounts
        return math.expm1(TimedPair.of(start.timelines[BASE], start.timelines[HEAD]).changes[METRIC])

    of_links: list[list[float]] = [[] for _ in links]
    copies = []
    for number in range(STARTS):
        for link, program in enumerate(links):
            of_links[link].append(change_of(program, number * LINKS + link))
    for number in range(COPIES):
        copies.append(change_of(plain, 1000 + number))
    return Spread(of_links, copies)


def drawing(spreads: Mapping[str, Spread]) -> str:
    """Return the picture: a row a case, a column a link or copy, a dot a start."""
    height = TOP + ROW * len(spreads) + 30
    step = (WIDTH - LEFT - 40) / (LINKS + COPIES + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"',
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20">one source, {LINKS} links, {STARTS} starts each</text>',
        f'<text x="{LEFT + step * (LINKS + 1):.0f}" y="20">{COPIES} copies of one file</text>',
    ]
    for row, (case, spread) in enumerate(spreads.items()):
        middle = TOP + ROW * row + ROW / 2
        parts += [
            f'<text x="10" y="{middle + 4:.0f}">{case}</text>',
            *(_level(percent, middle) for percent in (-10, -5, 0, 5, 10)),
        ]
        for column, starts in enumerate([*spread.links, *([change] for change in spread.copies)]):
            x = LEFT + step * (column + 0.5 + (column >= LINKS))
            colour = "#b3261e" if column < LINKS else "#1a5fb4"
            parts += [_dot(x, middle, change, colour) for change in starts]
    parts.append(f'<text x="{LEFT}" y="{height - 8}">CPU time per request against the program as it was built</text>')
    return "\n".join([*parts, "</svg>", ""])


def _y(middle: float, percent: float) -> float:
    shown = max(-PERCENT_SHOWN, min(PERCENT_SHOWN, percent))
    return middle - shown / PERCENT_SHOWN * (ROW / 2 - 4)


def _level(percent: int, middle: float) -> str:
    y = _y(middle, percent)
    line = (
        f'<line x1="{LEFT}" x2="{WIDTH - 40}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#888" if percent == 0 else "#ddd"}"/>'
    )
    return line + f'<text x="{WIDTH - 36}" y="{y + 4:.1f}" font-size="9">{percent:+d} %</text>'


def _dot(x: float, middle: float, change: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{_y(middle, 100 * change):.1f}" r="3" fill="{colour}" fill-opacity="0.7"/>'


def main() -> None:
    """Measure and draw."""
    with tempfile.TemporaryDirectory(prefix="zerolap-builds-") as directory:
        builder = Builder(Path(directory), lambda name: print(f"building {name}", file=sys.stderr))
        built = builder.build(resolve("HEAD~1", DEMO_REPOSITORY))
        links = [builder.builds.placed(built.record.build, seed) for seed in range(LINKS)]
        cases = {case.name: case for case in core_suite()}
        spreads = {name: measure(cases[name], built.program, links, built.record.build) for name in DRAWN}
    PICTURE.write_text(drawing(spreads))
    print(f"written to {PICTURE}", file=sys.stderr)


if __name__ == "__main__":
    main()
