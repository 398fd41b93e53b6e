"""GEOSEARCH copies the name of each candidate before it knows whether that lies in the area (redis#11522)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="geosearch-box",
    detector="short-lived-memory",
    functions=frozenset({"geoGetPointsInRange", "sdsdup", "sdsnewlen", "sdsfree"}),
    slow=(
        Replacement(
            "geo.c",
            "            if (geoWithinShape(shape, ln->score, xy, &distance) == C_OK) {\n"
            "                /* Append the new element. */\n"
            "                geoArrayAppend(ga, xy, distance, ln->score, sdsdup(ln->ele));\n"
            "            }\n",
            "            sds ele = sdsdup(ln->ele);\n"
            "            if (geoWithinShape(shape, ln->score, xy, &distance) == C_OK) {\n"
            "                geoArrayAppend(ga, xy, distance, ln->score, ele);\n"
            "            } else {\n"
            "                sdsfree(ele);\n"
            "            }\n",
        ),
    ),
)
