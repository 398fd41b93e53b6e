"""Measures how well changes and opportunities are explained; writes `.bench/explain.json`.

Names of figures as arguments measure these alone; the others stay in the file as they were.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from benches.explain import first_reasons, folding, opportunity_times, planted_waste
from benches.figures import Figure, read_figures, show_figures, write_figures

NAME: Final = "explain"
FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    **planted_waste.FIGURES,
    **first_reasons.FIGURES,
    **opportunity_times.FIGURES,
    **folding.FIGURES,
}


def main() -> None:
    """Measure, print and write; what was measured is written at once."""
    parser = argparse.ArgumentParser(prog="benches.explain", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; all by default")
    names = parser.parse_args().figures
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(FIGURES)}")
    figures = read_figures(NAME)
    for name in names or FIGURES:
        figures[name] = FIGURES[name]()
        print(f"written to {write_figures(NAME, figures)}", file=sys.stderr)
    show_figures(figures)


if __name__ == "__main__":
    main()
