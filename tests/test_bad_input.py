"""What is wrong is reported once, with the documented exit code; nothing is left running and nothing is lost."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Zerolap, path_without
from toy_server import CASES, WORK_BEGINS, ToySource
from waiting import wait_until

from zerolap.store import Store

GET = ("--cases", CASES, "--quick", "toy-get")


@pytest.fixture(autouse=True)
def nothing_is_left(zerolap: Zerolap) -> Iterator[None]:
    yield
    zerolap.leaves_nothing()


# Names


def test_unknown_revision(zerolap: Zerolap, toy: ToySource) -> None:
    ended = zerolap("compare", "HEAD", "no-such-thing", "--repo", toy.path, *GET)
    ended.fails_with(2, "`no-such-thing` names no server")
    for tried in ("no file, directory or program on the PATH", f"in the repository `{toy.path}`"):
        assert tried in ended.err
    assert ended.out == ""


def test_a_case_file_that_is_not_there(zerolap: Zerolap) -> None:
    zerolap("suites", "check", "nothing.yml").fails_with(2, "nothing.yml: no such file", "hint: give a case file")


def test_without_a_repository(zerolap: Zerolap) -> None:
    zerolap("compare", "HEAD~1", "HEAD", *GET).fails_with(2, "--repo", "HEAD~1")


@pytest.mark.usefixtures("compiler")
def test_not_a_repository(zerolap: Zerolap, tmp_path: Path) -> None:
    zerolap("compare", "HEAD~1", "HEAD", "--repo", tmp_path, *GET).fails_with(
        2, f"`{tmp_path}` is not a git repository"
    )
    zerolap("compare", "HEAD~1", "HEAD", "--repo", tmp_path / "gone", *GET).fails_with(2, "there is no directory")


@pytest.mark.usefixtures("valgrind")
def test_endpoint(zerolap: Zerolap, toy_program: Path) -> None:
    zerolap("compare", toy_program, "tcp://localhost:6379", *GET).fails_with(2, "tcp://localhost:6379", "hint: ")
    zerolap("run", "--server", "unix:///run/redis.sock", *GET).fails_with(2, "cannot be counted")


@pytest.mark.usefixtures("valgrind")
def test_programs_that_are_no_servers(zerolap: Zerolap, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho v=1.0.0\n")
    zerolap("run", "--server", script, *GET).fails_with(2, "not an executable file")
    script.chmod(0o755)
    zerolap("run", "--server", script, *GET).fails_with(2, f"`{script}`")
    zerolap("run", "--server", "true", *GET).fails_with(2, "is not a server", "--version")


@pytest.mark.usefixtures("valgrind")
def test_tree_that_is_no_source(zerolap: Zerolap, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    zerolap("run", "--server", tmp_path / "empty", *GET).fails_with(2, "src/server.c")


# Options and files


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--budget", "soon"], "`--budget soon`"),
        (["--budget", "0s"], "`--budget 0s`"),
        (["--min-effect", "counted=much"], "`--min-effect counted=much`"),
        (["--min-effect", "guessed=2%"], "no engine `guessed`"),
        (["--engine", "guessed"], "no engine `guessed`"),
        (["--engine", ","], "names no engine"),
        (["--engine", "timed", "--quick"], "`--quick` leaves nothing to measure"),
        (["--config", "maxmemory"], "`--config maxmemory`"),
        (["--config", 'save="'], '`--config save="`'),
        (["--base-config", "=1"], "`--config =1`"),
        (["--json", "/no/such/directory/x.json"], "cannot be written"),
        (["--html", "-"], "not written to standard output"),
        (["--json", "-", "--markdown", "-"], "two reports would go to standard output"),
        (["--json", "x", "--html", "x"], "two reports would go to `x`"),
        (["--store", "mysql://localhost/x"], "no such kind of store"),
        (["--cases", "no-such-file.yml"], "no-such-file.yml"),
        (["--group", "nothing"], 'no group matches "nothing"'),
        (["--command", "NOTHING"], 'no command matches "NOTHING"'),
        (["no-such-case"], 'no case matches "no-such-case"'),
    ],
)
def test_option_values(zerolap: Zerolap, tmp_path: Path, arguments: list[str], part: str) -> None:
    ended = zerolap("compare", "/bin/true", "/bin/true", *arguments)
    ended.fails_with(2, part)
    assert ended.out == ""
    assert not (tmp_path / ".zerolap" / "builds").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--seed", "x"], ["--seed", "-1"], ["--fail-on", "sometimes"], ["--no-such-option"], ["--repo"]],
)
def test_option_values_that_the_parser_refuses(zerolap: Zerolap, arguments: list[str]) -> None:
    ended = zerolap("compare", "/bin/true", "/bin/true", *arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert arguments[0] in ended.err
    assert ended.out == ""


def test_unknown_verb(zerolap: Zerolap) -> None:
    ended = zerolap("compair")
    assert ended.code == 2
    assert "compair" in ended.err


def test_bad_case_file(zerolap: Zerolap, tmp_path: Path) -> None:
    file = tmp_path / "own.yml"
    file.write_text('group: g\ncases:\n  - name: a\n    commands: ["PING"]\n    piepline: 3\n')
    zerolap("run", "--cases", file).fails_with(2, f"{file}:5:", '"piepline"', "pipeline")
    file.write_text("group: [")
    zerolap("run", "--cases", file).fails_with(2, f"{file}:", "not valid YAML")
    file.write_text("")
    zerolap("run", "--cases", file).fails_with(2, f"{file}:1:")


@pytest.mark.usefixtures("valgrind")
def test_case_with_a_setting_that_cannot_be_split(zerolap: Zerolap, tmp_path: Path, toy_program: Path) -> None:
    file = tmp_path / "own.yml"
    file.write_text('group: g\ncases:\n  - name: a\n    commands: ["PING"]\n    config: {save: "it\'s"}\n')
    zerolap("run", "--server", toy_program, "--cases", file).fails_with(2, "`save`")


def test_unknown_comparison(zerolap: Zerolap) -> None:
    zerolap("explain", "latest").fails_with(2)
    zerolap("explain", "c-12345678").fails_with(2, "c-12345678")


def test_store_that_is_something_else(zerolap: Zerolap, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "zerolap.db").write_text("not a database, but longer than a header would have to be" * 20)
    zerolap("explain", "--store", tmp_path / "store").fails_with(3, "not a SQLite database")
    (tmp_path / "file").write_text("")
    zerolap("explain", "--store", tmp_path / "file").fails_with(3, str(tmp_path / "file"))


# Builds


@pytest.mark.usefixtures("valgrind")
def test_source_that_does_not_build(zerolap: Zerolap, toy: ToySource) -> None:
    head = toy.changed(("commands.c", "static uint64_t last_checksum;", "static uint64_t last_checksum"))
    ended = zerolap("compare", toy.first, head, "--repo", toy.path, "--store", zerolap.store, *GET)
    ended.fails_with(4, f"`{head}` does not build", "commands.c:", "error: expected", "hint: ")
    left = [path.name for path in (zerolap.store / "builds").iterdir()]
    assert len(left) == 1, "the base is kept, and nothing unfinished"
    assert left[0].startswith("b-")


# Servers


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_server_that_dies_of_one_command(zerolap: Zerolap, toy: ToySource) -> None:
    crash = 'if (last_checksum != 1) { printf("cannot go on\\n"); fflush(stdout); abort(); }'
    head = toy.changed(("commands.c", "uint64_t word = arguments[1].length;", f"{crash}\n    uint64_t word = 1;"))
    common = ["--repo", toy.path, "--store", zerolap.store, "--cases", CASES, "--quick"]
    ended = zerolap("compare", toy.first, head, *common, "--json", "-")
    assert ended.code == 4, ended.err
    assert "Traceback" not in ended.err
    cases = {case["case"]: case for case in ended.document()["cases"]}
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "toy-get": "same", "toy-set": "same", "toy-work": "invalid",
    }  # fmt: skip
    failed = cases["toy-work"]
    assert failed["validity"]["valid"] is False
    assert failed["verdicts"] == []
    assert "cannot go on" in failed["failure"]
    assert "died" in failed["failure"]
    with Store.open(str(zerolap.store)) as store:
        [failure] = store.failures(ended.document()["id"])
        assert (failure.trial.case, failure.trial.side, failure.trial.block) == ("toy-work", "head", 0)
        assert failure.log is not None
        assert b"cannot go on" in store.blobs.get(failure.log)
    shown = zerolap("explain", "latest", "--store", zerolap.store)
    assert "cannot go on" in shown.out


@pytest.mark.slow
def test_a_crash_names_side_signal_and_function(zerolap: Zerolap, redis_server: Path, toy: ToySource) -> None:
    """A server's own handler of crashes stays out of the way, so that the first crash is the one that is reported."""
    crash = "*(volatile char *)0 = 1;"
    head = toy.changed(("commands.c", WORK_BEGINS, f"{crash}\n    {WORK_BEGINS}"))
    common = ["--repo", toy.path, "--store", zerolap.store, "--cases", CASES, "--quick"]
    ended = zerolap("compare", toy.first, head, "toy-work", *common)
    assert ended.code == 4, ended.err
    shown = " ".join(ended.out.split())
    assert "could not be measured on the head: the load generator failed" in shown
    assert "signal 11, SIGSEGV" in shown
    assert "work_command (commands.c:" in shown


