"""XADD formats the ID of an entry for the reply, and again for replication (redis#10574)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="xadd-auto-id",
    detector="repeated-calls",
    functions=frozenset({"createStreamIDString", "addReplyStreamID", "createObjectFromStreamID", "xaddCommand"}),
    slow=(
        Replacement(
            "t_stream.c",
            "    sds replyid = createStreamIDString(&id);\n    addReplyBulkCBuffer(c, replyid, sdslen(replyid));\n",
            "    addReplyStreamID(c,&id);\n",
        ),
        Replacement(
            "t_stream.c",
            "        robj *idarg = createObject(OBJ_STRING, replyid);\n"
            "        rewriteClientCommandArgument(c, idpos, idarg);\n"
            "        decrRefCount(idarg);\n"
            "    } else {\n"
            "        sdsfree(replyid);\n"
            "    }\n",
            "        robj *idarg = createObjectFromStreamID(&id);\n"
            "        rewriteClientCommandArgument(c, idpos, idarg);\n"
            "        decrRefCount(idarg);\n"
            "    }\n",
        ),
    ),
)
