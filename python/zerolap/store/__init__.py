"""Requests, results and blobs: what was asked, measured and concluded, kept so that a crash leaves it readable."""

from zerolap.store.blobs import Blobs, open_blobs
from zerolap.store.documents import StoredRow
from zerolap.store.faults import BlobDamaged, RequestBusy
from zerolap.store.store import Store
from zerolap.store.trials import FailedTrial, RecordedJob

__all__ = ["BlobDamaged", "Blobs", "FailedTrial", "RecordedJob", "RequestBusy", "Store", "StoredRow", "open_blobs"]
