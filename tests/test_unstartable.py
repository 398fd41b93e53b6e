"""Programs that this machine cannot start: the error states the cause, as kernel and loader report it."""

import platform
import struct
import subprocess
from pathlib import Path

import pytest

from zerolap.build.program import Program, server_words
from zerolap.records import UsageError

pytestmark = pytest.mark.usefixtures("compiler")


def compiled(path: Path, text: str, *options: str) -> Path:
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.run(["gcc", source, "-o", path, *options], check=True)
    return path


def executable(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def refused(path: Path, *arguments: str) -> str:
    with pytest.raises(UsageError) as raised:
        server_words(Program(path, arguments))
    assert raised.value.hint
    return raised.value.message


def test_a_program_of_another_architecture(tmp_path: Path) -> None:
    program = compiled(tmp_path / "server", "int main(void) { return 0; }")
    content = bytearray(program.read_bytes())
    machine, name = (183, "aarch64") if platform.machine() != "aarch64" else (62, "x86_64")
    struct.pack_into("<H", content, 18, machine)
    executable(program, bytes(content))
    message = refused(program)
    assert (
        message
        == f"`{program}` cannot be started: it is a program for {name}, and this machine is {platform.machine()}"
    )
    # Also of a start command, which need not answer --version.
    assert refused(program, "--port", "0") == message


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    compiled(tmp_path / "libmissing.so", "int f(void) { return 0; }", "-shared", "-fPIC")
    program = compiled(tmp_path / "server", "int f(void); int main(void) { return f(); }", f"-L{tmp_path}", "-lmissing")
    (tmp_path / "libmissing.so").unlink()
    message = refused(program)
    assert message.startswith(f"`{program}` cannot be started: error while loading shared libraries: libmissing.so")


def test_a_loader_that_is_missing(tmp_path: Path) -> None:
    program = compiled(tmp_path / "server", "int main(void) { return 0; }", "-Wl,-I/lib/ld-none.so.1")
    assert "its loader `/lib/ld-none.so.1` is not on this machine" in refused(program)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "the file is empty"),
        (b"some text\n", "neither a program (ELF) nor a script"),
        (b"#!/nowhere/sh\nexit 0\n", "a script whose interpreter `/nowhere/sh` is not on this machine"),
        (b"#!\n", "a script whose interpreter `` is not"),
        (b"\x7fELF", "cut off or damaged"),
        (b"\x7fELF" + b"\xff" * 60, "cut off or damaged"),
    ],
)
def test_what_is_no_program(tmp_path: Path, content: bytes, fault: str) -> None:
    assert fault in refused(executable(tmp_path / "server", content))


def test_a_program_that_is_cut_off(tmp_path: Path) -> None:
    program = compiled(tmp_path / "server", "int main(void) { return 0; }")
    assert "cut off or damaged" in refused(executable(program, program.read_bytes()[:200]))


def test_how_a_program_ends_without_an_answer(tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint main(void) { fprintf(stderr, "needs a file\\n"); return 3; }'
    assert refused(compiled(tmp_path / "fails", text)).endswith("it ends with 3: `needs a file`")
    assert refused(compiled(tmp_path / "dies", "int main(void) { *(volatile int *)8 = 1; }")).endswith(
        "it died of SIGSEGV without an answer"
    )
    raises = "#include <signal.h>\nint main(void) { raise(SIGILL); }"
    assert "SIGILL: it was built for another processor" in refused(compiled(tmp_path / "newer", raises))
