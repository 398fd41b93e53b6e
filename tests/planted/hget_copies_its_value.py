"""HGET copies the value of its field and drops the copy unused."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="hget",
    detector="short-lived-memory",
    functions=frozenset({"addHashFieldToReply", "hgetCommand", "sdsnewlen", "sdsfree"}),
    slow=(
        Replacement(
            "t_hash.c",
            "        if (vstr) {\n            addReplyBulkCBuffer(c, vstr, vlen);\n"
            "        } else {\n            addReplyBulkLongLong(c, vll);\n",
            "        if (vstr) {\n            sds copy = sdsnewlen(vstr, vlen);\n"
            "            addReplyBulkCBuffer(c, copy, vlen);\n            sdsfree(copy);\n"
            "        } else {\n            addReplyBulkLongLong(c, vll);\n",
        ),
    ),
)
