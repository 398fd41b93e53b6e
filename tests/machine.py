"""What depends on how fast and how busy the machine is: tests assert nothing of it."""

from collections.abc import Iterable

from zerolap.records import DISTURBANCES, LOAD_HOST, Check

CHECKS_OF_THE_MACHINE = frozenset(
    {
        *DISTURBANCES,
        *(LOAD_HOST + check for check in DISTURBANCES),
        "oversubscribed",
        "slice_seconds",
        "client_saturation",
        "rate",
        "stack_samples",
        "lost_samples",
    }
)


def failed_by_the_server(checks: Iterable[Check]) -> list[str]:
    """Return the names of the checks that fail on any machine."""
    return [check.check for check in checks if not check.ok and check.check not in CHECKS_OF_THE_MACHINE]
