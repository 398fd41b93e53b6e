"""Faults put into public suites: how many are found, and how many suites are called faulty that are not."""

import shutil
import tempfile
from pathlib import Path

import yaml

from benches.figures import Figure
from benches.suites.injection import Suite, injected, plan
from zerolap import load_cases, open_store
from zerolap.build import resolve
from zerolap.lab import Lab, check, check_request
from zerolap.records import RequestedServer

SERVER = "redis-server"

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
    faulty = checked(
        {f"{n}-{name}": injected(suites[name], injection) for n, (name, injection) in enumerate(chosen)}, topologies
    )
    rows = []
    for number, (name, injection) in enumerate(chosen):
        detected = faulty[f"{number}-{name}"]
        expected = sorted(f"{command}: {kind}" for kind, command in detected if kind in injection.faults)
        rows.append([name, injection.kind, expected])
    caught = [row for row in rows if row[2]]
    judged = yaml.safe_load(JUDGED.read_text())
    alarms = [[name, sorted(kind for kind, _ in faults)] for name, faults in untouched.items() if faults]
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
    """Return the kinds of faults that a check detects in each suite, with their commands."""
    with tempfile.TemporaryDirectory() as directory:
        files = Path(directory) / "suites"
        files.mkdir()
        shutil.copy(topologies, files)
        for name, suite in suites.items():
            (files / name).write_text(yaml.safe_dump({**suite, "name": Path(name).stem}))
        server = RequestedServer(source=resolve(SERVER, None))
        request = check_request(server, load_cases(files), SEED, "benches.suites")
        with open_store(Path(directory) / "store") as store:
            report = check(request, Lab(store))
    faults: dict[str, set[tuple[str, str]]] = {}
    for case in report.cases:
        faults[f"{case.case}.yml"] = {(fault.kind, fault.command or "") for fault in case.faults}
    for skipped in report.skipped:
        faults[f"{skipped.case}.yml"] = {(skipped.reason, "")}
    return faults
