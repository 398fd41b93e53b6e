"""How much each case counts by what a user's own servers do, or by what is known of the cases."""

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, get_args

from zerolap.named_file import read_named
from zerolap.records import (
    Case,
    CaseWeights,
    EnvironmentMissing,
    StatedWeights,
    TrialFailed,
    UsageError,
    Weighting,
    named_weights,
)
from zerolap.resp_frames import FrameBounds
from zerolap.server.connection import CommandConnection, number_in, parts_of
from zerolap.server.server_login import ServerLogin
from zerolap.server.statistics import rows_of

NAMED: Final[tuple[Weighting, ...]] = get_args(Weighting)
TCP: Final = "tcp://"
UNIX: Final = "unix://"
ANSWER_BOUNDS: Final = FrameBounds(size_bytes=1 << 20, values=16, seconds=10.0)
NO_LOGIN: Final = re.compile("NOAUTH|WRONGPASS|NOPERM")
ROW: Final = "cmdstat_"
LARGEST_STATISTICS_BYTES: Final = 1 << 20
MOST_COMMANDS: Final = 10_000
"""Servers have some hundreds, with subcommands and those of modules."""
LONGEST_SHOWN: Final = 80


def case_weights(text: str, cases: Sequence[Case], login: ServerLogin | None = None) -> CaseWeights:
    """Return the weights that a user asks for: a `Weighting`, a file with INFO commandstats, or an endpoint.

    `login` is for an endpoint that asks for a password.

    Raises `UsageError` for what is none of these or gives no case a weight, `EnvironmentMissing` for a server that does
    not answer.
    """
    weighting = next((name for name in NAMED if name == text), None)
    if weighting is not None:
        return named_weights(weighting, cases)
    if text.startswith((TCP, UNIX)):
        return usage_weights(_command_statistics(text, login), text, cases)
    hint = "write command, equal, priority, a file with the text of INFO commandstats, or tcp://HOST:PORT"
    content = read_named(Path(text).expanduser(), LARGEST_STATISTICS_BYTES, hint=hint)
    return usage_weights(content.decode(errors="replace"), text, cases)


def _command_statistics(endpoint: str, login: ServerLogin | None) -> str:
    """Return the INFO commandstats of a server that somebody else runs, which is asked once and changed in nothing."""
    try:
        with closing(CommandConnection(_address(endpoint), login, ANSWER_BOUNDS)) as connection:
            reply = connection.call("INFO", "commandstats")
        if not isinstance(reply, bytes):
            raise TrialFailed("it sent no text")
    except TrialFailed as fault:
        hint = "save the text of INFO commandstats to a file, and give that"
        if NO_LOGIN.search(fault.message):
            hint = "give its password with --password-file FILE, and the user with --username NAME"
        raise EnvironmentMissing(
            f"`{endpoint}` does not answer INFO commandstats: {fault.message}", hint=hint
        ) from fault
    return reply.decode(errors="replace")


def _address(endpoint: str) -> Path | tuple[str, int]:
    if endpoint.startswith(UNIX):
        return Path(endpoint.removeprefix(UNIX))
    host, _, port = endpoint.removeprefix(TCP).rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 1 << 16):
        raise UsageError(f"`{endpoint}` is no address of a server", hint="write tcp://HOST:PORT or unix:///PATH")
    return host.removeprefix("[").removesuffix("]"), int(port)


def usage_weights(text: str, source: str, cases: Sequence[Case]) -> CaseWeights:
    """Return weights by the time that a server spent in the commands of each case, from its INFO commandstats.

    Cases with the same command share its time equally. Raises `UsageError` if the text is not that of a server, or has
    none of these commands.
    """
    usec = _usec_of_rows(text, source)
    names = {name: name for name in usec}
    of_cases = {case.name: rows_of(case.verbs, names) for case in cases}
    shared_by: dict[str, int] = {}
    for rows in of_cases.values():
        for name in rows:
            shared_by[name] = shared_by.get(name, 0) + 1
    covered = sum(usec[name] for name in shared_by)
    if covered == 0:
        raise UsageError(
            f"`--weights {source}`: the server spent no time in the commands of these cases",
            hint="select cases of the commands that it was sent, or give --weights equal",
        )
    by_case = {name: sum(usec[row] / shared_by[row] for row in rows) for name, rows in of_cases.items()}
    stated = StatedWeights(kind="usage", source=source, covered=covered / sum(usec.values()))
    return CaseWeights(stated, by_case)


def _usec_of_rows(text: str, source: str) -> dict[str, int]:
    """Return the time that each row of INFO commandstats states; raises `UsageError` for rows that state none."""
    rows = [line.strip().partition(":") for line in text.splitlines() if line.lstrip().startswith(ROW)]
    if not rows:
        raise UsageError(
            f"`--weights {source}` has no line that begins with `{ROW}`",
            hint="redis-cli INFO commandstats > FILE writes them",
        )
    if len(rows) > MOST_COMMANDS:
        raise UsageError(f"`--weights {source}` has more than {MOST_COMMANDS:,} commands")
    usec: dict[str, int] = {}
    for name, _, figures in rows:
        parts = parts_of(figures)
        calls, spent = number_in(parts, "calls"), number_in(parts, "usec")
        if calls is None or spent is None or calls < 0 or spent < 0:
            raise UsageError(
                f"`--weights {source}`: `{name[:LONGEST_SHOWN]}` has no calls and time",
                hint="a line is cmdstat_get:calls=21,usec=175,usec_per_call=8.33",
            )
        # A text may hold the statistics of several servers one after the other.
        usec[name] = usec.get(name, 0) + spent
    return usec
