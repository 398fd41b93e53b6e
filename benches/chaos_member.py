"""The processes of the fleet in `benches.chaos`: `serve DIRECTORY STORE ADDRESS`, and `agent CREDENTIALS ...`."""

import asyncio
import contextlib
import faulthandler
import signal
import sys
from pathlib import Path
from types import FrameType
from unittest import mock

from benches.chaos_ledger import LedgerFile, LedgerLink, LedgerWorker
from zerolap.api.serving import Address, ServeOptions, serve
from zerolap.cli.logging import set_up_logs
from zerolap.errors import ZerolapError
from zerolap.fleet import Pace, remote_agent
from zerolap.fleet.setup.credentials import read_agent_credentials
from zerolap.sandbox import SandboxPolicy, scratch
from zerolap.store import Store

LEASE_SECONDS = 4.0
"""Short, so that leases lapse within a run."""
PACE = Pace(lease_seconds=LEASE_SECONDS, poll_seconds=0.25, review_seconds=1.5)
LOAD_ADDRESS = "127.0.0.1"
YOUNG_SECONDS = 5
"""A scratch directory that nobody holds is abandoned after so long: soon, so that a run need not wait for it."""


def run_conductor(fleet: Path, store: str, port: int) -> None:
    """Be `zerolap serve`."""
    with Store.open(store) as results:
        serving = ServeOptions(results, [Address("127.0.0.1", port)], fleet, SandboxPolicy.REQUIRED, PACE)
        asyncio.run(serve(serving))


def run_agent(credentials: Path, directory: Path, ledger: Path) -> None:
    """Be `zerolap agent`, with a ledger."""
    LedgerLink.ledger = LedgerFile(ledger)
    with mock.patch.object(remote_agent, "JetStreamLink", LedgerLink):
        asyncio.run(
            remote_agent.work(
                read_agent_credentials(credentials),
                remote_agent.AgentMachine(directory, SandboxPolicy.REQUIRED, LOAD_ADDRESS),
                LEASE_SECONDS,
                LedgerWorker(LedgerLink.ledger),
            )
        )


def _write_tasks(number: int, frame: FrameType | None) -> None:
    """Write where each task of the event loop waits; the threads' stacks are written beside it."""
    with contextlib.suppress(RuntimeError):
        for task in asyncio.all_tasks():
            task.print_stack(limit=4)


def main(words: list[str]) -> int:
    """Be one of the processes."""
    set_up_logs()
    signal.signal(signal.SIGUSR1, _write_tasks)
    faulthandler.register(signal.SIGUSR1, chain=True)
    scratch.YOUNG_SECONDS = remote_agent.CLEARING_SECONDS = YOUNG_SECONDS  # type: ignore[misc]
    try:
        match words:
            case ["serve", fleet, store, port]:
                run_conductor(Path(fleet), store, int(port))
            case ["agent", credentials, directory, ledger]:
                run_agent(Path(credentials), Path(directory), Path(ledger))
            case _:
                raise SystemExit(f"not a process of this bench: {words}")
    except ZerolapError as fault:
        # As the command line: a fault of the environment is no fault of the program.
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
