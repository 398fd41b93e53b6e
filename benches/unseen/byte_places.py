"""Places of Redis 7.0.15 where data are allocated, and edits that make a part of what they allocate larger."""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

EVERY: Final = (1, 2, 3, 4, 6, 8)
MORE: Final = (16, 32, 48, 64, 96, 128)


@dataclass(frozen=True)
class BytePlace:
    """An expression of a size that occurs once in a file, with the function that allocates, and cases that meet it."""

    kind: str
    file: str
    text: str
    size: str
    function: str
    cases: tuple[str, ...]


PLACES: Final = (
    BytePlace(
        "values", "object.c", "robj *o = zmalloc(sizeof(*o));", "sizeof(*o)", "createObject",
        ("get-100B", "set-ex-100B"),
    ),
    BytePlace(
        "entries of tables", "dict.c", "entry = zmalloc(sizeof(*entry) + metasize);", "sizeof(*entry)", "dictAddRaw",
        ("get-100B", "sismember", "set-ex-100B", "eval"),
    ),
    BytePlace(
        "strings", "sds.c", "        s_malloc_usable(hdrlen+initlen+1, &usable);", "hdrlen+initlen+1", "_sdsnewlen",
        ("get-100B", "sismember", "zadd"),
    ),
    BytePlace(
        "nodes of lists", "quicklist.c", "    node = zmalloc(sizeof(*node));", "sizeof(*node)", "quicklistCreateNode",
        ("lrange-100", "rpush-lpop"),
    ),
    BytePlace(
        "lists", "quicklist.c", "    quicklist = zmalloc(sizeof(*quicklist));", "sizeof(*quicklist)", "quicklistCreate",
        ("lrange-100",),
    ),
    BytePlace(
        "nodes of sorted sets", "t_zset.c", "zmalloc(sizeof(*zn)+level*sizeof(struct zskiplistLevel));", "sizeof(*zn)",
        "zslCreateNode", ("zadd", "geosearch-100km"),
    ),
    BytePlace(
        "streams", "t_stream.c", "    stream *s = zmalloc(sizeof(*s));", "sizeof(*s)", "streamNew", ("xadd-auto-id",)
    ),
    BytePlace(
        "nodes of radix trees", "rax.c", "    raxNode *node = rax_malloc(nodesize);", "nodesize", "raxNewNode",
        ("xadd-auto-id",),
    ),
    BytePlace(
        "listpacks of hashes", "listpack.c",
        "new_listpack_bytes > lp_malloc_size(lp)) {\n        if ((lp = lp_realloc(lp,new_listpack_bytes)) == NULL)",
        "lp_realloc(lp,new_listpack_bytes", "lpInsert", ("hset", "hgetall-20-fields"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class ByteEdit:
    """Every so many times that a place allocates, it allocates so many bytes more; `case` is measured."""

    place: BytePlace
    every: int
    more: int
    case: str

    @classmethod
    def drawn(cls, chance: Random) -> "ByteEdit":
        """Return an edit by chance."""
        place = chance.choice(PLACES)
        return cls(place, chance.choice(EVERY), chance.choice(MORE), chance.choice(place.cases))

    @property
    def name(self) -> str:
        """The edit in words."""
        return f"{self.place.kind}: {self.more} bytes more in one of {self.every}, {self.case}"

    def apply(self, source: Path) -> None:
        """Edit a file below the directory of sources; raises `ValueError` where its text is another."""
        path = source / self.place.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.place.text) != 1:
            raise ValueError(f"`{self.place.file}` is not that of the release")
        larger = f"{self.place.size} + (plantedTurn++ % {self.every} == 0 ? {self.more} : 0)"
        text = text.replace(self.place.text, self.place.text.replace(self.place.size, larger, 1))
        first, rest = text.split("#include", 1)
        path.write_text(f"{first}static unsigned plantedTurn;\n#include{rest}", encoding="utf-8")
