"""A program with a point at which its process is killed, as by a loss of power: `planted_kill.py POINT ARGUMENT...`.

POINT is `MODULE:NAME:before` or `MODULE:NAME:after` of a function or method, or `never`. The arguments are those of
`zerolap`; `work STORE SETTINGS` instead works on all triggers that wait.
"""

import asyncio
import functools
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

from zerolap.cli import main
from zerolap.store import Store
from zerolap.triggers.settings import read_trigger_settings
from zerolap.triggers.work import TriggerWork


def plant(point: str) -> None:
    """Have the process killed before or after a function is called."""
    module, name, when = point.split(":")
    *owners, last = name.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    planned = getattr(owner, last)

    @functools.wraps(planned)
    def killing(*arguments: Any, **named: Any) -> Any:
        if when == "after":
            planned(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, last, killing)


async def work_off(store: Store, settings: Path) -> None:
    """Work on all triggers that wait, as `zerolap serve` does."""
    work = TriggerWork(store, read_trigger_settings(settings), settings.with_name("mirrors"), None)
    for waiting in (await work.waiting()).values():
        for stored in waiting:
            await work.work_on(stored)


if __name__ == "__main__":
    point, *arguments = sys.argv[1:]
    if point != "never":
        plant(point)
    if arguments[0] == "work":
        with Store.open(arguments[1]) as opened:
            asyncio.run(work_off(opened, Path(arguments[2])))
    else:
        sys.argv = ["zerolap", *arguments]
        main()
