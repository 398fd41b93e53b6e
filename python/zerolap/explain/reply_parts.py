"""Of how many parts a reply is made, which is in proportion to its elements, by the functions that add to replies."""

import re
from typing import Final

from zerolap.explain.call_index import CallIndex

ADDS: Final = re.compile(r"add(?:WritePrepared)?Reply(?!\w*(?:Len|Deferred|Prefix))\w*")
"""Functions of Redis, Valkey and KeyDB that add an element to a reply; the others add its header, or a piece."""
OF_REPLIES: Final = re.compile(r"_?add(?:WritePrepared)?Reply\w*|setDeferred\w*")


def reply_parts(index: CallIndex) -> float:
    """Return the calls per request that add an element to a reply; 0 where all of them are inlined."""
    return sum(
        calls.calls
        for callee, callers in index.callers.items()
        if ADDS.fullmatch(callee[0]) is not None
        for caller, calls in callers.items()
        if OF_REPLIES.fullmatch(caller[0]) is None
    )
