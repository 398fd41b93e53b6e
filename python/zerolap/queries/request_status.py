"""How it stands with a request to a fleet."""

from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.query import PageQuery, Parameters, QuerySources
from zerolap.records import Record, RequestState, UsageError


class RequestParameters(Parameters):
    """Which request."""

    id: Annotated[str, Field(pattern=r"^[cr]-[0-9a-f-]{1,64}$", description="Its id.")]


class RequestStatus(Record):
    """The state of a request; `reasons` state why it waits or ended."""

    id: str
    platform: str
    sides: tuple[str, ...]
    state: RequestState
    has_ended: bool
    reasons: tuple[str, ...]


def _read(sources: QuerySources, parameters: RequestParameters) -> RequestStatus:
    work = sources.store.fleet.in_short(parameters.id)
    if work is None:
        raise UsageError(f"the lab knows nothing of {parameters.id}")
    return RequestStatus(
        id=work.id,
        platform=work.platform,
        sides=tuple(side.name for side in work.sides.values()),
        state=work.state,
        has_ended=work.ended is not None,
        reasons=tuple(reason for reason in (work.reason, work.unreadable) if reason),
    )


REQUEST_STATUS: Final = PageQuery(
    name="request",
    summary="The state of a request to a fleet, and why it waits or ended",
    parameters=RequestParameters,
    answer=RequestStatus,
    read=_read,
)
