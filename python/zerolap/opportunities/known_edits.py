"""The edits that come with the package: what they save, and what detectors have predicted of it."""

import functools
from importlib import resources

from zerolap.records import KnownEdit, KnownEdits


@functools.cache
def known_edits() -> tuple[KnownEdit, ...]:
    """Return all edits of which it is known what they save."""
    resource = resources.files("zerolap.explain") / "detectors" / "calibration.json"
    return KnownEdits.model_validate_json(resource.read_text(encoding="utf-8")).edits