@pytest.mark.usefixtures("valgrind")
def test_server_that_does_not_start(zerolap: Zerolap, toy_program: Path) -> None:
    ended = zerolap("run", "--server", toy_program, *GET, "--config", "nonsense=1", "--json", "-")
    assert ended.code == 4, ended.err
    [case] = ended.document()["cases"]
    assert "did not start" in case["failure"]
    assert "bad directive" in case["failure"]
    assert case["metrics"] == {}


@pytest.mark.slow
def test_redis_with_a_setting_that_it_refuses(zerolap: Zerolap, redis_server: Path) -> None:
    arguments = ["hset", "--quick", "--server", redis_server, "--json", "-"]
    # The lab knows no password of these users.
    users = zerolap.directory / "users.acl"
    users.write_text("user default on >secret ~* +@all\n")
    for setting, part in (("nonsense=1", "nonsense"), (f"aclfile={users}", "refused `PING`")):
        ended = zerolap("run", *arguments, "--config", setting)
        assert ended.code == 4, ended.err
        assert part in ended.document()["cases"][0]["failure"]


@pytest.fixture
def port_in_use() -> Iterator[int]:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


@pytest.mark.usefixtures("valgrind")
def test_port_in_use(zerolap: Zerolap, toy_program: Path, tmp_path: Path, port_in_use: int) -> None:
    """In the sandbox the machine's ports do not matter; without it the server's own message is shown."""
    arguments = ["run", "--server", toy_program, *GET, "--config", f"port={port_in_use}", "--json", "-"]
    ended = zerolap(*arguments, environment=path_without(tmp_path / "path", "bwrap"))
    assert ended.code == 4, ended.err
    assert "address in use" in ended.document()["cases"][0]["failure"]


