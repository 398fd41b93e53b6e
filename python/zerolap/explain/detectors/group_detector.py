"""What a detector gets and what it is that looks at several cases at once: the same commands on more and more data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from zerolap.explain.detectors.detector import CaseEvidence
from zerolap.records import CaseOpportunity


@dataclass(frozen=True)
class SizedCase:
    """A case of a group: how much data its requests work on, in the group's unit, and its call graph."""

    case: str
    size: float
    evidence: CaseEvidence


@dataclass(frozen=True)
class CaseGroup:
    """Cases of one version that send the same commands with data of different sizes, the smallest first.

    Where several sizes of the data grow, such as the number of elements and their bytes, `size` is by that which grows
    most: no other size explains a cost that grows faster. `unit` is what it counts, such as `elements`. Several cases
    may have one size.
    """

    unit: str
    cases: Sequence[SizedCase]


@runtime_checkable
class GroupDetector(Protocol):
    """Looks for what shows only in several sizes of the data; otherwise as a `Detector`.

    A detector may be both. An opportunity of a group takes the place of that of the same detector, function and file
    that was found in the case alone.
    """

    name: str
    purpose: str
    revision: int

    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        """Return what cases of the group waste, by their names."""
