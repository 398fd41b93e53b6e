"""What could be optimised in a version: the call graphs that a store holds of it, looked through and ranked."""

from zerolap.opportunities.opportunities_in_time import opportunities_in_time as opportunities_in_time
from zerolap.opportunities.version_opportunities import (
    CountedVersion as CountedVersion,
    counted_version as counted_version,
    ranked_version as ranked_version,
    searched_version as searched_version,
    version_opportunities as version_opportunities,
)
