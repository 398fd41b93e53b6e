"""`zerolap watch`: follows a branch of any git remote, and measures its new commits."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from zerolap.records import Comparison
    from zerolap.triggers import Push, TriggerSettings

app = typer.Typer(rich_markup_mode="rich")

WATCH_SCHEMA = "zerolap.watch/1"
HELP = f"""{VERBS["watch"]}

The remote is checked for new commits at intervals; no webhook is needed. The first time, following begins at the \
head of the branch, or after --since. Of several new commits, the newest is compared with the one that was measured \
last; --each-commit compares each with the one before it. A regression is reported once, and once more \
when it is gone. For several remotes, and for issues or Slack, see zerolap serve --triggers.

Examples:

    zerolap watch --repo https://github.com/redis/redis --branch unstable

    zerolap watch --repo ~/redis --branch main --since v7.2.0 --each-commit --once 'hash-*'
"""


@app.command(help=HELP, no_args_is_help=True)
def watch(
    cases: options.Cases = None,
    repo: Annotated[str, typer.Option(help="URL or path of the repository.", metavar="R", show_default=False)] = "",
    branch: Annotated[
        list[str] | None, typer.Option(help="Branch to follow, or a glob of branches; can be repeated.", metavar="B")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Glob of tags to follow; can be repeated.", metavar="T")] = None,
    every: Annotated[str, typer.Option(help="Time between two checks of the remote.", metavar="DURATION")] = "60s",
    since: Annotated[
        str, typer.Option(help="Commit or tag after which following begins, the first time.", metavar="REV")
    ] = "",
    each_commit: Annotated[bool, typer.Option(help="Compare each commit with the one before it.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Check once, measure new commits, and exit.")] = False,
    cases_directory: options.CasesDirectory = None,
    engine: options.Engine = None,
    budget: options.Budget = None,
    variant: options.VariantWords = None,
    json: Annotated[
        str | None, typer.Option(help="File for a line of JSON for each push, - for standard output.", metavar="FILE|-")
    ] = None,
    store: options.StoreLocation = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
) -> None:
    """Follow until stopped."""
    import asyncio

    from zerolap.api import follow
    from zerolap.cli.logging import set_up_logs
    from zerolap.errors import UsageError
    from zerolap.store import Store

    if not repo:
        raise UsageError("`zerolap watch` needs a repository", hint="zerolap watch --repo URL --branch NAME")
    if not branch and not tag:
        raise UsageError("`zerolap watch` needs a branch or tags", hint=f"zerolap watch --repo {repo} --branch main")
    settings = _settings(
        {
            "remote": repo,
            "branches": branch or [],
            "tags": tag or [],
            "every_seconds": options.seconds(every),
            "each_commit": each_commit,
            "cases": cases or [],
            "cases_directory": None if cases_directory is None else str(cases_directory),
            "engines": None if engine is None else options.engines(engine, quick=False, judging=True),
            "budget": budget,
            "variant": variant or "default",
        }
    )
    set_up_logs()
    with Store.open(store) as results:
        policy = options.sandbox_policy(unsafe_no_sandbox)
        asyncio.run(follow(results, settings, policy, partial(_show, json), since=since, once=once))


def _settings(watched: dict[str, object]) -> "TriggerSettings":
    """Return settings with one watched remote; raises `UsageError` for options that are not valid."""
    from zerolap.triggers import checked_settings

    return checked_settings(
        {"watch": [{key: value for key, value in watched.items() if value is not None}]}, Path.cwd()
    )


def _show(json: str | None, push: "Push", comparisons: Sequence["Comparison"]) -> None:
    """Write a line about a push that is measured."""
    import json as encoder

    from zerolap.triggers import PushTrigger, headline, regressed_cases

    if json is None:
        writer.show(f"{push.commit[:12]} {push.ref}: {headline(push, comparisons)}")
        return
    line = encoder.dumps(
        {
            "schema": WATCH_SCHEMA,
            "branch" if isinstance(push.trigger, PushTrigger) else "tag": push.ref,
            "commit": push.commit,
            "comparisons": list(push.comparisons),
            "regressions": regressed_cases(comparisons),
            "failures": list(push.failures),
        }
    )
    if json == "-":
        writer.write(f"{line}\n")
        return
    with Path(json).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
