"""The functions that give and take memory, of all allocators and of the servers' wrappers around them."""

import re
from typing import Final

from zerolap.explain.cost_graph import FunctionKey

_PREFIX: Final = r"(?:je_|mi_|tc_|_*libc_|__GI___libc_)?"
ALLOCATES: Final = re.compile(
    _PREFIX + r"(?:malloc|calloc|memalign|aligned_alloc|posix_memalign|mallocx|valloc)(?:_default)?"
)
REALLOCATES: Final = re.compile(_PREFIX + r"(?:realloc|reallocarray|rallocx|xallocx)(?:_default)?")
FREES: Final = re.compile(_PREFIX + r"(?:free|dallocx|sdallocx|cfree)(?:_default)?")
MAKES_ROOM: Final = re.compile(r"_?sdsMakeRoomFor\w*")
WRAPPER: Final = re.compile(
    r"z(?:try)?(?:m|c|re)alloc\w*|zfree\w*|valkey_(?:m|c|re)alloc|valkey_free|s_(?:m|c|re)alloc\w*|s_free\w*|_?sds(?:new\w*|empty|dup|free\w*|MakeRoomFor\w*|"
    r"cat\w*|Resize|RemoveFreeSpace)|luaM_\w+|l_alloc|luaAlloc"
)
"""Functions that give or take memory on behalf of their callers, whose decision it is."""


def is_allocator(key: FunctionKey) -> bool:
    """Whether the function is one of an allocator: calls from one to another move no memory of the server."""
    return any(pattern.fullmatch(key[0]) for pattern in (ALLOCATES, REALLOCATES, FREES))


def is_wrapper(key: FunctionKey) -> bool:
    """Whether the function gives or takes memory for whoever calls it."""
    return WRAPPER.fullmatch(key[0]) is not None


KEEPS_DATA: Final = re.compile(
    r"dict\w*(?:Replace|Delete|Unlink|Expand|Resize|Rehash|Destructor)\w*|hashtable\w*(?:Delete|Pop)\w*"
    r"|kvstore\w*(?:Add|Insert|Delete|Set)\w*|_?dict(?:Expand|KeyIndex|RehashStep)\w*|db(?:Add|Overwrite|Set|Delete|Generic|Sync|Async)\w*"
    r"|(?:generic)?[sS]etKey\w*|zsl(?:Insert|Create|Delete|Free|Update)\w*|zsetAdd|(?:_)?quicklist\w*|rax\w+|lp[A-Z]\w*|ziplist\w+|intset\w+"
    r"|hashType(?:Set|Delete|Convert)\w*|setType(?:Add|Remove|Convert)\w*|listType(?:Push|Pop|Insert)\w*|stream(?:AppendItem|Trim|Delete)\w*"
    r"|freeObjAsync|luaM_\w+|luaH_\w+|luaC_\w+|decrRefCount\w*|tryObjectEncoding\w*|createReplyBlock\w*|_addReplyProto\w*|afterErrorReply"
)
"""Functions that put memory into the data set or the reply, or take it out: what they free is not what was just made.

Of counted references, calls do not show which one is the last.
"""


def keeps_data(key: FunctionKey) -> bool:
    """Whether the function moves memory into or out of what outlives the request."""
    return KEEPS_DATA.fullmatch(key[0]) is not None


STORES_IN_TABLE: Final = re.compile(r"dict\w*(?:Add|Insert)\w*|hashtable\w*(?:Add|Insert)\w*")
RELEASES_TABLE: Final = re.compile(r"dict(?:Release|Empty)|hashtable(?:Release|Empty)")


def stores_in_table(key: FunctionKey) -> bool:
    """Whether the function adds to a table: its memory lives as long as the table."""
    return STORES_IN_TABLE.fullmatch(key[0]) is not None


def releases_table(key: FunctionKey) -> bool:
    """Whether the function frees a table with all that is in it."""
    return RELEASES_TABLE.fullmatch(key[0]) is not None
