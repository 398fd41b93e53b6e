"""The verbs of a fleet and the options for submitting: what is wrong is reported once, with a hint and an exit code."""

import contextlib
import socket
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Zerolap

from zerolap.store import FleetPlatform, KnownAgent, Store

# Each starts the program several times.
pytestmark = pytest.mark.slow

ADDRESSES = ("--bus", "tls://bus.example:4222", "--artifacts", "https://files.example:7480")
MEMBERS = ("--lab", "home", "--platform", "arm", "--bench", "bench-1=home/arm", "--build", "build-1=home/arm")
COMPARED = ("redis-server", "redis-server", "get-100B")


@pytest.fixture
def fleet(zerolap: Zerolap) -> Path:
    """The directory of a fleet with a lab, a platform and two agents."""
    ended = zerolap("fleet", "init", *ADDRESSES, *MEMBERS)
    assert ended.code == 0, ended
    return zerolap.directory / "fleet"


@pytest.fixture
def served(zerolap: Zerolap) -> str:
    """A store that a conductor has served, with the platform `arm` and an agent."""
    with Store.open(str(zerolap.store)) as store:
        store.fleet.set_platforms([FleetPlatform("arm", "arm-build")])
        store.fleet.saw_agents([KnownAgent("bench-1", "home", "arm", "{}", 0.0)])
    return str(zerolap.store)


@contextlib.contextmanager
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


# fleet init


@pytest.mark.parametrize("given", [(), ADDRESSES[:2], ADDRESSES[2:], MEMBERS])
def test_a_new_fleet_needs_its_addresses(zerolap: Zerolap, given: tuple[str, ...]) -> None:
    zerolap("fleet", "init", *given).fails_with(2, "--bus and --artifacts", "hint: zerolap fleet init fleet --bus")
    assert not (zerolap.directory / "fleet").exists()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--bus", "nats://bus.example:4222", "tls://bus.example.org:4222"),
        ("--bus", "tls://bus.example", "tls://bus.example.org:4222"),
        ("--bus", "tls://bus.example:99999", "tls://bus.example.org:4222"),
        ("--artifacts", "files.example", "expected a URL"),
        ("--listen", "everywhere", "0.0.0.0:4222"),
    ],
)
def test_wrong_addresses_leave_no_directory(zerolap: Zerolap, option: str, value: str, message: str) -> None:
    addresses = dict(zip(ADDRESSES[::2], ADDRESSES[1::2], strict=True)) | {option: value}
    ended = zerolap("fleet", "init", *(word for pair in addresses.items() for word in pair))
    ended.fails_with(2, option.removeprefix("--"), message)
    assert not (zerolap.directory / "fleet").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--bench", "bench-2"), "`bench-2` does not describe an agent"),
        (("--bench", "bench-2=home"), "does not describe an agent"),
        (("--bench", "=home/arm"), "does not describe an agent"),
        (("--bench", "bench-2=moon/arm"), "there is no lab moon; the labs are: home"),
        (("--bench", "bench-2=home/x86"), "there is no platform x86; the platforms are: arm"),
        (("--build", "build-2=home/x86"), "there is no builder x86; the builders are: arm-build"),
        (("--bench", "Bench=home/arm"), "Bench: a name consists of"),
        (("--bench", "bench-1=home/arm"), "the agent bench-1 exists already"),
        (("--bench", "bench-2=home/arm", "--build", "bench-2=home/arm"), "the agent bench-2 exists already"),
        (("--bench", "conductor=home/arm"), "cannot have the name conductor"),
        (("--lab", "home"), "the lab home exists already"),
        (("--lab", "Home"), "Home: a name consists of"),
        (("--platform", "arm"), "the platform arm exists already"),
        (("--platform", "x86:cores=8"), "there is no requirement `cores`"),
        (("--platform", "x86:processors=eight"), "`eight` is not valid for `processors`"),
        (("--platform", "x86:memory_gib=0"), "`0` is not valid for `memory_gib`"),
        (("--platform", "x86:counters"), "`` is not valid for `counters`"),
        (("--platform", "arm-build"), "arm-build is a platform and the builder of one"),
        (ADDRESSES, "already sets the addresses"),
    ],
)
def test_wrong_additions_change_nothing(zerolap: Zerolap, fleet: Path, given: tuple[str, ...], message: str) -> None:
    before = {path: path.read_bytes() for path in fleet.rglob("*") if path.is_file()}
    zerolap("fleet", "init", "--lab", "porto", *given).fails_with(2, message, "hint: ")
    assert {path: path.read_bytes() for path in fleet.rglob("*") if path.is_file()} == before


def test_a_corrected_command_can_be_repeated(zerolap: Zerolap) -> None:
    zerolap("fleet", "init", *ADDRESSES, *MEMBERS, "--bench", "bench-2=home/x86").fails_with(2, "no platform x86")
    ended = zerolap("fleet", "init", *ADDRESSES, *MEMBERS, "--bench", "bench-2=home/arm")
    assert ended.code == 0, ended
    assert "agents/bench-2.toml: copy it to the machine of the agent" in ended.out


def test_builders_may_be_shared(zerolap: Zerolap, fleet: Path) -> None:
    ended = zerolap("fleet", "init", "--platform", "graviton:builder=arm-build", "--build", "build-2=home/graviton")
    assert ended.code == 0, ended
    agents = tomllib.loads((fleet / "fleet.toml").read_text())["agents"]
    assert agents["build-2"] == {"lab": "home", "platform": "arm-build", "kind": "build"}


def test_the_certificate_is_also_that_of_serve(fleet: Path) -> None:
    assert tomllib.loads((fleet / "fleet.toml").read_text())["certificate_names"] == ["files.example"]


