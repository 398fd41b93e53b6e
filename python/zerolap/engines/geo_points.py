"""Points spread over a map like the world's cities, in place of a data set that would have to be fetched."""

import math
import random
from collections.abc import Iterator

from zerolap.cases import Generator

POINTS_PER_COMMAND = 500
SEED = 1
# Where people live: longitude, latitude, spread in degrees, share. Rounded from population by region (UN, 2022).
REGIONS = (
    (105.0, 30.0, 12.0, 0.24),
    (79.0, 22.0, 9.0, 0.24),
    (15.0, 48.0, 10.0, 0.12),
    (8.0, 9.0, 10.0, 0.13),
    (30.0, -5.0, 9.0, 0.05),
    (-85.0, 38.0, 12.0, 0.07),
    (-60.0, -15.0, 11.0, 0.07),
    (110.0, -5.0, 7.0, 0.05),
    (45.0, 32.0, 8.0, 0.03),
)
CITIES = 4_000
CITY_DEGREES = 0.15
LARGEST_LATITUDE = 85.0


def geo_commands(generator: Generator) -> Iterator[list[bytes]]:
    """Yield the GEOADD commands that put `count` points as members 1, 2, 3, … into the key.

    Cities lie around centres of population, their sizes fall with their rank (Zipf's law of cities), and points lie
    around cities: searches find many points or few, as on a real map. The points are always the same.
    """
    chance = random.Random(SEED)
    cities = [_city(chance) for _ in range(CITIES)]
    weights = [1 / rank for rank in range(1, CITIES + 1)]
    key = generator.key.encode()
    for first in range(1, generator.count + 1, POINTS_PER_COMMAND):
        count = min(POINTS_PER_COMMAND, generator.count + 1 - first)
        command = [b"GEOADD", key]
        for member, (longitude, latitude) in enumerate(chance.choices(cities, weights, k=count), first):
            point = (chance.gauss(longitude, CITY_DEGREES), chance.gauss(latitude, CITY_DEGREES))
            command += [*_written(*point), b"%d" % member]
        yield command


def _city(chance: random.Random) -> tuple[float, float]:
    longitude, latitude, spread, _ = chance.choices(REGIONS, [region[3] for region in REGIONS])[0]
    return chance.gauss(longitude, spread), chance.gauss(latitude, spread / 2)


def _written(longitude: float, latitude: float) -> tuple[bytes, bytes]:
    wrapped = math.remainder(longitude, 360.0)
    bounded = max(-LARGEST_LATITUDE, min(LARGEST_LATITUDE, latitude))
    return b"%.6f" % wrapped, b"%.6f" % bounded
