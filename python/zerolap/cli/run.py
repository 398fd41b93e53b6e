"""`zerolap run`: measures a single server."""

from typing import Annotated

import typer

from zerolap.cli import options
from zerolap.cli.verbs import VERBS

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Engines, separated by commas: counted, timed, sampled, traced, loaded, or a plugin's.",
        metavar="NAMES",
        show_default=False,
    ),
]
LoadTool = Annotated[
    str | None,
    typer.Option(
        "--load-tool",
        help="Program that puts load on the server: zerolap-load, memtier_benchmark, redis-benchmark, "
        "valkey-benchmark, or a plugin's.",
        metavar="NAME",
    ),
]

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

HELP = f"""{VERBS["run"]}

Examples:

    zerolap run

    zerolap run 'get-*' --server ./src/redis-server

    zerolap run --command GET --command SET --server 7.2.4 --repo ~/redis --json run.json

    zerolap run 'get-*' --engine timed --wait 5m

    zerolap run 'set-*' --server 8.0 --repo ~/redis --variant libc,frame-pointers

    zerolap run get-100B --engine sampled --html run.html

    zerolap run 'set-*' --engine traced

    zerolap run get-100B --load-tool memtier_benchmark

    zerolap run --engine counted --count-build --server 7.2.4 --repo ~/redis && zerolap opportunities
"""


@app.command(help=HELP)
def run(
    context: typer.Context,
    cases: options.Cases = None,
    server: options.Server = "redis-server",
    repo: options.Repo = None,
    cases_directory: options.CasesDirectory = None,
    command: options.Command = None,
    group: options.Group = None,
    engine: Engine = None,
    load_tool: LoadTool = None,
    budget: options.Budget = None,
    wait: options.Wait = None,
    trial_limit: options.TrialLimit = None,
    quick: options.Quick = False,
    count_build: options.CountBuild = False,
    topology: options.Topology = None,
    config: options.Config = None,
    variant: options.VariantWords = None,
    json: options.Json = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    benchfmt: options.Benchfmt = None,
    store: options.StoreLocation = None,
    platform: options.Platform = None,
    priority: options.Priority = options.DEFAULT_PRIORITY,
    topic: options.Topic = "",
    no_wait: options.NoWait = False,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure the server, write the reports, and exit."""
    from zerolap.cli.bar import Bar
    from zerolap.cli.case_selection import deployed, selected_cases
    from zerolap.cli.exit_code import run_exit_code
    from zerolap.cli.output import Reports, write_run
    from zerolap.lab import Lab, Options, run as run_server, run_request
    from zerolap.records import RequestedServer
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown, html=html, benchfmt=benchfmt)
    options.check_platform(platform, priority=priority, topic=topic, no_wait=no_wait)
    wait_seconds = options.wait_seconds(wait, platform)
    trial_seconds = options.trial_seconds(trial_limit, platform, quick=quick)
    request = run_request(
        server=RequestedServer(
            source=options.source(server, repo),
            variant=options.variant(variant).name,
            config=options.server_settings(config),
        ),
        cases=deployed(selected_cases(cases_directory, cases, command, group), topology, cases_directory),
        options=Options(
            engines=options.engines(engine, quick=quick),
            budget_seconds=options.seconds(budget),
            seed=seed,
            quick=quick,
            load_tool=load_tool,
            count_build=count_build,
        ),
        command_line=options.command_line(context),
    )
    reports = Reports(json, markdown, html, benchfmt, quiet)
    with Store.open(store) as results:
        if platform is not None:
            from zerolap.cli.submitting import answered, for_platforms

            requests = for_platforms(request, platform, priority, topic, results)
            raise typer.Exit(answered(requests, results, reports, wait=not no_wait))
        with Bar(quiet=quiet) as bar:
            policy = options.sandbox_policy(unsafe_no_sandbox)
            lab = Lab(results, bar, policy, wait_seconds=wait_seconds, trial_seconds=trial_seconds)
            report = run_server(request, lab)
        write_run(report, results, reports)
    raise typer.Exit(run_exit_code(report))
