"""Entries of hash tables lie apart: the same instructions miss the caches."""

import sys
from pathlib import Path

from anchors import main, replace_once


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    following = "    struct dictEntry *next;     /* Next entry in the same hash bucket. */\n    void *metadata[];"
    padded = following.replace("    void *metadata[];", "    char padding[4000];\n    void *metadata[];")
    replace_once(root / "src/dict.h", {following: padded})


if __name__ == "__main__":
    sys.exit(main(apply, "pad the entries of hash tables"))
