"""A program that stays in the midst of its work: `held_program.py TRIALS ARGUMENT...`, with the arguments of `zerolap`.

So many counted trials are carried out. All further ones wait, their servers and load generators up, until the work is
cancelled or the process killed: who stops it there need not be faster than it is.
"""

import itertools
import sys
import threading
from typing import Any

from zerolap.cli import main
from zerolap.engines import counted
from zerolap.sandbox import current_cancellation


def hold_after(trials: int) -> None:
    """Have all counted trials but the first ones wait until they are cancelled."""
    begun = itertools.count()
    count_windows = counted.count_windows

    def held(*arguments: Any) -> Any:
        if next(begun) >= trials:
            current_cancellation().wait(threading.TIMEOUT_MAX)
            current_cancellation().require_going_on()
        return count_windows(*arguments)

    setattr(counted, "count_windows", held)  # noqa: B010 - the type of what is replaced is another one


if __name__ == "__main__":
    hold_after(int(sys.argv[1]))
    sys.argv = ["zerolap", *sys.argv[2:]]
    main()
