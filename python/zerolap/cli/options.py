"""Options that several verbs share, and the parsing of their values."""

import os
import re
import shlex
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import completion
from zerolap.durations import seconds_in
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zerolap.build import Variant
    from zerolap.history import Asked
    from zerolap.records import Case, Source
    from zerolap.sandbox import SandboxPolicy
    from zerolap.server import ServerLogin
    from zerolap.store import Retention, Store

ENGINES = ("counted", "timed", "sampled", "traced")
WITHOUT_VERDICTS = {"sampled": "stacks are not judged", "traced": "what is traced is not judged"}
"""Engines that are evidence only, and why they have no minimum effect."""
DEFAULT_PRIORITY = "pull"
SECONDS_PER_DAY = 86_400
LARGEST_SEED = 2**64 - 1
BYTES_PER_UNIT = {"MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class FailOn(StrEnum):
    """When a finished comparison ends with exit code 1."""

    NEVER = "never"
    WORK = "work"
    TIME = "time"
    REGRESSION = "regression"
    UNSURE = "unsure"


Cases = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CASE]...", help="Names or globs of cases; by default all.", autocompletion=completion.case_names
    ),
]
Server = Annotated[
    str,
    typer.Option(
        help="A binary, source tree, revision, program on the PATH, or a start command in quotes.",
        metavar="SERVER",
        autocompletion=completion.revisions,
    ),
]
Repo = Annotated[
    Path | None,
    typer.Option(help="Git repository of the revisions; by default the one of the working directory.", metavar="DIR"),
]
CasesDirectory = Annotated[
    Path | None,
    typer.Option(
        "--cases",
        help="Case files, or the name of a suite such as geo, instead of the core suite.",
        metavar="DIR|FILE|SUITE",
        autocompletion=completion.suites,
    ),
]
Command = Annotated[
    list[str] | None,
    typer.Option(
        "--command",
        help="Only cases with this command, such as XADD or 'XINFO STREAM'.",
        metavar="NAME",
        autocompletion=completion.case_commands,
    ),
]
Group = Annotated[
    list[str] | None,
    typer.Option("--group", help="Only cases of this group.", metavar="NAME", autocompletion=completion.case_groups),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Engines, separated by commas: counted, timed, sampled, traced.",
        metavar="NAMES",
        show_default=False,
        autocompletion=completion.list_of(*ENGINES),
    ),
]
Budget = Annotated[
    str | None, typer.Option(help="Time to spend on trials, builds excluded: 90s, 8m, 1h.", metavar="TIME")
]
Wait = Annotated[
    str | None,
    typer.Option(help="Wait for a quiet machine before cases are timed, at most this long: 90s, 5m.", metavar="TIME"),
]
TrialLimit = Annotated[
    str | None,
    typer.Option(
        help="Longest time of a trial, the loading of its data included: 90s, 20m. Default: 10m; with --quick 2m.",
        metavar="TIME",
    ),
]
MinEffect = Annotated[str, typer.Option(help="Smallest relevant change, by engine.", metavar="ENGINE=SIZE")]
Quick = Annotated[bool, typer.Option("--quick", help="Only count, with smaller data sets and fewer requests.")]
CountBuild = Annotated[
    bool,
    typer.Option(
        "--count-build",
        help="Count the calls of inlined functions too, in a second build without inlining; costs are those of the"
        " server's own build. Not for programs that are already built.",
    ),
]
Topology = Annotated[
    str | None,
    typer.Option(
        help="Topology of the servers, instead of those of the cases: replicas-1, cluster-3, tls.",
        metavar="NAME",
        autocompletion=completion.topologies,
    ),
]
Config = Annotated[
    list[str] | None, typer.Option("--config", help="Server setting for all sides.", metavar="KEY=VALUE")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(help="File whose first line is the password of the running server.", metavar="FILE"),
]
Username = Annotated[
    str | None, typer.Option(help="User of the running server; by default its default user.", metavar="NAME")
]
VariantWords = Annotated[
    str | None,
    typer.Option(
        "--variant",
        help="Compiler, flags and allocator for builds, such as clang,-O2,-flto,libc,frame-pointers.",
        metavar="WORDS",
    ),
]
Json = Annotated[
    str | None, typer.Option("--json", help="Write the JSON document; - is standard output.", metavar="FILE|-")
]
Html = Annotated[str | None, typer.Option("--html", help="Write a one-file HTML report.", metavar="FILE")]
Markdown = Annotated[
    str | None,
    typer.Option("--markdown", help="Write Markdown for a pull request; - is standard output.", metavar="FILE|-"),
]
Benchfmt = Annotated[
    str | None,
    typer.Option(
        "--benchfmt",
        help="Write the trials for benchstat, in Go's benchmark format; - is standard output.",
        metavar="FILE|-",
    ),
]
FailWhen = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        help="End with exit code 1 on a regression of work or of time, of either (regression), or also if a case is not"
        " decided or invalid (unsure); all but never also if a case fails on the head only, or nothing was measured.",
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(help="Keep results and judged histories of the last days; by default all are kept.", metavar="90d"),
]
KeepNewest = Annotated[
    int | None,
    typer.Option(
        help="Keep this many newest results of each topic and platform, such as a branch, whatever their age, and"
        " this many judged histories of each range.",
        metavar="N",
    ),
]
KeepBytes = Annotated[
    str | None,
    typer.Option(
        help="Keep the newest results whose files (graphs, timelines, stacks, sources) fit into this, compressed.",
        metavar="200GiB",
    ),
]
StoreLocation = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Store of the results: a directory, sqlite:///FILE or postgresql://USER@HOST/DATABASE; by default"
        " .zerolap.",
        metavar="URL",
    ),
]
UnsafeNoSandbox = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        help="If no sandbox is available, run code of repositories with your own permissions.",
    ),
]
MeasuredOn = Annotated[
    str | None,
    typer.Option(
        "--platform",
        help="A platform of a fleet, or another machine whose results the store has; by default this machine.",
        metavar="NAME",
    ),
]
Platform = Annotated[
    str | None,
    typer.Option(
        "--platform",
        help="Submit to zerolap serve, which measures on these platforms, separated by commas, or on all; by default"
        " this command measures.",
        metavar="NAMES",
    ),
]
Priority = Annotated[
    str, typer.Option(help="With --platform: priority of the request: release, pull, backfill.", metavar="NAME")
]
Topic = Annotated[
    str,
    typer.Option(
        help="With --platform: topic of the request, such as pr-123; ends unfinished ones of that topic and platform.",
        metavar="NAME",
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="With --platform: submit, print id and platform, and exit.")]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Seed of all random choices, which repeats them exactly; by default another one each time.",
        min=0,
        max=LARGEST_SEED,
        metavar="N",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print neither progress nor the table.")]


