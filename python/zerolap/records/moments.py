"""Moments, as records have them."""

from datetime import UTC, datetime


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_text(seconds: float | None) -> str:
    """Return a time in seconds since the epoch as ISO 8601 in UTC; empty for none."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
