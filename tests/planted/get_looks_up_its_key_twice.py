"""GET looks up its key to see whether it is there, and again to read it."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="get-100B",
    detector="key-lookups",
    functions=frozenset({"lookupKey", "lookupKeyRead", "lookupKeyReadWithFlags", "dictFind", "getGenericCommand"}),
    slow=(
        Replacement(
            "t_string.c",
            "    if ((o = lookupKeyReadOrReply(c,c->argv[1],shared.null[c->resp])) == NULL)\n        return C_OK;\n\n"
            "    if (checkType(c,o,OBJ_STRING)) {\n        return C_ERR;\n    }\n\n    addReplyBulk(c,o);\n",
            "    if (lookupKeyRead(c->db,c->argv[1]) == NULL) {\n"
            "        addReply(c,shared.null[c->resp]);\n"
            "        return C_OK;\n"
            "    }\n"
            "    o = lookupKeyReadWithFlags(c->db,c->argv[1],LOOKUP_NONE);\n\n"
            "    if (checkType(c,o,OBJ_STRING)) {\n        return C_ERR;\n    }\n\n    addReplyBulk(c,o);\n",
        ),
    ),
)