def test_a_damaged_configuration(zerolap: Zerolap, fleet: Path) -> None:
    (fleet / "fleet.toml").write_text("bus = ")
    zerolap("fleet", "init", "--lab", "porto").fails_with(2, "fleet.toml is not TOML")


# agent


def test_credentials_that_are_missing(zerolap: Zerolap) -> None:
    zerolap("agent", "bench", "--credentials", "none.toml").fails_with(2, "there is no file none.toml", "hint: ")


def test_credentials_of_another_kind(zerolap: Zerolap, fleet: Path) -> None:
    path = fleet / "agents" / "build-1.toml"
    ended = zerolap("agent", "bench", "--credentials", path)
    ended.fails_with(2, "belongs to an agent of the kind `build`", f"hint: zerolap agent build --credentials {path}")


@pytest.mark.parametrize("name", ["conductor.toml", "fleet.toml", "server.key", "agents"])
def test_a_file_that_is_not_of_an_agent(zerolap: Zerolap, fleet: Path, name: str) -> None:
    zerolap("agent", "bench", "--credentials", fleet / name).fails_with(2, name)


def test_a_directory_that_cannot_be_made(zerolap: Zerolap, fleet: Path) -> None:
    credentials = fleet / "agents" / "bench-1.toml"
    ended = zerolap("agent", "bench", "--credentials", credentials, "--directory", credentials)
    ended.fails_with(2, f"`--directory {credentials}` cannot be made", "hint: ")


# serve


@pytest.mark.parametrize("address", ["7480", "127.0.0.1:http", "127.0.0.1:70000", ":"])
def test_listening_at_what_is_no_address(zerolap: Zerolap, address: str) -> None:
    zerolap("serve", "--listen", address).fails_with(2, f"`--listen {address}`", "hint: write HOST:PORT")


def test_listening_at_a_port_that_is_taken(zerolap: Zerolap) -> None:
    with taken_port() as port:
        ended = zerolap("serve", "--listen", f"127.0.0.1:{port}")
    ended.fails_with(3, f"cannot listen at 127.0.0.1:{port}", "hint: give another address")
    assert all(line.startswith(("{", "error: ", "hint: ")) for line in ended.err.splitlines()), ended.err


def test_serving_what_is_no_directory(zerolap: Zerolap) -> None:
    zerolap("serve", "--fleet", "none").fails_with(2, "there is no directory none", "hint: ")
    assert not (zerolap.directory / ".zerolap").exists()


def test_serving_a_directory_without_a_fleet(zerolap: Zerolap) -> None:
    zerolap("serve", "--fleet", zerolap.directory).fails_with(2, "fleet.toml", "hint: zerolap fleet init")


# fleet retry, cancel, drain


@pytest.mark.parametrize("verb", ["retry", "cancel"])
@pytest.mark.parametrize("identity", ["c-123", "latest"])
def test_unknown_submissions(zerolap: Zerolap, served: str, verb: str, identity: str) -> None:
    zerolap("fleet", verb, identity, "--store", served).fails_with(2, "no request", "hint: ")


def test_draining_the_unknown(zerolap: Zerolap, served: str) -> None:
    ended = zerolap("fleet", "drain", "bench-9", "--store", served)
    ended.fails_with(2, "no agent or platform 'bench-9'", "hint: zerolap fleet status")


def test_draining_and_its_undoing(zerolap: Zerolap, served: str) -> None:
    assert zerolap("fleet", "drain", "arm", "--store", served).out == "bench-1: takes no further job\n"
    assert zerolap("fleet", "drain", "bench-1", "--undo", "--store", served).out == "bench-1: takes jobs again\n"


def test_status_of_a_fleet_that_nobody_serves(zerolap: Zerolap, served: str) -> None:
    document = zerolap("fleet", "status", "--json", "-", "--store", served).document()
    assert document["schema"] == "zerolap.fleet/1"
    assert document["conductor"].startswith("none")
    assert [(agent["name"], agent["state"]) for agent in document["agents"]] == [("bench-1", "gone")]


# Submitting


@pytest.mark.parametrize(
    "given", [("--topic", "pr-1"), ("--no-wait",), ("--priority", "release"), ("--topic", "pr-1", "--no-wait")]
)
def test_options_for_submitting_without_a_platform(zerolap: Zerolap, given: tuple[str, ...]) -> None:
    zerolap("compare", *COMPARED, *given).fails_with(2, "needs --platform", "hint: ")
    zerolap("run", "get-100B", *given).fails_with(2, "needs --platform", "hint: ")


@pytest.mark.parametrize("platform", [(), ("--platform", "arm")])
def test_a_priority_that_there_is_not(zerolap: Zerolap, served: str, platform: tuple[str, ...]) -> None:
    ended = zerolap("compare", *COMPARED, *platform, "--priority", "urgent", "--store", served)
    ended.fails_with(2, "`--priority urgent`", "release, pull, backfill")


@pytest.mark.parametrize("name", ["moon", "arm,moon"])
def test_unknown_platforms(zerolap: Zerolap, redis_server: Path, served: str, name: str) -> None:
    ended = zerolap("compare", *COMPARED, "--platform", name, "--store", served)
    ended.fails_with(2, "there is no platform `moon`", "hint: platforms: arm; or all")


def test_a_store_that_no_conductor_has_served(zerolap: Zerolap, redis_server: Path) -> None:
    ended = zerolap("run", "get-100B", "--platform", "all", "--store", zerolap.store)
    ended.fails_with(2, "no conductor has served the store", "hint: start one: zerolap serve")


def test_running_servers_cannot_be_submitted(zerolap: Zerolap, served: str) -> None:
    given = ("--server", "tcp://127.0.0.1:1", "--platform", "arm", "--store", served)
    zerolap("run", "get-100B", *given).fails_with(2, "hint: ")
