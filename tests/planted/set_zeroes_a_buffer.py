"""SET clears a buffer of 4,096 bytes that only errors use."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="set-ex-100B",
    detector="zeroed-memory",
    functions=frozenset({"setGenericCommand", "setCommand"}),
    slow=(
        Replacement(
            "t_string.c",
            "    long long milliseconds = 0; /* initialized to avoid any harmness warning */\n"
            "    int found = 0;\n    int setkey_flags = 0;\n",
            "    long long milliseconds = 0; /* initialized to avoid any harmness warning */\n"
            "    int found = 0;\n    int setkey_flags = 0;\n"
            '    char problem[4096] = {0};\n    __asm__ volatile("" :: "r"(problem) : "memory");\n',
        ),
    ),
)
