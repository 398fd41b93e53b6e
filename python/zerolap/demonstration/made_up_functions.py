"""The functions of the made-up server: which call which in each case, and their parts of a request's cost."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

SERVER: Final = "made-up-server"
"""The name of the program and of its main thread."""
BACKGROUND: Final = "bio_lazy_free"
KERNEL: Final = "[kernel]"

_LOOP: Final = "main > aeMain > aeProcessEvents"
_READ: Final = f"{_LOOP} > readQueryFromClient"
_CALL: Final = f"{_READ} > processInputBuffer > processCommandAndResetClient > processCommand"
_WRITE: Final = f"{_LOOP} > beforeSleep > handleClientsWithPendingWrites > writeToClient"

_COMMON: Final = f"""
{_LOOP}: 1.6
{_LOOP} > aeApiPoll > epoll_wait > do_epoll_wait: 4.1
{_LOOP} > processTimeEvents > serverCron: 0.7
{_LOOP} > processTimeEvents > serverCron > databasesCron > activeExpireCycle: 0.4
{_READ}: 2.2
{_READ} > connSocketRead > read > vfs_read > unix_stream_recvmsg: 7.4
{_READ} > connSocketRead > read > vfs_read > unix_stream_recvmsg > skb_copy_datagram_iter: 2.8
{_READ} > processInputBuffer: 1.9
{_READ} > processInputBuffer > parseMultibulkBuffer: 5.3
{_READ} > processInputBuffer > parseMultibulkBuffer > createStringObject > je_malloc: 2.6
{_CALL}: 4.4
{_CALL} > lookupCommand > dictFetchValue > dictSdsCaseHash: 2.9
{_CALL} > ACLCheckAllUserCommandPerm > ACLSelectorCheckCmd: 1.8
{_CALL} > call: 3.2
{_CALL} > call > updateCommandLatencyHistogram > hdr_record_value: 1.1
{_READ} > processInputBuffer > resetClient > freeClientArgv > decrRefCount > je_free: 2.7
{_WRITE}: 1.5
{_WRITE} > connSocketWrite > write > vfs_write > unix_stream_sendmsg: 8.2
{_WRITE} > connSocketWrite > write > vfs_write > unix_stream_sendmsg > __alloc_skb: 2.1
""".strip()
"""Stacks with their parts of a hundred, from the root; what is left is the command's own."""

