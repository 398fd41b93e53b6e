"""Commits of a real server that make a command faster, chosen by what their messages claim and before looking.

Rule: all commits from 2021 on whose message claims an improvement in percent, touches `src`, and is of a command that a
single client can have executed; and eleven commits more whose subject names a command that they make faster.
"""

from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "real_commits.yml"


@dataclass(frozen=True)
class RealCommit:
    """A commit, a case whose command it makes faster, and what it did by its diff.

    A first reason that states this names a function of each group of `named`.
    """

    commit: str
    case: str
    did: str
    named: tuple[frozenset[str], ...]


def _names(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in groups)


REAL_COMMITS = (
    RealCommit(
        "99c40ab53",
        "sunion",
        "the temporary set of SUNION and SDIFF is a hash table from the beginning",
        _names("sunionDiffGenericCommand setTypeCreate setTypeAdd setTypeAddAux setTypeMaybeConvert setTypeConvert"),
    ),
    RealCommit(
        "9146ac050",
        "hscan",
        "HSCAN replies from the listpack without an intermediate list",
        _names("scanGenericCommand"),
    ),
    RealCommit(
        "bcae77081",
        "lpos",
        "the length of the searched element is computed once, not for each element",
        _names("listTypeEqual lposCommand sdslen"),
    ),
    RealCommit(
        "31227f4fa",
        "lrange",
        "a reply asks only whether its client is a replica, not for the type of the client",
        _names(
            "prepareClientToWrite _addReplyToBufferOrList getClientType addReplyBulkCBuffer clientHasPendingReplies"
        ),
    ),
    RealCommit(
        "fb8755a63",
        "geopos",
        "coordinates are written as doubles, not as long doubles for people",
        _names("geoposCommand addReplyDouble addReplyHumanLongDouble"),
    ),
    RealCommit(
        "07ed0eafa",
        "scan-match",
        "SCAN filters keys by their pattern before it gathers them",
        _names("scanGenericCommand scanCallback keysScanCallback"),
    ),
    RealCommit(
        "789c33bb3",
        "get-expiring",
        "the expiry of a key is looked up without looking up the key again",
        _names("getExpire", "dictFind getExpire keyIsExpired"),
    ),
    RealCommit(
        "32f45215c",
        "zintercard",
        "ZINTERCARD no longer creates a result that it does not use",
        _names(
            "zunionInterDiffGenericCommand",
            "createZsetObject freeZsetObject decrRefCount zunionInterDiffGenericCommand",
        ),
    ),
    RealCommit(
        "006ab26c3",
        "hrandfield",
        "random fields of a listpack are sampled in one pass and written without copies",
        _names("hrandfieldWithCountCommand lpRandomPairsUnique"),
    ),
    RealCommit(
        "48757934f",
        "zadd-many",
        "ZADD converts to a skip list before it adds many members",
        _names("zaddGenericCommand zsetTypeCreate zsetTypeMaybeConvert zsetConvert zsetAdd"),
    ),
    RealCommit(
        "46393f981",
        "set-unused-space",
        "space is not removed from strings that have none to spare",
        _names(
            "sdsRemoveFreeSpace sdsResize trimStringObjectIfNeeded tryObjectEncoding", "sdsRemoveFreeSpace sdsResize"
        ),
    ),
    RealCommit(
        "c0267b3fa",
        "get-20B",
        "the memory of a client is not tracked where no client can be evicted",
        _names("updateClientMemUsage updateClientMemUsageAndBucket updateClientMemoryUsage getClientMemoryUsage"),
    ),
    RealCommit(
        "2d80cd784",
        "eval-get",
        "arguments of a script's commands are kept and used again",
        _names("luaRedisGenericCommand luaArgsToRedisArgv freeLuaRedisArgv freeClientArgv scriptCall"),
    ),
    RealCommit(
        "90223759a",
        "zscore",
        "a double is formatted once, with its length put before it",
        _names("addReplyDouble", "addReplyDouble snprintf __snprintf vsnprintf __snprintf_chk"),
    ),
    RealCommit(
        "6686c6d77",
        "lrange",
        "the length of the line end is known and not read from the string",
        _names("addReplyBulkCBuffer addReply addReplyProto"),
    ),
    RealCommit(
        "0c4733c8d",
        "zadd-listpack",
        "integer scores are stored as integers, without a string in between",
        _names(
            "zzlInsertAt zzlInsert", "lpAppendInteger lpInsertInteger d2string double2ll lpPrependInteger zzlInsertAt"
        ),
    ),
    RealCommit(
        "a642947e0",
        "xadd",
        "the ID of an entry is formatted once, and into memory of the right size",
        _names("xaddCommand createStreamIDString addReplyStreamID createObjectFromStreamID sdscatfmt"),
    ),
    RealCommit(
        "b857928ba",
        "zrangebyscore-deferred",
        "the length of a deferred reply comes from a shared object instead of sprintf",
        _names("setDeferredAggregateLen setDeferredReply", "setDeferredAggregateLen setDeferredReply snprintf sprintf"),
    ),
    RealCommit(
        "a3718cde0",
        "georadius-count",
        "only the places that are asked for are sorted",
        _names("georadiusGeneric pqsort", "pqsort _pqsort qsort georadiusGeneric"),
    ),
    RealCommit(
        "c85487374",
        "set-new-keys",
        "the dictionary of a key is looked up once where it exists",
        _names("kvstoreDictAddRaw createDictIfNeeded kvstoreGetDict"),
    ),
    RealCommit(
        "00a8e72cf",
        "smembers",
        "SMEMBERS has a function of its own in place of the general intersection",
        _names("smembersCommand", "sinterCommand sinterGenericCommand"),
    ),
    RealCommit(
        "7d3545cb1",
        "lrange",
        "a reply asks once, and not for each of its pieces, whether its client takes replies",
        _names("prepareClientToWrite addReplyBulkCBuffer _addReplyLongLongWithPrefix _addReplyToBufferOrList"),
    ),
    RealCommit(
        "cffabb641",
        "geosearch-box",
        "the distance in latitude is computed cheaply and first",
        _names("geohashGetDistanceIfInRectangle geohashGetDistance geohashGetLatDistance geoWithinShape"),
    ),
    RealCommit(
        "26ef28467",
        "zunion",
        "ZUNION adds to the dictionary of the result, without a temporary one",
        _names("zunionInterDiffGenericCommand"),
    ),
    RealCommit(
        "77570e396",
        "geodist",
        "a distance is formatted with a fixed number of decimals, without snprintf",
        _names("addReplyDoubleDistance geodistCommand", "snprintf fixedpoint_d2string addReplyDoubleDistance"),
    ),
    RealCommit(
        "f3c6f9c2f",
        "zrange-withscores",
        "integer scores are written as integers",
        _names("addReplyDouble", "addReplyDouble ll2string double2ll snprintf"),
    ),
    RealCommit(
        "b26e8e321",
        "zrange-offset",
        "ZRANGE with an offset goes to its first element directly",
        _names("genericZrangebyscoreCommand zslNthInRange zslFirstInRange zslGetElementByRank zslGetRank"),
    ),
    RealCommit(
        "2764dc376",
        "msetnx",
        "MSETNX does not look up keys a second time",
        _names("msetGenericCommand", "lookupKeyWrite setKey msetGenericCommand"),
    ),
    RealCommit(
        "7b69183a8",
        "lrange",
        "the prefix of a length is decided when it is compiled",
        _names("_addReplyLongLongWithPrefix _addReplyLongLongBulk addReplyBulkCBuffer _addReplyLongLongMBulk"),
    ),
    RealCommit(
        "a31b516e2",
        "hello",
        "HELLO makes no iterator where there are no modules, and knows the lengths of its texts",
        _names("helloCommand addReplyLoadedModules"),
    ),
    RealCommit(
        "547c3405d",
        "lindex",
        "an element of a quicklist is looked up from the nearer end",
        _names("quicklistGetIteratorEntryAtIdx quicklistGetIteratorAtIdx quicklistIndex listTypeSeek lindexCommand"),
    ),
)
