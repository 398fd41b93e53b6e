"""GET reads the clock three times for statistics that nobody asked for."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="get-100B",
    detector="clock-readings",
    functions=frozenset({"getGenericCommand", "ustime", "mstime", "getCommand"}),
    slow=(
        Replacement(
            "t_string.c",
            "    addReplyBulk(c,o);\n    return C_OK;\n}\n\nvoid getCommand(client *c) {\n    getGenericCommand(c);\n",
            "    addReplyBulk(c,o);\n    return C_OK;\n}\n\nstatic volatile long long getBegan, getUsed;\n\n"
            "void getCommand(client *c) {\n    getBegan = ustime();\n    getGenericCommand(c);\n"
            "    getUsed = ustime()-getBegan;\n    if (getUsed < 0) getBegan = ustime();\n",
        ),
    ),
)
