"""Requests, their execution, the worker, and the loop over both: a request in, a document with reasons out."""

from zerolap.lab.check import CheckRequest, check
from zerolap.lab.checked_arguments import checked_opportunities
from zerolap.lab.emulated_sweep import EmulatedRequest, counted_fits, emulated_snapshot
from zerolap.lab.execution import Execution, Plan, recorded_results
from zerolap.lab.lab import BUILDERS, Lab, with_builds
from zerolap.lab.local import compare, resume, run, run_unless
from zerolap.lab.picture_data import (
    latency_points,
    off_cpu_ns_per_op,
    read_case_pictures,
    read_pictures,
    read_run_pictures,
)
from zerolap.lab.platforms import LocalPlatform, PlatformAway, PlatformView
from zerolap.lab.reasons import Explainer
from zerolap.lab.requests import Options, SubmissionOptions, comparison_request, new_id, on_platforms, run_request
from zerolap.lab.resolving import KnownPlatform, specs_of
from zerolap.lab.selection import KnownAbilities, StartableServer
from zerolap.lab.snapshot_points import fits_of, points_of, verdicts_of
from zerolap.lab.snapshot_sides import Factor, SweepSide, sides_of
from zerolap.lab.snapshot_sizes import Room, fitting_sizes
from zerolap.lab.snapshot_sweep import SnapshotRequest, snapshot
from zerolap.lab.stored import read_comparison, read_run
from zerolap.lab.unmeasured import OF_THE_SERVER
from zerolap.lab.worker import Worker

__all__ = [
    "BUILDERS",
    "OF_THE_SERVER",
    "CheckRequest",
    "EmulatedRequest",
    "Execution",
    "Explainer",
    "Factor",
    "KnownAbilities",
    "KnownPlatform",
    "Lab",
    "LocalPlatform",
    "Options",
    "Plan",
    "PlatformAway",
    "PlatformView",
    "Room",
    "SnapshotRequest",
    "StartableServer",
    "SubmissionOptions",
    "SweepSide",
    "Worker",
    "check",
    "checked_opportunities",
    "compare",
    "comparison_request",
    "counted_fits",
    "emulated_snapshot",
    "fits_of",
    "fitting_sizes",
    "latency_points",
    "new_id",
    "off_cpu_ns_per_op",
    "on_platforms",
    "points_of",
    "read_case_pictures",
    "read_comparison",
    "read_pictures",
    "read_run",
    "read_run_pictures",
    "recorded_results",
    "resume",
    "run",
    "run_request",
    "run_unless",
    "sides_of",
    "snapshot",
    "specs_of",
    "verdicts_of",
    "with_builds",
]
