"""What verdicts see of what no case alone shows: `python -m benches.unseen [SEED] [FIGURE...]`.

All is planted by SEED. It writes `.bench/unseen.json`, and keeps figures there that are not measured. `suite` and
`seconds` take seconds, by kept samples; the others build servers and compare them:

- `bytes`, `tails` and `regimes` edit the demo's Redis (`make demo`). Of tails, `--planted` and `--nulls` are compared;
  of regimes, `--places` are planted, `--together` in one commit, and measured by `--cases` and `--engine`.
- `unmeasured` takes real commits of the repositories that `ZEROLAP_BENCH_REPOSITORIES` names:
  `ZEROLAP_BENCH_COMMITS` of them, by default 100, within `BENCH_SECONDS`.
"""

import argparse
import random
import sys
from collections.abc import Callable, Mapping
from typing import Final

from benches.figures import Figure, read_figures, show_figures, write_figures
from benches.unseen.byte_changes import byte_figures
from benches.unseen.regimes import regime_figures
from benches.unseen.suite import suite_figures
from benches.unseen.tails import tail_figures
from benches.unseen.timed_figures import timed_figures
from benches.unseen.unmeasured import unmeasured

LARGEST_SEED: Final = 1 << 32
FIGURES: Final[Mapping[str, Callable[[int, argparse.Namespace], dict[str, Figure]]]] = {
    "suite": lambda seed, asked: suite_figures(seed),
    "seconds": lambda seed, asked: timed_figures(seed),
    "bytes": lambda seed, asked: byte_figures(seed),
    "tails": lambda seed, asked: tail_figures(seed, asked.planted, asked.nulls),
    "regimes": lambda seed, asked: regime_figures(seed, asked.places, asked.together, asked.cases, asked.engine),
    "unmeasured": lambda seed, asked: unmeasured(seed),
}
BY_SAMPLES: Final = ("suite", "seconds")


def main() -> int:
    """Judge, print and write the figures; return the exit code."""
    asked = _arguments()
    seed = random.SystemRandom().randrange(LARGEST_SEED) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    figures: dict[str, Figure] = {}
    for name in asked.figures or BY_SAMPLES:
        figures |= FIGURES[name](seed, asked)
    show_figures(figures)
    print(write_figures("unseen", read_figures("unseen") | figures))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.unseen")
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--planted", type=int, default=40)
    parser.add_argument("--nulls", type=int, default=40)
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--engine", default="counted,timed")
    asked = parser.parse_args()
    unknown = [name for name in asked.figures if name not in FIGURES]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}: {', '.join(FIGURES)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
