"""The functions that give and take memory, of all allocators and of the servers' wrappers around them."""

import re
from typing import Final

from zerolap.explain.cost_graph import FunctionKey, is_named

_OF_ALLOCATORS: Final = r"(?:je_|mi_|tc_|_*libc_|__GI___libc_)?"
"""The prefixes of allocators' functions: those of jemalloc, mimalloc, tcmalloc and glibc, or none."""
ALLOCATES: Final = re.compile(
    _OF_ALLOCATORS + r"(?:malloc|calloc|memalign|aligned_alloc|posix_memalign|mallocx|valloc)(?:_default)?"
)
REALLOCATES: Final = re.compile(_OF_ALLOCATORS + r"(?:realloc|reallocarray|rallocx|xallocx)(?:_default)?")
FREES: Final = re.compile(_OF_ALLOCATORS + r"(?:free|dallocx|sdallocx|cfree)(?:_default)?")
ASKS_FOR_SIZE: Final = re.compile(_OF_ALLOCATORS + r"(?:malloc_usable_size|mi_usable_size|sallocx|nallocx)")
CALLS_ALLOCATOR: Final = re.compile(
    r"z(?:try)?(?:m|c|re)alloc\w*|zfree\w*|valkey_(?:m|c|re)alloc|valkey_free|s_(?:m|c|re)alloc\w*|s_free\w*|luaM_\w+|l_alloc|luaAlloc"
)
"""The servers' own functions around those of allocators."""
ALLOCATES_STRING: Final = re.compile(r"_?sds(?:new\w*|empty|dup|free\w*|MakeRoomFor\w*|cat\w*|Resize|RemoveFreeSpace)")
MAKES_ROOM: Final = re.compile(r"_?sdsMakeRoomFor\w*")
_FURTHER: Final = re.compile(
    r"_int_(?:malloc|calloc|realloc|memalign|free\w*)|malloc_consolidate|sysmalloc|systrim|unlink_chunk.*|tcache_\w+|zstrdup"
    r"|activeDefrag\w*"
)
"""Functions within allocators, and of the servers, that work at memory alone."""


MAKES: Final = re.compile(r"\w*(?:[cC]reate|[nN]ew|[aA]lloc|[aA]dd|[dD]up|[iI]nsert|[pP]ush)\w*")
RELEASES: Final = re.compile(r"\w*(?:[fF]ree|[rR]elease|[dD]el(?:ete)?(?![a-z])|decrRefCount|[eE]mpty|[dD]estroy)\w*")
"""Names of functions that make something, and of those that release it. Making it is the reason of releasing it."""


def is_allocator(key: FunctionKey) -> bool:
    """Whether the function gives or takes memory itself: calls from one such function to another move none."""
    return is_named(key, ALLOCATES, REALLOCATES, FREES)


def is_wrapper(key: FunctionKey) -> bool:
    """Whether the function gives or takes memory on behalf of whoever calls it, whose decision it is."""
    return is_named(key, CALLS_ALLOCATOR, ALLOCATES_STRING)


def works_at_memory(name: str) -> bool:
    """Whether a function of that name works at memory alone: that of an allocator, around it, or within it."""
    patterns = (ALLOCATES, REALLOCATES, FREES, ASKS_FOR_SIZE, CALLS_ALLOCATOR, _FURTHER)
    return any(pattern.fullmatch(name) for pattern in patterns)


KEEPS_DATA: Final = re.compile(
    r"dict\w*(?:Replace|Delete|Unlink|Expand|Resize|Rehash|Destructor)\w*|hashtable\w*(?:Delete|Pop)\w*"
    r"|kvstore\w*(?:Add|Insert|Delete|Set)\w*|_?dict(?:Expand|KeyIndex|RehashStep)\w*|db(?:Add|Overwrite|Set|Delete|Generic|Sync|Async)\w*"
    r"|(?:generic)?[sS]etKey\w*|zsl(?:Insert|Create|Delete|Free|Update)\w*|zsetAdd|(?:_)?quicklist\w*|rax\w+|lp[A-Z]\w*|ziplist\w+|intset\w+"
    r"|hashType(?:Set|Delete|Convert)\w*|setType(?:Add|Remove|Convert)\w*|listType(?:Push|Pop|Insert)\w*|stream(?:AppendItem|Trim|Delete)\w*"
    r"|freeObjAsync|luaM_\w+|luaH_\w+|luaC_\w+|decrRefCount\w*|tryObjectEncoding\w*|createReplyBlock\w*|_addReplyProto\w*|afterErrorReply"
)
"""Functions that put memory into the data set or the reply, or take it out: what they free is not what was just made.

Of counted references, calls do not show which reference is the last.
"""
STORES_IN_TABLE: Final = re.compile(r"dict\w*(?:Add|Insert)\w*|hashtable\w*(?:Add|Insert)\w*")
"""Functions that add to a table: their memory lives as long as the table."""
RELEASES_TABLE: Final = re.compile(r"dict(?:Release|Empty)|hashtable(?:Release|Empty)")
