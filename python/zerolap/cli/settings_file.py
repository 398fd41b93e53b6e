"""`zerolap.toml` in the working directory: defaults of options, for all verbs or in a table for one verb."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError, ZerolapError
from zerolap.named_file import read_named

MOST_BYTES = 1 << 20
FILE = Path("zerolap.toml")

INNER_VERBS = {
    "history": ("show", "table", "report", "ack", "import", "imported", "export"),
    "fleet": ("status", "retry", "cancel", "drain"),
    "suites": ("list", "show", "check"),
    "store": ("prune", "usage"),
    "token": ("add", "list", "remove"),
}

OPTIONS = {
    "repo", "cases", "command", "group", "engine", "budget", "min-effect", "quick", "json", "html", "markdown",
    "benchfmt", "junit", "sarif", "fail-on", "store", "seed", "quiet", "config", "base-config", "head-config", "server",
    "stacks", "load-tool", "keep", "keep-newest", "keep-bytes", "variant", "base-variant", "head-variant", "topology",
    "trial-limit", "unsafe-no-sandbox",
}  # fmt: skip


_OPTION = re.compile(r"`--([a-z-]+)[ `]")


def with_file_named(fault: ZerolapError) -> ZerolapError:
    """Return an error that begins with an option, with the file in its hint where the option is set there."""
    begun = _OPTION.match(fault.message)
    if not isinstance(fault, UsageError) or begun is None:
        return fault
    document = _document()
    if not any(begun[1] in values for values in (document, *document.values()) if isinstance(values, dict)):
        return fault
    hint = "; ".join(filter(None, [fault.hint, f"`{begun[1]}` is set in `{FILE}`"]))
    return UsageError(fault.message, hint=hint, details=fault.details)


def default_map() -> dict[str, Any]:
    """Return the defaults by verb and option; raises `UsageError` for a file that cannot be read or unknown names."""
    document = _document()
    if not document:
        return {}
    shared = {name: value for name, value in document.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in document.items() if isinstance(value, dict)}
    for verb in tables:
        if verb not in VERBS:
            raise UsageError(f"`{FILE}` has a table `{verb}`, which is not a verb", hint=_known("verbs", verb, VERBS))
    for name in {*shared, *(name for table in tables.values() for name in table)}:
        if name not in OPTIONS:
            hint = _known("options", name, sorted(OPTIONS))
            raise UsageError(f"`{FILE}` sets `{name}`, which is not an option", hint=hint)
    by_verb = {}
    for verb in VERBS:
        values = {**shared, **tables.get(verb, {})}
        # The parameter `cases` of verbs is the positional argument.
        names = {name: "cases_directory" if name == "cases" else name.replace("-", "_") for name in values}
        by_verb[verb] = {names[name]: value for name, value in values.items()}
    return by_verb | {verb: dict.fromkeys(inner, by_verb[verb]) for verb, inner in INNER_VERBS.items()}


def _known(what: str, name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"{what}: {', '.join(known)}"


def _document() -> dict[str, Any]:
    if not FILE.exists():
        return {}
    try:
        return tomllib.loads(read_named(FILE, MOST_BYTES).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise UsageError(f"`{FILE}` is not valid TOML: {wrong}") from wrong
