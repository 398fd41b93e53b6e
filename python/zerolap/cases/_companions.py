"""Clients beside the measured one, from a case file's `companions` to command lines of the load generator."""

from collections.abc import Sequence

from zerolap.cases._arguments import read_client
from zerolap.cases._document import Document, Path
from zerolap.cases._format import CommandEntry, CompanionEntry
from zerolap.records import LETTER_OF_PATTERN, Client, Keys, UsageError, command_line

LISTENING_SECONDS = 120
"""The load generator needs a time with `--listen-only`; the lab stops the companion earlier."""
_OF_SENDERS = ("connections", "pipeline", "data_size", "random_data")
_GLOB = frozenset("*?[")


def companion_of(
    entry: CompanionEntry, keys: Keys, values: Sequence[str], document: Document, at: Path
) -> Client | None:
    """Return the client of a companion, or None and a problem in the document.

    `keys` are the companion's; `values` are the load generator's arguments for `__data__`.
    """
    if not _is_sound(entry, document, at):
        return None
    words = _listening(entry) if entry.listen else [*_sending(entry, keys), *values]
    try:
        return read_client([*words, *_range(keys)])
    except UsageError as wrong:
        document.add(at, wrong.message, wrong.hint)
        return None


def limits_of(companions: Sequence[Client]) -> list[str]:
    """Return what counted trials leave out of a case with these companions."""
    uncounted = [command.line for client in companions if not client.is_driven for command in client.sent]
    text = f"counted without the clients beside it that work at their own pace: {', '.join(uncounted)}"
    return [text] if uncounted else []


def _is_sound(entry: CompanionEntry, document: Document, at: Path) -> bool:
    """Whether the fields are consistent; errors are added to the document."""
    before = len(document.problems)
    if not entry.commands and not entry.listen:
        document.add(at, "expected commands or listen; found none of them")
    elif entry.commands and entry.listen:
        document.add((*at, "listen"), "a companion sends commands or listens; found both", "make two companions of it")
    elif entry.listen:
        for field in entry.model_fields_set.intersection(_OF_SENDERS):
            document.add((*at, field), "only a companion with commands has it")
        if entry.listeners is not None and entry.listeners < len(entry.listen):
            text = f"expected at least {len(entry.listen)}, one for each entry of listen; found {entry.listeners}"
            document.add((*at, "listeners"), text)
    elif entry.listeners is not None:
        document.add((*at, "listeners"), "only a companion with listen has it", "use connections")
    return len(document.problems) == before


def _sending(entry: CompanionEntry, keys: Keys) -> list[str]:
    lines = [word for command in entry.commands for word in _command(command, keys)]
    return [*lines, "--pipeline", str(entry.pipeline), "--threads", "1", "--clients", str(entry.connections)]


def _command(command: CommandEntry, keys: Keys) -> list[str]:
    pattern = LETTER_OF_PATTERN[keys.pattern]
    ratio = str(command.ratio)
    return ["--command", command.command, "--command-ratio", ratio, "--command-key-pattern", pattern]


def _listening(entry: CompanionEntry) -> list[str]:
    lines = []
    for channel in entry.listen:
        verb = "SUBSCRIBE" if _GLOB.isdisjoint(channel) else "PSUBSCRIBE"
        lines += ["--listen", command_line([verb, channel])]
    listeners = len(entry.listen) if entry.listeners is None else entry.listeners
    return [*lines, "--listeners", str(listeners), "--listen-only", "--test-time", str(LISTENING_SECONDS)]


def _range(keys: Keys) -> list[str]:
    minimum, maximum = str(keys.minimum), str(keys.maximum)
    return ["--key-prefix", keys.prefix, "--key-minimum", minimum, "--key-maximum", maximum]
