"""INCR formats its integer with snprintf."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="incr",
    detector="costly-formatting",
    functions=frozenset({"incrDecrCommand", "incrCommand"}),
    slow=(
        Replacement(
            "t_string.c",
            '    notifyKeyspaceEvent(NOTIFY_STRING,"incrby",c->argv[1],c->db->id);\n'
            "    server.dirty++;\n    addReplyLongLong(c, value);\n",
            '    notifyKeyspaceEvent(NOTIFY_STRING,"incrby",c->argv[1],c->db->id);\n'
            "    server.dirty++;\n    char reply[64];\n"
            '    addReplyProto(c,reply,snprintf(reply,sizeof(reply),":%lld\\r\\n",value));\n',
        ),
    ),
)
