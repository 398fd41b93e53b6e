"""Text of others steers no terminal, whichever verb shows it, and wherever it comes from."""

import ast
import importlib.util
import json
import os
import pty
import re
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from command_line import PROGRAM, Zerolap
from toy_server import SOURCE, ToySource
from waiting import PATIENCE_SECONDS

from zerolap.foreign_text import is_shown
from zerolap.sandbox import available

OWN_SEQUENCES = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AK])|\r\n|\r(?=\x1b\[2K|\x1b\[1A|\x1b\[K)")
"""What rich and the load generator colour text, and draw bars with."""
MARK = "PLANTED"
PLANT = f"\x1b[2J\x1b]0;{MARK}\x07\x1b]52;c;b3duZWQ=\x07\x9b8m\u202e\u200b\x08\r{MARK}"
"""Clears the screen, sets the title and the clipboard, hides text, turns it around, and writes over a line."""
CHECKS = Path(__file__).parent.parent / "scripts" / "check_structure.py"
FOR_C = "".join(f"\\{byte:03o}" for byte in PLANT.encode())


def loaded(path: Path) -> Any:
    """Return a script as a module."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


check_structure = loaded(CHECKS)


def as_slow(*verbs: str) -> list[ParameterSet]:
    """Return verbs as parameters of tests that take more than a few seconds."""
    return [pytest.param(verb, marks=pytest.mark.slow) for verb in verbs]


def on_terminal(command: list[str], directory: Path, **environment: str) -> str:
    """Run a command on a terminal of its own, and return what comes out of it."""
    ours, theirs = pty.openpty()
    written = bytearray()

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                # Of a terminal, that is the end.
                return
            if not piece:
                return
            written.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    whole = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", **environment}
    try:
        subprocess.run(
            command,
            cwd=directory,
            env=whole,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    finally:
        os.close(theirs)
        reader.join(PATIENCE_SECONDS)
        os.close(ours)
    return written.decode(errors="surrogateescape")


def assert_harmless(text: str, *, has_mark: bool = True) -> None:
    """Assert that text on a terminal has what was planted, and nothing of it that steers."""
    if has_mark:
        assert MARK in text
    rest = OWN_SEQUENCES.sub("", text)
    steering = sorted({character for character in rest if not is_shown(character)})
    assert not steering, (steering, rest)


def shown_by(zerolap: Zerolap, *arguments: str | Path, has_mark: bool = True) -> None:
    """Run a verb on a terminal and in a pipe, and assert that neither gets what steers a terminal."""
    words = [*PROGRAM, *map(str, arguments)]
    assert_harmless(on_terminal(words, zerolap.directory, TMPDIR=str(zerolap.trials)), has_mark=has_mark)
    ended = zerolap(*arguments)
    assert_harmless(ended.out + ended.err, has_mark=has_mark)


@pytest.fixture(scope="module")
def dying_server(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server that reports its version, and says its last words instead of serving."""
    tree = tmp_path_factory.mktemp("dying")
    for file in (SOURCE / "src").iterdir():
        (tree / file.name).write_text(file.read_text())
    source = (tree / "server.c").read_text()
    dying = f'if (getenv("HOME") == 0 || 1) {{ fputs("{FOR_C}\\n", stderr); exit(7); }}'
    begun, main, rest = source.partition("\nint main(int")
    assert main
    head, brace, body = rest.partition("{\n")
    version = body.partition("return 0;")
    assert version[1]
    body = f"{version[0]}{version[1]}{version[2].replace(chr(10), chr(10) + dying + chr(10), 2)}"
    (tree / "server.c").write_text("#include <stdlib.h>\n" + begun + main + head + brace + body)
    subprocess.run(["make", "-s", "OPTIMIZATION=-O2"], cwd=tree, check=True)
    return tree / "toy-server"


@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
@pytest.mark.parametrize(
    "verb",
    ["compare", *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("run", "profile", "check", "snapshot"))],
)
def test_the_output_of_a_build(zerolap: Zerolap, tmp_path: Path, verb: str) -> None:
    toy = ToySource(tmp_path / "tree")
    makefile = toy.path / "src" / "Makefile"
    link = "\t$(CC) -g -o $@ $(OBJECTS)"
    assert link in makefile.read_text()
    makefile.write_text(makefile.read_text().replace(link, f"\t@printf '{FOR_C}\\n'; exit 1"))
    words = {
        "run": ("run", "get-100B", "--server", toy.path, "--quick"),
        "compare": ("compare", "redis-server", toy.path, "get-100B", "--quick"),
        "profile": ("profile", toy.path, "get-100B"),
        "check": ("suites", "check", "get-100B", "--server", toy.path),
        "snapshot": ("snapshot", toy.path),
    }[verb]
    shown_by(zerolap, *words)


@pytest.mark.parametrize("verb", ["profile", *as_slow("run", "check")])
def test_the_last_words_of_a_server(zerolap: Zerolap, dying_server: Path, verb: str) -> None:
    words = {
        "run": ("run", "get-100B", "--server", dying_server, "--engine", "sampled"),
        "profile": ("profile", dying_server, "get-100B"),
        "check": ("suites", "check", "get-100B", "--server", dying_server),
    }[verb]
    shown_by(zerolap, *words, has_mark=verb != "check")


def test_names_in_a_repository(zerolap: Zerolap, tmp_path: Path) -> None:
    toy = ToySource(tmp_path / "repository")
    toy.commit(f"subject {PLANT}".replace("\r", ""))
    for words in (("run", "--repo", toy.path, "--server", f"none{PLANT}"), ("history", f"none{PLANT}")):
        shown_by(zerolap, *words)
    shown_by(zerolap, "bisect", "HEAD~1", "HEAD", f"none{PLANT}", "--repo", toy.path)


def test_case_files_and_their_names(zerolap: Zerolap, tmp_path: Path) -> None:
    name = PLANT.replace("\x07", "").replace("/", "")
    (tmp_path / f"{name}.yml").write_text("cases: [")
    shown_by(zerolap, "suites", "list", "--cases", tmp_path / f"{name}.yml")
    shown_by(zerolap, "suites", "list", "--cases", f"absent{PLANT}")
    case = {"name": f"case {MARK}\u202e\x9b2J", "group": f"{MARK}\x1b[2J", "commands": ["GET a"]}
    (tmp_path / "cases.yml").write_text(json.dumps({"cases": [case | {"description": PLANT}]}))
    shown_by(zerolap, "suites", "list", "--cases", tmp_path / "cases.yml")
    shown_by(zerolap, "suites", "show", "*", "--cases", tmp_path / "cases.yml")
    shown_by(zerolap, "suites", "check", "--no-run", tmp_path / "cases.yml", has_mark=False)


def test_words_of_the_command_line_and_of_settings(zerolap: Zerolap) -> None:
    shown_by(zerolap, f"verb{PLANT}")
    shown_by(zerolap, "run", f"--option{PLANT}", has_mark=False)
    shown_by(zerolap, "explain", f"c-{PLANT}")
    (zerolap.directory / "zerolap.toml").write_text(f'"{MARK}\\u001b[2J\\u009b" = 1\n')
    shown_by(zerolap, "run")


class _Hostile(socketserver.StreamRequestHandler):
    """Answers each request with an error that steers a terminal."""

    def handle(self) -> None:
        while self.request.recv(65536):
            self.request.sendall(b"-ERR " + PLANT.replace("\r", "").encode() + b"\r\n")


@contextmanager
def hostile_endpoint() -> Iterator[int]:
    """Serve error replies; yields the port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Hostile) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def test_replies_of_an_endpoint(zerolap: Zerolap) -> None:
    with hostile_endpoint() as port:
        shown_by(zerolap, "run", "get-100B", "--server", f"tcp://127.0.0.1:{port}", has_mark=False)


@pytest.mark.parametrize("output", [(), ("--json-out-file", "-"), ("--show-config",)])
def test_replies_that_the_load_generator_shows(zerolap: Zerolap, output: tuple[str, ...]) -> None:
    program = Path(sys.executable).with_name("zerolap-load")
    with hostile_endpoint() as port:
        command = [str(program), "--server", "127.0.0.1", "--port", str(port), "--requests", "10", "--clients", "1"]
        command += ["--threads", "1", "--command", f"GET {MARK}\x9b2J\u202e", *output]
        assert_harmless(on_terminal(command, zerolap.directory))
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
        assert_harmless(ended.stdout + ended.stderr)


def test_json_means_the_same() -> None:
    program = f"from zerolap import writer; writer.write({json.dumps(json.dumps([PLANT], ensure_ascii=False))})"
    written = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert json.loads(written) == [PLANT]
    assert_harmless(written)


def test_what_is_written_past_the_writer_is_guarded_too(tmp_path: Path) -> None:
    program = "import sys, logging; from zerolap import writer; writer.guard_streams();" + (
        f"plant = {PLANT!r}; print(plant); sys.stderr.write(plant); logging.warning(plant); raise ValueError(plant)"
    )
    assert_harmless(on_terminal([sys.executable, "-c", program], tmp_path))


def test_a_console_shows_its_colours_and_none_of_others(tmp_path: Path) -> None:
    program = (
        "from rich.table import Table; from zerolap import writer; writer.guard_streams(); table = Table('a');"
        + (f"table.add_row({PLANT!r}); writer.console().print(table); writer.console().print({PLANT!r}, style='bold')")
    )
    written = on_terminal([sys.executable, "-c", program], tmp_path)
    assert "\x1b[1m" in written
    assert_harmless(written)


def test_logs_on_a_terminal(tmp_path: Path) -> None:
    program = "import structlog; from zerolap.cli.logging import set_up_logs; set_up_logs();" + (
        f"structlog.get_logger().warning({PLANT!r}, reason={PLANT!r}, items=[{PLANT!r}])"
    )
    assert_harmless(on_terminal([sys.executable, "-c", program], tmp_path))


@pytest.mark.parametrize(
    "statement",
    [
        "print(text)",
        "sys.stdout.write(text)",
        "sys.stderr.buffer.write(text)",
        "from sys import stderr",
        "output = sys.__stdout__",
        "typer.echo(text)",
        "Console().print(text)",
        "rich.console.Console(stderr=True)",
        "os.write(2, text)",
        "traceback.print_exc()",
        "logging.StreamHandler()",
    ],
)
def test_code_that_writes_past_the_writer_is_found(statement: str) -> None:
    [fault] = check_structure._writes_past_writer(module_with(statement))
    assert "zerolap.writer" in fault


@pytest.mark.parametrize("statement", ["sys.stderr.isatty()", "console.print(text)", "os.write(descriptor, text)"])
def test_code_that_writes_nothing_by_itself_is_no_fault(statement: str) -> None:
    assert list(check_structure._writes_past_writer(module_with(statement))) == []


def module_with(statement: str) -> Any:
    path = check_structure.SOURCES / "zerolap" / "planted.py"
    return check_structure.Module(path, "zerolap.planted", ast.parse(statement))
