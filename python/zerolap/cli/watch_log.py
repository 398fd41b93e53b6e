"""What `zerolap watch` logs, as lines for people on standard error: what is new, what is measured, what went wrong."""

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Final

import structlog

from zerolap.sheets import plain

COMMIT_DIGITS: Final = 12
STARTED: Final = "started"
TROUBLE: Final = frozenset({"warning", "error", "critical"})


class WatchLog:
    """A processor of log entries that returns a line; entries that are of no use to people are dropped.

    What is built or measured has a line once for each push, though it takes several jobs.
    """

    def __init__(self) -> None:
        self._started: set[str] = set()

    def __call__(self, _logger: object, level: str, entry: MutableMapping[str, Any]) -> str:
        """Return the line of an entry."""
        event = str(entry.pop("event", ""))
        if level in TROUBLE:
            return self._trouble(event, level, entry)
        line = LINES.get(event)
        if line is None:
            raise structlog.DropEvent
        text = line(entry)
        if event != STARTED:
            self._started.clear()
        elif text in self._started:
            raise structlog.DropEvent
        else:
            self._started.add(text)
        return text

    @staticmethod
    def _trouble(event: str, level: str, entry: Mapping[str, Any]) -> str:
        reasons = (entry.get(name) for name in ("reason", "trouble", "fault", "exception"))
        parts = [event, *(str(reason) for reason in reasons if reason)]
        return f"{'warning' if level == 'warning' else 'error'}: {plain(': '.join(parts))}"


def _short(entry: Mapping[str, Any], name: str = "commit") -> str:
    return plain(str(entry.get(name) or ""))[:COMMIT_DIGITS]


def _ref(entry: Mapping[str, Any]) -> str:
    """Return the branch or tag of a subject such as `watched/redis@main`."""
    return plain(str(entry.get("subject", "")).partition("@")[2])


def _following(entry: Mapping[str, Any]) -> str:
    refs = ", ".join(plain(str(name)) for name in entry.get("names", ()))
    return f"following {refs or 'no branch yet'} of {plain(str(entry.get('remote', '')))}"


def _new(entry: Mapping[str, Any]) -> str:
    before = _short(entry, "before")
    return f"new: {_short(entry)} of {_ref(entry)}" + (f", after {before}" if before else "")


def _not_compared(entry: Mapping[str, Any]) -> str:
    return f"{_ref(entry)}: not measured: {plain(str(entry.get('reason', '')))}"


def _worked_on(entry: Mapping[str, Any]) -> str:
    if entry.get("requests"):
        raise structlog.DropEvent
    return _not_compared(entry)


def _started(entry: Mapping[str, Any]) -> str:
    subject = plain(str(entry.get("subject", "")))
    return f"  {'measuring' if entry.get('kind') == 'trials' else 'building'} {subject}"


LINES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "following": _following,
    "new": _new,
    "split": lambda entry: f"{_ref(entry)}: {plain(str(entry.get('reason', '')))}",
    "nothing to compare": _not_compared,
    "refused": _not_compared,
    "worked on": _worked_on,
    STARTED: _started,
    "a regression is reported": lambda entry: f"a regression is reported: {_short(entry)} of {_ref(entry)}",
    "a regression is reported already": lambda entry: f"reported already: {_short(entry)} of {_ref(entry)}",
    "a regression is gone": lambda entry: f"a regression is gone: {_short(entry)} of {_ref(entry)}",
}
"""The entries that people want to see, by event."""
