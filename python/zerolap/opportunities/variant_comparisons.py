"""The comparisons of a store that measured a version against other builds of its code."""

from collections.abc import Iterator

from zerolap.explain import VariantComparison, build_variants, differ_as_builds
from zerolap.records import BASE, HEAD, BuildVariant, Comparison, DrawnSide, MeasuredServer, Platform, UnreadableRecord
from zerolap.store import Store


def version_variants(server: MeasuredServer, platform: Platform, store: Store) -> list[BuildVariant]:
    """Return the builds of the same code that comparisons on the platform have measured to be faster."""
    return build_variants(_comparisons(server, platform, store))


def _comparisons(server: MeasuredServer, platform: Platform, store: Store) -> Iterator[VariantComparison]:
    """Yield the timed comparisons of the server's build with other builds of its code, the newest first."""
    for identity in store.work.comparisons_of_build(server.build):
        try:
            comparison = store.comparison_without_cases(identity)
            is_meant = comparison.platform.fingerprint == platform.fingerprint and _is_of_variants(comparison, server)
            if is_meant and _is_of_one_code(identity, store):
                yield VariantComparison(store.comparison(identity), _side_of(comparison, server))
        except UnreadableRecord:
            # What another version has written says nothing of others.
            continue


def _is_of_variants(comparison: Comparison, server: MeasuredServer) -> bool:
    """Return whether the builds differ, and nothing else that is known of the sides, or of the server's settings."""
    base, head = comparison.base, comparison.head
    is_alike = base.config == head.config == server.config and base.version == head.version
    return is_alike and differ_as_builds(base, head)


def _is_of_one_code(identity: str, store: Store) -> bool:
    resolved = store.resolved(identity)
    if resolved is None or BASE not in resolved.servers or HEAD not in resolved.servers:
        return False
    return resolved.servers[BASE].spec.content == resolved.servers[HEAD].spec.content


def _side_of(comparison: Comparison, server: MeasuredServer) -> DrawnSide:
    return "base" if comparison.base.build == server.build else "head"
