"""`zerolap watch`: follows a branch of any git remote, and measures its new commits."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import Only, flag, option
from zerolap.cli.option_values import seconds
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError
from zerolap.fail_on import FailOn

if TYPE_CHECKING:
    from zerolap.records import Comparison
    from zerolap.triggers import Push

app = Verb()

HELP = f"""{VERBS["watch"]}

The remote is checked for new commits at intervals; no webhook is needed. The first time, following begins at the \
head of the branch, or after --since. Of several new commits, the newest is compared with the one that was measured \
last; --each-commit compares each with the one before it. A regression is reported once, and once more \
when it is gone. For several remotes, and for issues or Slack, see zerolap serve --triggers.

The result of each push is a line on standard output, with the command that shows its report; what is built and \
measured meanwhile is on standard error. With --once the exit code is 4 if there was something to measure and \
nothing of it could be, and 1 if --fail-on applies to any push.

Examples:

    zerolap watch --repo https://github.com/redis/redis --branch unstable
    zerolap watch --repo ~/redis --branch main --since v7.2.0 --each-commit --once 'hash-*'
    zerolap watch --repo ~/redis --branch main --once --json pushes.jsonl --fail-on regression
"""


@dataclass(frozen=True)
class FollowedOptions:
    """What is followed, and how."""

    repo: str = option("URL or path of the repository.", "R", default="", show_default=False)
    branch: list[str] | None = option("Branch to follow, or a glob of branches; can be repeated.", "B")
    tag: list[str] | None = option("Glob of tags to follow; can be repeated.", "T")
    every: str = option("Time between two checks of the remote.", "DURATION", default="60s")
    since: str = option("Commit or tag after which following begins, the first time.", "REV", default="")
    each_commit: bool = flag("Compare each commit with the one before it.")
    once: bool = flag("Check once, measure new commits, and exit.")
    json: str | None = option(
        "File for a line of JSON for each push, - for standard output; what people read is then on standard error.",
        "FILE|-",
    )


@app.own(help=HELP)
def watch(
    *,
    followed: FollowedOptions,
    cases: Annotated[options.CaseOptions, Only("cases", "cases_directory")],
    servers: Annotated[options.ServerOptions, Only("variant")],
    measuring: Annotated[options.MeasuringOptions, Only("engine", "budget")],
    regimes: options.Regimes = None,
    fail_on: options.FailWhen = "never",
    place: options.LabOptions,
) -> None:
    """Follow until stopped."""
    import asyncio

    from zerolap.api import follow
    from zerolap.cli.logging import set_up_lines
    from zerolap.cli.watch_log import WatchLog
    from zerolap.store import Store
    from zerolap.triggers import checked_settings

    repo, branches, tags = followed.repo, followed.branch or [], followed.tag or []
    if not repo:
        raise UsageError("`zerolap watch` needs a repository", hint="zerolap watch --repo URL --branch NAME")
    if not branches and not tags:
        raise UsageError("`zerolap watch` needs a branch or tags", hint=f"zerolap watch --repo {repo} --branch main")
    watched = {
        "remote": repo,
        "branches": branches,
        "tags": tags,
        "every_seconds": seconds(followed.every, "--every"),
        "each_commit": followed.each_commit,
        "cases": cases.cases or [],
        "cases_directory": None if cases.cases_directory is None else str(cases.cases_directory),
        "engines": measuring.engines(judging=True),
        "budget": measuring.budget,
        "regimes": regimes,
        "variant": servers.variant or "default",
    }
    given = {key: value for key, value in watched.items() if value is not None}
    settings = checked_settings({"watch": [given]}, Path.cwd())
    set_up_lines(WatchLog())
    results = _Results(followed.json, place.store)
    with Store.open(place.store) as opened:
        policy = options.sandbox_policy(place.unsafe_no_sandbox)
        since, once = followed.since, followed.once
        asyncio.run(follow(opened, settings, policy, results.show, since=since, once=once))
    if once:
        raise typer.Exit(results.exit_code(fail_on))


class _Results:
    """Shows what comes of each push; the lines for people go to standard error where `json` gets others."""

    def __init__(self, json: str | None, store: str | None) -> None:
        self._json = json
        self._store = store
        self._pushes: list[Sequence[Comparison]] = []

    def show(self, push: "Push", comparisons: Sequence["Comparison"]) -> None:
        """Write the lines of a push that is measured."""
        from zerolap.triggers import PushReport

        self._pushes.append(comparisons)
        report = PushReport.of(push, comparisons)
        self._tell(f"{push.commit[:12]} {push.ref}: {report.headline}")
        where = "" if self._store is None else f" --store {shlex.quote(self._store)}"
        for identity in push.comparisons:
            self._tell(f"  report: zerolap explain {identity}{where}")
        line = report.model_dump_json(by_alias=True, exclude_none=True)
        if self._json == "-":
            writer.write(f"{line}\n")
        elif self._json is not None:
            with Path(self._json).open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def _tell(self, line: str) -> None:
        (writer.show if self._json is None else writer.note)(line)

    def exit_code(self, fail_on: FailOn) -> int:
        """Return 4 if there were pushes to measure and none was, 1 if `fail_on` applies to any of them, else 0."""
        from zerolap.cli.exit_code import DONE, FAIL_ON_APPLIES
        from zerolap.records import TrialFailed
        from zerolap.sheets import gate_sentence

        cases = [case for push in self._pushes for comparison in push for case in comparison.cases]
        has_result = any(case.verdicts or (case.work, case.time, case.memory) != (None, None, None) for case in cases)
        if self._pushes and not has_result:
            writer.note("error: nothing was measured of what is new")
            return TrialFailed.exit_code
        reasons = [gate_sentence(comparison, fail_on) for push in self._pushes for comparison in push]
        if fail_on != "never" and not all(self._pushes):
            reasons.append(f"--fail-on {fail_on} applies: a push was not measured")
        for reason in dict.fromkeys(filter(None, reasons)):
            writer.note(reason)
        return FAIL_ON_APPLIES if any(reasons) else DONE
