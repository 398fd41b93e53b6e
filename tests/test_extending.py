"""What docs/extending.md describes: its files make a distribution, and its commands do what they promise."""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from machine import CHECKS_OF_THE_MACHINE

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parent.parent / "docs" / "extending.md").read_text()
LONGEST = 50


def distribution(directory: Path, entries: str, modules: Mapping[str, str], name: str = "our-plugins") -> Path:
    """Put modules and what an installation would leave of their entry points into a directory."""
    directory.mkdir()
    for module, text in modules.items():
        (directory / module).write_text(text)
    information = directory / f"{name.replace('-', '_')}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entries)
    return directory


def beside_zerolap(directory: Path) -> dict[str, str]:
    """Return the environment in which a directory's distributions are found."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(directory), os.environ.get("PYTHONPATH", "")]))}


def of_the_page(tmp_path: Path) -> Path:
    """Return the directory with the page's modules, installed with its pyproject.toml."""
    blocks = dict(re.findall(r"`([\w.]+)`[^`]*\n\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL))
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    project = tomllib.loads(text)
    modules = {name: code for name, code in blocks.items() if name.endswith(".py")}
    assert sorted(modules) == sorted(f"{name}.py" for name in project["tool"]["setuptools"]["py-modules"])
    assert all(len(code.splitlines()) < LONGEST for code in modules.values())
    groups = project["project"]["entry-points"].items()
    entries = "\n".join(
        line
        for group, names in groups
        for line in (f"[{group}]", *(f"{name} = {what}" for name, what in names.items()))
    )
    return distribution(tmp_path / "installed", entries, modules)


def commands() -> dict[str, list[str]]:
    """Return the page's commands, by themselves and as arguments."""
    lines = re.findall(r"^    zerolap (.+)$", PAGE, flags=re.MULTILINE)
    return {line: shlex.split(line) for line in lines}


def case_of(document: Any) -> Any:
    (case,) = document["cases"]
    assert case["failure"] is None
    assert {check["check"] for check in case["validity"]["checks"] if not check["ok"]} <= CHECKS_OF_THE_MACHINE
    return case


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_the_page_builds_one_of_each(zerolap: Zerolap, tmp_path: Path) -> None:
    environment = beside_zerolap(of_the_page(tmp_path))
    documents = {}
    for line, arguments in commands().items():
        ended = zerolap(*arguments, environment=environment)
        if ended.code != 4:
            ended.is_measured_or_too_busy()
        documents[line] = ended.document()
    assert len(documents) == 7

    by_load = case_of(documents["run get-100B --load-tool redis-py --json -"])
    names = {check["check"] for check in by_load["validity"]["checks"]}
    assert {"errors", "hit_rate", "executed", "client_saturation"} <= names
    if by_load["validity"]["valid"]:
        assert by_load["metrics"]["ops_per_sec"] > 0
        assert {"latency_max_us", "cpu_ns_per_op", "client_cpu_ns_per_op"} <= by_load["metrics"].keys()
    settings = documents["run get-100B --load-tool redis-py --json -"]["settings"]
    assert (settings["engines"], settings["load_tool"]) == (["loaded"], "redis-py")

    by_engine = case_of(documents["run get-100B --engine footprint --json -"])
    assert 100 < by_engine["metrics"]["bytes_per_key"] < 400
    both = case_of(documents["run get-100B --engine counted,footprint --json -"])
    assert {"bytes_per_key", "instructions_per_op"} <= both["metrics"].keys()

    (line,) = [line for line in documents if line.startswith("compare ")]
    compared = case_of(documents[line])
    assert (compared["verdict"], compared["deciding"]) == ("regression", "bytes_per_key")
    (verdict,) = compared["verdicts"]
    assert (verdict["engine"], verdict["verdict"], verdict["min_effect"]) == ("footprint", "regression", 0.02)
    assert verdict["low"] > 1

    assert "checksums" in documents["opportunities --json -"]["detectors"]

    diagnoses = {one["subject"]: one for one in documents["doctor --json -"]["diagnoses"]}
    assert diagnoses["open files"]["state"] in ("ok", "warning")


@pytest.mark.usefixtures("redis_server")
def test_reports_show_the_metrics_of_a_plugin(zerolap: Zerolap, tmp_path: Path) -> None:
    environment = beside_zerolap(of_the_page(tmp_path))
    arguments = ["run", "get-100B", "--engine", "footprint", "--store", zerolap.store]
    ended = zerolap(*arguments, "--html", "run.html", "--markdown", "run.md", environment=environment)
    assert ended.code == 0, ended
    assert "bytes per key" in ended.out
    assert "bytes_per_key" in (tmp_path / "run.html").read_text()
    assert "bytes per key" in (tmp_path / "run.md").read_text()
    # What was measured is shown again also where the plugin is gone.
    again = zerolap("explain", "latest", "--store", zerolap.store)
    assert "bytes per key" in again.out, again


def test_cases_that_a_plugin_refuses_are_skipped(zerolap: Zerolap, tmp_path: Path, redis_server: Path) -> None:
    environment = beside_zerolap(of_the_page(tmp_path))
    ended = zerolap("run", "rpush-lpop", "--load-tool", "redis-py", "--json", "-", environment=environment)
    document = ended.document()
    assert document["cases"] == []
    (skipped,) = document["skipped"]
    assert skipped["reason"] == "unsupported tool"
    assert "one command, without data" in skipped["text"]


UNFIT = """\
from zerolap.records import MetricRule


class Alone:
    def missing(self):
        return None

    def carry_out(self, job, place):
        yield from ()


class Clashing(Alone):
    metrics = [
        MetricRule(
            name="instructions_per_op", engine="clashing", answer="work", decides="always", less_is_better=True
        )
    ]


class Untyped(Alone):
    metrics = ["bytes_per_key"]
"""


@pytest.mark.usefixtures("redis_server")
def test_an_engine_that_cannot_compare_is_refused_with_the_reason(zerolap: Zerolap, tmp_path: Path) -> None:
    classes = {"alone": "Alone", "clashing": "Clashing", "untyped": "Untyped", "memory": "Untyped"}
    entries = "[zerolap.engines]\n" + "".join(f"{name} = unfit:{engine}\n" for name, engine in classes.items())
    environment = beside_zerolap(distribution(tmp_path / "installed", entries, {"unfit.py": UNFIT}))
    reasons = {
        "alone": (2, "measures a single server and cannot compare two"),
        "clashing": (3, "cannot compare by MetricRule(name='instructions_per_op'"),
        "untyped": (3, "cannot compare by 'bytes_per_key'"),
        "memory": (3, "cannot be called `memory`"),
        "unknown": (2, "there is no engine `unknown`"),
    }
    for engine, (code, reason) in reasons.items():
        ended = zerolap("compare", "redis-server", "redis-server", "--engine", engine, environment=environment)
        assert ended.code == code, ended
        assert reason in ended.err


LATE = """\
from zerolap.engines import trials_of


class Late:
    def missing(self):
        return None

    def carry_out(self, job, place):
        for trial in trials_of(job, place):
            raise AssertionError("its time was over")
        yield from ()
"""
UNSOUND = """\
from zerolap.engines import trials_of
from zerolap.records import Measurement, Validity


class Exiting:
    def missing(self):
        return None

    def carry_out(self, job, place):
        raise SystemExit(0)


class Foreign(Exiting):
    def carry_out(self, job, place):
        yield {"seconds": 1.0}


class Infinite(Exiting):
    def carry_out(self, job, place):
        for trial in trials_of(job, place):
            yield trial.done(Measurement(metrics={"x": float("inf")}, validity=Validity.of([])))
"""
BROKEN = {
    "broken_import.py": "import no_such_module\n",
    "broken_shape.py": "class Shape:\n    def missing(self):\n        return None\n",
    "absent.py": "class Absent:\n    def missing(self):\n        return 'no such device'\n"
    "    def carry_out(self, job, place):\n        raise AssertionError\n",
    "raising.py": "class Raising:\n    def missing(self):\n        return None\n"
    "    def carry_out(self, job, place):\n        raise RuntimeError('out of tea')\n\n\n"
    "def probe():\n    return 1 / 0\n",
    "late.py": LATE,
    "unsound.py": UNSOUND,
}
BROKEN_ENTRIES = """\
[zerolap.engines]
import = broken_import:Engine
shape = broken_shape:Shape
absent = absent:Absent
raising = raising:Raising
late = late:Late
exiting = unsound:Exiting
foreign = unsound:Foreign
infinite = unsound:Infinite
[zerolap.load_tools]
import = broken_import:Tool
[zerolap.probes]
import = broken_import:probe
raising = raising:probe
"""


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    return beside_zerolap(distribution(tmp_path / "installed", BROKEN_ENTRIES, BROKEN, name="broken-plugins"))


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["run", "--engine", "import"], 3, "the plugin `import` of `broken-plugins` (zerolap.engines) cannot be used"),
        (["run", "--engine", "shape"], 3, "`broken_shape:Shape` lacks one of: carry_out, missing"),
        (["run", "--engine", "absent"], 3, "the engine `absent` cannot be used: no such device"),
        (["run", "--load-tool", "import"], 3, "ModuleNotFoundError: No module named 'no_such_module'"),
        (
            ["run", "--engine", "guessed"],
            2,
            "counted, timed, sampled, traced, loaded, absent, exiting, foreign, import, infinite, late, raising, shape",
        ),
        (["run", "--load-tool", "guessed"], 2, "redis-benchmark, valkey-benchmark, import"),
        (["run", "--load-tool", "import", "--quick"], 2, "`--quick` only counts"),
        (["run", "--engine", "raising", "--quick"], 2, "`--quick` leaves nothing to measure"),
        (["compare", "redis-server", "redis-server", "--engine", "raising"], 2, "cannot compare two"),
        (["compare", "redis-server", "redis-server", "--engine", "loaded"], 2, "zerolap run --engine loaded"),
    ],
)
def test_what_cannot_be_used_is_reported_by_name(
    zerolap: Zerolap, broken: dict[str, str], arguments: list[str], code: int, part: str
) -> None:
    zerolap(*arguments, environment=broken).fails_with(code, part)


