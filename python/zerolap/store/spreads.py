"""The bank of spreads: how much starts of one and the same build differ on a platform."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, insert, select

from zerolap.records import Spread
from zerolap.store.listing import require
from zerolap.store.tables import comparison, start_spread

NEWEST = 200
"""Entries of a metric that are read: a platform changes with time."""


def insert_spreads(connection: Connection, identity: str, spreads: Mapping[tuple[str, str], Spread]) -> None:
    """Write the spreads of a comparison, by case and metric; raises `UsageError` for an unknown one."""
    require(connection, identity)
    platform = connection.execute(
        select(comparison.c.platform_fingerprint).where(comparison.c.id == identity)
    ).scalar_one()
    rows = [
        {"comparison_id": identity, "case": case, "metric": metric, "platform_fingerprint": platform}
        | {"variance": spread.variance, "degrees": spread.degrees}
        for (case, metric), spread in spreads.items()
    ]
    if rows:
        connection.execute(insert(start_spread), rows)


def read_spreads(connection: Connection, platform: str, metric: str) -> Sequence[Spread]:
    """Return what was recorded of a metric on a platform, the newest first."""
    rows = connection.execute(
        select(start_spread.c.variance, start_spread.c.degrees)
        .join(comparison)
        .where(start_spread.c.platform_fingerprint == platform, start_spread.c.metric == metric)
        .order_by(comparison.c.number.desc())
        .limit(NEWEST)
    )
    return [Spread(variance=row.variance, degrees=row.degrees) for row in rows]