# The machine


def test_no_valgrind(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    without = path_without(tmp_path / "path", "valgrind")
    for arguments in (["run", "--server", toy_program], ["compare", toy_program, toy_program]):
        ended = zerolap(*arguments, *GET, environment=without)
        ended.fails_with(3, "valgrind is not installed", "hint: apt-get install valgrind")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_no_compiler_and_no_make(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    common = ["run", "--server", toy.first, "--repo", toy.path, "--store", zerolap.store, *GET]
    zerolap(*common, environment=path_without(tmp_path / "path", "cc")).fails_with(3, "no C compiler", "apt-get")
    zerolap(*common, environment=path_without(tmp_path / "path2", "make")).fails_with(3, "`make`", "apt-get")
    zerolap(*common, environment=path_without(tmp_path / "path3", "git")).fails_with(3, "git is not installed")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_no_sandbox(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    without = path_without(tmp_path / "path", "bwrap")
    common = ["--repo", toy.path, "--store", zerolap.store, *GET, "--json", "-"]
    refused = zerolap("compare", toy.first, toy.first, *common, environment=without)
    refused.fails_with(3, "needs a sandbox: bubblewrap is not installed", "--unsafe-no-sandbox")
    arguments = ["compare", toy.first, toy.first, *common]
    ended = zerolap(*arguments, "--unsafe-no-sandbox", environment=without)
    assert ended.code == 0, ended.err
    document = ended.document()
    assert document["cases"][0]["verdict"] == "same"
    assert any("without a sandbox: bubblewrap is not installed" in note for note in document["notes"])


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_no_sandbox_for_a_build_that_was_made_in_one(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    common = ["run", "--server", toy.first, "--repo", toy.path, "--store", zerolap.store, *GET]
    assert zerolap(*common).code == 0
    without = path_without(tmp_path / "path", "bwrap")
    zerolap(*common, environment=without).fails_with(3, "needs a sandbox")
    (tmp_path / "zerolap.toml").write_text("unsafe-no-sandbox = true\n")
    assert zerolap(*common, environment=without).code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_no_sandbox_for_a_program_of_the_user(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    arguments = ["run", "--server", toy_program, *GET, "--json", "-"]
    ended = zerolap(*arguments, environment=path_without(tmp_path / "path", "bwrap"))
    assert ended.code == 0, ended.err
    assert any("without a sandbox: bubblewrap is not installed" in note for note in ended.document()["notes"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    yield disk
    # What was killed may need a moment to go.
    wait_until(lambda: subprocess.run(["umount", str(disk)], capture_output=True, check=False).returncode == 0)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_full_disk(zerolap: Zerolap, toy: ToySource, toy_program: Path, small_disk: Path) -> None:
    store = small_disk / "store"
    builds = zerolap("run", "--server", toy.first, "--repo", toy.path, "--store", store, *GET)
    builds.fails_with(3, "no space left", str(store), "hint: ", "--store")
    assert not list((store / "builds").glob("w-*"))

    (small_disk / "large").write_bytes(b"x" * (small_disk_free(small_disk) - 64 * 1024))
    ended = zerolap("run", "--server", toy_program, "--store", store, *GET, "--json", "-")
    ended.fails_with(3, "disk", str(small_disk), "hint: ")

    (small_disk / "large").unlink()
    ended = zerolap("run", "--server", toy_program, "--store", store, *GET, "--json", "-")
    assert ended.code == 0, ended.err


def small_disk_free(disk: Path) -> int:
    return shutil.disk_usage(disk).free


@pytest.mark.usefixtures("valgrind")
@pytest.mark.parametrize("left", [20_000, 60_000, 100_000])
def test_full_disk_of_trials(zerolap: Zerolap, toy_program: Path, small_disk: Path, left: int) -> None:
    (small_disk / "large").write_bytes(b"x" * (small_disk_free(small_disk) - left))
    ended = zerolap("run", "--server", toy_program, *GET, environment={"TMPDIR": str(small_disk)})
    ended.fails_with(3, "no space left", str(small_disk), "hint: ", "TMPDIR")
    assert [path.name for path in small_disk.iterdir()] == ["large"]
