"""Comparisons of builds of the same code, in a store and without."""

from collections.abc import Sequence
from pathlib import Path

from made_records import a_case, a_time
from stored_comparison import COMPARISON, record_document
from stored_run import RUN

from zerolap.explain import VariantComparison
from zerolap.records import (
    BASE,
    HEAD,
    BinarySource,
    BuildSpec,
    CaseResult,
    Comparison,
    DrawnSide,
    MeasuredServer,
    ResolvedServer,
)
from zerolap.store import Store

LOOKED_AT = RUN.server.model_copy(
    update={"variant": "-O2", "allocator": "jemalloc-5.2.1", "compiler": "GNU C11 12.2.0"}
)
FASTER = LOOKED_AT.model_copy(update={"variant": "-O3", "build": "b-2", "flags": "-O3 -g"})
TREE = "the files of the commit"


def timed_case(
    name: str, word: str, change: float, command: str = "GET", metric: str = "cpu_ns_per_op", confirmed: bool = True
) -> CaseResult:
    """Return a case whose time changed by so much, within 1 %."""
    figures = {"base": 1000.0, "q": 1e-6, "pairs": 96, "min_effect": 0.02}
    verdict = a_time(word, change, metric, **figures)
    group = {"commands": [command], "group": "string"}
    is_confirmed = confirmed and word in ("improvement", "regression")
    return a_case(name, verdict, confirmed=is_confirmed, **group)


def compared(
    *cases: CaseResult, side: DrawnSide = "base", other: MeasuredServer = FASTER, identity: str = "c-01"
) -> VariantComparison:
    base, head = (LOOKED_AT, other) if side == BASE else (other, LOOKED_AT)
    changes = {"id": identity, "base": base, "head": head, "platform": RUN.platform, "cases": list(cases)}
    return VariantComparison(COMPARISON.model_copy(update=changes), side)


def record(store: Store, comparison: Comparison, contents: Sequence[str] = (TREE, TREE)) -> None:
    """Record a comparison of builds of these contents."""
    source = BinarySource(name="redis", path=Path("/src/redis-server"))
    servers = {
        side: ResolvedServer(source=source, variant=server.variant, spec=BuildSpec(content=content))
        for side, server, content in zip((BASE, HEAD), (comparison.base, comparison.head), contents, strict=True)
    }
    record_document(store, comparison, servers)
