"""Requests, their execution, the worker, and the loop over both: a request in, a document with reasons out."""

from zerolap.lab.check import CheckRequest as CheckRequest, check as check
from zerolap.lab.checked_arguments import checked_opportunities as checked_opportunities
from zerolap.lab.emulated_sweep import (
    EmulatedRequest as EmulatedRequest,
    counted_fits as counted_fits,
    emulated_snapshot as emulated_snapshot,
)
from zerolap.lab.execution import Execution as Execution, Plan as Plan
from zerolap.lab.lab import BUILDERS as BUILDERS, Lab as Lab, with_builds as with_builds
from zerolap.lab.local import compare as compare, resume as resume, run as run, run_unless as run_unless
from zerolap.lab.platforms import (
    LocalPlatform as LocalPlatform,
    PlatformAway as PlatformAway,
    PlatformView as PlatformView,
)
from zerolap.lab.reasons import Explainer as Explainer, explainer_of as explainer_of
from zerolap.lab.requests import (
    Options as Options,
    SubmissionOptions as SubmissionOptions,
    comparison_request as comparison_request,
    on_platforms as on_platforms,
    run_request as run_request,
)
from zerolap.lab.resolving import KnownPlatform as KnownPlatform, specs_of as specs_of
from zerolap.lab.selection import KnownAbilities as KnownAbilities
from zerolap.lab.snapshot_points import fits_of as fits_of, points_of as points_of, verdicts_of as verdicts_of
from zerolap.lab.snapshot_sides import Factor as Factor, sides_of as sides_of
from zerolap.lab.snapshot_sizes import Room as Room, fitting_sizes as fitting_sizes
from zerolap.lab.snapshot_sweep import SnapshotRequest as SnapshotRequest, snapshot as snapshot
from zerolap.lab.worker import Worker as Worker
