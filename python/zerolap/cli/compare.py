"""`zerolap compare`: compares two servers and reports verdicts with reasons."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import typer

from zerolap.cli import completion, options
from zerolap.cli.option_groups import option
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

app = Verb()

HELP = f"""{VERBS["compare"]}

BASE and HEAD are each a binary, a source tree, a revision of the repository of --repo, a program on the PATH, or a \
start command in quotes; REPO@REV names repository and revision together. In a checkout --repo is the checkout.

Examples:

    zerolap compare HEAD~1 HEAD
    zerolap compare HEAD~1 HEAD --repo ~/redis
    zerolap compare 7.0.15 7.2.4 'hash-*' --repo ~/redis --json report.json
    zerolap compare ./old/redis-server ./new/redis-server --command XADD
    zerolap compare redis-server redis-server --head-config hash-max-listpack-entries=0
    zerolap compare refs/tags/7.2 refs/heads/7.2 --repo ~/redis
    zerolap compare HEAD~1 HEAD --repo ~/redis --engine counted --fail-on work
    zerolap compare HEAD~1 HEAD 'set-*' --repo ~/redis --engine counted,timed,traced
    zerolap compare HEAD~1 HEAD --repo ~/redis --engine counted --count-build
    zerolap compare HEAD~1 HEAD --repo ~/redis --wait 5m
    zerolap compare HEAD~1 HEAD 'get-*' --repo ~/redis --engine counted --regimes all
    zerolap compare HEAD~1 HEAD get-100B@300-connections --repo ~/redis
    zerolap compare --each-commit 7.2.3..7.2.4 'get-*' --repo ~/redis
    zerolap compare 8.0 8.0 'get-*' --repo ~/redis --base-variant=-O2 --head-variant=-O3,clang
"""


@dataclass(frozen=True)
class SideOptions:
    """What the servers differ in."""

    PANEL: ClassVar = "What"

    base_config: list[str] | None = option("Server setting for the base only.", "KEY=VALUE")
    head_config: list[str] | None = option("Server setting for the head only.", "KEY=VALUE")
    base_variant: str | None = option("Variant words for the base, added to --variant.", "WORDS")
    head_variant: str | None = option("Variant words for the head, added to --variant.", "WORDS")


EachCommit = Annotated[
    bool,
    typer.Option(
        "--each-commit",
        help="Count every commit from BASE to HEAD, or of the range BASE..HEAD, and show its own share of the change"
        " of work.",
        rich_help_panel="How",
    ),
]


Stacks = Annotated[
    Literal["changed", "all"],
    typer.Option(help="Cases to sample stacks for: those that changed, or all.", rich_help_panel="How"),
]


@app.own(help=HELP)
def compare(
    context: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE", show_default=False, autocompletion=completion.revisions)],
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", show_default=False, autocompletion=completion.revisions)
    ] = None,
    *,
    cases: options.CaseOptions,
    servers: options.ServerOptions,
    sides: SideOptions,
    measuring: options.MeasuringOptions,
    stacks: Stacks = "changed",
    regimes: options.Regimes = None,
    each_commit: EachCommit = False,
    submission: options.PlatformOptions,
    reports: options.Reports,
    shows_all: options.ShowsAll = False,
    fail_on: options.FailWhen = "never",
    place: options.LabOptions,
) -> None:
    """Measure both sides, write the reports, and exit."""
    from zerolap.cli.exit_code import exit_code
    from zerolap.cli.output import write_comparison
    from zerolap.cli.repeated_command import command_line
    from zerolap.lab import Options, compare as compare_servers, comparison_request
    from zerolap.store import Store

    measuring.check(submission.platform)
    if each_commit:
        from zerolap.cli.each_commit import show_shares

        is_otherwise_measured = measuring.quick or measuring.count_build or submission.platform is not None
        if is_otherwise_measured or sides != SideOptions() or not {"json", "markdown"}.issuperset(reports.targets):
            raise UsageError(
                "`--each-commit` counts the commits of one range here, all built and started alike",
                hint="leave --quick, --count-build, --platform, the options of one side, and reports but --json and"
                " --markdown out",
            )
        line = command_line(context)
        raise typer.Exit(show_shares((base, head), cases, servers, measuring, reports, place, line, fail_on))
    if head is None:
        raise UsageError("`zerolap compare` needs two servers", hint="zerolap compare BASE HEAD, or --each-commit A..B")
    request = comparison_request(
        base=servers.requested(base, sides.base_config, sides.base_variant),
        head=servers.requested(head, sides.head_config, sides.head_variant),
        cases=cases.selected(),
        options=Options(
            engines=measuring.engines(judging=True),
            min_effect=measuring.min_effects,
            budget_seconds=measuring.budget_seconds,
            seed=measuring.seed,
            quick=measuring.quick,
            all_stacks=stacks == "all",
            count_build=measuring.count_build,
            regimes=regimes or ("none" if measuring.quick else "auto"),
        ),
        command_line=command_line(context),
    )
    with Store.open(place.store) as results:
        if submission.platform is not None:
            from zerolap.cli.submitting import answered

            raise typer.Exit(answered(request, results, submission, reports, fail_on))
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            comparison = compare_servers(request, lab)
        write_comparison(comparison, results, reports, fail_on, shows_all=shows_all)
    raise typer.Exit(exit_code(comparison, fail_on))