def login(password_file: Path | None, username: str | None) -> "ServerLogin | None":
    """Return the login for the running server that is asked; raises `UsageError`."""
    if password_file is None and username is None:
        return None
    # It takes a while to import.
    from zerolap.server import read_login

    return read_login(password_file, username)


def source(text: str, repository: Path | None) -> "Source":
    """Return the source that SERVER, BASE or HEAD names; revisions are those of the checkout that this is run in."""
    from zerolap.build import enclosing_repository, resolve

    return resolve(text, repository or enclosing_repository(), lambda other: writer.note(f"warning: {other}"))


def sandbox_policy(unsafe: bool) -> "SandboxPolicy":
    """Return how code of repositories is treated if no sandbox is available."""
    from zerolap.sandbox import SandboxPolicy

    return SandboxPolicy.UNSAFE if unsafe else SandboxPolicy.REQUIRED


def seconds(text: str | None, option: str = "--budget") -> float | None:
    """Return a duration such as `8m` in seconds; raises `UsageError` that names the option."""
    if text is None:
        return None
    duration = seconds_in(text)
    if duration is None:
        raise UsageError(f"`{option} {text}` is not a duration", hint="write 90s, 8m or 1h")
    return duration


def wait_seconds(text: str | None, platform: str | None) -> float:
    """Return how long to wait for a quiet machine; raises `UsageError`."""
    if text is not None and platform is not None:
        raise UsageError("`--wait` is for this machine, not for agents", hint="leave --wait or --platform out")
    return seconds(text, "--wait") or 0.0


def trial_seconds(text: str | None, platform: str | None, *, quick: bool) -> float:
    """Return how long a trial may take; raises `UsageError`."""
    from zerolap.engines import QUICK_TRIAL_SECONDS, TRIAL_SECONDS

    if text is not None and platform is not None:
        raise UsageError(
            "`--trial-limit` is for this machine, not for agents", hint="leave --trial-limit or --platform out"
        )
    return seconds(text, "--trial-limit") or (QUICK_TRIAL_SECONDS if quick else TRIAL_SECONDS)


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
    """Return the minimum effects by engine, as fractions, with defaults for the others; raises `UsageError`."""
    from zerolap.judge import DEFAULT_MIN_EFFECT

    effects = dict(DEFAULT_MIN_EFFECT)
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"\s*(\w+)=(\d+(?:\.\d+)?)(%?)\s*", part)
        if match is None:
            raise UsageError(f"`--min-effect {part}` is not valid", hint="write timed=2%,counted=0.5%")
        _require_comparing(match[1])
        if match[1] in WITHOUT_VERDICTS:
            reason = WITHOUT_VERDICTS[match[1]]
            raise UsageError(f"`--min-effect {part}`: {reason}", hint="write timed=2%,counted=0.5%")
        effects[match[1]] = float(match[2]) / (100 if match[3] else 1)
        if effects[match[1]] >= 1:
            raise UsageError(f"`--min-effect {part}` is 100% or more", hint=f"write {match[1]}={match[2]}%")
    return effects


