"""Readers of what code under test made: they end within their limits, whatever they are given."""

import os
import resource
import shutil
import sys
from pathlib import Path

import pytest

from zerolap import _core
from zerolap.records import ZerolapError
from zerolap.sandbox import available, confined_reader
from zerolap.sandbox.confined_reader import ReaderLimits, UnreadableFile

DUMPS = Path(__file__).parent.parent / "crates/profile/tests/data"
RECORDING = DUMPS / "recording/frame_pointers.data"
PROGRAM = DUMPS / "recording/program"
ENDLESS = Path("/dev/zero")
"""A dump without end, and without the end of its first line."""

MANY_DESCRIPTORS = 1100

INQUISITIVE = """
import os, sys
path = sys.argv[5]
print("Rread", os.path.exists(path), sep="=")
print("beside", os.path.exists(os.path.join(os.path.dirname(path), "secret")), sep="=")
print("home", os.path.exists(os.path.expanduser("~/.bashrc")), sep="=")
print("networks", len(open("/proc/net/dev").readlines()) - 2, sep="=")
with open(os.path.join(os.path.dirname(path), "new"), "w"):
    pass
"""
"""A reader that looks for what it is not to see."""


def test_binaries_give_the_same_answers_as_in_this_process() -> None:
    for program in (PROGRAM, Path(sys.executable), Path(shutil.which("sh") or sys.executable)):
        facts, expected = confined_reader.binary_facts(str(program)), _core.binary_facts(str(program))
        for name in vars(facts):
            assert getattr(facts, name) == getattr(expected, name), name
        for root in ("/zerolap", "/nowhere"):
            assert confined_reader.source_functions(str(program), root) == _core.source_functions(str(program), root)
            assert confined_reader.structures(str(program), root) == _core.structures(str(program), root)
    assert ("main.c", "main") in {
        (file, name) for file, name, _, _ in confined_reader.source_functions(str(PROGRAM), "/zerolap")
    }


def test_dumps_and_recordings_give_the_same_answers_as_in_this_process() -> None:
    dumps = (str(DUMPS / "small.callgrind"), str(DUMPS / "large.callgrind"), 10, 30, "/build/redis")
    assert confined_reader.call_graph(*dumps) == _core.call_graph(*dumps)
    assert confined_reader.read_stacks(str(RECORDING), "/zerolap") == _core.read_stacks(str(RECORDING), "/zerolap")


def test_binaries_are_read_where_many_files_are_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < MANY_DESCRIPTORS + 100:
        pytest.skip(f"a process may open only {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (MANY_DESCRIPTORS + 100, hard))
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(MANY_DESCRIPTORS)]
    try:
        assert confined_reader.binary_facts(str(PROGRAM)).debug_lines
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_errors_are_those_of_the_readers(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for read in (
        lambda: confined_reader.binary_facts(missing),
        lambda: confined_reader.source_functions(missing, "/"),
        lambda: confined_reader.structures(missing, "/"),
        lambda: confined_reader.call_graph(missing, missing, 1, 2, "/"),
        lambda: confined_reader.read_stacks(missing, "/"),
    ):
        with pytest.raises(FileNotFoundError) as raised:
            read()
        assert raised.value.filename == missing
    with pytest.raises(UnreadableFile, match="ELF"):
        confined_reader.binary_facts(__file__)
    with pytest.raises(UnreadableFile, match="not a regular file"):
        confined_reader.binary_facts(str(ENDLESS))
    with pytest.raises(UnreadableFile, match="not a file of perf record"):
        confined_reader.read_stacks(__file__, "/")
    assert issubclass(UnreadableFile, ZerolapError)
    assert issubclass(UnreadableFile, ValueError)


def test_memory_has_a_limit() -> None:
    with pytest.raises(UnreadableFile, match="more than 512 MiB of memory"):
        confined_reader.call_graph(str(ENDLESS), str(ENDLESS), 1, 2, "/", ReaderLimits(memory_bytes=512 << 20))


@pytest.mark.slow
def test_processor_time_has_a_limit(tmp_path: Path) -> None:
    # Lines that are skipped take no memory; at any speed there is a second's worth of them.
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    writer = os.fork()
    if writer == 0:
        try:
            with endless.open("wb") as pipe:
                while True:
                    pipe.write(b"#\n" * 32768)
        finally:
            os._exit(0)
    try:
        with pytest.raises(UnreadableFile, match="more than 1 s of CPU time"):
            confined_reader.call_graph(str(endless), str(endless), 1, 2, "/", ReaderLimits(cpu_seconds=1))
    finally:
        os.waitpid(writer, 0)


def test_waiting_has_a_limit(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    os.mkfifo(silent)
    with pytest.raises(UnreadableFile, match=r"not read within 0\.5 s"):
        confined_reader.call_graph(str(silent), str(silent), 1, 2, "/", ReaderLimits(seconds=0.5))


def test_answers_have_a_limit() -> None:
    with pytest.raises(UnreadableFile, match="more than 0 MiB of results"):
        confined_reader.read_stacks(str(RECORDING), "/", ReaderLimits(result_bytes=100))


def test_this_process_keeps_its_own_limits() -> None:
    before = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)]
    confined_reader.binary_facts(str(PROGRAM))
    after = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)]
    assert after == before


def test_modules_in_the_working_directory_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("resource", "os", "_core"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')\n")
    monkeypatch.chdir(tmp_path)
    assert confined_reader.binary_facts(str(PROGRAM)).compiler


@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
def test_a_reader_sees_only_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("key")
    read = tmp_path / "read"
    read.write_text("content")
    reader = tmp_path / "reader.py"
    reader.write_text(INQUISITIVE)
    monkeypatch.setattr(confined_reader, "READER", reader)
    facts = dict(line.split("=") for line in confined_reader.read_stacks(str(read), "/").decode().splitlines())
    assert facts == {"read": "True", "beside": "False", "home": "False", "networks": "1"}
    assert not (tmp_path / "new").exists()
