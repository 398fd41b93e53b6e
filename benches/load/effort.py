"""How long the bench measures."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Rounds, runs and their lengths; `notes` state in every figure where they are less than the bench stands for."""

    rounds: int
    run_seconds: float
    truth_runs: int
    truth_seconds: int
    notes: tuple[str, ...] = ()


FULL = Effort(rounds=8, run_seconds=2.5, truth_runs=3, truth_seconds=30)
QUICK = Effort(
    rounds=2,
    run_seconds=0.5,
    truth_runs=1,
    truth_seconds=12,
    notes=("--quick: fewer and shorter runs than the bench has; shows that it works, measures nothing",),
)
