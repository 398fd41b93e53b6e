"""`zerolap profile`: one look at where a case spends its time or waits, and the stacks as files for other programs."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from zerolap import writer
from zerolap.cli import completion, options
from zerolap.cli.option_groups import Only, flag, option
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import EnvironmentMissing, TrialFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zerolap.queries import ExportFormat
    from zerolap.records import Case, Request
    from zerolap.store import StackEngine, Store

MEASURING = ("repo", "cases_directory", "topology", "config", "variant", "trial_limit", "seed", "unsafe_no_sandbox")
"""Options that apply to what is measured, not to what is stored."""
CHECKS_OF_RECORDING = {"stack_samples", "lost_samples"}
"""Checks that fail where other work takes the processors."""
MOST_NAMED = 8

app = Verb()

HELP = f"""{VERBS["profile"]}

SERVER is a binary, a source tree, a revision of --repo or of this checkout, or a program on the PATH; CASE is one \
case. Its stacks are sampled in four passes, which takes seconds, and stored. With --stored nothing is measured: the \
stacks of CASE in a stored comparison or run are shown. CASE may be left out where there is only one.

With --off-cpu the stacks are those in which threads wait, by the time until they run again. They are traced, in three \
passes, which needs root and bpftrace.

Examples:

    zerolap profile redis-server get-100B
    zerolap profile ./src/redis-server zadd --output zadd.svg --output zadd.pb.gz
    zerolap profile 8.0 xadd-auto-id --repo ~/redis --lines streamAppendItem
    zerolap profile redis-server get-100B --config io-threads=2 --thread io_thd_1
    zerolap profile redis-server set-ex-100B --config appendonly=yes --off-cpu --output waits.svg
    zerolap profile --stored latest --html page.html
    zerolap profile --stored c-1f2e3d4c zadd --side base --output - --format folded
"""


@dataclass(frozen=True)
class ShownOptions:
    """Which stacks are shown, and as what."""

    stored: str | None = option(
        "Show stored stacks of this comparison or run; `latest` is the newest that has some.", "ID"
    )
    side: Literal["base", "head"] = option("With --stored: side of a comparison.", "base|head", default="head")
    thread: str | None = option("Only the samples of this thread; source lines are of all threads.", "NAME")
    off_cpu: bool = flag("Show where threads wait, by the time off the processor, instead of CPU time.")
    top: int = option("How many functions are listed.", "N", default=15, min=1)
    lines: list[str] | None = option(
        "Show all source lines of this function, instead of those of the costliest. May be repeated.", "FUNCTION"
    )
    output: list[str] | None = option(
        "Write the stacks for another program, by the file's ending: .svg, .pb.gz (pprof), .speedscope.json,"
        " .firefox.json, .folded.txt, .callgrind; - is standard output. May be repeated.",
        "FILE|-",
    )
    format_name: str | None = option(
        "Format of the file of --output, whatever its ending: svg, pprof, speedscope, firefox, folded, callgrind.",
        "NAME",
        name="--format",
    )


@app.own(help=HELP)
def profile(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="SERVER CASE", show_default=False, autocompletion=completion.revisions_and_cases),
    ] = None,
    *,
    shown: ShownOptions,
    servers: options.ServerOptions,
    cases: Annotated[options.CaseOptions, Only("cases_directory", "topology")],
    measuring: Annotated[options.MeasuringOptions, Only("trial_limit", "seed")],
    reports: Annotated[options.Reports, Only("json", "html", "quiet")],
    place: options.LabOptions,
) -> None:
    """Sample a case, or read stored stacks; write what was asked for, and the table."""
    from zerolap.cli.output import write_profile
    from zerolap.cli.repeated_command import command_line, is_on_command_line
    from zerolap.lab import Options, run_request
    from zerolap.queries import QuerySources, read_case_stacks
    from zerolap.store import Store

    exports = _exports(shown.output or [], shown.format_name)
    options.check_targets([*reports.targets.values(), *exports])
    if shown.side == "base" and shown.stored is None:
        raise UsageError("`--side base` is for stored comparisons", hint="add --stored ID")
    engine: StackEngine = "traced" if shown.off_cpu else "sampled"
    if shown.off_cpu and shown.lines:
        raise UsageError("`--off-cpu` has no source lines", hint="leave --lines out")
    if shown.stored is None:
        if len(words or []) != 2:
            hint = "zerolap profile redis-server get-100B, or zerolap profile --stored ID"
            raise UsageError("`zerolap profile` takes a server and one case", hint)
        server, name = words or []
        request = run_request(
            server=servers.requested(server),
            cases=[_case(name, cases)],
            options=Options(engines=[engine], seed=measuring.seed),
            command_line=command_line(context),
        )
        measuring.check()
        find = partial(_measured, request, place, measuring, quiet=reports.quiet)
    else:
        for parameter in context.command.params:
            # What is stored was measured as it was.
            if parameter.name in MEASURING and is_on_command_line(context, parameter.name):
                hint = "leave one of them out"
                raise UsageError(f"`{parameter.opts[0]}` measures, and `--stored` does not", hint=hint)
        find = partial(_stored, shown.stored, words or [], engine)
    with Store.open(place.store) if shown.stored is None else Store.open_to_read(place.store) as results:
        identity, case = find(results)
        stacks = read_case_stacks(QuerySources(results), identity, case, shown.side, engine)
        if shown.thread is not None:
            stacks = stacks.of_thread(shown.thread)
        document = stacks.profile(shown.top, shown.lines or [])
        contents = {target: stacks.exported(export) for target, export in exports.items()}
        if reports.html is not None:
            _write_html(reports.html, results, identity)
    write_profile(document, contents, reports)


def _measured(
    request: "Request",
    place: options.LabOptions,
    measuring: options.MeasuringOptions,
    results: "Store",
    *,
    quiet: bool,
) -> tuple[str, str]:
    """Sample the request's case; return the id of the run and the name of the case. Raises if there are no stacks."""
    from zerolap.lab import run
    from zerolap.sheets import failed_check, plain

    with place.lab(results, measuring, quiet=quiet) as lab:
        report = run(request, lab)
    for skipped in report.skipped:
        raise EnvironmentMissing(f"{skipped.case} cannot be measured: {skipped.text}")
    [case] = report.cases
    hint = f"zerolap explain {report.id}"
    if case.failure is not None:
        message, _, details = case.failure.partition("\n")
        raise TrialFailed(f"{case.case}: {message}", hint, details)
    if not case.validity.valid:
        failed = "; ".join(failed_check(check.check, check.value, check.limit) for check in case.validity.failed)
        if {check.check for check in case.validity.failed} <= CHECKS_OF_RECORDING:
            hint = f"repeat it once the machine is less busy; what was measured: {hint}"
        raise TrialFailed(f"the stacks of {case.case} are not valid: {failed}", hint)
    traced = None if case.traced is None else case.traced.traced
    if traced is not None and all(of_event.event != "waits" for of_event in traced.stacks):
        reason = plain(traced.no_stacks or "no thread waited")
        raise EnvironmentMissing(f"there are no stacks of {case.case}: {reason}")
    for limit in case.limits:
        writer.note(f"warning: {plain(limit)}")
    return report.id, case.case


