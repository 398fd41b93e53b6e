"""Whether the lab knows what of a commit its cases execute: `unmeasured_wrong` and `unmeasured_told`.

Commits in a row are drawn from the repositories that `ZEROLAP_BENCH_REPOSITORIES` names, and cases. Each commit is
compared with the one before by the lab, counted; both are compiled again so that they mark what they execute under the
same requests (`marked_servers`), and what changed is read from what the preprocessor writes (`changed_texts`). What was
compared is kept in `.bench/unseen`, so that a bench that was stopped goes on.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from benches.figures import DIRECTORY, Figure
from benches.unseen.changed_texts import changed_texts, has_other_instructions
from benches.unseen.marked_servers import Key, MarkedServer, MarkedServers
from zerolap import Options, compare
from zerolap.cases import core_suite
from zerolap.errors import ZerolapError
from zerolap.lab.planner import seed_of
from zerolap.records import BASE, HEAD, ChangedFunction, Comparison, ServerSpec
from zerolap.store import Store

REPOSITORIES: Final = "ZEROLAP_BENCH_REPOSITORIES"
COMMITS: Final = "ZEROLAP_BENCH_COMMITS"
SECONDS: Final = "BENCH_SECONDS"
PLACE: Final = DIRECTORY / "unseen"
SINCE: Final = "2020-01-01"
"""Servers of before are built otherwise."""
ROW: Final = 5
CASES: Final = 4
FLAGS: Final = (("-O2",), ("-O3",))
GENERATED: Final = frozenset({"release.c"})
"""Files with the commit itself in them."""


@dataclass
class Checked:
    """A commit with what the lab says of its changed functions, and what the other instrument does.

    `wrong` are called executed or not against the marks. `untold` are changed functions that are not named, `idle` of
    them those that no case executes. `unchanged` are named though neither text nor instructions differ.
    """

    repository: str
    commit: str
    cases: list[str]
    changed: int = 0
    executed: int = 0
    checked: int = 0
    texts: int = 0
    wrong: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    excused: dict[str, str] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failure: str = ""


def unmeasured(seed: int) -> dict[str, Figure]:
    """Measure both figures; nothing where no repository is named."""
    named = [Path(path) for path in os.environ.get(REPOSITORIES, "").split(os.pathsep) if path]
    if not named:
        return {}
    ends = time.monotonic() + float(os.environ.get(SECONDS) or "inf")
    file = PLACE / f"unmeasured-{seed}.json"
    checked = [Checked(**one) for one in json.loads(file.read_text())] if file.exists() else []
    done = {(one.repository, one.commit) for one in checked}
    for repository, row, cases in _rows(seed, named):
        servers = MarkedServers(repository, PLACE / f"marked-{repository.resolve().parent.name}")
        for commit in row:
            if (str(repository), commit) in done:
                continue
            if time.monotonic() > ends:
                return _figures(checked, seed)
            checked.append(_checked(repository, commit, cases, servers, seed))
            print(json.dumps(asdict(checked[-1])), file=sys.stderr)
            file.write_text(json.dumps([asdict(one) for one in checked], indent=2) + "\n")
    return _figures(checked, seed)


def _rows(seed: int, repositories: Sequence[Path]) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield rows of commits, of each repository in turn, with the cases that they are compared by."""
    chance = random.Random(seed)
    names = [case.name for case in core_suite()]
    paths = ("src/*.c", "src/*.h")
    known = {
        repository: _git(
            repository, "rev-list", "--no-merges", "--first-parent", f"--since={SINCE}", "HEAD", "--", *paths
        ).split()
        for repository in repositories
    }
    left = int(os.environ.get(COMMITS) or 100)
    while left > 0:
        for repository in repositories:
            commits = known[repository]
            at = chance.randrange(max(1, len(commits) - ROW))
            row = commits[at : at + ROW][::-1][:left]
            left -= len(row)
            yield repository, row, sorted(chance.sample(names, CASES))


