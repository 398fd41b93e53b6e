"""ZUNION gathers its members in a dictionary of its own, and moves them to that of the result at the end."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="zunion",
    detector="short-lived-memory",
    functions=frozenset({"zunionInterDiffGenericCommand", "dictAddRaw", "dictRelease", "dictCreate", "dictExpand"}),
    fixed=(
        Replacement(
            "t_zset.c",
            "        dict *accumulator = dictCreate(&setAccumulatorDictType);\n",
            "        dict *accumulator = dstzset->dict;\n",
        ),
        Replacement(
            "t_zset.c",
            "                    dictSetKey(accumulator, de, tmp);\n",
            "                    de->key = tmp;\n",
        ),
        Replacement(
            "t_zset.c",
            "        dictExpand(dstzset->dict,dictSize(accumulator));\n",
            "",
        ),
        Replacement(
            "t_zset.c",
            "            znode = zslInsert(dstzset->zsl,score,ele);\n"
            "            dictAdd(dstzset->dict,ele,&znode->score);\n"
            "        }\n"
            "        dictReleaseIterator(di);\n"
            "        dictRelease(accumulator);\n",
            "            znode = zslInsert(dstzset->zsl,score,ele);\n"
            "            dictSetVal(dstzset->dict,de,&znode->score);\n"
            "        }\n"
            "        dictReleaseIterator(di);\n",
        ),
    ),
)
