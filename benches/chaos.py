"""A fleet of real processes under faults at random moments: nothing may be lost, come twice or stay behind.

`--faults` and `--requests` make it shorter, `--seed` repeats which faults are drawn; when they strike depends on how
fast the machine is. As root it works in a process and mount namespace of its own, so that all processes that are left
behind are seen, and agents have disks that can be filled; else only processes that name its directory are seen, and a
disk is full for the files of one process.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

from toy_server import CASES as TOY_CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, WORK_BEGINS, ToySource

from benches.chaos_checks import Verified, here, left_behind, verify
from benches.chaos_faults import DECK, Faults
from benches.chaos_ledger import Ledger
from benches.chaos_processes import AGENTS, CONDUCTORS, LOADED, PLATFORMS, Fleet, has_programs, set_up
from benches.figures import Figure, show_figures, write_figures
from zerolap.build import resolve
from zerolap.cases import core_suite, load_cases, select
from zerolap.lab import Options, SubmissionOptions, comparison_request, on_platforms
from zerolap.records import EnvironmentMissing, Priority, Request, RequestedServer
from zerolap.store import Store

FAULTS, REQUESTS = 200, 20
OPEN_AT_ONCE: Final = 5
SOME_PRIORITIES: Final[tuple[Priority, ...]] = ("release", "pull", "pull", "backfill")
MEAN_PAUSE_SECONDS: Final = 2.2
TICK_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 300.0
"""How long nothing may happen, and how long requests may take after the last fault; only bounds a hang."""
SETTLING_SECONDS: Final = 90.0
STACKS_SECONDS: Final = 3.0
SHOWN_LINES: Final = 120
INSIDE: Final = "ZEROLAP_CHAOS_INSIDE"
NAMESPACES: Final = (
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--mount-proc",
    "--kill-child",
    "--propagation",
    "private",
)
SCRIPT: Final = Path(__file__).parent.parent / "scripts" / "nats-server"
REDIS_CASES: Final = ("get-100B", "hset", "sismember", "set-1KiB", "lpush", "zadd", "incr")


@dataclass
class Requests:
    """Asks for one comparison after the other: of commits of the toy server, which are built, and of Redis."""

    store: Store
    chance: random.Random
    directory: Path
    submitted: list[Request] = field(default_factory=list)
    _number: int = 0
    _toy: ToySource | None = None

    def ask(self) -> None:
        """Submit another comparison; raises `EnvironmentMissing` while the database is away."""
        number = self._number
        platforms = list(PLATFORMS) if number % 6 == 0 else [PLATFORMS[number % 2]]
        submitting = SubmissionOptions(self.chance.choice(SOME_PRIORITIES))
        base, head, cases = self._of_redis(number) if number % 5 in (2, 4) else self._of_toy(number)
        if number % 9 == 4:
            options = Options(engines=["timed"], budget_seconds=15, seed=number)
            platforms, cases = [LOADED], cases[:1]
        else:
            options = Options(engines=["counted"], quick=number % 7 != 3, seed=number)
        asked = comparison_request(base, head, cases, options)
        requests = on_platforms(asked, platforms, self.store.blobs, submitting)
        self.store.submit(requests)
        self.submitted += requests
        self._number += 1

    def is_open(self) -> list[str]:
        """Return the requests that have not ended."""
        states = self.store.fleet.states([one.id for one in self.submitted])
        return [identity for identity, state in states.items() if state in ("waiting", "running")]

    def _of_toy(self, number: int) -> tuple[RequestedServer, RequestedServer, list[Any]]:
        if self._toy is None:
            self._toy = ToySource(self.directory / "toy")
        toy = self._toy
        # Each base is a tree that nobody has built before.
        marked = ("commands.c", WORK_BEGINS, f"/* {number} */ {WORK_BEGINS}")
        base = toy.changed(marked)
        head = toy.changed(marked, ("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
        sides = [RequestedServer(source=resolve(commit, toy.path)) for commit in (base, head)]
        return sides[0], sides[1], load_cases(TOY_CASES)

    def _of_redis(self, number: int) -> tuple[RequestedServer, RequestedServer, list[Any]]:
        installed = resolve("redis-server", None)
        program = Path(shutil.which("redis-server") or "").resolve()
        other = self.directory / f"redis-{number}" / "redis-server"
        other.parent.mkdir(exist_ok=True)
        shutil.copy2(program, other)
        with other.open("ab") as file:
            file.write(b"\0" * (number + 1))
        cases = select(core_suite(), self.chance.sample(_known(REDIS_CASES), 3))
        return RequestedServer(source=installed), RequestedServer(source=resolve(str(other), None)), cases


def _known(names: tuple[str, ...]) -> list[str]:
    known = {case.name for case in core_suite()}
    return [name for name in names if name in known]


@dataclass
class Run:
    """A run: faults until there were enough of them, then peace until all requests have ended, then the checks."""

    fleet: Fleet
    store: Store
    faults: Faults
    requests: Requests
    wanted_faults: int
    wanted_requests: int
    orphans: list[str] = field(default_factory=list)

    def go(self) -> None:
        """Run to the end of all requests."""
        chance = self.fleet.chance
        next_fault = time.monotonic() + 5
        next_look = 0.0
        happened, last_change = (0, 0), time.monotonic()
        while len(self.faults.done) < self.wanted_faults or len(self.requests.submitted) < self.wanted_requests:
            self._tick()
            now = time.monotonic()
            if happened != (happened := (len(self.faults.done), len(self.requests.submitted))):
                last_change = now
            if now - last_change > PATIENCE_SECONDS:
                print("neither a fault nor a request is possible any more", flush=True)
                break
            if now >= next_look:
                next_look = now + 1
                self._keep_busy()
            if now >= next_fault and len(self.faults.done) < self.wanted_faults:
                next_fault = now + chance.expovariate(1 / MEAN_PAUSE_SECONDS)
                fault = self.faults.inject()
                if fault is not None:
                    print(f"{len(self.faults.done):4} {fault.kind}: {fault.target}", flush=True)
        print("peace", flush=True)
        self.faults.undo(everything=True)
        end = time.monotonic() + PATIENCE_SECONDS
        self._until(lambda: not self.requests.is_open(), end)
        if time.monotonic() >= end:
            self._show_hang()

    def settle(self) -> None:
        """Wait until agents have nothing to do and have cleared up; what is there in the end is left behind."""
        end = time.monotonic() + SETTLING_SECONDS
        self._until(lambda: not self._remains(), end)
        self.orphans += self._remains()

    def end(self) -> None:
        """Have all agents end, then the rest."""
        for name in AGENTS:
            self.fleet.members[name].ask_to_end(signal.SIGTERM)
        for name in AGENTS:
            if not self.fleet.members[name].end():
                self.orphans.append(f"{name} did not end")
        self.orphans += self.fleet.strangers()
        by_signal = {**dict.fromkeys((*CONDUCTORS, "bus"), signal.SIGTERM), "database": signal.SIGQUIT}
        for name, number in by_signal.items():
            if not self.fleet.members[name].end(number):
                self.orphans.append(f"{name} did not end")

    def _show_hang(self) -> None:
        """Print what the processes of a fleet that gets no further are at."""
        try:
            print(f"open requests: {self.requests.is_open()}")
            print(*(f"open: {attempt}" for attempt in self.store.fleet.open_attempts()), sep="\n")
        except EnvironmentMissing as fault:
            print(fault)
        for name in (*CONDUCTORS, *AGENTS):
            self.fleet.members[name].ask_for_stacks()
        time.sleep(STACKS_SECONDS)
        for member in self.fleet.members.values():
            lines = member.log.read_text(errors="replace").splitlines()[-SHOWN_LINES:] if member.log.exists() else []
            print(f"--- {member.name}, process {member.number}", *(line[:300] for line in lines), sep="\n", flush=True)

    def _tick(self) -> None:
        self.fleet.tend()
        self.faults.undo()
        time.sleep(TICK_SECONDS)

    def _keep_busy(self) -> None:
        try:
            if len(self.requests.is_open()) < OPEN_AT_ONCE:
                self.requests.ask()
        except EnvironmentMissing:
            # The database is away because of a fault.
            return

    def _until(self, condition: Any, end: float) -> None:
        while time.monotonic() < end:
            self._tick()
            try:
                if condition():
                    return
            except EnvironmentMissing:
                pass
            for _ in range(10):
                self._tick()

    def _remains(self) -> list[str]:
        try:
            attempts = [f"attempt {one.id} of {one.request}" for one in self.store.fleet.open_attempts()]
        except EnvironmentMissing as fault:
            attempts = [str(fault)]
        return [*attempts, *self._kept_messages(), *self.fleet.strangers(), *left_behind(self.fleet.directory)]

    def _kept_messages(self) -> list[str]:
        count = self.faults.messages.kept_messages()
        return ["the bus does not answer"] if count is None else [f"{count} messages on the bus"] if count else []


def main(words: list[str]) -> int:
    """Run and write the figures."""
    parser = argparse.ArgumentParser(prog="benches.chaos", description=__doc__)
    parser.add_argument("--faults", type=int, default=FAULTS)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="keep everything here instead of removing it")
    asked = parser.parse_args(words)
    if not has_programs():
        print("no PostgreSQL is installed", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _stopped)
    if INSIDE not in os.environ and os.geteuid() == 0 and _can_isolate():
        directory = asked.directory or here()
        command = ["setpriv", "--pdeathsig", "KILL", *NAMESPACES, sys.executable, "-m", "benches.chaos", *words]
        try:
            extra = [] if asked.directory else ["--directory", str(directory)]
            inside = subprocess.run([*command, *extra], env={**os.environ, INSIDE: "1"}, check=False)
            return inside.returncode
        finally:
            if asked.directory is None:
                shutil.rmtree(directory, ignore_errors=True)
    directory = asked.directory or here()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        return _run(asked, directory)
    finally:
        if asked.directory is None:
            shutil.rmtree(directory, ignore_errors=True)


def _stopped(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _can_isolate() -> bool:
    return subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode == 0


def _run(asked: argparse.Namespace, directory: Path) -> int:
    chance = random.Random(asked.seed)
    nats_server = subprocess.run([SCRIPT], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    began = time.monotonic()
    fleet = set_up(directory, chance, Path(nats_server), can_mount=INSIDE in os.environ)
    try:
        with Store.open(fleet.store_location, busy_seconds=2) as store:
            faults = Faults(fleet, store, random.Random(f"faults {asked.seed}"))
            requests = Requests(store, random.Random(f"requests {asked.seed}"), directory)
            run = Run(fleet, store, faults, requests, asked.faults, asked.requests)
            run.go()
            run.settle()
            verified = verify(store, requests.submitted, Ledger.read(fleet.ledgers), faults.done)
            run.end()
        seconds = time.monotonic() - began
    finally:
        for member in fleet.members.values():
            member.end(signal.SIGKILL)
    figures = _figures(run, verified, Ledger.read(fleet.ledgers), seconds)
    show_figures(figures)
    _show_troubles(fleet)
    print(write_figures("chaos", figures))
    return int(any(figures[name].value for name in ("lost", "twice", "orphans")) or bool(verified.incomplete))


def _figures(run: Run, verified: Verified, ledger: Ledger, seconds: float) -> dict[str, Figure]:
    by_kind = Counter(fault.kind for fault in run.faults.done)
    executions = [len(digests) for digests in ledger.executed.values()]
    requests, faults = len(run.requests.submitted), len(run.faults.done)
    twice = [*verified.twice, *(f"accepted: {lie}" for lie in run.faults.messages.accepted_lies)]
    is_full = faults >= FAULTS and requests >= REQUESTS
    short = [] if is_full else [f"a short run: a whole one has {FAULTS} faults and {REQUESTS} requests"]
    complete_notes = [
        *verified.incomplete,
        f"cases that are invalid because their server was killed: {verified.invalid_by_kills}",
        f"cases whose measurements failed a check: {verified.invalid_by_checks}",
        f"cases that were not decided within the budget of their request: {verified.ended_by_budget}",
    ]
    full_disk = "a file system of its own" if next(iter(run.fleet.disks.values())).is_mounted else "RLIMIT_FSIZE"
    notes = [*(f"{kind}: {by_kind[kind]}" for kind in DECK), f"full disk: {full_disk}", *short]
    trials = verified.trials
    again = sum(count - 1 for count in executions)
    return {
        "faults": Figure(faults, "faults", [fault.kind for fault in run.faults.done], faults, notes=notes),
        "lost": Figure(len(verified.lost), "trials, blocks, cases", verified.lost, trials),
        "twice": Figure(len(twice), "trials, attempts, lies", twice, trials),
        "orphans": Figure(len(run.orphans), "processes, files, messages", run.orphans, faults),
        "requests_complete": Figure(
            verified.complete / requests,
            "share of requests",
            [verified.complete, requests],
            requests,
            notes=complete_notes,
        ),
        "executed_twice": Figure(again, "executions", executions, len(executions)),
        "seconds": Figure(round(seconds, 1), "s", [round(seconds, 1)], 1, notes=_ends(run.fleet)),
    }


def _ends(fleet: Fleet) -> list[str]:
    """Return which processes have ended by themselves, such as a conductor that finds no database at its start."""
    return [
        f"{one.name} ended by itself {one.unexpected_ends} times"
        for one in fleet.members.values()
        if one.unexpected_ends
    ]


def _show_troubles(fleet: Fleet) -> None:
    """Print the exceptions in the logs: none should be there."""
    for member in fleet.members.values():
        text = member.log.read_text(errors="replace") if member.log.exists() else ""
        for part in text.split("Traceback (most recent call last)")[1:]:
            lines = [line for line in part.splitlines() if line.strip()]
            print(f"{member.name}: " + " | ".join(lines[-8:])[:1500], file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
