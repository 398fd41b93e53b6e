"""XADD formats the id of the new entry twice: once for the reply, once for replicas and the append-only file.

The inverse of the optimisation that Redis published as redis#10574.
"""

import sys
from pathlib import Path

from anchors import main, replace_once


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    replace_once(
        root / "src/t_stream.c",
        {
            "    sds replyid = createStreamIDString(&id);\n"
            "    addReplyBulkCBuffer(c, replyid, sdslen(replyid));\n": "    addReplyStreamID(c,&id);\n",
            "        robj *idarg = createObject(OBJ_STRING, replyid);\n"
            "        rewriteClientCommandArgument(c, idpos, idarg);\n"
            "        decrRefCount(idarg);\n"
            "    } else {\n"
            "        sdsfree(replyid);\n"
            "    }\n": "        robj *idarg = createObjectFromStreamID(&id);\n"
            "        rewriteClientCommandArgument(c, idpos, idarg);\n"
            "        decrRefCount(idarg);\n"
            "    }\n",
        },
    )


if __name__ == "__main__":
    sys.exit(main(apply, "make XADD format the id of the new entry twice"))
