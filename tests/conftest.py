"""What tests of several subjects share: the command line, the toy server, real programs or a reason to skip."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import preloaded
import pytest
from command_line import Zerolap
from demonstrated_lab import DemonstratedLab, Demonstration
from engine_place import CHECK_CASES
from postgresql_server import PostgresqlServer, programs, server_user
from quick_stores import make_stores_quick
from simulated_fleet import SimulatedFleet
from toy_server import ToySource, compile_toy
from waiting import PATIENCE_SECONDS

from zerolap.cases import load_cases
from zerolap.host import Pinning, Sharing, choose_pinning, read_processors
from zerolap.records import Case
from zerolap.sandbox import remove
from zerolap.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ["longest_first"]

# Modules and tests are many objects that stay: collections while they are made, and each full collection later, would
# cost more than most tests.
gc.disable()

# A shell or a CI sets these; programs would colour what they print, translate it, or ask a proxy for what is here.
for name in ("CLICOLOR_FORCE", "FORCE_COLOR", "GITHUB_ACTIONS", "LANGUAGE", "PY_COLORS", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)
os.environ["LC_ALL"] = "C.UTF-8"
for name in ("NO_PROXY", "no_proxy"):
    os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost")))

make_stores_quick()

FOR_SHORT_LIVES = "--js-flags=--no-opt --no-maglev --max-lazy --single-threaded-gc"
"""Pages of tests end before it pays to compile their scripts well."""


def pytest_configure(config: pytest.Config) -> None:
    """Start what the processes of tests share."""
    if "PYTEST_XDIST_WORKER" not in os.environ and getattr(config.option, "numprocesses", None):
        preloaded.start()


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the collections to come, which are seldom."""
    gc.freeze()
    gc.set_threshold(preloaded.ALLOCATIONS_OF_A_COLLECTION)
    gc.enable()


def _required(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """An empty directory, its name short whoever runs the tests: the path of a socket has no more than 107 bytes."""
    outer = Path(tempfile.mkdtemp(prefix="zt-")).resolve()
    directory = outer / "t"
    directory.mkdir()
    yield directory
    # What a test has put beside its directory goes too.
    remove(outer)


@pytest.fixture(scope="session")
def valgrind() -> None:
    _required("valgrind")


@pytest.fixture(scope="session")
def compiler() -> None:
    _required("git", "make", "cc")


@pytest.fixture(scope="session")
def redis_server(valgrind: None) -> Path:
    _required("redis-server")
    return Path(shutil.which("redis-server") or "")


@pytest.fixture(scope="session")
def first_toy(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> ToySource:
    """The toy server's repository as tests get it."""
    return ToySource(tmp_path_factory.mktemp("toy") / "source")


@pytest.fixture
def toy(first_toy: ToySource, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToySource]:
    """A test's own copy of the toy server's repository: what one test builds in its tree, no other commits."""
    directory = tmp_path_factory.mktemp("toy")
    yield first_toy.copied_to(directory / "source")
    remove(directory)


@pytest.fixture(scope="session")
def toy_program(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy server as a binary."""
    return compile_toy(ToySource(tmp_path_factory.mktemp("toy-program") / "source").path)


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of which many tests use the builds."""
    return tmp_path_factory.mktemp("shared") / "store"


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    """The small cases of `CHECK_CASES` by name."""
    return {case.name: case for case in load_cases(CHECK_CASES)}


@pytest.fixture(scope="session")
def pinning() -> Pinning:
    """Processors for a server and its client."""
    chosen = choose_pinning(read_processors())
    if chosen.sharing is Sharing.PROCESSOR:
        pytest.skip("server and client need a processor each")
    return chosen


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A new, empty store in SQLite."""
    with Store.open(str(tmp_path / "store")) as opened:
        yield opened


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """The store of `zerolap serve --demo`, filled once for the processes of all tests."""
    own = tmp_path_factory.getbasetemp()
    return Demonstration.shared_in(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture(scope="module")
def made_up(demonstration: Demonstration, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemonstratedLab]:
    """The lab of the demonstration with a copy of its store, served while a module's tests run."""
    with demonstration.served_in(tmp_path_factory.mktemp("demonstration") / "store") as served:
        yield served


@pytest.fixture
def fleet(store: Store, redis_server: Path) -> SimulatedFleet:
    """A conductor with simulated agents, which runs scenarios."""
    return SimulatedFleet(store, redis_server)


@pytest.fixture
def zerolap(tmp_path: Path) -> Zerolap:
    """The program in an empty directory."""
    return Zerolap(tmp_path)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client that goes to no proxy of this machine's environment."""
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A browser; it ends with the module, as its event loop keeps other tests from running theirs."""
    # Without windows, a page takes a third of the time.
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: apt-get install chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", FOR_SHORT_LIVES], timeout=1000 * PATIENCE_SECONDS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A PostgreSQL server that runs while the tests do."""
    binaries, user = programs(), server_user()
    if binaries is None or user is None:
        pytest.skip("not installed: PostgreSQL (initdb, postgres, and a user for them)")
    with PostgresqlServer.started(binaries, user) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def either_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A new, empty store in each of the databases."""
    location = str(tmp_path / "store")
    if request.param == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql")
        location = f"{server.url(server.new_store())}&blobs={tmp_path / 'blobs'}"
    with Store.open(location) as opened:
        yield opened
