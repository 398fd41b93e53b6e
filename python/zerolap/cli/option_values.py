"""What the words of options mean; each raises `UsageError` that names the option and shows what would be valid."""

import re
import shlex
from typing import TYPE_CHECKING

from zerolap import writer
from zerolap.durations import seconds_in
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.build import Variant
    from zerolap.store import Retention

ENGINES = ("counted", "timed", "sampled", "traced")
WITHOUT_VERDICTS = {"sampled": "stacks are not judged", "traced": "what is traced is not judged"}
"""Engines that are evidence only, and why they have no minimum effect."""
SECONDS_PER_DAY = 86_400
BYTES_PER_UNIT = {"MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def seconds(text: str | None, option: str = "--budget") -> float | None:
    """Return a duration such as `8m` in seconds; raises `UsageError` that names the option."""
    if text is None:
        return None
    duration = seconds_in(text)
    if duration is None:
        raise UsageError(f"`{option} {text}` is not a duration", hint="write 90s, 8m or 1h")
    return duration


def retention(keep: str | None, keep_newest: int | None, keep_bytes: str | None) -> "Retention":
    """Return how long results are kept; raises `UsageError`."""
    from zerolap.store import Retention

    days = None if keep is None else re.fullmatch(r"(\d+)d", keep.strip())
    if keep is not None and (days is None or int(days[1]) == 0):
        raise UsageError(f"`--keep {keep}` is not a number of days", hint="write 90d")
    if keep_newest is not None and keep_newest < 1:
        raise UsageError(f"`--keep-newest {keep_newest}` keeps nothing", hint="write a number of results, such as 50")
    size = None if keep_bytes is None else re.fullmatch(r"(\d+)\s*(MiB|GiB|TiB)", keep_bytes.strip())
    if keep_bytes is not None and size is None:
        raise UsageError(f"`--keep-bytes {keep_bytes}` is not a size", hint="write 500MiB, 200GiB or 2TiB")
    return Retention(
        seconds=None if days is None else float(days[1]) * SECONDS_PER_DAY,
        per_branch=keep_newest,
        blob_bytes=None if size is None else int(size[1]) * BYTES_PER_UNIT[size[2]],
    )


def min_effects(text: str) -> dict[str, float]:
    """Return the minimum effects by engine, of tails and of memory, as fractions, with defaults for the others.

    Raises `UsageError`.
    """
    from zerolap.judge import DEFAULT_MIN_EFFECT, MEMORY, TAILS

    effects = dict(DEFAULT_MIN_EFFECT)
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"\s*(\w+)=(\d+(?:\.\d+)?)(%?)\s*", part)
        if match is None:
            raise UsageError(f"`--min-effect {part}` is not valid", hint="write timed=2%,counted=0.5%,memory=0.25%")
        if match[1] not in (TAILS, MEMORY):
            _require_comparing(match[1])
        if match[1] in WITHOUT_VERDICTS:
            reason = WITHOUT_VERDICTS[match[1]]
            raise UsageError(f"`--min-effect {part}`: {reason}", hint="write timed=2%,counted=0.5%,memory=0.25%")
        effects[match[1]] = float(match[2]) / (100 if match[3] else 1)
        if effects[match[1]] >= 1:
            raise UsageError(f"`--min-effect {part}` is 100% or more", hint=f"write {match[1]}={match[2]}%")
    return effects


def engine_names(text: str | None, *, quick: bool = False, judging: bool = False) -> list[str] | None:
    """Return the named engines, or None if the lab is to choose; raises `UsageError` for an unknown engine.

    With `judging`, `loaded` is not accepted, as it measures one server.
    """
    if text is None:
        return ["counted"] if quick else None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if judging:
        for name in names:
            _require_comparing(name)
    if not names:
        raise UsageError(f"`--engine {text}` names no engine", hint=f"engines: {', '.join(ENGINES)}")
    if quick and "counted" not in names:
        raise UsageError("`--quick` leaves nothing to measure: it only counts", hint="omit --quick, or add counted")
    if quick and names != ["counted"]:
        left_out = ", ".join(name for name in names if name != "counted")
        writer.note(f"note: --quick only counts; left out: {left_out}")
    return ["counted"] if quick else names


def _require_comparing(name: str) -> None:
    """Raise `UsageError` for an engine that does not exist or only loads one server; plugins are not imported."""
    if name in ENGINES:
        return
    from zerolap.plugins import ENGINES as PLUGINS, plugin_names

    if name == "loaded":
        raise UsageError(
            f"the engine `{name}` measures a single server and cannot compare two",
            hint=f"zerolap run --engine {name}",
        )
    plugins = plugin_names(PLUGINS)
    if name not in plugins:
        raise UsageError(f"there is no engine `{name}`", hint=f"engines: {', '.join([*ENGINES, *plugins])}")


def server_settings(pairs: list[str] | None) -> dict[str, str]:
    """Return `KEY=VALUE` pairs as settings, with the lab's own passwords; raises `UsageError`."""
    from zerolap.records import with_lab_passwords

    settings = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"`--config {pair}` is not valid", hint="write --config maxmemory=100mb")
        try:
            shlex.split(value)
        except ValueError as wrong:
            raise UsageError(f"`--config {pair}` is not valid: {wrong}", hint="close the quotes") from wrong
        settings[name.strip()] = value
    return with_lab_passwords(settings)


def variant(shared: str | None, side: str | None = None) -> "Variant":
    """Return the variant of a side: the shared one, changed by the words for the side alone; raises `UsageError`."""
    from zerolap.build import DEFAULT, parse_variant

    shared_variant = parse_variant(shared) if shared is not None else DEFAULT
    if side is None:
        return shared_variant
    changes = parse_variant(side)
    return DEFAULT if changes.is_default else shared_variant.with_changes(changes)


def require_gate_of_range(fail_on: str) -> None:
    """Raise `UsageError` where `--fail-on` asks for what only a comparison of two servers knows."""
    if fail_on in ("suite", "unmeasured"):
        raise UsageError(
            f"`--fail-on {fail_on}`: it is of two servers, not of a range of commits",
            hint=f"zerolap compare BASE HEAD --fail-on {fail_on}",
        )
