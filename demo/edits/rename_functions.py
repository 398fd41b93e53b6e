"""Functions on the path of many commands get other names, and nothing else changes."""

import sys
from pathlib import Path

from anchors import AnchorError, main, rename_words

NAMES = {
    # static
    "_dictExpandIfNeeded": "_dictGrowIfNeeded",
    "_dictNextExp": "_dictExponentFor",
    "_dictRehashStep": "_dictRehashOneStep",
    "intsetSearch": "intsetFindPosition",
    # seen by other files
    "_addReplyToBufferOrList": "_appendReplyToBufferOrList",
    "addListRangeReply": "replyWithListRange",
    "createStreamIDString": "streamIDToSds",
    "hashTypeSet": "hashTypeStoreField",
    "processMultibulkBuffer": "parseMultibulkRequest",
    "streamAppendItem": "streamAddEntry",
    "zslRandomLevel": "zslPickLevel",
}


def apply(root: Path) -> None:
    """Edit the tree below `root`; raises `AnchorError` where it is not as expected."""
    paths = sorted(path for path in (root / "src").glob("*.[ch]"))
    if not paths:
        raise AnchorError(f"{root / 'src'}: no sources found")
    rename_words(paths, NAMES)


if __name__ == "__main__":
    sys.exit(main(apply, "rename functions without any change of what they do"))
