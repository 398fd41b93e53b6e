"""LRANGE asks three times for each element whether its client takes replies (valkey#670, valkey#860)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="lrange-100",
    detector="repeated-checks",
    functions=frozenset({"prepareClientToWrite", "addReplyProto", "addReply", "addReplyBulkCBuffer"}),
    fixed=(
        Replacement(
            "networking.c",
            "void addReplyBulkCBuffer(client *c, const void *p, size_t len) {\n"
            "    addReplyLongLongWithPrefix(c,len,'$');\n"
            "    addReplyProto(c,p,len);\n"
            "    addReply(c,shared.crlf);\n"
            "}\n",
            "void addReplyBulkCBuffer(client *c, const void *p, size_t len) {\n"
            "    if (len >= OBJ_SHARED_BULKHDR_LEN) {\n"
            "        addReplyLongLongWithPrefix(c,len,'$');\n"
            "        addReplyProto(c,p,len);\n"
            "        addReply(c,shared.crlf);\n"
            "        return;\n"
            "    }\n"
            "    if (prepareClientToWrite(c) != C_OK) return;\n"
            "    _addReplyToBufferOrList(c,shared.bulkhdr[len]->ptr,OBJ_SHARED_HDR_STRLEN(len));\n"
            "    _addReplyToBufferOrList(c,p,len);\n"
            '    _addReplyToBufferOrList(c,"\\r\\n",2);\n'
            "}\n",
        ),
    ),
)
