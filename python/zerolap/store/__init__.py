"""Results and blobs: what was measured and concluded, kept so that a crash at any moment leaves it readable."""

from zerolap.store.blobs import Blobs
from zerolap.store.faults import AlreadyRecorded, BlobDamaged
from zerolap.store.listing import StoredRow
from zerolap.store.store import Store
from zerolap.store.trials import FailedTrial

__all__ = ["AlreadyRecorded", "BlobDamaged", "Blobs", "FailedTrial", "Store", "StoredRow"]
