"""The directory of a fleet: what is made from `fleet.toml`, what is kept when it is made again, and what is refused."""

import asyncio
import re
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from nats_server import AGENTS, LABS, PLATFORMS, NatsServer, required_program, until_none_wait
from waiting import PATIENCE_SECONDS

from zerolap.errors import UsageError
from zerolap.fleet.delivery import JobMessage
from zerolap.fleet.setup.configuration import (
    AgentEntry,
    FleetConfiguration,
    LabEntry,
    PlatformRequirement,
    read_configuration,
)
from zerolap.fleet.setup.credentials import read_agent_credentials, read_conductor_credentials
from zerolap.fleet.setup.directory import add_agent, add_lab, add_platform, initialise, reload_bus

SECRET_FILES = ("nats.conf", "secrets.toml", "conductor.toml", "ca.key", "server.key", "agents/alpha-1.toml")


def configuration(**changes: object) -> FleetConfiguration:
    content: dict[str, object] = {
        "bus": "tls://bus.example.org:443",
        "artifacts": "https://artifacts.example.org",
        "labs": LABS,
        "platforms": PLATFORMS,
        "agents": AGENTS,
    }
    return FleetConfiguration.model_validate(content | changes)


def files_of(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def refused(directory: Path, text: str) -> str:
    """Return why a `fleet.toml` is refused."""
    (directory / "fleet.toml").write_text(text)
    with pytest.raises(UsageError) as fault:
        read_configuration(directory)
    return fault.value.message


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    wanted = configuration(
        listen="[::]:4222",
        certificate_names=["10.0.0.7", "bus"],
        labs={"berlin": LabEntry(description='the one with the "big" machines')},
        platforms={
            "alpha": PlatformRequirement(architecture="x86_64", processors=16, memory_gib=63.5, counters=True),
            "beta": PlatformRequirement(builder="alpha-build"),
        },
        agents={"one": AgentEntry(lab="berlin", platform="alpha-build", kind="build")},
    )
    initialise(tmp_path, wanted)
    assert read_configuration(tmp_path) == wanted
    agent = read_agent_credentials(tmp_path / "agents" / "one.toml")
    assert (agent.lab, agent.platform, agent.agent, agent.kind) == ("berlin", "alpha-build", "one", "build")
    assert (agent.bus, agent.artifacts) == ("tls://bus.example.org:443", "https://artifacts.example.org")
    conductor = read_conductor_credentials(tmp_path)
    assert conductor.certificate_authority == agent.certificate_authority == (tmp_path / "ca.pem").read_text()
    assert conductor.password != agent.password
    assert agent.password not in repr(agent)
    assert wanted.machines() == {"alpha": 0, "alpha-build": 1, "beta": 0}


def test_secrets_can_only_be_read_by_their_owner(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    assert {name: (tmp_path / name).stat().st_mode & 0o777 for name in SECRET_FILES} == dict.fromkeys(
        SECRET_FILES, 0o600
    )
    assert (tmp_path / "agents").stat().st_mode & 0o777 == 0o700
    passwords = re.findall(r'^password = "(.*)"$', (tmp_path / "secrets.toml").read_text(), re.MULTILINE)
    public = [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    assert {path.name for path in public} == {"fleet.toml", "ca.pem", "server.pem"}
    assert not any(password in path.read_text() for path in public for password in passwords)


def test_initialising_again_changes_nothing(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    comment = "# written by hand\n" + (tmp_path / "fleet.toml").read_text()
    (tmp_path / "fleet.toml").write_text(comment)
    (tmp_path / "nats.conf").unlink()
    before = files_of(tmp_path)
    initialise(tmp_path, read_configuration(tmp_path))
    after = files_of(tmp_path)
    assert after.pop("nats.conf")
    assert after == before


def test_a_new_address_gets_a_new_certificate_of_the_same_authority(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    before = files_of(tmp_path)
    initialise(tmp_path, configuration(bus="tls://10.0.0.7:443"))
    after = files_of(tmp_path)
    changed = {name for name in before if before[name] != after[name]}
    assert {"server.pem", "server.key", "conductor.toml"} <= changed
    assert not changed & {"ca.pem", "ca.key", "secrets.toml"}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="not installed: openssl")
def test_a_certificate_is_good_for_all_names(tmp_path: Path) -> None:
    initialise(tmp_path, configuration(certificate_names=["10.0.0.7", "bus"]))
    text = subprocess.run(
        ["openssl", "x509", "-in", tmp_path / "server.pem", "-noout", "-text"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in ("DNS:localhost", "IP Address:127.0.0.1", "DNS:bus.example.org", "IP Address:10.0.0.7", "DNS:bus"):
        assert name in text
    context = ssl.create_default_context(cadata=(tmp_path / "ca.pem").read_text())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_verify_locations(tmp_path / "ca.pem")


def test_what_is_added_is_at_the_end_of_the_file(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    (tmp_path / "fleet.toml").write_text("# by hand\n" + (tmp_path / "fleet.toml").read_text())
    before = (tmp_path / "fleet.toml").read_text()
    secret = read_agent_credentials(tmp_path / "agents" / "alpha-1.toml").password
    add_lab(tmp_path, "oslo", "a shelf")
    add_platform(tmp_path, "gamma", PlatformRequirement(processors=4, builder="alpha-build"))
    path = add_agent(tmp_path, "gamma-1", "oslo", "gamma")
    builder = add_agent(tmp_path, "gamma-build-1", "oslo", "gamma", kind="build")
    text = (tmp_path / "fleet.toml").read_text()
    assert text.startswith(before)
    assert read_agent_credentials(path).platform == "gamma"
    assert read_agent_credentials(builder).platform == "alpha-build"
    assert read_agent_credentials(tmp_path / "agents" / "alpha-1.toml").password == secret
    assert read_configuration(tmp_path).machines() == {
        "alpha": 3,
        "alpha-build": 2,
        "beta": 1,
        "beta-build": 0,
        "gamma": 1,
    }


def test_what_cannot_be_added_changes_nothing(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    before = files_of(tmp_path)
    for attempt, reason in (
        (lambda: add_agent(tmp_path, "alpha-1", "berlin", "alpha"), "alpha-1 already"),
        (lambda: add_agent(tmp_path, "new", "rome", "alpha"), "no lab rome; the labs are: berlin, porto"),
        (lambda: add_agent(tmp_path, "new", "berlin", "gamma"), "no platform gamma; the platforms are: alpha, beta"),
        (
            lambda: add_agent(tmp_path, "new", "berlin", "gamma", "build"),
            "no builder gamma; the builders are: alpha-build",
        ),
        (lambda: add_agent(tmp_path, "New", "berlin", "alpha"), "a name consists of a-z, 0-9 and -"),
        (lambda: add_agent(tmp_path, "../x", "berlin", "alpha"), "a name consists of a-z, 0-9 and -"),
        (lambda: add_agent(tmp_path, "conductor", "berlin", "alpha"), "cannot have the name conductor"),
        (lambda: add_platform(tmp_path, "alpha", PlatformRequirement()), "alpha already"),
        (lambda: add_platform(tmp_path, "alpha-build", PlatformRequirement()), "these have to be two"),
    ):
        with pytest.raises(UsageError, match=reason):
            attempt()
    assert files_of(tmp_path) == before


def test_an_agent_that_is_removed_loses_its_password(tmp_path: Path) -> None:
    initialise(tmp_path, configuration())
    old = read_agent_credentials(tmp_path / "agents" / "alpha-1.toml")
    initialise(tmp_path, configuration(agents={name: entry for name, entry in AGENTS.items() if name != "alpha-1"}))
    assert not (tmp_path / "agents" / "alpha-1.toml").exists()
    assert old.password not in (tmp_path / "nats.conf").read_text()
    path = add_agent(tmp_path, "alpha-1", "berlin", "alpha")
    assert read_agent_credentials(path).password != old.password


def test_a_file_that_is_wrong_is_refused_with_the_reason(tmp_path: Path) -> None:
    good = 'bus = "tls://bus:4222"\nartifacts = "https://bus"\n'
    assert "is not TOML" in refused(tmp_path, "bus = ")
    assert "artifacts: this has to be set" in refused(tmp_path, 'bus = "tls://bus:4222"')
    assert "an address like tls://" in refused(tmp_path, good.replace("tls:", "nats:"))
    assert "an address like tls://" in refused(tmp_path, good.replace(":4222", ""))
    assert "expected a URL" in refused(tmp_path, good.replace("https://bus", "bus"))
    assert "is like 0.0.0.0:4222" in refused(tmp_path, good + 'listen = "everywhere"')
    assert "colour: there is no such" in refused(tmp_path, good + "colour = 1")
    assert "platforms.Alpha: a name consists" in refused(tmp_path, good + "[platforms.Alpha]")
    assert "platforms.alpha.processors" in refused(tmp_path, good + "[platforms.alpha]\nprocessors = 0")
    assert "there is no lab x; the labs are: none yet" in refused(
        tmp_path, good + '[agents.a]\nlab = "x"\nplatform = "y"'
    )
    with pytest.raises(UsageError, match="there is no file"):
        read_agent_credentials(tmp_path / "agents" / "nobody.toml")
    with pytest.raises(UsageError, match="there is no file"):
        read_configuration(tmp_path / "nowhere")


@pytest.mark.parametrize("listen", ["0.0.0.0:443", "[::]:4222"])
def test_the_server_accepts_its_configuration(tmp_path: Path, listen: str) -> None:
    initialise(tmp_path, configuration(listen=listen, agents={}))
    checked = subprocess.run(
        [required_program(), "-t", "-c", tmp_path / "nats.conf"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_the_server_takes_on_agents_when_it_is_told_to_reload(tmp_path: Path) -> None:
    async def test(server: NatsServer) -> None:
        async with server.dispatcher() as dispatcher, server.link("alpha-1") as kept:
            await dispatcher.publish([JobMessage("alpha", "pull", "r-1", "before", b"before")])
            held = await kept.next_job(PATIENCE_SECONDS)
            assert held is not None
            add_agent(tmp_path, "alpha-9", "porto", "alpha")
            assert await asyncio.to_thread(reload_bus, tmp_path)
            await dispatcher.publish([JobMessage("alpha", "pull", "r-1", "after", b"after")])
            async with server.link("alpha-9") as added:
                delivered = await added.next_job(PATIENCE_SECONDS)
                assert delivered is not None
                assert delivered.content == b"after"
                await delivered.done()
            assert await held.extend()
            await held.done()
            await until_none_wait(dispatcher, "alpha")

    assert not reload_bus(tmp_path)
    with NatsServer.started(required_program(), tmp_path) as server:
        asyncio.run(test(server))
    assert not reload_bus(tmp_path)