def engines(text: str | None, *, quick: bool = False, judging: bool = False) -> list[str] | None:
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


def check_reports(
    *,
    json: str | None = None,
    markdown: str | None = None,
    html: str | None = None,
    benchfmt: str | None = None,
    csv: str | None = None,
    exports: "Sequence[str]" = (),
) -> None:
    """Raise `UsageError` if a report cannot be written to its target, before hours are spent on measuring."""
    if html == "-":
        raise UsageError("`--html -`: a page is not written to standard output", hint="give a file")
    targets = [target for target in (json, markdown, html, benchfmt, csv, *exports) if target is not None]
    for target in targets:
        if targets.count(target) > 1:
            name = "standard output" if target == "-" else f"`{target}`"
            raise UsageError(f"two reports would go to {name}", hint="give a file for each")
        if target != "-":
            _check_writable(Path(target))


def _check_writable(path: Path) -> None:
    # A report replaces a file, but is written into a device or a pipe.
    target = path.resolve()
    written = target.parent if target.is_file() or not target.exists() else target
    if target.is_dir() or not written.exists():
        raise UsageError(f"`{path}` cannot be written", hint="give a file in a directory that exists")
    if not os.access(written, os.W_OK | os.X_OK if written.is_dir() else os.W_OK):
        raise UsageError(f"`{path}` cannot be written: its directory is not writable", hint="give another file")


def check_platform(platform: str | None, *, priority: str, topic: str, no_wait: bool) -> None:
    """Raise `UsageError` for an unknown priority, and for options that need `--platform` without it."""
    from zerolap.records import PRIORITIES

    if priority not in PRIORITIES:
        raise UsageError(f"`--priority {priority}` is not valid", hint=f"write one of {', '.join(PRIORITIES)}")
    if platform is not None:
        return
    given = [("--no-wait", no_wait), ("--topic", topic), ("--priority", priority != DEFAULT_PRIORITY)]
    for option, is_given in given:
        if is_given:
            raise UsageError(
                f"`{option}` applies to submitted requests, and needs --platform",
                hint="add --platform all, or leave it out",
            )


REPORTS = frozenset({"json", "html", "markdown", "benchfmt", "quiet", "store"})


SETTING_WITH_PASSWORD = re.compile(
    r"(?P<option>--[\w-]+=)?(?P<name>requirepass|masterauth|user)=(?P<value>.*)", re.IGNORECASE | re.DOTALL
)


def without_password(word: str) -> str:
    """Return a word of the command line, which is shown in reports, without the password of a database or server."""
    from zerolap.records import with_lab_passwords

    word = re.sub(r"(postgres(?:ql)?://[^:/@?]*):[^@]*@", r"\1@", word)
    setting = SETTING_WITH_PASSWORD.fullmatch(word)
    if setting is None:
        return word
    [value] = with_lab_passwords({setting["name"]: setting["value"]}).values()
    return f"{setting['option'] or ''}{setting['name']}={value}"


def is_on_command_line(context: typer.Context, name: str) -> bool:
    """Whether a parameter is written there, and not a default or of `zerolap.toml`."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def command_line(context: typer.Context) -> str:
    """Return the command in a form that can be repeated: with the options that `zerolap.toml` added."""
    words = ["zerolap", *(without_password(word) for word in sys.argv[1:])]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "DEFAULT_MAP" or name in REPORTS:
            continue
        value = context.params[name]
        option = parameter.opts[0]
        for item in value if isinstance(value, list | tuple) else [value]:
            shown = [option, without_password(str(item))]
            words += [option] if item is True else shown if item is not False else []
    return shlex.join(word.encode(errors="surrogateescape").decode(errors="backslashreplace") for word in words)


def on_platform(asked: "Asked", name: str | None, store: "Store") -> "Asked":
    """Return what is asked of a platform's measurements instead of this machine's, if it is named.

    Raises `UsageError` for a name that the store does not know.
    """
    if name is None:
        return asked
    from zerolap.fleet import machine_named

    machine = machine_named(name, store)
    return replace(asked, platform=machine.platform, builder=machine.builder)


def history_range(
    repository: Path,
    text: str,
    cases: "Sequence[Case]",
    words: str | None,
    config: dict[str, str],
    *,
    takes_releases: bool = True,
) -> "Asked":
    """Return what a history is asked about; raises `UsageError` for a range that names no commits.

    Without `takes_releases`, the text is `A..B`.
    """
    from zerolap.build import commits_of
    from zerolap.history import Asked

    return Asked(
        repository=repository.resolve(),
        text=text,
        commits=commits_of(repository, text, takes_releases=takes_releases),
        cases=cases,
        variant=variant(words).name,
        config=config,
    )
