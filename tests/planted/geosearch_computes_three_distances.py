"""GEOSEARCH BYBOX computes three great-circle distances for each candidate (redis#11535, redis#11579)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="geosearch-box",
    detector="mathematics",
    functions=frozenset({"geohashGetDistance", "geohashGetDistanceIfInRectangle", "geoWithinShape"}),
    slow=(
        Replacement(
            "geohash_helper.c",
            "    double lat_distance = geohashGetLatDistance(y2, y1);\n"
            "    if (lat_distance > height_m/2) {\n"
            "        return 0;\n"
            "    }\n"
            "    double lon_distance = geohashGetDistance(x2, y2, x1, y2);\n"
            "    if (lon_distance > width_m/2) {\n"
            "        return 0;\n"
            "    }\n",
            "    double lon_distance = geohashGetDistance(x2, y2, x1, y2);\n"
            "    double lat_distance = geohashGetDistance(x2, y2, x2, y1);\n"
            "    if (lon_distance > width_m/2 || lat_distance > height_m/2) {\n"
            "        return 0;\n"
            "    }\n",
        ),
        Replacement(
            "geohash_helper.c",
            "    /* if v == 0 we can avoid doing expensive math when lons are practically the same */\n"
            "    if (v == 0.0)\n"
            "        return geohashGetLatDistance(lat1d, lat2d);\n",
            "",
        ),
    ),
)
