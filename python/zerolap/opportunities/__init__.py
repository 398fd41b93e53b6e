"""What could be optimised in a version: the call graphs that a store holds of it, looked through and ranked."""

from zerolap.opportunities.opportunities_in_time import opportunities_in_time
from zerolap.opportunities.version_opportunities import (
    CountedVersion,
    counted_version,
    ranked_version,
    searched_version,
    version_opportunities,
)

__all__ = [
    "CountedVersion",
    "counted_version",
    "opportunities_in_time",
    "ranked_version",
    "searched_version",
    "version_opportunities",
]
