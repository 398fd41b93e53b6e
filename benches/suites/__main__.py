"""Measures how the public suites run and how faults in them are found; writes `.bench/suites.json`.

The suites are those in the directory that `ZEROLAP_PUBLIC_SUITES` names. Names of figures as arguments measure these
alone.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benches.figures import Figure, show_figures, write_figures
from benches.suites.faults import faults_caught
from benches.suites.running import quick_run

FIGURES: dict[str, Callable[[Path], dict[str, Figure]]] = {"ran": quick_run, "faults_caught": faults_caught}
"""What measures each figure; those measured along with it have its name in the file only."""


def main() -> None:
    """Measure, print and write; what was measured is written at once."""
    parser = argparse.ArgumentParser(prog="benches.suites", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; all by default")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(FIGURES)}")
    suites = os.environ.get("ZEROLAP_PUBLIC_SUITES")
    if not suites:
        raise SystemExit("set ZEROLAP_PUBLIC_SUITES to the directory of the public suites, called test-suites there")
    figures: dict[str, Figure] = {}
    for name in arguments.figures or FIGURES:
        figures |= FIGURES[name](Path(suites))
        print(f"written to {write_figures('suites', figures)}", file=sys.stderr)
    show_figures(figures)


if __name__ == "__main__":
    main()
