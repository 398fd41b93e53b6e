"""What verdicts see of bytes: `bytes_found` of edits that allocate more, and `nulls_of_bytes` of harmless ones.

The servers are built from the demo's repository. How much more a key takes is measured beside the lab: both servers are
started as users start them, filled over one connection, and asked for their memory. `ZEROLAP_BENCH_BYTES` is how many
edits are planted, by default 100, `ZEROLAP_BENCH_BYTE_NULLS` how many verdicts on harmless edits there are, by default
400.
"""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import zerolap
from benches.comparing import DEMO_REPOSITORY
from benches.figures import DIRECTORY, Figure
from benches.truth.harmless import Edit, harmless_edits
from benches.unseen.byte_places import ByteEdit
from zerolap import Options
from zerolap.build import Program
from zerolap.cases import core_suite
from zerolap.load import Target, prepare
from zerolap.records import CHANGED, STANDALONE, Case
from zerolap.server import deploy

PLANTED: Final = 100
NULLS: Final = 400
LEAST: Final = 0.005
"""What a key has to take more, for an edit to count."""
MOST_DRAWS: Final = 8
"""For each edit that counts: many are smaller than the steps in which an allocator gives memory."""
RELEASE: Final = "HEAD~1"


@dataclass(frozen=True)
class _Tree:
    """A tree of the release that is edited and built in place, one edit at a time."""

    directory: Path

    @classmethod
    def make(cls, directory: Path) -> "_Tree":
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        tree = directory / "tree"
        subprocess.run(["git", "clone", "--quiet", str(DEMO_REPOSITORY), str(tree)], check=True)
        made = cls(directory)
        made._git("checkout", "--quiet", RELEASE)
        return made

    def built(self, name: str, edit: Edit | None = None) -> Path:
        """Return the program of the release with an edit; the tree is as it was released afterwards."""
        source = self.directory / "tree" / "src"
        program = self.directory / name / "redis-server"
        program.parent.mkdir()
        if edit is not None:
            edit(source)
        try:
            subprocess.run(["make", "-C", str(source), "-j2", "redis-server"], check=True, capture_output=True)
            shutil.copy2(source / "redis-server", program)
        finally:
            self._git("checkout", "--quiet", "--", ".")
        return program

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.directory / "tree"), *arguments], check=True)


def byte_figures(seed: int) -> dict[str, Figure]:
    """Plant, measure and return the figures; none without the demo's repository."""
    planted, nulls = (
        int(os.environ.get("ZEROLAP_BENCH_BYTES", PLANTED)),
        int(os.environ.get("ZEROLAP_BENCH_BYTE_NULLS", NULLS)),
    )
    if not DEMO_REPOSITORY.exists() or not (planted or nulls):
        return {}
    tree, chance = _Tree.make((DIRECTORY / "unseen" / "bytes").resolve()), Random(f"{seed} bytes")
    base = tree.built("base")
    figures = {}
    if planted:
        figures["bytes_found"] = _found(tree, base, planted, chance)
    if nulls:
        figures["nulls_of_bytes"] = _nulls(tree, base, nulls, chance)
    return figures


def _found(tree: _Tree, base: Path, number: int, chance: Random) -> Figure:
    samples: list[dict[str, Any]] = []
    smaller = 0
    for draw in range(number * MOST_DRAWS):
        if len(samples) == number:
            break
        edit = ByteEdit.drawn(chance)
        program = tree.built(f"planted-{draw}", edit.apply)
        case = next(case for case in core_suite() if case.name == edit.case)
        before, after = (_bytes_beside(each, case, tree.directory / "beside") for each in (base, program))
        if after / before - 1 < LEAST:
            smaller += 1
        else:
            samples.append(_compared(tree, base, program, edit, after / before - 1))
            print(samples[-1], flush=True)
        shutil.rmtree(program.parent)
    found = sum(sample["found"] for sample in samples)
    notes = [f"{smaller} edits that were drawn took less than {LEAST:.1%} more", "found with its place: of 1, wanted 1"]
    return Figure(found / max(1, len(samples)), "of planted edits, at least 1", samples, len(samples), notes=notes)


def _compared(tree: _Tree, base: Path, head: Path, edit: ByteEdit, change: float) -> dict[str, Any]:
    began = time.monotonic()
    document = zerolap.compare(
        str(base), str(head), [edit.case], options=Options(engines=["counted"], seed=1), store=tree.directory / "store"
    )
    (case,) = document.cases
    verdict = next((one for one in case.verdicts if one.metric == "memory_bytes_per_key"), None)
    texts = [finding.text for finding in case.findings if finding.kind == "allocation"]
    is_named = bool(texts) and f"`{edit.place.function}`" in texts[0]
    return {
        "edit": edit.name,
        "change_beside": change,
        "change": None if verdict is None else verdict.change,
        "q": None if verdict is None else verdict.q,
        "memory": case.memory,
        "verdict": case.verdict,
        "allocations": texts,
        "named": is_named,
        "found": case.memory == "regression" and is_named,
        "seconds": time.monotonic() - began,
    }


def _nulls(tree: _Tree, base: Path, number: int, chance: Random) -> Figure:
    samples: list[dict[str, Any]] = []
    edits = list(harmless_edits().items())
    chance.shuffle(edits)
    for turn, (name, edit) in enumerate(edits):
        if len(samples) >= number:
            break
        program = tree.built(f"null-{turn}", edit)
        document = zerolap.compare(
            str(base), str(program), [], options=Options(engines=["counted"], seed=1), store=tree.directory / "store"
        )
        samples += [
            {
                "edit": name,
                "case": case.case,
                "memory": case.memory,
                "changes": {
                    one.metric: one.change for one in case.verdicts if one.metric.endswith(("_bytes", "_per_key"))
                },
            }
            for case in document.cases
        ]
        shutil.rmtree(program.parent)
    alarms = sum(sample["memory"] in CHANGED for sample in samples)
    return Figure(alarms, f"alarms of {len(samples)} verdicts, at most 0", samples, len(samples))


def _bytes_beside(program: Path, case: Case, directory: Path) -> float:
    """Return the bytes a key of a server that runs as it does for users, without the lab's clock."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    with deploy(STANDALONE, Program(program.resolve()), {}, directory / "server", logs=directory) as deployment:
        server = deployment.nodes[0].server
        server.command("FLUSHALL")
        empty = int(server.info("memory")["used_memory"])
        prepare(Target.of(deployment), case, 1, directory / "load.log", None)
        if not server.count_keys():
            for number in range(100):
                server.command("XADD", f"stream:{number + 1}", "*", "field", "0123456789")
        # Its timers take a while to bring a table to its new size.
        time.sleep(1.0)
        full, keys = int(server.info("memory")["used_memory"]), server.count_keys()
    return (full - empty) / max(1, keys)
