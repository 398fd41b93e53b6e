"""Servers that are given by their start command: a program with arguments of its own."""

import contextlib
from pathlib import Path

import pytest
from command_line import Zerolap
from sources import binary_source, tree_source
from toy_server import CASES

from zerolap.build import Program, resolve
from zerolap.engines import missing_for_sampling
from zerolap.records import TrialFailed, UsageError
from zerolap.server import RunningServer, start

pytestmark = pytest.mark.usefixtures("valgrind")


def setting(server: RunningServer, name: str) -> str:
    reply = server.command("CONFIG", "GET", name)
    assert isinstance(reply, list)
    assert isinstance(reply[1], bytes)
    return reply[1].decode()


def test_words_that_begin_with_a_program_are_a_start_command(toy_program: Path, tmp_path: Path) -> None:
    assert resolve(f"'{toy_program}' --rounds '3'", None) == binary_source(
        f"'{toy_program}' --rounds '3'", toy_program, ("--rounds", "3")
    )
    spaced = tmp_path / "a server"
    spaced.mkdir()
    assert resolve(str(spaced), None) == tree_source(str(spaced), spaced)


def test_a_start_command_begins_with_a_program_of_the_working_directory(
    toy_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy_program.parent)
    command = f"./{toy_program.name} --rounds 3"
    assert resolve(command, None) == binary_source(command, toy_program, ("--rounds", "3"))


def test_what_is_no_start_command_is_an_error() -> None:
    for text, why in (
        ("no-such-server --fast", "no program `no-such-server`"),
        ("sh 'open", "No closing quotation"),
    ):
        with pytest.raises(UsageError) as raised:
            resolve(text, None)
        assert why in raised.value.message


def test_its_arguments_go_before_the_settings(redis_server: Path, tmp_path: Path) -> None:
    program = Program(redis_server, ("--maxmemory", "100mb", "--maxclients", "77"))
    with start(program, {"maxclients": "78"}, tmp_path, log=tmp_path.with_suffix(".log")) as server:
        assert setting(server, "maxmemory") == str(100 * 1024 * 1024)
        assert setting(server, "maxclients") == "78"


def test_a_command_that_says_where_to_listen_takes_no_settings(redis_server: Path, tmp_path: Path) -> None:
    words = "--port 0 --unixsocket {socket} --dir {directory} --hz 33"
    program = Program(redis_server, tuple(words.split()))
    for settings in ({}, {"hz": "50"}):
        directory = tmp_path / str(len(settings))
        directory.mkdir()
        if settings:
            with (
                pytest.raises(TrialFailed, match="does not accept the settings `hz`"),
                start(program, settings, directory, log=tmp_path / "log"),
            ):
                pass
            continue
        with start(program, settings, directory, log=tmp_path / "log") as server:
            assert setting(server, "hz") == "33"
            assert setting(server, "dir") == str(directory)
            assert Path(f"/proc/{server.process}/exe").resolve() == redis_server.resolve()


@pytest.mark.slow
def test_it_is_measured_by_all_that_measure(zerolap: Zerolap, toy_program: Path) -> None:
    few, many = (
        f"{toy_program} --unixsocket {{socket}} --rounds 1",
        f"{toy_program} --unixsocket {{socket}} --rounds 40",
    )
    common = ["toy-get", "--cases", CASES, "--quick", "--store", zerolap.store]
    ended = zerolap("compare", few, many, *common, "--json", "-")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert (document["base"]["name"], document["head"]["name"]) == (few, many)
    assert document["base"]["build"] != document["head"]["build"]
    assert document["cases"][0]["verdict"] == "regression"
    for engine in ("timed", "sampled"):
        arguments = [one for one in common if one != "--quick"]
        ended = zerolap("run", "--server", few, *arguments, "--engine", engine)
        if engine == "sampled" and missing_for_sampling() is not None:
            ended.fails_with(3, "no stacks: ")
        else:
            ended.is_measured_or_too_busy()
    zerolap.leaves_nothing()


def test_a_script_is_refused_with_what_to_give_instead(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text(f'#!/bin/sh\ncase $1 in --version) echo 1.2.3; exit;; esac\nexec {toy_program} "$@"\n')
    script.chmod(0o755)
    common = ["--cases", CASES, "--quick", "--store", zerolap.store]
    zerolap("run", "--server", script, *common).fails_with(2, "no program that can be measured", "that it starts")


def test_a_program_that_is_no_server_ends_with_its_own_words(zerolap: Zerolap) -> None:
    common = ["--cases", CASES, "--quick", "--store", zerolap.store]
    ended = zerolap("run", "--server", "ls --no-such-argument", *common)
    assert ended.code == 4
    assert "unrecognized option" in ended.out


def test_each_start_runs_a_copy_that_finds_the_files_beside_the_program(toy_program: Path, tmp_path: Path) -> None:
    """Pages of a new file lie elsewhere in memory: their places must not be the same in all starts."""
    program = Program(toy_program, ("--unixsocket", "{socket}"))
    beside = toy_program.parent / "beside"
    beside.write_text("a file that the program needs")
    files = set()
    with contextlib.ExitStack() as stack:
        for name in ("first", "second"):
            directory = tmp_path / name
            directory.mkdir()
            server = stack.enter_context(start(program, {}, directory, log=tmp_path / "log"))
            executable = Path(f"/proc/{server.process}/exe")
            files.add(executable.stat().st_ino)
            assert server.runs_from_copy
            assert executable.readlink() == toy_program.resolve()
            root = Path(f"/proc/{server.process}/root")
            assert (root / str(executable.readlink().parent / "beside").lstrip("/")).read_text() == beside.read_text()
    assert len(files) == 2
    assert toy_program.stat().st_ino not in files


def test_a_program_that_another_starts_is_no_copy(toy_program: Path, tmp_path: Path) -> None:
    program = Program(Path("/usr/bin/env"), (str(toy_program), "--unixsocket", "{socket}"))
    with start(program, {}, tmp_path, log=tmp_path.with_suffix(".log")) as server:
        assert not server.runs_from_copy
