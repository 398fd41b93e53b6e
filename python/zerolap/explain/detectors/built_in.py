"""The detectors that are part of Zerolap, in the order of lists."""

from typing import Final

from zerolap.explain.detectors.atomics import Atomics
from zerolap.explain.detectors.block_sizes import BlockSizes
from zerolap.explain.detectors.clock_readings import ClockReadings
from zerolap.explain.detectors.command_lookups import CommandLookups
from zerolap.explain.detectors.costly_formatting import CostlyFormatting
from zerolap.explain.detectors.detector import Detector
from zerolap.explain.detectors.further_system_calls import SystemCalls
from zerolap.explain.detectors.group_detector import GroupDetector
from zerolap.explain.detectors.growing_memory import GrowingMemory
from zerolap.explain.detectors.key_lookups import KeyLookups
from zerolap.explain.detectors.mathematics import Mathematics
from zerolap.explain.detectors.repeated_calls import RepeatedCalls
from zerolap.explain.detectors.repeated_checks import RepeatedChecks
from zerolap.explain.detectors.short_lived_memory import ShortLivedMemory
from zerolap.explain.detectors.super_linear import SuperLinear
from zerolap.explain.detectors.zeroed_memory import ZeroedMemory

BUILT_IN_DETECTORS: Final[tuple[Detector, ...]] = (
    CostlyFormatting(),
    RepeatedCalls(),
    RepeatedChecks(),
    KeyLookups(),
    CommandLookups(),
    ShortLivedMemory(),
    GrowingMemory(),
    BlockSizes(),
    Mathematics(),
    ClockReadings(),
    SystemCalls(),
    Atomics(),
    ZeroedMemory(),
)

BUILT_IN_GROUP_DETECTORS: Final[tuple[GroupDetector, ...]] = (RepeatedChecks(), SuperLinear())
