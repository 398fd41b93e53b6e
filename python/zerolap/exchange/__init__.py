"""Series in and out: those of other tools are read and shown beside the lab's, and histories go where others read."""

from zerolap.exchange.absolute_values import with_absolute_values
from zerolap.exchange.collected_points import LONGEST_SOURCE, CollectedPoints, ReadImport
from zerolap.exchange.import_file import read_file
from zerolap.exchange.imported_history import BETTER, imported_history, with_imported
from zerolap.exchange.public_series import PublicNames, public_lists_of, public_series_of
from zerolap.exchange.time_series_server import (
    SCHEMES,
    SeriesServerFailed,
    TimeSeriesServer,
    read_server,
    source_of,
)

__all__ = [
    "BETTER",
    "LONGEST_SOURCE",
    "SCHEMES",
    "CollectedPoints",
    "PublicNames",
    "ReadImport",
    "SeriesServerFailed",
    "TimeSeriesServer",
    "imported_history",
    "public_lists_of",
    "public_series_of",
    "read_file",
    "read_server",
    "source_of",
    "with_absolute_values",
    "with_imported",
]
