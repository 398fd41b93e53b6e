"""Documents as the store holds them; of those that are not finished, what was recorded so far."""

from zerolap.documents.comparison_document import comparison_of
from zerolap.documents.results import Results
from zerolap.documents.run_document import run_of
from zerolap.records import Comparison, Resolved, RunReport
from zerolap.store import Store


def read_comparison(store: Store, identity: str) -> Comparison:
    """Return a stored comparison; of one that is not finished, what was recorded so far. Raises `UsageError`."""
    comparison = store.comparison(identity)
    resolved = store.resolved(comparison.id) if comparison.state == "running" else None
    if resolved is None:
        return comparison
    return comparison_of(recorded_results(resolved, store), comparison.state, store, explainer=None)


def read_run(store: Store, identity: str) -> RunReport:
    """Return a stored run; of one that is not finished, what was recorded so far. Raises `UsageError`."""
    report = store.run(identity)
    resolved = store.resolved(report.id) if store.state(report.id) == "running" else None
    if resolved is None:
        return report
    return run_of(recorded_results(resolved, store), store).model_copy(update={"notes": report.notes})


def recorded_results(resolved: Resolved, store: Store) -> Results:
    """Return the results of a request that the store holds, except for its builds."""
    results = Results(resolved, store.blobs)
    for recorded in store.jobs(resolved.id):
        for event in recorded.events:
            results.add(recorded.job, event)
    return results


def results_with_builds(identity: str, store: Store) -> Results | None:
    """Return the results of the request with that id, and its builds; none before they are built."""
    resolved = store.resolved(identity)
    if resolved is None:
        return None
    results = recorded_results(resolved, store)
    builds = [store.build(server.spec.digest) for server in resolved.servers.values()]
    results.builds |= {build.build: build for build in builds if build is not None}
    return results