def _stored(identity: str, words: "Sequence[str]", engine: "StackEngine", results: "Store") -> tuple[str, str]:
    """Return the full id of a stored result, and the name of its case that is meant; raises `UsageError`."""
    from zerolap.queries import QuerySources, stored_case

    if len(words) > 1:
        raise UsageError("`--stored` takes one case and no server", hint="zerolap profile --stored ID CASE")
    return stored_case(QuerySources(results), identity, words[0] if words else None, engine)


def _case(name: str, cases: options.CaseOptions) -> "Case":
    """Return the case of that name; raises `UsageError` for none and for a glob of several."""
    chosen = cases.selected([name])
    if len(chosen) > 1:
        names = ", ".join(case.name for case in chosen[:MOST_NAMED])
        more = ", ..." if len(chosen) > MOST_NAMED else ""
        raise UsageError(f"`{name}` selects {len(chosen)} cases", hint=f"name one: {names}{more}")
    return chosen[0]


def _exports(targets: "Sequence[str]", format_name: str | None) -> "dict[str, ExportFormat]":
    """Return the formats by target; raises `UsageError` for a format that is not known, or of more than one file."""
    from zerolap.queries import export_format

    if format_name is not None and len(targets) != 1:
        raise UsageError("`--format` is of one file", hint="give one --output, or files with endings")
    if len(set(targets)) < len(targets):
        raise UsageError("two files would go to one place", hint="give a file for each")
    return {target: export_format(format_name, target) for target in targets}


def _write_html(target: str, results: "Store", identity: str) -> None:
    from zerolap.cli.output import write_comparison, write_run
    from zerolap.documents import read_comparison, read_run

    reports = options.Reports(html=target, quiet=True)
    if identity.startswith("r-"):
        write_run(read_run(results, identity), results, reports)
    else:
        write_comparison(read_comparison(results, identity), results, reports)
