"""The options of the verbs, in groups; those that stand alone and that several verbs have are at the end."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import typer

from zerolap import writer
from zerolap.cli import completion
from zerolap.cli.option_groups import flag, option
from zerolap.cli.option_values import ENGINES, engine_names, min_effects, seconds, server_settings, variant
from zerolap.errors import UsageError
from zerolap.fail_on import FailOn

if TYPE_CHECKING:
    from zerolap.history import HistoryRange
    from zerolap.lab import Lab
    from zerolap.records import Case, RequestedServer
    from zerolap.sandbox import SandboxPolicy
    from zerolap.server import ServerLogin
    from zerolap.store import Retention, Store

DEFAULT_PRIORITY = "pull"
LARGEST_SEED = 2**64 - 1
OF_RANGES = ("counted", "timed")
"""The engines by which commits of a range are measured."""

Json = Annotated[
    str | None, typer.Option("--json", help="Write the JSON document; - is standard output.", metavar="FILE|-")
]
Words: TypeAlias = list[str] | None
Text: TypeAlias = str | None


@dataclass(frozen=True)
class CaseOptions:
    """The cases that are measured or shown, and the topology of their servers."""

    PANEL: ClassVar = "What"

    cases: Annotated[
        Words,
        typer.Argument(
            metavar="CASE", help="Names or globs of cases; by default all.", autocompletion=completion.cases_or_verbs
        ),
    ] = None
    cases_directory: Path | None = option(
        "Case files, or the name of a suite such as geo, or all suites, instead of the core suite.",
        "DIR|FILE|SUITE|all",
        name="--cases --suite",
        complete=completion.suites,
    )
    command: Words = option(
        "Only cases with this command, such as XADD or 'XINFO STREAM'.", "NAME", complete=completion.case_commands
    )
    group: Words = option("Only cases of this group.", "NAME", complete=completion.case_groups)
    topology: Text = option(
        "Topology of the servers, instead of those of the cases: replicas-1, cluster-3, tls.",
        "NAME",
        complete=completion.topologies,
    )

    def selected(self, names: Sequence[str] | None = None) -> "list[Case]":
        """Return the cases, those of `names` where they are given; raises `UsageError` and `CaseFileError`."""
        from zerolap.cli.case_selection import deployed, selected_cases

        chosen = selected_cases(self.cases_directory, names or self.cases, self.command, self.group)
        return deployed(chosen, self.topology, self.cases_directory)


@dataclass(frozen=True)
class BuildOptions:
    """How servers are built and started."""

    PANEL: ClassVar = "What"

    config: Words = option("Server setting for all sides.", "KEY=VALUE")
    variant: Text = option(
        "Compiler, flags and allocator for builds, such as clang,-O2,-flto,libc,frame-pointers.", "WORDS"
    )


@dataclass(frozen=True)
class ServerOptions(BuildOptions):
    """Where servers come from, and how they are built and started."""

    repo: Path | None = option("Git repository of the revisions; by default the one of the working directory.", "DIR")

    def requested(
        self, server: str, config: list[str] | None = None, variant_words: str | None = None
    ) -> "RequestedServer":
        """Return the server of that name with its own settings and variant words added; raises `UsageError`."""
        from zerolap.build import enclosing_repository, resolve
        from zerolap.records import RequestedServer

        repository = self.repo or enclosing_repository()
        return RequestedServer(
            source=resolve(server, repository, lambda other: writer.note(f"warning: {other}")),
            variant=variant(self.variant, variant_words).name,
            config=server_settings(self.config) | server_settings(config),
        )


@dataclass(frozen=True)
class RangeOptions(BuildOptions):
    """The repository whose commits a range names, how they are built, and the platform that measured them."""

    repo: Path = option("Git repository of the commits.", "DIR", default=Path("."))
    shown: Text = option(
        "Commits to show: A..B, tags:A..B, tags:A,B,C or dates:FROM..TO; by default those of HEAD that are measured.",
        "RANGE",
        name="--range",
        complete=completion.revisions,
    )
    platform: Text = option(
        "A platform of a fleet, or another machine whose results the store has; by default this machine.", "NAME"
    )

    def asked(self, cases: "Sequence[Case]", text: str | None = None, *, takes_releases: bool = True) -> "HistoryRange":
        """Return the range, or that of `text`, with the cases; raises `UsageError` where it names no commits.

        Without `takes_releases`, the text is `A..B`.
        """
        from zerolap.build import BRANCH, commits_of
        from zerolap.history import HistoryRange

        named = text or self.shown or BRANCH
        return HistoryRange(
            repository=self.repo.resolve(),
            text=named,
            commits=commits_of(self.repo, named, takes_releases=takes_releases),
            cases=cases,
            variant=variant(self.variant).name,
            config=server_settings(self.config),
        )

    def known(self, asked: "HistoryRange", store: "Store") -> "HistoryRange":
        """Return the range on the platform, without the commits of a whole branch that are not built."""
        return self.built(self.on_platform(asked, store), store)

    def built(self, asked: "HistoryRange", store: "Store") -> "HistoryRange":
        """Return the range, without the commits of a whole branch that are not built."""
        from zerolap.build import BRANCH
        from zerolap.history import of_built_commits

        return of_built_commits(asked, store) if asked.text == BRANCH else asked

    def on_platform(self, asked: "HistoryRange", store: "Store") -> "HistoryRange":
        """Return what is asked of the platform's measurements instead of this machine's, if it is named.

        Raises `UsageError` for a name that the store does not know.
        """
        if self.platform is None:
            return asked
        from zerolap.fleet import machine_named

        machine = machine_named(self.platform, store)
        return dataclasses.replace(asked, platform=machine.platform, builder=machine.builder)


@dataclass(frozen=True)
class MeasuringOptions:
    """By what is measured, how long, and how exactly."""

    PANEL: ClassVar = "How"

    engine: Text = option(
        "Engines, separated by commas: counted, timed, sampled, traced, or a plugin's; of one server also loaded.",
        "NAMES",
        complete=completion.list_of(*ENGINES),
    )
    budget: Text = option("Time to spend on trials, builds excluded: 90s, 8m, 1h.", "TIME")
    wait: Text = option("Wait for a quiet machine before cases are timed, at most this long: 90s, 5m.", "TIME")
    trial_limit: Text = option(
        "Longest time of a trial, the loading of its data included: 90s, 20m. Default: 10m; with --quick 2m.", "TIME"
    )
    min_effect: str = option(
        "Smallest relevant change, by engine; `tail` is that of p99, `memory` that of counted bytes.",
        "ENGINE=SIZE",
        default="counted=0.5%,timed=2%,tail=10%,memory=0.25%",
    )
    quick: bool = flag("Only count, with smaller data sets and fewer requests.")
    count_build: bool = flag(
        "Count the calls of inlined functions too, in a second build without inlining; costs are those of the server's"
        " own build. Not for programs that are already built."
    )
    seed: int | None = option(
        "Seed of all random choices, which repeats them exactly; by default another one each time.",
        "N",
        min=0,
        max=LARGEST_SEED,
    )

    def engines(self, *, judging: bool = False) -> list[str] | None:
        """Return the engines that are named, none if the lab is to choose; raises `UsageError`."""
        return engine_names(self.engine, quick=self.quick, judging=judging)

    def engines_of_range(self, done: str) -> list[str]:
        """Return the engines for commits of a range, of which `done` is what is done; raises `UsageError`."""
        names = self.engines(judging=True) or list(OF_RANGES)
        for name in names:
            if name not in OF_RANGES:
                raise UsageError(f"{done} by the engine `{name}`", hint="--engine counted,timed")
        return names

    @property
    def min_effects(self) -> dict[str, float]:
        """The smallest relevant changes by engine, as fractions; raises `UsageError`."""
        return min_effects(self.min_effect)

    @property
    def budget_seconds(self) -> float | None:
        """The time for trials; raises `UsageError`."""
        return seconds(self.budget)

    def check(self, platform: str | None = None) -> None:
        """Raise `UsageError` for times that are none, and for those of this machine where agents measure."""
        for name, text in (("--wait", self.wait), ("--trial-limit", self.trial_limit)):
            seconds(text, name)
            if text is not None and platform is not None:
                hint = f"leave {name} or --platform out"
                raise UsageError(f"`{name}` is for this machine, not for agents", hint=hint)

    @property
    def wait_seconds(self) -> float:
        """How long to wait for a quiet machine; raises `UsageError`."""
        return seconds(self.wait, "--wait") or 0.0

    @property
    def trial_seconds(self) -> float:
        """How long a trial may take; raises `UsageError`."""
        from zerolap.engines import QUICK_TRIAL_SECONDS, TRIAL_SECONDS

        return seconds(self.trial_limit, "--trial-limit") or (QUICK_TRIAL_SECONDS if self.quick else TRIAL_SECONDS)


@dataclass(frozen=True)
class PlatformOptions:
    """The platforms of a lab that measure instead of this command."""

    PANEL: ClassVar = "On a lab"

    platform: Text = option(
        "Submit to zerolap serve, which measures on these platforms, separated by commas, or on all; by default this"
        " command measures.",
        "NAMES",
    )
    priority: str = option("Priority of the request: release, pull, backfill.", "NAME", default=DEFAULT_PRIORITY)
    topic: str = option(
        "Topic of the request, such as pr-123; ends unfinished ones of that topic and platform.", "NAME", default=""
    )
    no_wait: bool = flag("Submit, print id and platform, and exit.")

    def __post_init__(self) -> None:
        """Raise `UsageError` for an unknown priority, and for options that need `--platform` without it."""
        from zerolap.records import PRIORITIES

        if self.priority not in PRIORITIES:
            raise UsageError(f"`--priority {self.priority}` is not valid", hint=f"write one of {', '.join(PRIORITIES)}")
        given = {
            "--no-wait": self.no_wait,
            "--topic": bool(self.topic),
            "--priority": self.priority != DEFAULT_PRIORITY,
        }
        for name, is_given in given.items():
            if is_given and self.platform is None:
                raise UsageError(
                    f"`{name}` applies to submitted requests, and needs --platform",
                    hint="add --platform all, or leave it out",
                )


@dataclass(frozen=True)
class Reports:
    """The files that reports are written to, - for standard output, none for a report that is not wanted."""

    PANEL: ClassVar = "Reports"

    json: Text = option("Write the JSON document; - is standard output.", "FILE|-")
    html: Text = option("Write a one-file HTML report.", "FILE")
    markdown: Text = option("Write Markdown for a pull request; - is standard output.", "FILE|-")
    benchfmt: Text = option(
        "Write what was measured for benchstat, in Go's benchmark format; - is standard output.", "FILE|-"
    )
    junit: Text = option(
        "Write a JUnit file, in which CI systems show a test for each case; - is standard output.", "FILE|-"
    )
    sarif: Text = option(
        "Write regressions as SARIF, which code scanning shows at the changed lines; - is standard output.", "FILE|-"
    )
    csv: Text = option("Write the tables as CSV, of a history all points; - is standard output.", "FILE|-")
    quiet: bool = flag("Print neither progress nor the table.")

    def __post_init__(self) -> None:
        """Raise `UsageError` if a report cannot be written to its target, before hours are spent on measuring."""
        if self.html == "-":
            raise UsageError("`--html -`: a page is not written to standard output", hint="give a file")
        check_targets(list(self.targets.values()))

    @property
    def targets(self) -> dict[str, str]:
        """The names of the reports that are wanted, with their targets."""
        targets = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: target for name, target in targets.items() if isinstance(target, str)}

    @property
    def has_table(self) -> bool:
        """Whether the table is written to standard output: unless `quiet`, or where a report is."""
        return not self.quiet and "-" not in self.targets.values()

    def of_platform(self, platform: str) -> "Reports":
        """Return the reports of one of several platforms: `report-PLATFORM.json` for `report.json`."""
        named: dict[str, Any] = {}
        for name, target in self.targets.items():
            path = Path(target)
            named[name] = target if target == "-" else str(path.with_name(f"{path.stem}-{platform}{path.suffix}"))
        return dataclasses.replace(self, **named)


def check_targets(targets: Sequence[str]) -> None:
    """Raise `UsageError` for a file that cannot be written, and for two reports that would go to one place."""
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


@dataclass(frozen=True)
class LabOptions:
    """The store, and how code of others is run here."""

    store: StoreLocation = None
    unsafe_no_sandbox: UnsafeNoSandbox = False

    @contextmanager
    def lab(self, store: "Store", measuring: MeasuringOptions, *, quiet: bool) -> "Iterator[Lab]":
        """Yield what measures on this machine, with its progress on standard error unless `quiet`."""
        from zerolap.cli.bar import Bar
        from zerolap.lab import Lab

        policy = sandbox_policy(self.unsafe_no_sandbox)
        wait_seconds, trial_seconds = measuring.wait_seconds, measuring.trial_seconds
        with Bar(quiet=quiet) as bar:
            yield Lab(store, bar, policy, wait_seconds=wait_seconds, trial_seconds=trial_seconds)


def sandbox_policy(unsafe: bool) -> "SandboxPolicy":
    """Return how code of repositories is treated if no sandbox is available."""
    from zerolap.sandbox import SandboxPolicy

    return SandboxPolicy.UNSAFE if unsafe else SandboxPolicy.REQUIRED


@dataclass(frozen=True)
class LoginOptions:
    """The login for a running server."""

    PANEL: ClassVar = "What"

    password_file: Path | None = option("File whose first line is the password of the running server.", "FILE")
    username: Text = option("User of the running server; by default its default user.", "NAME")

    @property
    def login(self) -> "ServerLogin | None":
        """The login for the running server that is asked; raises `UsageError`."""
        if self.password_file is None and self.username is None:
            return None
        # It takes a while to import.
        from zerolap.server import read_login

        return read_login(self.password_file, self.username)


ShowsAll = Annotated[
    bool,
    typer.Option(
        "--all", help="Show all cases, figures and reasons, not only those of changes.", rich_help_panel="Reports"
    ),
]
Regimes = Annotated[
    Literal["auto", "all", "none"] | None,
    typer.Option(
        help="Count cases in other regimes too, such as with large values or idle connections: those that what changed"
        " calls for, all of all cases, or none. With --quick none are counted by default.",
        show_default="auto",
        rich_help_panel="How",
    ),
]
FailWhen = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        help="End with exit code 1 on a regression of work, of time, of memory, of cases together (suite), or of any"
        " of these (regression); if no case executes a changed function (unmeasured); unsure is all of these, and"
        " undecided or invalid cases. Every value but never also applies if nothing was measured, and work, time,"
        " memory, regression and unsure if a case fails on the head only. Values: never, work, time, memory, suite,"
        " regression, unmeasured, unsure.",
        metavar="WHEN",
        rich_help_panel="Reports",
    ),
]
Server = Annotated[
    str,
    typer.Option(
        help="A binary, source tree, revision, program on the PATH, or a start command in quotes.",
        metavar="SERVER",
        autocompletion=completion.revisions,
        rich_help_panel="What",
    ),
]


@dataclass(frozen=True)
class KeptOptions:
    """The results that are kept."""

    PANEL: ClassVar = "What is kept"

    keep: Text = option("Keep results and judged histories of the last days; by default all.", "90d")
    keep_newest: int | None = option(
        "Keep this many newest results of each topic and platform, such as a branch, whatever their age, and this many"
        " judged histories of each range.",
        "N",
    )
    keep_bytes: Text = option(
        "Keep the newest results whose files (graphs, timelines, stacks, sources) fit into this, compressed.", "200GiB"
    )

    @property
    def retention(self) -> "Retention":
        """How long results are kept; raises `UsageError`."""
        from zerolap.cli.option_values import retention

        return retention(self.keep, self.keep_newest, self.keep_bytes)