_COMMANDS: Final[Mapping[str, str]] = {
    "get-100B": """
getCommand > getGenericCommand: 5
getCommand > getGenericCommand > lookupKeyReadOrReply > lookupKey > dbFind > dictFind > dictSdsHash: 22
getCommand > getGenericCommand > lookupKeyReadOrReply > lookupKey > expireIfNeeded: 7
getCommand > getGenericCommand > addReplyBulk > _addReplyToBufferOrList > memcpy: 18""",
    "hset": """
hsetCommand: 4
hsetCommand > lookupKeyWriteOrCreate > lookupKey > dbFind > dictFind > dictSdsHash: 14
hsetCommand > hashTypeTryConversion: 6
hsetCommand > hashTypeSet: 16
hsetCommand > hashTypeSet > lpFind > lpSkip: 28
hsetCommand > hashTypeSet > lpReplace > lpInsert > memmove: 19
hsetCommand > signalModifiedKey > touchWatchedKey: 3""",
    "hgetall-20-fields": """
hgetallCommand > genericHgetallCommand: 9
hgetallCommand > genericHgetallCommand > lookupKeyReadOrReply > lookupKey > dbFind > dictFind > dictSdsHash: 8
hgetallCommand > genericHgetallCommand > hashTypeNext > lpNext: 19
hgetallCommand > genericHgetallCommand > addHashIteratorCursorToReply > addReplyBulkCBuffer > memcpy: 34
hgetallCommand > genericHgetallCommand > addHashIteratorCursorToReply > addReplyBulkCBuffer > ll2string: 11""",
    "rpush-lpop": """
rpushCommand > pushGenericCommand: 6
rpushCommand > pushGenericCommand > listTypePush > quicklistPushTail > lpAppend > lpInsert > memmove: 21
lpopCommand > popGenericCommand: 5
lpopCommand > popGenericCommand > listTypePop > quicklistPopCustom > quicklistDelIndex > lpDelete: 24
lpopCommand > popGenericCommand > addReplyBulk > _addReplyToBufferOrList > memcpy: 10""",
    "lrange-100": """
lrangeCommand > addListRangeReply: 16
lrangeCommand > addListRangeReply > addListListpackRangeReply > lpGetValue: 23
lrangeCommand > addListRangeReply > addListListpackRangeReply > addReplyBulkCBuffer > memcpy: 41""",
    "sismember": """
sismemberCommand: 6
sismemberCommand > lookupKeyReadOrReply > lookupKey > dbFind > dictFind > dictSdsHash: 15
sismemberCommand > setTypeIsMember > dictFind > dictSdsHash: 18
sismemberCommand > setTypeIsMember > dictFind > dictSdsKeyCompare > memcmp: 13""",
    "zadd": """
zaddCommand > zaddGenericCommand: 8
zaddCommand > zaddGenericCommand > getDoubleFromObject > strtod: 12
zaddCommand > zaddGenericCommand > zsetAdd > dictFind > dictSdsHash: 13
zaddCommand > zaddGenericCommand > zsetAdd > zslUpdateScore: 17
zaddCommand > zaddGenericCommand > zsetAdd > zslUpdateScore > zslDeleteNode: 9
zaddCommand > zaddGenericCommand > zsetAdd > zslUpdateScore > zslInsertNode > zslRandomLevel: 11""",
    "zrange-100-withscores": """
zrangeCommand > zrangeGenericCommand > genericZrangebyrankCommand: 5
zrangeCommand > zrangeGenericCommand > genericZrangebyrankCommand > zzlNext > lpNext: 12
zrangeCommand > zrangeGenericCommand > genericZrangebyrankCommand > addReplyDouble > fpconv_dtoa > grisu2: 61
zrangeCommand > zrangeGenericCommand > genericZrangebyrankCommand > addReplyBulkCBuffer > memcpy: 13""",
    "xadd-auto-id": """
xaddCommand: 6
xaddCommand > streamParseAddOrTrimArgsOrReply: 7
xaddCommand > streamAppendItem: 12
xaddCommand > streamAppendItem > raxSeek > raxLowWalk: 17
xaddCommand > streamAppendItem > lpAppend > lpInsert > je_realloc: 21
xaddCommand > createStreamIDString: 5
xaddCommand > createStreamIDString > sdscatfmt > ll2string: 6
xaddCommand > streamPropagateXADD: 4""",
    "geosearch-100km": """
geosearchCommand > georadiusGeneric: 4
geosearchCommand > georadiusGeneric > membersOfAllNeighbors > geoGetPointsInRange: 13
geosearchCommand > georadiusGeneric > membersOfAllNeighbors > geoGetPointsInRange > geohashGetDistanceIfInRadius: 27
geosearchCommand > georadiusGeneric > membersOfAllNeighbors > geoGetPointsInRange > decodeGeohash > deinterleave64: 16
geosearchCommand > georadiusGeneric > qsort > sort_gp_asc: 18""",
    "set-ex-100B": """
setCommand > parseExtendedStringArgumentsOrReply: 5
setCommand > setGenericCommand: 9
setCommand > setGenericCommand > setKey > dbSetValue: 11
setCommand > setGenericCommand > setKey > dbSetValue > decrRefCount > je_free: 12
setCommand > setGenericCommand > setKey > lookupKeyWrite > lookupKey > dbFind > dictFind > dictSdsHash: 14
setCommand > setGenericCommand > setExpire > dictAddOrFind > je_malloc: 13""",
    "eval": """
evalCommand > evalGenericCommand > evalCalcFunctionName > sha1hex > SHA1Transform: 7
evalCommand > evalGenericCommand > luaCallFunction: 13
evalCommand > evalGenericCommand > luaCallFunction > lua_pcall > luaV_execute: 31
evalCommand > evalGenericCommand > luaCallFunction > lua_pcall > luaV_execute > luaRedisGenericCommand > scriptCall > \
call > getCommand > getGenericCommand > lookupKey > dbFind > dictFind > dictSdsHash: 11
evalCommand > evalGenericCommand > luaCallFunction > lua_pcall > luaV_execute > luaRedisGenericCommand > scriptCall > \
call > incrbyCommand > incrDecrCommand: 9
evalCommand > evalGenericCommand > luaCallFunction > lua_gc > luaC_step > propagatemark: 8""",
}

