"""Requests, their execution, the worker, and the loop over both: a request in, a document with reasons out."""

from zerolap.lab.checked_arguments import checked_opportunities as checked_opportunities
from zerolap.lab.counted_forks import counted_fits as counted_fits
from zerolap.lab.execution import (
    Document as Document,
    Execution as Execution,
    Plan as Plan,
    read_sweep as read_sweep,
)
from zerolap.lab.lab import BUILDERS as BUILDERS, Lab as Lab, with_builds as with_builds
from zerolap.lab.local import (
    check as check,
    compare as compare,
    resume as resume,
    run as run,
    run_unless as run_unless,
    snapshot as snapshot,
)
from zerolap.lab.platforms import (
    LocalPlatform as LocalPlatform,
    PlatformAway as PlatformAway,
    PlatformView as PlatformView,
)
from zerolap.lab.reasons import Explainer as Explainer, explainer_of as explainer_of
from zerolap.lab.requests import (
    Options as Options,
    SubmissionOptions as SubmissionOptions,
    check_request as check_request,
    comparison_request as comparison_request,
    on_platforms as on_platforms,
    run_request as run_request,
)
from zerolap.lab.resolving import KnownPlatform as KnownPlatform, specs_of as specs_of
from zerolap.lab.selection import KnownAbilities as KnownAbilities
from zerolap.lab.snapshot_points import fits_of as fits_of, points_of as points_of, verdicts_of as verdicts_of
from zerolap.lab.snapshot_sides import Factor as Factor, sides_of as sides_of
from zerolap.lab.suite_coverage import coverage as coverage, stored_proofs as stored_proofs
from zerolap.lab.sweep_requests import (
    EMULATED_SEED as EMULATED_SEED,
    emulated_request as emulated_request,
    snapshot_request as snapshot_request,
)
from zerolap.lab.worker import Worker as Worker
