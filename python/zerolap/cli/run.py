"""`zerolap run`: measures a single server."""

from typing import Annotated

import typer

from zerolap.cli import options
from zerolap.cli.option_groups import Without
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

LoadTool = Annotated[
    str | None,
    typer.Option(
        "--load-tool",
        help="Program that puts load on the server: zerolap-load, memtier_benchmark, redis-benchmark, "
        "valkey-benchmark, or a plugin's.",
        metavar="NAME",
        rich_help_panel="How",
    ),
]

app = Verb()

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


@app.own(help=HELP)
def run(
    context: typer.Context,
    server: options.Server = "redis-server",
    load_tool: LoadTool = None,
    *,
    cases: options.CaseOptions,
    servers: options.ServerOptions,
    measuring: Annotated[options.MeasuringOptions, Without("min_effect")],
    submission: options.PlatformOptions,
    reports: Annotated[options.Reports, Without("sarif")],
    place: options.LabOptions,
) -> None:
    """Measure the server, write the reports, and exit."""
    from zerolap.cli.exit_code import run_exit_code
    from zerolap.cli.output import write_run
    from zerolap.cli.repeated_command import command_line
    from zerolap.lab import Options, run as run_server, run_request
    from zerolap.store import Store

    measuring.check(submission.platform)
    request = run_request(
        server=servers.requested(server),
        cases=cases.selected(),
        options=Options(
            engines=measuring.engines(),
            budget_seconds=measuring.budget_seconds,
            seed=measuring.seed,
            quick=measuring.quick,
            load_tool=load_tool,
            count_build=measuring.count_build,
        ),
        command_line=command_line(context),
    )
    with Store.open(place.store) as results:
        if submission.platform is not None:
            from zerolap.cli.submitting import answered

            raise typer.Exit(answered(request, results, submission, reports))
        with place.lab(results, measuring, quiet=reports.quiet) as lab:
            report = run_server(request, lab)
        write_run(report, results, reports)
    raise typer.Exit(run_exit_code(report))
