"""`zerolap-load`: executes the load generator of the package.

Only modules that Python has loaded already are imported, as the program itself starts in two milliseconds.
"""

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "zerolap-load")
EXIT_ENVIRONMENT = 3


def main() -> None:
    """Replace this process by the load generator, with the same arguments."""
    try:
        os.execv(PROGRAM, ["zerolap-load", *sys.argv[1:]])
    except FileNotFoundError:
        sys.stderr.write(f"error: `{PROGRAM}` is missing\nhint: make build\n")
        sys.exit(EXIT_ENVIRONMENT)