def _checked(repository: Path, commit: str, cases: list[str], servers: MarkedServers, seed: int) -> Checked:
    checked = Checked(str(repository), commit, cases)
    options = Options(engines=["counted"], quick=True, seed=seed)
    try:
        document = compare(f"{commit}~1", commit, cases, repo=repository, options=options, store=PLACE / "store")
    except ZerolapError as fault:
        checked.failure = str(fault)
        return checked
    if document.changed_functions is None:
        checked.failure = f"not known: {[(case.case, case.failure) for case in document.cases if case.failure]}"
        return checked
    before = _git(repository, "rev-parse", f"{commit}~1").strip()
    base, head = servers.built(before), servers.built(commit)
    executed = {BASE: set[Key](), HEAD: set[Key]()}
    for side, server in ((BASE, base), (HEAD, head)):
        for case in _counted_cases(document):
            executed[side] |= servers.executed_in(server, *case)
    _judge(checked, document, base, head, executed, servers.tree)
    return checked


def _counted_cases(document: Comparison) -> Iterator[tuple[ServerSpec, Any, int, Any]]:
    """Yield server, case, seed and windows of each trial that tells what a case executes."""
    with Store.open(str(PLACE / "store")) as store:
        resolved = store.resolved(document.id)
        trials = store.measurements(document.id)
    if resolved is None:
        raise SystemExit(f"the store has not what {document.id} means")
    windows = {trial.case: measured.amounts.windows for trial, measured in trials if trial.block == 0}
    seed = seed_of(resolved.settings.seed, 0)
    server = resolved.servers[HEAD]
    for case in resolved.cases:
        spec = ServerSpec(build=server.spec.digest, topology=case.topology, config={**case.config, **server.config})
        yield spec, case, seed, windows[case.name]


def _judge(
    checked: Checked,
    document: Comparison,
    base: MarkedServer,
    head: MarkedServer,
    executed: Mapping[str, set[Key]],
    tree: str,
) -> None:
    """Write down where what the lab says and what was marked differ."""
    of_lab, unexecuted = document.changed_functions, document.unmeasured
    assert of_lab is not None
    assert unexecuted is not None
    checked.changed, checked.executed = of_lab.number, of_lab.executed
    if of_lab.number > len(of_lab.functions) + len(unexecuted):
        checked.failure = "more changed functions than are listed"
        return
    changed = changed_texts(base, head, tree)
    checked.texts = len(changed)
    compiled, marked = base.functions | head.functions, executed[BASE] | executed[HEAD]
    called: dict[Key, bool] = {_key(one): True for one in of_lab.functions} | {_key(one): False for one in unexecuted}
    for key, is_executed in called.items():
        if key not in compiled:
            checked.unknown.append(" ".join(key))
            continue
        checked.checked += 1
        if is_executed != (key in marked):
            checked.wrong.append(f"{' '.join(key)}: called {'' if is_executed else 'not '}executed")
        if key not in changed and not _differs(key, base, head):
            checked.unchanged.append(" ".join(key))
    for key in sorted(changed - called.keys()):
        name = " ".join(key)
        if key[1] in GENERATED:
            continue
        if key not in compiled:
            checked.excused[name] = "the compiler makes no code of it"
        elif not _differs(key, base, head):
            checked.excused[name] = "its instructions are the same"
        else:
            (checked.untold if key in marked else checked.idle).append(name)


def _differs(key: Key, base: MarkedServer, head: MarkedServer) -> bool:
    return any(has_other_instructions(key, base, head, flags) for flags in FLAGS)


def _key(function: ChangedFunction) -> Key:
    return function.function, function.file


def _figures(checked: Sequence[Checked], seed: int) -> dict[str, Figure]:
    usable = [one for one in checked if not one.failure]
    samples = [asdict(one) for one in checked]
    functions = sum(one.checked for one in usable)
    wrong = [f"{one.commit[:12]}: {text}" for one in usable for text in one.wrong]
    idle = [f"{one.commit[:12]}: {text}" for one in usable for text in one.idle]
    unnamed = [f"{one.commit[:12]}: {text}, which is executed" for one in usable for text in one.untold]
    unchanged = [f"{one.commit[:12]}: {text} is named and did not change" for one in usable for text in one.unchanged]
    told = sum(one.changed - one.executed for one in usable)
    notes = [f"seed {seed}", f"{len(usable)} commits of {len(checked)}, {functions} changed functions"]
    return {
        "unmeasured_wrong": Figure(
            len(wrong), "functions, at most 0", samples, len(usable), notes=[*notes, *wrong, *unchanged]
        ),
        "unmeasured_told": Figure(
            told / (told + len(idle)) if told or idle else 1.0,
            "of functions that no case executed, all",
            [],
            len(usable),
            notes=[*notes, *idle, *unnamed],
        ),
    }


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
