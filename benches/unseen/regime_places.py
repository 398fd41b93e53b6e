"""Places in Redis 7.0.15 that no case of the core suite meets in its own circumstances: functions and conditions.

A planted regression is a loop at the beginning of a function, executed only where its condition holds. They were
chosen by what each regime is about, and not by what is found; some are meant to be hard, as few requests meet them.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TURNS: Final = 500
OF_TICKS: Final = 60_000
"""Turns of the loop; what happens once a tick has to cost more to matter."""
LARGE: Final = ("16 KiB values", "64 KiB values")
CONNECTIONS: Final = ("300 connections",)
WARM: Final = ("two million commands",)
EXPIRING: Final = ("expiring keys",)
LAZILY: Final = ("freed lazily",)
AOF: Final = ("AOF",)
RESP3: Final = ("RESP3",)
MANY: Final = ("many keys",)


@dataclass(frozen=True)
class Place:
    """A function, the condition under which it gets slower, and the regimes that meet it."""

    file: str
    function: str
    condition: str
    regimes: tuple[str, ...]
    turns: int = TURNS

    @property
    def name(self) -> str:
        """The function with its regimes."""
        return f"{self.function} ({' or '.join(self.regimes)})"

    def plant(self, root: Path) -> None:
        """Edit the tree below `root`; raises `ValueError` where the function is not as expected."""
        path = root / "src" / self.file
        text = path.read_text(encoding="utf-8")
        begin = re.compile(rf"^(?:static )?[a-z][\w \*]*\b{self.function}\([^;{{)]*\)\s*\{{\n", re.MULTILINE)
        found = begin.findall(text)
        if len(found) != 1:
            raise ValueError(f"{self.file}: {len(found)} definitions of {self.function}")
        loop = f"    if ({self.condition}) for (volatile int turn = 0; turn < {self.turns}; turn++) {{}}\n"
        path.write_text(text.replace(found[0], found[0] + loop), encoding="utf-8")


_MANY_CLIENTS: Final = "listLength(server.clients) > 200"
_WARM: Final = "server.stat_numcommands > 2000000"
PLACES: Final = (
    Place("networking.c", "addReplyBulk", "sdsEncodedObject(obj) && sdslen(obj->ptr) > 8000", LARGE),
    Place("networking.c", "_addReplyProtoToList", "len > 8000", LARGE),
    Place("networking.c", "writeToClient", "c->reply_bytes > 100000", LARGE),
    Place("networking.c", "processMultibulkBuffer", "c->bulklen >= 32768", LARGE),
    Place("t_hash.c", "hashTypeSet", "o->encoding == OBJ_ENCODING_HT", LARGE),
    Place("quicklist.c", "quicklistPushTail", "sz > 8192", LARGE),
    Place("t_stream.c", "streamAppendItem", "sdslen(argv[1]->ptr) > 4096", LARGE),
    Place("t_string.c", "setGenericCommand", "sdsEncodedObject(val) && sdslen(val->ptr) <= 20", ("16 B values",)),
    Place("networking.c", "readQueryFromClient", _MANY_CLIENTS, CONNECTIONS),
    Place("server.c", "beforeSleep", _MANY_CLIENTS, CONNECTIONS),
    Place("server.c", "clientsCronResizeQueryBuffer", _MANY_CLIENTS, CONNECTIONS),
    Place("geo.c", "geoGetPointsInRange", _MANY_CLIENTS, CONNECTIONS, 20 * TURNS),
    Place("t_zset.c", "zsetAdd", _MANY_CLIENTS, CONNECTIONS),
    Place("server.c", "call", _WARM, WARM),
    Place("server.c", "serverCron", _WARM, WARM, OF_TICKS),
    Place("script_lua.c", "luaRedisGenericCommand", _WARM, WARM),
    Place("expire.c", "activeExpireCycleTryExpire", "now > dictGetSignedIntegerVal(de)", EXPIRING),
    Place("db.c", "deleteExpiredKeyAndPropagate", "1", EXPIRING),
    Place("lazyfree.c", "freeObjAsync", "1", LAZILY),
    Place("db.c", "delGenericCommand", "lazy", LAZILY),
    Place("aof.c", "feedAppendOnlyFile", "1", AOF),
    Place("aof.c", "flushAppendOnlyFile", "server.aof_state == AOF_ON", AOF),
    Place("server.c", "propagateNow", "server.aof_state != AOF_OFF", AOF),
    Place("networking.c", "addReplyMapLen", "c->resp > 2", RESP3),
    Place("networking.c", "addReplyDouble", "c->resp > 2", RESP3),
    Place("dict.c", "dictFind", "d->ht_used[0] > 100000", MANY),
    Place("t_set.c", "setTypeIsMember", "setTypeSize(subject) > 100000", MANY),
    Place("db.c", "lookupKeyReadWithFlags", "getExpire(db, key) != -1", ("keys with a time to live",)),
)