def test_a_plugin_whose_time_is_over_is_reported(zerolap: Zerolap, broken: dict[str, str], redis_server: Path) -> None:
    arguments = ["run", "get-100B", "--engine", "late", "--budget", "0.000000001s", "--json", "-"]
    document = zerolap(*arguments, environment=broken).document()
    assert document["cases"] == []
    assert "the budget was used up: get-100B" in document["notes"][-1]


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("exiting", "SystemExit: 0"),
        ("foreign", "TypeError: it yielded {'seconds': 1.0}, which is no event of trials"),
        ("infinite", "ValueError: metrics.x: Input should be a finite number"),
    ],
)
def test_a_plugin_that_yields_what_cannot_be_recorded_fails_its_case(
    zerolap: Zerolap, broken: dict[str, str], redis_server: Path, engine: str, reason: str
) -> None:
    ended = zerolap("run", "get-100B", "--engine", engine, "--json", "-", environment=broken)
    assert ended.code == 4, ended
    (case,) = ended.document()["cases"]
    assert f"the engine `{engine}` failed: {reason}" in case["failure"]


def test_a_plugin_that_fails_costs_no_more_than_itself(
    zerolap: Zerolap, broken: dict[str, str], redis_server: Path
) -> None:
    ended = zerolap("run", "get-100B", "--engine", "raising", "--json", "-", environment=broken)
    assert ended.code == 4, ended
    (case,) = ended.document()["cases"]
    assert "the engine `raising` failed: RuntimeError: out of tea" in case["failure"]
    zerolap.leaves_nothing()
    beside = zerolap("run", "get-100B", "--engine", "counted,raising", "--json", "-", environment=broken)
    assert beside.code == 0, beside
    (case,) = beside.document()["cases"]
    assert case["metrics"]["instructions_per_op"] > 0
    assert "out of tea" in case["limits"][0]
    doctor = zerolap("doctor", "--json", "-", environment=broken)
    found = {one["subject"]: one for one in doctor.document()["diagnoses"]}
    assert "ZeroDivisionError" in found["raising"]["found"]
    assert "pip uninstall broken-plugins" in found["import"]["remedy"]
