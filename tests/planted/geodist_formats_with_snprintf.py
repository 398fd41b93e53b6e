"""GEODIST formats a distance of four decimals with snprintf (redis#11552)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="geodist",
    detector="costly-formatting",
    functions=frozenset({"addReplyDoubleDistance", "geodistCommand"}),
    slow=(
        Replacement(
            "geo.c",
            "    const int dlen = fixedpoint_d2string(dbuf, sizeof(dbuf), d, 4);\n",
            '    const int dlen = snprintf(dbuf, sizeof(dbuf), "%.4f", d);\n',
        ),
    ),
)
