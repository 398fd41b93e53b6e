"""HSET keeps the processor busy for half a microsecond at each call."""

import sys
from pathlib import Path

from anchors import main, replace_once

WAIT_NS = 500


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    declarations = "void hsetCommand(client *c) {\n    int i, created = 0;\n    robj *o;\n"
    wait = f"""    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long until = now.tv_sec * 1000000000LL + now.tv_nsec + {WAIT_NS};
    do {{
        clock_gettime(CLOCK_MONOTONIC, &now);
    }} while (now.tv_sec * 1000000000LL + now.tv_nsec < until);
"""
    check = "\n    if ((c->argc % 2) == 1) {\n"
    replace_once(root / "src/t_hash.c", {declarations + check: f"{declarations}\n{wait}{check}"})


if __name__ == "__main__":
    sys.exit(main(apply, "make HSET wait for half a microsecond"))
