"""What is drawn of one case of a comparison or a run: latency, throughput, stacks."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.documents import read_case_pictures
from zerolap.queries.comparison_page import LONGEST_CASE, compared_case
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.run_page import measured_case
from zerolap.records import CasePictures, Record, SourceText, StackFrame


class CasePicturesParameters(Parameters):
    """Which case of which comparison or run."""

    id: Annotated[str, Field(pattern=r"^[cr]-[0-9a-f-]{1,64}$", description="The id of a comparison or run.")]
    case: Annotated[str, Field(max_length=LONGEST_CASE, description="The name of the case.")]


class DrawnCase(Record):
    """The pictures of a case, null without any.

    `frames` are the functions that its stacks refer to, `sources` the lines of source code that its lines refer to.
    """

    frames: list[StackFrame]
    sources: list[SourceText]
    pictures: CasePictures | None


def _read(sources: QuerySources, parameters: CasePicturesParameters) -> DrawnCase:
    store, identity = sources.store, parameters.id
    if identity.startswith("c-"):
        pictures = read_case_pictures(compared_case(store, identity, parameters.case), identity, store)
    else:
        pictures = read_case_pictures(measured_case(store, identity, parameters.case), identity, store)
    return DrawnCase(frames=pictures.frames, sources=pictures.sources, pictures=pictures.cases.get(parameters.case))


def _rows(answer: DrawnCase) -> Iterable[TableRow]:
    """Yield the points of the charts, and when servers were started anew; stacks have a table of their own."""
    yield ("chart", "side", "share of requests", "latency us", "seconds", "requests per second")
    pictures = answer.pictures
    if pictures is None:
        return
    for side, points in (pictures.latency or {}).items():
        for share, latency_us in points:
            yield ("latency", side, share, latency_us, None, None)
    for side, points in (pictures.throughput or {}).items():
        for seconds, rate in points:
            yield ("throughput", side, None, None, seconds, rate)
    for seconds in pictures.starts_at:
        yield ("start of servers", None, None, None, seconds, None)


CASE_PICTURES: Final = PageQuery(
    name="case-pictures",
    summary="What is drawn of a case: latency, throughput and stacks",
    parameters=CasePicturesParameters,
    result=DrawnCase,
    read=_read,
    table=_rows,
)
