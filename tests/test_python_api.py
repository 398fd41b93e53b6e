"""The package as a library, by docs/python.md: its program runs, and its names are those of the package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zerolap
from zerolap.records import JobFinished, TrialsJob, read_event, read_job

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
SLOW_TO_IMPORT = {"numpy", "pydantic", "pydantic_core", "sqlalchemy"}


def run_python(*arguments: str | Path, directory: Path) -> "subprocess.CompletedProcess[str]":
    """Run Python in a directory with the package under test."""
    path = [str(Path(zerolap.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_the_program_of_the_page(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "program.py").write_text(program)
    ended = run_python("program.py", directory=tmp_path)
    assert ended.returncode == 0, ended.stderr
    first, *others = ended.stdout.splitlines()
    case, verdict, deciding = first.split()
    assert case == "hgetall-20-fields"
    assert verdict in ("regression", "improvement"), "the setting gives hashes another encoding"
    assert deciding == "instructions_per_op"
    assert any(re.match(r"  instructions_per_op: [+-]\d+\.\d% \[", line) for line in others)
    assert "counting hgetall-20-fields: 10 of 10" in ended.stderr


def test_errors_have_a_message_and_a_hint(tmp_path: Path) -> None:
    with pytest.raises(zerolap.errors.UsageError) as caught:
        zerolap.compare("no-such-server", "no-such-server", store=tmp_path / "store")
    assert "no-such-server" in caught.value.message
    assert caught.value.hint
    with pytest.raises(zerolap.errors.UsageError):
        zerolap.resume("latest", store=tmp_path / "store")


def test_the_page_documents_the_names_of_the_package() -> None:
    documented = re.findall(r"^\| `zerolap\.(\w+)", PAGE, flags=re.MULTILINE)
    assert sorted(documented) == sorted(zerolap.__all__)
    assert all(hasattr(zerolap, name) for name in zerolap.__all__)
    assert set(zerolap.__all__) <= set(dir(zerolap))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = zerolap.no_such_name


def test_the_page_documents_every_option() -> None:
    (table,) = re.findall(r"^## Options\n(.*?)^## ", PAGE, flags=re.DOTALL | re.MULTILINE)
    documented = re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)
    assert documented == list(zerolap.Options.__dataclass_fields__)


def test_importing_the_package_imports_nothing_slow(tmp_path: Path) -> None:
    ended = run_python("-c", "import json, sys, zerolap; print(json.dumps(list(sys.modules)))", directory=tmp_path)
    imported = {name.partition(".")[0] for name in json.loads(ended.stdout)}
    assert not imported & SLOW_TO_IMPORT


def test_the_documents_of_the_page_on_jobs_are_read() -> None:
    page = (Path(__file__).parent.parent / "docs" / "jobs.md").read_text()
    job, event = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert isinstance(read_job(job), TrialsJob)
    assert isinstance(read_event(event), JobFinished)
