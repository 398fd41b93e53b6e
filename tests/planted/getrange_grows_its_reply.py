"""GETRANGE gathers its reply in a string that begins empty and grows with each piece."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="getrange",
    detector="growing-memory",
    functions=frozenset({"getrangeCommand", "sdscatlen", "_sdsMakeRoomFor", "sdsMakeRoomFor"}),
    slow=(
        Replacement(
            "t_string.c",
            "        addReplyBulkCBuffer(c,(char*)str+start,end-start+1);\n",
            "        sds range = sdsempty();\n"
            "        for (long long at = start; at <= end; at += 256) {\n"
            "            size_t piece = end-at+1 < 256 ? end-at+1 : 256;\n"
            "            range = sdsMakeRoomForNonGreedy(range,piece);\n"
            "            range = sdscatlen(range,str+at,piece);\n"
            "        }\n"
            "        addReplyBulkSds(c,range);\n",
        ),
    ),
)
