"""The machine's own package sources, and from them those that hold Debian's source packages."""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

# Options of the one-line format under the names that they have in stanzas; others do not matter for sources.
_OPTIONS = {"signed-by": "Signed-By", "trusted": "Trusted", "check-valid-until": "Check-Valid-Until"}


@dataclass(frozen=True)
class Entry:
    """Where packages come from; `options` hold what decides whether they are trusted, by the names in stanzas."""

    types: tuple[str, ...]
    addresses: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict)


def read_entries(directory: Path) -> list[Entry]:
    """Return the enabled entries of an apt directory, such as /etc/apt, in apt's order."""
    parts = sorted(directory.glob("sources.list.d/*"))
    entries: list[Entry] = []
    for path in [directory / "sources.list", *parts]:
        if path.suffix not in {".list", ".sources"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        entries += stanza_entries(text) if path.suffix == ".sources" else line_entries(text)
    return entries


def line_entries(text: str) -> Iterator[Entry]:
    """Read the one-line format: `deb [option=value] address suite component...`; other lines are left out."""
    for line in text.splitlines():
        statement = re.fullmatch(r"\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s*)?([^#]*)(?:#.*)?", line)
        if not statement:
            continue
        kind, options, rest = statement.groups()
        address, suite, *components = [*rest.split(), "", ""][: max(2, len(rest.split()))]
        yield Entry((kind,), (address,), (suite,), tuple(components), _line_options(options or ""))


def stanza_entries(text: str) -> Iterator[Entry]:
    """Read the deb822 format: stanzas of fields; disabled ones are left out."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n[ \t]*\n", "\n".join(lines)):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line[:1] in {" ", "\t"} and name:
                fields[name] += f"\n{line}"
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        if fields.get("enabled", "yes").lower() in {"no", "false", "0", "off", "without", "disable"}:
            continue
        yield Entry(
            types=tuple(fields.get("types", "").split()),
            addresses=tuple(fields.get("uris", "").split()),
            suites=tuple(fields.get("suites", "").split()),
            components=tuple(fields.get("components", "").split()),
            options={shown: fields[name] for name, shown in _OPTIONS.items() if name in fields},
        )


def serves_debian(entry: Entry) -> bool:
    """Whether it is Debian's own archive, or a mirror of it, with its component `main`."""
    key = entry.options.get("Signed-By", "")
    if key.startswith("/") and "debian" not in Path(key).name:
        return False
    return "main" in entry.components and any(_is_archive(address) for address in entry.addresses)


def source_list(entries: Iterable[Entry]) -> str:
    """Return an apt source list, in stanzas, of the source packages behind those entries that serve Debian."""
    stanzas = []
    for entry in filter(serves_debian, entries):
        fields = {
            "Types": "deb-src",
            "URIs": " ".join(filter(_is_archive, entry.addresses)),
            "Suites": " ".join(entry.suites),
            "Components": "main",
            **entry.options,
        }
        # A key that is written out begins on a line of its own.
        lines = [f"{name}:{value}" if value.startswith("\n") else f"{name}: {value}" for name, value in fields.items()]
        stanzas.append("".join(f"{line}\n" for line in lines))
    return "\n".join(dict.fromkeys(stanzas))


def _line_options(text: str) -> dict[str, str]:
    pairs = [word.partition("=") for word in shlex.split(text)]
    return {_OPTIONS[name.lower()]: value for name, _, value in pairs if name.lower() in _OPTIONS}


def _is_archive(address: str) -> bool:
    """Whether the last word of the path is the archive's, a date of the snapshot archive aside."""
    parts = urlsplit(address)
    if parts.scheme == "cdrom":
        return False
    words = [word for word in parts.path.split("/") if word and not re.fullmatch(r"\d{8}T\d{6}Z", word)]
    return bool(words) and re.fullmatch(r"debian(-security)?(\.list)?", words[-1]) is not None
