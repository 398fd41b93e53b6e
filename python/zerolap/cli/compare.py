"""`zerolap compare`: compares two servers and reports verdicts with reasons."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from zerolap.cli import completion, options
from zerolap.cli.verbs import VERBS

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

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

    zerolap compare --each-commit 7.2.3..7.2.4 'get-*' --repo ~/redis

    zerolap compare 8.0 8.0 'get-*' --repo ~/redis --base-variant=-O2 --head-variant=-O3,clang
"""

BaseConfig = Annotated[list[str] | None, typer.Option(help="Server setting for the base only.", metavar="KEY=VALUE")]
HeadConfig = Annotated[list[str] | None, typer.Option(help="Server setting for the head only.", metavar="KEY=VALUE")]
BaseVariant = Annotated[
    str | None, typer.Option(help="Variant words for the base, added to --variant.", metavar="WORDS")
]
HeadVariant = Annotated[
    str | None, typer.Option(help="Variant words for the head, added to --variant.", metavar="WORDS")
]


EachCommit = Annotated[
    bool,
    typer.Option(
        "--each-commit",
        help="Count every commit from BASE to HEAD, or of the range BASE..HEAD, and show its own share of the change"
        " of work.",
    ),
]


class WhichStacks(StrEnum):
    """Which cases are sampled."""

    CHANGED = "changed"
    ALL = "all"


Stacks = Annotated[WhichStacks, typer.Option(help="Cases to sample stacks for: those that changed, or all.")]


@app.command(help=HELP)
def compare(
    context: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE", show_default=False, autocompletion=completion.revisions)],
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", show_default=False, autocompletion=completion.revisions)
    ] = None,
    cases: options.Cases = None,
    repo: options.Repo = None,
    cases_directory: options.CasesDirectory = None,
    command: options.Command = None,
    group: options.Group = None,
    engine: options.Engine = None,
    stacks: Stacks = WhichStacks.CHANGED,
    each_commit: EachCommit = False,
    budget: options.Budget = None,
    wait: options.Wait = None,
    trial_limit: options.TrialLimit = None,
    min_effect: options.MinEffect = "counted=0.5%,timed=2%",
    quick: options.Quick = False,
    count_build: options.CountBuild = False,
    topology: options.Topology = None,
    config: options.Config = None,
    base_config: BaseConfig = None,
    head_config: HeadConfig = None,
    variant: options.VariantWords = None,
    base_variant: BaseVariant = None,
    head_variant: HeadVariant = None,
    json: options.Json = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    benchfmt: options.Benchfmt = None,
    fail_on: options.FailWhen = options.FailOn.NEVER,
    store: options.StoreLocation = None,
    platform: options.Platform = None,
    priority: options.Priority = options.DEFAULT_PRIORITY,
    topic: options.Topic = "",
    no_wait: options.NoWait = False,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
    all_details: options.AllDetails = False,
) -> None:
    """Measure both sides, write the reports, and exit."""
    from zerolap.cli.bar import Bar
    from zerolap.cli.case_selection import deployed, selected_cases
    from zerolap.cli.exit_code import exit_code
    from zerolap.cli.output import Reports, write_comparison
    from zerolap.errors import UsageError
    from zerolap.lab import Lab, Options, compare as compare_servers, comparison_request
    from zerolap.records import RequestedServer
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown, html=html, benchfmt=benchfmt)
    if each_commit:
        from zerolap.cli.each_commit import SharesOptions, show_shares_of_commits

        with_html = html is not None or benchfmt is not None
        of_a_side = base_config or head_config or base_variant or head_variant
        if with_html or quick or count_build or platform is not None or of_a_side:
            raise UsageError(
                "`--each-commit` counts the commits of one range here, all built and started alike",
                hint="leave --html, --benchfmt, --quick, --count-build, --platform and the options of one side out",
            )
        text, names = (base, [head, *(cases or [])]) if ".." in base else (f"{base}..{head or ''}", cases or [])
        selected = selected_cases(cases_directory, [name for name in names if name], command, group)
        asked = options.history_range(
            repo or Path(),
            text,
            deployed(selected, topology, cases_directory),
            variant,
            options.server_settings(config),
        )
        shares = SharesOptions(
            options.seconds(budget),
            options.command_line(context),
            json,
            markdown,
            quiet,
            store,
            fail_on,
            options.trial_seconds(trial_limit, None, quick=False),
        )
        raise typer.Exit(show_shares_of_commits(asked, shares, options.sandbox_policy(unsafe_no_sandbox)))
    if head is None:
        raise UsageError("`zerolap compare` needs two servers", hint="zerolap compare BASE HEAD, or --each-commit A..B")
    options.check_platform(platform, priority=priority, topic=topic, no_wait=no_wait)
    wait_seconds = options.wait_seconds(wait, platform)
    trial_seconds = options.trial_seconds(trial_limit, platform, quick=quick)
    shared = options.server_settings(config)
    request = comparison_request(
        base=RequestedServer(
            source=options.source(base, repo),
            variant=options.variant(variant, base_variant).name,
            config=shared | options.server_settings(base_config),
        ),
        head=RequestedServer(
            source=options.source(head, repo),
            variant=options.variant(variant, head_variant).name,
            config=shared | options.server_settings(head_config),
        ),
        cases=deployed(selected_cases(cases_directory, cases, command, group), topology, cases_directory),
        options=Options(
            engines=options.engines(engine, quick=quick, judging=True),
            min_effect=options.min_effects(min_effect),
            budget_seconds=options.seconds(budget),
            seed=seed,
            quick=quick,
            all_stacks=stacks is WhichStacks.ALL,
            count_build=count_build,
        ),
        command_line=options.command_line(context),
    )
    reports = Reports(json, markdown, html, benchfmt, quiet, all_details)
    with Store.open(store) as results:
        if platform is not None:
            from zerolap.cli.submitting import answered, for_platforms

            requests = for_platforms(request, platform, priority, topic, results)
            raise typer.Exit(answered(requests, results, reports, fail_on, wait=not no_wait))
        with Bar(quiet=quiet) as bar:
            policy = options.sandbox_policy(unsafe_no_sandbox)
            lab = Lab(results, bar, policy, wait_seconds=wait_seconds, trial_seconds=trial_seconds)
            comparison = compare_servers(request, lab)
        write_comparison(comparison, results, reports)
    raise typer.Exit(exit_code(comparison, fail_on))
