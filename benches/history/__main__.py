"""Measures how true histories are, and what they cost; writes `.bench/history.json`.

Names of figures as arguments measure these alone; the others stay in the file as they were. Each subject has a module
with its `FIGURES`.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from benches.figures import Figure, read_figures, show_figures, write_figures
from benches.history import change_points, drifts, labelled, real_commits, searches, speed

NAME: Final = "history"
SUBJECTS: Final = (change_points, labelled, speed, drifts, searches, real_commits)
FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    key: measure for subject in SUBJECTS for key, measure in subject.FIGURES.items()
}


def main() -> None:
    """Measure, print and write; what was measured is written at once."""
    parser = argparse.ArgumentParser(prog="benches.history", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; all by default")
    names = parser.parse_args().figures
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(FIGURES)}")
    figures: dict[str, Figure] = {}
    for name in names or FIGURES:
        figure = FIGURES[name]()
        # Another process may have measured other figures meanwhile.
        figures = (read_figures(NAME) if names else figures) | {name: figure}
        print(f"written to {write_figures(NAME, figures)}", file=sys.stderr)
    show_figures(figures)


if __name__ == "__main__":
    main()
