"""Measures how cheap and how true the load generator is; writes `.bench/load.json`.

Names of figures as arguments measure these alone; the file then holds no others. `--quick` shows that everything works:
its runs are too few and too short to show more, and the file states it.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial

from benches.figures import Figure, show_figures, write_figures
from benches.load import cheapness, counts, truth
from benches.load.effort import FULL, QUICK, Effort

FIGURES: dict[str, Callable[[Effort], dict[str, Figure]]] = {
    "count_errors": counts.count_errors,
    "response_error_us": truth.sleeping,
    "response_error_busy_poll_us": truth.busy,
    "rss_mib_1000_connections": cheapness.memory,
    "ratio_p1": partial(cheapness.pipelined, 1),
    "ratio_p16": partial(cheapness.pipelined, 16),
    "ratio_p64": partial(cheapness.pipelined, 64),
    "ratio_two_connections": cheapness.two_connections,
    "ratio_paced_p1": cheapness.paced,
}
"""What measures each figure; those measured along with it have its name in the file only."""


def main() -> None:
    """Measure, print and write; what was measured is written at once."""
    parser = argparse.ArgumentParser(prog="benches.load", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="few and short runs, which measure nothing")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(FIGURES)}")
    figures: dict[str, Figure] = {}
    for name in arguments.figures or FIGURES:
        figures |= FIGURES[name](QUICK if arguments.quick else FULL)
        print(f"written to {write_figures('load', figures)}", file=sys.stderr)
    show_figures(figures)


if __name__ == "__main__":
    main()
