"""Faults put into public suites: how many are found, and how many suites are called faulty that are not."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from benches.figures import Figure
from benches.suites.injection import Suite, injected, plan

DRAWN, INJECTED = 20, 10
"""Suites of each kind of fault that are drawn, and those of them, sound by themselves, that get it."""
SEED = 1
JUDGED = Path(__file__).with_name("judged.yml")


def faults_caught(directory: Path) -> dict[str, Figure]:
    """Inject ten kinds of fault into ten suites each, drawn at random, and check suites with them and without."""
    suites: dict[str, Suite] = {}
    for path in sorted(directory.glob("*.yml")):
        document = yaml.safe_load(path.read_text())
        if "clientconfig" in document:
            suites[path.name] = document
    topologies = directory.parent / "topologies.yml"
    drawn = plan(suites, DRAWN, SEED)
    untouched = checked({name: suites[name] for names in drawn.values() for name in names}, topologies)
    # What is faulty by itself shows nothing of what was injected.
    chosen = [
        (name, injection)
        for injection, names in drawn.items()
        for name in [name for name in names if not untouched[name]][:INJECTED]
    ]
    faulty = checked({f"{n}-{name}": injected(suites[name], one) for n, (name, one) in enumerate(chosen)}, topologies)
    rows = []
    for number, (name, injection) in enumerate(chosen):
        found = faulty[f"{number}-{name}"]
        told = sorted(f"{command}: {kind}" for kind, command in found if kind in injection.told)
        rows.append([name, injection.kind, told])
    caught = [row for row in rows if row[2]]
    judged = yaml.safe_load(JUDGED.read_text())
    alarms = [[name, sorted(kind for kind, _ in found)] for name, found in untouched.items() if found]
    wrong = [[name, kinds] for name, kinds in alarms if not set(kinds) <= set(judged.get(name, {}))]
    return {
        "faults_caught": Figure(
            value=len(caught) / len(rows),
            unit="of injected faults",
            samples=rows,
            trials=len(rows),
            notes=[f"missed in {row[0]}: {row[1]}" for row in rows if not row[2]],
        ),
        "false_alarms": Figure(
            value=len(wrong) / len(untouched),
            unit="of untouched suites",
            samples=alarms,
            trials=len(untouched),
            notes=[f"{name}: {', '.join(kinds)}" for name, kinds in wrong],
        ),
    }


def checked(suites: dict[str, Suite], topologies: Path) -> dict[str, set[tuple[str, str]]]:
    """Return the kinds of faults that `zerolap suites check` tells of each suite, with their commands."""
    with tempfile.TemporaryDirectory() as directory:
        files = Path(directory) / "suites"
        files.mkdir()
        shutil.copy(topologies, files)
        for name, suite in suites.items():
            (files / name).write_text(yaml.safe_dump({**suite, "name": Path(name).stem}))
        report = Path(directory) / "check.json"
        command = [str(Path(sys.executable).with_name("zerolap")), "suites", "check", "--cases", str(files), "--quiet"]
        subprocess.run([*command, "--json", str(report), "--store", f"{directory}/store"], check=True)
        document = json.loads(report.read_text())
    found: dict[str, set[tuple[str, str]]] = {}
    for case in document["cases"]:
        found[f"{case['case']}.yml"] = {_kind(fault) for fault in case["faults"]}
    for one in document["skipped"]:
        found[f"{one['case']}.yml"] = {(one["reason"], "")}
    return found


def _kind(fault: dict[str, Any]) -> tuple[str, str]:
    return fault["kind"], fault["command"] or ""
