"""Each command asks the kernel for the resources it used."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="get-100B",
    detector="system-calls",
    functions=frozenset({"call", "getrusage"}),
    slow=(
        Replacement(
            "server.c",
            "    monotime monotonic_start = 0;\n",
            "    struct rusage used;\n    getrusage(RUSAGE_SELF,&used);\n    monotime monotonic_start = 0;\n",
        ),
    ),
)
