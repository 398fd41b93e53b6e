"""What a shell completes, asked as a shell asks: through the script that the program prints."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from toy_server import ToySource

SCRIPT = """
source {script}
COMP_WORDS=({words})
COMP_CWORD={place}
_zerolap_completion zerolap
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a shell that finds the program by its name."""
    directory = tmp_path_factory.mktemp("bin")
    program = directory / "zerolap"
    program.write_text(f"#!{sys.executable}\nfrom zerolap.cli import main\nmain()\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "SHELL": "/bin/bash"}


@pytest.fixture(scope="module")
def script(shell: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The program looks for the shell that has called it, which need not be there where the tests run.
    called = ["bash", "-c", "zerolap --show-completion bash; exit $?"]
    shown = subprocess.run(called, env=shell, capture_output=True, text=True, check=True)
    path = tmp_path_factory.mktemp("completion") / "script"
    path.write_text(shown.stdout)
    return path


def completed(words: list[str], script: Path, shell: dict[str, str], directory: Path) -> list[str]:
    """Return what bash offers for the last of the words."""
    quoted = " ".join(map(shlex.quote, ["zerolap", *words]))
    text = SCRIPT.format(script=shlex.quote(str(script)), words=quoted, place=len(words))
    ended = subprocess.run(["bash", "-c", text], env=shell, cwd=directory, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["co"], ["compare", "comment"]),
        (["suites", "sch"], ["schema"]),
        (["compare", "--head-v"], ["--head-variant"]),
        (["run", "get-1"], ["get-100B"]),
        (["compare", "A", "B", "--cases", "geo", "geodist-100"], ["geodist-100k"]),
        (["suites", "show", "xadd"], ["xadd-auto-id"]),
        (["run", "--group", "strea"], ["stream"]),
        (["run", "--command", "XAD"], ["XADD"]),
        (["run", "--topology", "replicas-1"], ["replicas-1"]),
        (["compare", "A", "B", "--engine", "counted,ti"], ["counted,timed"]),
        (["history", "ta"], ["table"]),
        (["history", "get"], ["get-100B"]),
        (["history", "get-100B", "ta"], []),
        (["run", "--cases", "no-such-file.yml", "get"], []),
        (["explain", "c-"], []),
    ],
    ids=" ".join,
)
def test_words_are_completed(
    words: list[str], offered: list[str], script: Path, shell: dict[str, str], tmp_path: Path
) -> None:
    assert completed(words, script, shell, tmp_path) == offered
    # Asking leaves nothing behind, such as an empty store.
    assert list(tmp_path.iterdir()) == []


def test_revisions_are_completed_but_no_name_that_a_shell_would_execute(
    toy: ToySource, script: Path, shell: dict[str, str], tmp_path: Path
) -> None:
    for name in ("release-1", "release-$(touch${IFS}acted)", "release-;id", "größe"):
        toy.git("branch", name)
    toy.git("tag", "release-2")
    assert set(completed(["compare", "rel"], script, shell, toy.path)) == {"release-1", "release-2"}
    assert completed(["bisect", "grö"], script, shell, toy.path) == ["größe"]
    of_repository = ["compare", "--repo", str(toy.path), "release-1..release-2"]
    assert completed(of_repository, script, shell, tmp_path) == ["release-1..release-2"]
    assert not (toy.path / "acted").exists()
