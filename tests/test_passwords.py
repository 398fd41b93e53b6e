"""Servers that ask for a password: the lab sets it itself, logs in with it, and stores none of the user's."""

from pathlib import Path

import pytest
from command_line import Zerolap
from sources import binary_source

from zerolap.build import Program, resolve
from zerolap.cases import topology_named
from zerolap.cli.option_values import server_settings
from zerolap.cli.repeated_command import without_password
from zerolap.load import by_socket
from zerolap.records import LAB_PASSWORD, RequestedServer, TrialFailed, UsageError, with_lab_passwords
from zerolap.sandbox import network_missing
from zerolap.server import deploy, read_login, start

SECRET = "s3cret-of-the-user"
USER = f"alice on >{LAB_PASSWORD} ~* +@all"
GET = ("get-100B", "--quick", "--engine", "counted")


def test_passwords_in_settings_are_replaced_by_the_labs() -> None:
    settings = {"requirepass": SECRET, "MasterAuth": f"'{SECRET}'", "save": "60 1"}
    assert with_lab_passwords(settings) == {"requirepass": LAB_PASSWORD, "MasterAuth": LAB_PASSWORD, "save": "60 1"}
    rules = f"alice on >{SECRET} #{'0' * 64} <{SECRET} !{'1' * 64} ~* +@all"
    assert with_lab_passwords({"user": rules}) == {"user": USER}
    # A server without a password stays one.
    assert with_lab_passwords({"requirepass": "", "user": "bob on nopass"}) == {
        "requirepass": "",
        "user": "bob on nopass",
    }
    asked = RequestedServer(source=binary_source("server", Path("/server")), config={"requirepass": SECRET})
    assert asked.config == {"requirepass": LAB_PASSWORD}
    assert server_settings([f"requirepass={SECRET}"]) == {"requirepass": LAB_PASSWORD}


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        (f"requirepass={SECRET}", f"requirepass={LAB_PASSWORD}"),
        (f"--head-config=requirepass={SECRET}", f"--head-config=requirepass={LAB_PASSWORD}"),
        (f"user=alice on >{SECRET} ~* +@all", f"user={USER}"),
        ("save=60 1", "save=60 1"),
        ("user@host", "user@host"),
    ],
)
def test_no_password_is_in_a_command_line(word: str, shown: str) -> None:
    assert without_password(word) == shown


def test_a_start_command_has_no_password() -> None:
    with pytest.raises(UsageError, match="has a password among its arguments") as raised:
        resolve(f"sh --RequirePass {SECRET}", None)
    assert SECRET not in raised.value.message + raised.value.hint


@pytest.mark.parametrize("settings", [{"requirepass": LAB_PASSWORD}, {"user": f"default on >{LAB_PASSWORD} ~* +@all"}])
def test_the_lab_logs_in(redis_server: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    with start(Program(redis_server), settings, tmp_path, log=tmp_path.with_suffix(".log")) as server:
        server.commands([("SET", "key", "1"), ("INCR", "key")])
        with pytest.raises(TrialFailed, match="refused `HSET key 1 1`"):
            server.commands([("SET", "other", "1"), ("HSET", "key", "1", "1")])
        assert server.command("GET", "key") == b"2"
        statistics = server.statistics(["INCR"])
        assert statistics.read().calls == 1
        statistics.close()
        assert server.load_login is not None
        assert LAB_PASSWORD not in repr(server.load_login)


def test_a_user_of_the_load(redis_server: Path, tmp_path: Path) -> None:
    with start(Program(redis_server), {"user": USER}, tmp_path, log=tmp_path.with_suffix(".log")) as server:
        assert server.login is None
        assert server.load_login is not None
        assert by_socket(server.socket, server.load_login).arguments[-1] == f"alice:{LAB_PASSWORD}"
        assert server.command("ACL", "WHOAMI") == b"default"


def test_users_of_a_file_are_not_known(redis_server: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.acl"
    users.write_text("user default on >secret ~* +@all\n")
    (tmp_path / "own").mkdir()
    settings = {"aclfile": str(users)}
    with (
        pytest.raises(TrialFailed, match="NOAUTH") as raised,
        start(Program(redis_server), settings, tmp_path / "own", log=tmp_path / "log"),
    ):
        pass
    assert "--config requirepass=" in raised.value.hint


@pytest.mark.usefixtures("redis_server", "valgrind")
@pytest.mark.parametrize("setting", [f"requirepass={SECRET}", f"user=alice on >{SECRET} ~* +@all"])
def test_a_case_is_counted_and_the_password_is_stored_nowhere(zerolap: Zerolap, setting: str) -> None:
    ended = zerolap("run", *GET, "--config", setting, "--store", zerolap.store, "--json", "-")
    assert ended.code == 0, ended
    [case] = ended.document()["cases"]
    assert case["validity"]["valid"]
    assert SECRET not in ended.out + ended.err
    kept = [path for path in zerolap.store.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert kept == []


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server", "valgrind")
def test_cases_are_checked_on_a_server_with_a_password(zerolap: Zerolap) -> None:
    arguments = ("get-100B", "--config", f"requirepass={SECRET}", "--store", zerolap.store, "--json", "-")
    ended = zerolap("suites", "check", *arguments)
    [case] = ended.document()["cases"]
    [command] = case["facts"]["commands"]
    assert (command["command"], command["errors"], command["nothing_share"]) == ("GET", {}, 0)


@pytest.mark.slow
@pytest.mark.skipif(network_missing() is not None, reason=f"no network: {network_missing()}")
@pytest.mark.parametrize("name", ["replicas-1", "cluster-3"])
def test_replicas_and_nodes_log_in_to_each_other(redis_server: Path, tmp_path: Path, name: str) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    settings = {"requirepass": LAB_PASSWORD}
    with deploy(topology_named(name), Program(redis_server), settings, tmp_path / "nodes", logs=logs) as deployment:
        deployment.nodes[0].command("PING")
        deployment.wait_for_replicas()
        assert deployment.reach.arguments.count("--authenticate") == 1


def refused_password_file(path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read_login(path, None)
    assert "--password-file" in raised.value.message + raised.value.hint


def test_the_password_of_a_running_server_is_read_from_a_file(tmp_path: Path) -> None:
    assert read_login(None, None) is None
    with pytest.raises(UsageError, match="--username"):
        read_login(None, "alice")
    file = tmp_path / "password"
    for path, content in ((tmp_path / "missing", None), (file, ""), (file, "\nsecond"), (file, "x" * 5000)):
        if content is not None:
            path.write_text(content)
        refused_password_file(path)
    refused_password_file(Path("/dev/zero"))
    file.write_text(f"{SECRET}\r\nnot this")
    login = read_login(file, "alice")
    assert login is not None
    assert login.command == ["AUTH", "alice", SECRET]
    assert SECRET not in repr(login)
