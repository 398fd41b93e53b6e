"""LRANGE seeks each element from an end of the list, which takes the longer, the more elements there are."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="lrange-400",
    beside=("lrange-25", "lrange-100"),
    detector="super-linear",
    functions=frozenset(
        {
            "addListRangeReply",
            "listTypeInitIterator",
            "quicklistGetIteratorAtIdx",
            "listTypeNext",
            "quicklistNext",
            "lpSeek",
        }
    ),
    slow=(
        Replacement(
            "t_list.c",
            "        listTypeIterator *iter = listTypeInitIterator(o,from,direction);\n"
            "\n"
            "        while(rangelen--) {\n"
            "            listTypeEntry entry;\n",
            "        long at = from;\n"
            "\n"
            "        while(rangelen--) {\n"
            "            listTypeIterator *iter = listTypeInitIterator(o,at,direction);\n"
            "            listTypeEntry entry;\n",
        ),
        Replacement(
            "t_list.c",
            "                addReplyBulkLongLong(c,qe->longval);\n"
            "            }\n"
            "        }\n"
            "        listTypeReleaseIterator(iter);\n",
            "                addReplyBulkLongLong(c,qe->longval);\n"
            "            }\n"
            "            listTypeReleaseIterator(iter);\n"
            "            at += reverse ? -1 : 1;\n"
            "        }\n",
        ),
    ),
)
