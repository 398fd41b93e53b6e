"""The package as a library; see `docs/python.md`."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zerolap import lab
from zerolap.build import parse_variant, resolve
from zerolap.cases import core_suite, load_cases as read_cases, select
from zerolap.lab import Document, Lab, Options, comparison_request, run_request
from zerolap.records import Case, Comparison, Event, RequestedServer, RunReport
from zerolap.store import Store

CALLED = "zerolap as a library"
"""The command line in documents of comparisons and runs by the library."""


@dataclass(frozen=True)
class Server:
    """A server to be measured: a binary, a source tree, a revision, a program on the PATH, or a start command.

    `variant` is the variant of its build in the words of `--variant`; `config` are the settings of the server.
    """

    name: str
    variant: str = "default"
    config: Mapping[str, str] = field(default_factory=dict)


def compare(
    base: Server | str,
    head: Server | str,
    cases: Sequence[str | Case] = (),
    *,
    repo: Path | str | None = None,
    options: Options | None = None,
    store: Store | Path | str | None = None,
    listen: Callable[[Event], None] = lambda _: None,
) -> Comparison:
    """Compare two servers and return the verdicts with their reasons, which are stored as well.

    `cases` are names or globs of the core suite, or cases of `load_cases`; by default the core suite. Revisions are
    looked up in `repo`. `listen` is called with each event. Raises `ZerolapError`, such as `UsageError` for a server
    that does not exist or `BuildFailed`.
    """
    request = comparison_request(_asked(base, repo), _asked(head, repo), _selected(cases), options or Options(), CALLED)
    with _opened(store) as results:
        return lab.compare(request, Lab(results, listen))


def run(
    server: Server | str,
    cases: Sequence[str | Case] = (),
    *,
    repo: Path | str | None = None,
    options: Options | None = None,
    store: Store | Path | str | None = None,
    listen: Callable[[Event], None] = lambda _: None,
) -> RunReport:
    """Measure one server and return the report; the arguments are as for `compare`."""
    request = run_request(_asked(server, repo), _selected(cases), options or Options(), CALLED)
    with _opened(store) as results:
        return lab.run(request, Lab(results, listen))


def resume(
    identity: str,
    *,
    store: Store | Path | str | None = None,
    listen: Callable[[Event], None] = lambda _: None,
) -> Document:
    """Continue a comparison, run, sweep of snapshots or check that was interrupted; nothing is measured twice."""
    with _opened(store) as results:
        return lab.resume(identity, Lab(results, listen))


def open_store(location: Path | str | None = None) -> Store:
    """Open the store in a directory, at a `sqlite:///FILE` or at a `postgresql://` URL; by default `.zerolap`."""
    return Store.open(None if location is None else str(location))


def load_cases(place: Path | str) -> list[Case]:
    """Return the cases of a file, a directory of files, or a suite of the package such as `geo`."""
    return read_cases(Path(place))


def _asked(server: Server | str, repo: Path | str | None) -> RequestedServer:
    if isinstance(server, str):
        server = Server(server)
    source = resolve(server.name, None if repo is None else Path(repo))
    return RequestedServer(source=source, variant=parse_variant(server.variant).name, config=dict(server.config))


def _selected(cases: Sequence[str | Case]) -> list[Case]:
    selected = [case for case in cases if isinstance(case, Case)]
    names = [case for case in cases if isinstance(case, str)]
    return selected + (select(core_suite(), names) if names or not selected else [])


@contextlib.contextmanager
def _opened(store: Store | Path | str | None) -> Iterator[Store]:
    if isinstance(store, Store):
        yield store
        return
    with open_store(store) as opened:
        yield opened
