"""What a function works at, by its name and file: the parts of the work that all servers of the family share.

The names and files are those of Redis since 2.6, Valkey and KeyDB, of the libraries that they bring along, and of
glibc and musl. The first pattern that fits decides: names before files, as a file of helpers holds several kinds.
"""

import functools
import re
from typing import Final

from zerolap.explain.allocations import works_at_memory
from zerolap.explain.cost_graph import LONGEST_NAME
from zerolap.records import Category

_NAMES: Final[tuple[tuple[Category, str], ...]] = (
    (
        "formatting",
        r"_*(?:IO_)?v?(?:s|sn|f|as|d)?w?printf(?:_chk|_internal|_process|_buffer\w*)?|__vfprintf_internal|__printf_\w+|printf_\w+"
        r"|___?printf_fp\w*|__mpn_\w+|__v\w*printf\w*|_itoa\w*|_fitoa\w*|__mpn_extract_double|hack_digit|fmt_(?:fp|u|x|o)|printf_core"
        r"|u?ll2string|ld2string|d2string|double2ll|fixedpoint_d2string|fpconv_\w+|grisu2|filter_special|emit_digits"
        r"|sds(?:catv?printf|catfmt|ll2str|ull2str|fromlonglong|catrepr)|digits10|sdigits10|strftime\w*|__strftime\w*"
        r"|createStreamIDString|createStringObjectFromLongLong\w*|createStringObjectFromLongDouble|bytesToHuman",
    ),
    (
        "parsing",
        r"processMultibulkBuffer|processInlineBuffer|parseMultibulk\w*|parseInputBuffer|string2u?ll?|string2ld?|string2d"
        r"|_*strto(?:d|f|ld|l|ul|ll|ull)\w*|_*(?:GI_)?_*strto(?:d|ld|l|ul|ll)?_l_internal|str_to_mpn|round_and_return"
        r"|_*v?s?scanf\w*|__vfscanf_internal|from_chars.*|fast_float.*|valkey_strtod|redis_strtod"
        r"|get(?:Long|LongLong|Double|LongDouble|Range|UnsignedLongLong|Int)\w*FromObject\w*|isObjectRepresentableAs\w+"
        r"|extractDoubleFromObject|lpStringToInt64|zipTryEncoding",
    ),
    (
        "dictionary",
        r"dict[A-Z]\w*|_dict\w+|siphash\w*|sip\w*hash\w*|hashtable[A-Z]\w*|kvstore\w*|lookupKey\w*|dbFind\w*|db(?:Add|Set|Delete)\w*"
        r"|getKeySlot|keyHashSlot|crc16|expireIfNeeded\w*|keyIsExpired\w*|getExpire|removeExpire|setExpire|objectGetKey"
        r"|findBucket\w*|MurmurHash64A",
    ),
    (
        "strings",
        r"sds\w*|_sds\w*|_*mem(?:cpy|move|set|cmp|chr|rchr|pcpy)\w*|_*str(?:len|cmp|ncmp|casecmp|ncasecmp|chr|rchr|cpy|ncpy|cat|dup|str|spn|cspn)"
        r"(?:_\w+)?|__str\w+_(?:avx2|sse2|evex|sse42)\w*|tolower|toupper|__ctype_\w+|equalStringObjects|compareStringObjects\w*"
        r"|stringmatch\w*|createStringObject|create(?:Raw|Embedded)StringObject\w*|createObject|dupStringObject|"
        r"decrRefCount\w*|incrRefCount|freeStringObject|getDecodedObject|tryObjectEncoding\w*|lzf_\w+",
    ),
    (
        "reply",
        r"_?addReply\w*|_addReply\w*|prepareClientToWrite|_prepareClientToWrite|clientHasPendingReplies|setDeferred\w*"
        r"|writeToClient\w*|_writeToClient\w*|_writev\w*|writeToSocket|trimReplyUnusedTailSpace|putClientInPendingWriteQueue"
        r"|copyReplyBufferIfNeeded|upsertPayloadHeader|trackBufReferences",
    ),
    (
        "statistics and access checks",
        r"ACL\w+|hdr_\w+|counts_\w+|latencyAdd\w*|addLatency\w*|slowlog\w*|update\w*Stats\w*|incr\w*Stats\w*|trackInstantaneous\w*"
        r"|trackingRemember\w*|tracking\w+|clusterSlotStats\w*|updateClientMem\w*|updateClientMemUsage\w*|getClient(?:Memory|Output)\w*"
        r"|evictClients|performEvictions|overMaxmemory\w*|getMaxmemoryState|freeMemoryIfNeeded\w*|monitor\w*|replicationFeedMonitors"
        r"|moduleNotify\w*|moduleFireServerEvent|notifyKeyspaceEvent|signalModifiedKey|touchWatchedKey|commandlog\w*"
        r"|LFU\w+|estimateObjectIdleTime|updateLFU|updateCommandLatencyHistogram|getNodeByQuery|getKeysFromCommand\w*",
    ),
    (
        "time",
        r"ustime|mstime|commandTimeSnapshot|nstime|getMonotonicUs\w*|monotonic\w+|gettimeofday|clock_gettime|__vdso_\w+|time"
        r"|updateCachedTime\w*|localtime\w*|__tz\w+|__offtime|gmtime\w*|elapsed\w*|mktime",
    ),
    (
        "event loop",
        r"ae[A-Z]\w*|beforeSleep|afterSleep|conn[A-Z]\w*|readQueryFromClient|readToQueryBuf|processInputBuffer|handleClients\w*"
        r"|freeClientsInAsyncFreeQueue|processUnblockedClients|beforeNextClient|IOThread\w*|ioThread\w*|trySend\w*|postponeClientRead"
        r"|epoll_\w+|processEventsWhileBlocked|handleBlockedClientsTimeout|blockedBeforeSleep|serverCron|databasesCron|clientsCron",
    ),
    (
        "system calls",
        r"_*(?:read|write|readv|writev|send|recv|sendto|recvfrom|sendmsg|recvmsg|accept4?|close|open(?:at)?(?:64)?|fsync|fdatasync"
        r"|mmap(?:64)?|munmap|madvise|brk|sbrk|fcntl(?:64)?|ioctl|futex|getpid|getrusage|syscall|poll|select|nanosleep|sched_yield)",
    ),
    (
        "command",
        r"call|processCommand\w*|lookupCommand\w*|getCommandFlags|resetClient\w*|freeClientArgv|freeClientOriginalArgv|commandProcessed"
        r"|afterCommand|alsoPropagate|propagate\w*|rewriteClientCommand\w*|replaceClientCommandVector|retainOriginalCommandVector"
        r"|isReadyToShutdown|\w+Command|\w+GenericCommand|genericZrange\w+",
    ),
)
_FILES: Final[tuple[tuple[Category, str], ...]] = (
    (
        "allocation",
        r"(?:.*/)?(?:zmalloc|allocator_defrag|defrag|lazyfree|mempool|memory_prefetch)\.[ch].*|.*(?:jemalloc|mimalloc|tcmalloc)/.*|.*malloc/.*",
    ),
    ("formatting", r".*(?:fpconv|stdio-common/.*printf|libio/.*printf|vfprintf).*"),
    ("parsing", r".*(?:fast_float|stdlib/strto|stdlib/.*strtod|stdio-common/.*scanf).*"),
    ("dictionary", r"(?:.*/)?(?:dict|hashtable|kvstore|siphash|db|expire|crc16|object_key)\.[ch].*"),
    ("reply", r"(?:.*/)?(?:networking|reply|resp_parser)\.[ch].*"),
    (
        "event loop",
        r"(?:.*/)?(?:ae|ae_epoll|ae_kqueue|anet|connection|socket|unix|tls|io_threads|iothread|blocked|timeout)\.[ch].*",
    ),
    ("time", r"(?:.*/)?(?:monotonic|localtime)\.[ch].*|time/.*"),
    (
        "statistics and access checks",
        r"(?:.*/)?(?:acl|latency|slowlog|commandlog|evict|tracking|notify|stats|cluster_slot_stats)\.[ch].*|.*hdr_histogram.*",
    ),
    ("strings", r"(?:.*/)?(?:sds|object|util|lzf_\w)\.[ch].*|string/.*"),
    (
        "command",
        r"(?:.*/)?(?:t_\w+|geo\w*|bitops|hyperloglog|sort|multi|pubsub|script\w*|eval|functions?|listpack|ziplist|zipmap|quicklist|intset"
        r"|rax|module|vset|hnsw|entry|adlist|stream\w*|cluster\w*|server|redis|valkey|keydb|sha1|sha256|rand|pqsort|replication|aof|rdb)"
        r"\.(?:c|h|cpp|hpp)|.*lua.*|.*(?:math|ieee754)/.*|stdlib/.*(?:msort|qsort).*",
    ),
)
_BY_NAME = tuple((category, re.compile(pattern)) for category, pattern in _NAMES)
_BY_FILE = tuple((category, re.compile(pattern)) for category, pattern in _FILES)
_LUA: Final = re.compile(
    r"lua[A-Z_]\w*|lua_\w+|f_call|singlestep|sweeplist|propagatemark|reallymarkobject|traversetable|newkey"
)
MOST_REMEMBERED: Final = 20_000


def category_of(name: str, file: str) -> Category:
    """Return what a function works at, by the beginnings of its name and file.

    `file` is that of its definition, or the name of its program or library.
    """
    # Some patterns take the square of the length of a file's name.
    return _category_of(name[:LONGEST_NAME], file[:LONGEST_NAME])


@functools.lru_cache(MOST_REMEMBERED)
def _category_of(name: str, file: str) -> Category:
    if works_at_memory(name):
        return "allocation"
    for category, pattern in _BY_NAME:
        if pattern.fullmatch(name):
            return category
    for category, pattern in _BY_FILE:
        if pattern.fullmatch(file):
            return category
    return "command" if _LUA.fullmatch(name) else "other"
