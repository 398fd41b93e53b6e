"""Series in and out: those of other tools are read and shown beside the lab's, and histories go where others read."""

from zerolap.exchange.collected_points import LONGEST_SOURCE as LONGEST_SOURCE, CollectedPoints as CollectedPoints
from zerolap.exchange.import_file import read_file as read_file
from zerolap.exchange.imported_history import (
    BETTER as BETTER,
    imported_history as imported_history,
    with_imported as with_imported,
)
from zerolap.exchange.public_series import (
    METRICS_OF_MEMTIER as METRICS_OF_MEMTIER,
    PublicNames as PublicNames,
    public_lists_of as public_lists_of,
    public_series_of as public_series_of,
)
from zerolap.exchange.time_series_server import (
    SCHEMES as SCHEMES,
    SeriesServerFailed as SeriesServerFailed,
    TimeSeriesServer as TimeSeriesServer,
    read_server as read_server,
    source_of as source_of,
)
