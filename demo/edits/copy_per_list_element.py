"""LRANGE, and every other reply with a range of a list, copies each element before it sends it."""

import sys
from pathlib import Path

from anchors import main, replace_once


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    replace_once(
        root / "src/t_list.c",
        {
            "                addReplyBulkCBuffer(c,qe->value,qe->sz);\n": (
                "                sds element = sdsnewlen(qe->value,qe->sz);\n"
                "                addReplyBulkCBuffer(c,element,sdslen(element));\n"
                "                sdsfree(element);\n"
            )
        },
    )


if __name__ == "__main__":
    sys.exit(main(apply, "make replies with a range of a list copy each element"))
