"""`zerolap-load`: the load generator that is shipped with the package, as a program of its own."""

import os
import sys

from zerolap.load.program import packaged
from zerolap.records import ZerolapError


def main() -> None:
    """Become the load generator."""
    try:
        program = packaged("zerolap-load")
    except ZerolapError as missing:
        sys.exit(f"error: {missing.message}\nhint: {missing.hint}")
    os.execv(program, ["zerolap-load", *sys.argv[1:]])
