"""HSET runs a short busy loop at each call."""

import sys
from pathlib import Path

from anchors import main, replace_once


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    declarations = "void hsetCommand(client *c) {\n    int i, created = 0;\n    robj *o;\n"
    loop = "    for (volatile int spins = 0; spins < 200; spins++) {}\n"
    check = "\n    if ((c->argc % 2) == 1) {\n"
    replace_once(root / "src/t_hash.c", {declarations + check: f"{declarations}\n{loop}{check}"})


if __name__ == "__main__":
    sys.exit(main(apply, "make HSET run a busy loop"))
