"""The installed command `zerolap-load`."""

import subprocess
import sys


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_it_becomes_the_load_generator() -> None:
    become = "from zerolap.load_program import main; main()"
    assert run(become, "--version").stdout.startswith("zerolap-load ")
    refused = run(become, "--nonsense")
    assert refused.returncode == 2
    assert "there is no argument --nonsense" in refused.stderr


def test_it_imports_nothing_else_of_the_package() -> None:
    listing = "import sys; before = set(sys.modules); import zerolap.load_program; print(*set(sys.modules) - before)"
    assert set(run(listing).stdout.split()) == {"zerolap", "zerolap.load_program"}


def test_a_program_that_was_not_built_is_named() -> None:
    missing = "from zerolap import load_program; load_program.PROGRAM = '/nonexistent'; load_program.main()"
    ended = run(missing)
    assert ended.returncode == 3
    assert ended.stderr == "error: `/nonexistent` is missing\nhint: make build\n"
