"""Moments, as records have them."""

from datetime import UTC, datetime


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