_FILES: Final = """
acl.c: ACL*
ae.c: ae* processTimeEvents*
ae_epoll.c: aeApiPoll*
db.c: lookupKey lookupKeyReadOrReply lookupKeyWrite dbFind dbSetValue setKey setExpire expireIfNeeded
db.c: signalModifiedKey
dict.c: dict*
eval.c: evalCommand evalGenericCommand evalCalcFunctionName
expire.c: activeExpireCycle
fpconv_dtoa.c: fpconv_dtoa grisu2
geo.c: geo* membersOf* decodeGeohash* sort_gp*
geohash.c: deinterleave64
geohash_helper.c: geohashGetDistanceIfInRadius
hdr_histogram.c: hdr_record_value
jemalloc.c: je_malloc je_free je_realloc
lapi.c: lua_pcall lua_gc
latency.c: updateCommandLatencyHistogram
lgc.c: luaC_step propagatemark
listpack.c: lp*
lvm.c: luaV_execute
multi.c: touchWatchedKey
networking.c: addReplyDouble
object.c: createStringObject decrRefCount getDoubleFromObject
quicklist.c: quicklist*
rax.c: rax*
script.c: scriptCall
script_lua.c: sha1hex luaCallFunction luaRedisGenericCommand
sds.c: sdscatfmt
server.c: main call processCommand lookupCommand serverCron databasesCron beforeSleep
sha1.c: SHA1Transform
socket.c: connSocket*
t_hash.c: lookupKeyWriteOrCreate hash* hset* hgetall* genericHgetall* addHashIterator*
t_list.c: lpop* rpush* push* pop* list* lrange* addList*
t_set.c: s*
t_stream.c: x* stream* createStreamID*
t_string.c: getCommand setCommand incrbyCommand incrDecrCommand getGenericCommand setGenericCommand
t_string.c: parseExtendedStringArgumentsOrReply
t_zset.c: z* genericZrange*
util.c: ll2string
""".strip()
"""Files with their functions; a name with a star is the beginning of several, of which the longest counts."""
_SOURCES: Final[Mapping[str, str]] = {
    "dictSdsHash": """
0.06: static uint64_t dictSdsHash(const void *key) {
0.11:     const unsigned char *byte = key;
0.34:     for (size_t left = sdslen(key); left >= 8; left -= 8, byte += 8)
0.41:         state = mixed(state ^ load64(byte));
0.05:     return finished(state);""",
    "dictFind": """
0.12: dictEntry *dictFind(dict *d, const void *key) {
0.08:     if (d->rehashing) dictRehashStep(d);
0.23:     unsigned long place = dictHashKey(d, key) & d->mask;
0.31:     for (dictEntry *entry = d->table[place]; entry; entry = entry->next)
0.24:         if (entry->key == key || d->type->keyCompare(entry->key, key)) return entry;""",
    "lpSkip": """
0.17: static unsigned char *lpSkip(unsigned char *entry) {
0.52:     unsigned long length = lpEncodedLength(entry);
0.20:     length += lpBackwardLength(length);
0.08:     return entry + length;""",
    "processCommand": """
0.21:     c->cmd = lookupCommand(c->argv, c->argc);
0.15:     if (!commandCheckArity(c)) return rejected(c);
0.36:     int denied = ACLCheckAllUserCommandPerm(c->user, c->argv);
0.24:     call(c, CALL_ALL);""",
    "parseMultibulkBuffer": """
0.13:     while (c->left > 0) {
0.46:         char *end = memchr(c->buffer + c->position, '\\r', c->unread);
0.19:         long long length = parsedLength(c->buffer + c->position + 1, end);
0.18:         c->argv[c->argc++] = createStringObject(end + 2, length);""",
    "geohashGetDistanceIfInRadius": """
0.52:     double distance = geohashGetDistance(x1, y1, x2, y2);
0.17:     distance *= radiusFactor(shape);
0.12:     *result = distance;
0.19:     return distance <= shape->radius * shape->conversion;""",
    "zslUpdateScore": """
0.13:     for (int level = zsl->level - 1; level >= 0; level--)
0.38:         while ((step = next(node, level)) && isBelow(step, score, ele))
0.21:             ranks[level] += span(node, level);
0.28:     below[level] = selected(step, node, score);""",
    "createStreamIDString": """
0.08: sds createStreamIDString(streamID *id) {
0.44:     sds text = sdscatfmt(sdsempty(), "%U-%U", id->ms, id->seq);
0.10:     server.id_texts++;
0.38:     return sdsdup(text);""",
}
"""The lines that have samples of some functions, with their parts of the samples."""
_OF_KERNEL: Final = ("do_epoll_wait", "vfs_", "unix_stream_", "skb_", "__alloc_skb")
_OF_LIBC: Final = ("memcpy", "memmove", "memcmp", "strtod", "qsort", "read", "write", "epoll_wait")


@cache
def _file_names() -> dict[str, str]:
    listed = (line.split(": ", 1) for line in _FILES.splitlines())
    return {name: file for file, names in listed for name in names.split()}


@cache
def function_tree(case: str) -> Mapping[tuple[str, ...], float]:
    """Return the stacks of a case, from the root, with their parts of a request's cost, which add up to 1."""
    stacks = dict(_parsed(_COMMON, ()))
    call = tuple(f"{_CALL} > call".split(" > "))
    left = 100.0 - sum(stacks.values())
    own = dict(_parsed(_COMMANDS[case], call))
    scale = left / sum(own.values())
    stacks |= {path: scale * part for path, part in own.items()}
    return {path: part / 100.0 for path, part in stacks.items()}


def file_of(function: str) -> str | None:
    """Return the file that defines a function; none outside of the server."""
    if object_of(function) != SERVER:
        return None
    files = _file_names()
    beginnings = [name for name in files if name.endswith("*") and function.startswith(name[:-1])]
    return files.get(function) or files.get(max(beginnings, key=len, default=""), "networking.c")


def object_of(function: str) -> str:
    """Return the program or library of a function."""
    if function.startswith(_OF_KERNEL):
        return KERNEL
    return "libc.so.6" if function in _OF_LIBC else SERVER


def source_of(function: str) -> list[tuple[str, float]]:
    """Return the lines of a function with their parts of its samples; none of most functions."""
    lines = _SOURCES.get(function, "").strip("\n").splitlines()
    return [(text, float(part)) for part, text in (line.split(": ", 1) for line in lines)]


def _parsed(text: str, below: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    for line in text.strip().splitlines():
        path, part = line.rsplit(": ", 1)
        yield (*below, *path.split(" > ")), float(part)
