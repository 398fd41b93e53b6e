"""`zerolap comment`: writes stored comparisons into a comment on a pull request."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import completion, options
from zerolap.cli.option_groups import flag, option
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.cli.stored_comparisons import PullRequestAddress
    from zerolap.github import GitHub, GivenToken
    from zerolap.sheets import PullRequestState

app = Verb()

UNKNOWN_REPOSITORY = "OWNER/NAME"
"""In the links of a dry run, where no repository is given."""
HELP = f"""{VERBS["comment"]}

ID is printed at the end of compare; a unique beginning of it or `latest` will do. Several comparisons of the same
commits, such as those of several platforms, become one comment.

The token is read from --token-file, or from the environment's GITHUB_TOKEN. It has to be allowed to write to pull
requests: in a workflow, `permissions: pull-requests: write`. In a workflow, repository and addresses are known.

With --dry-run the comment is printed as it would be written; neither GitHub nor a token is needed.

Examples:

    zerolap comment latest --dry-run --repository valkey-io/valkey
    zerolap comment latest --repository valkey-io/valkey --pull-request 1234 --token-file ~/.github-token
    zerolap comment c-1f2e3d4c c-9a8b7c6d --pull-request 1234 --marker nightly
"""


@dataclass(frozen=True)
class CommentOptions:
    """Which comment is written where."""

    pull_request: int | None = option("Number of the pull request.", "N", min=1)
    dry_run: bool = flag("Print the comment instead of writing it.")
    repository: str = option(
        "Repository of the pull request.", "OWNER/NAME", default="", envvar="GITHUB_REPOSITORY", show_default=False
    )
    token_file: Path | None = option("File with the token; by default the environment's GITHUB_TOKEN.", "FILE")
    login: str | None = option(
        "Account that the token belongs to. By default GitHub is asked; where it does not answer that, the token is"
        " taken for that of a workflow, github-actions[bot].",
        "NAME",
    )
    marker: str = option(
        "Name of the comment: there is one of each name on a pull request.", "NAME", default="pull-request"
    )
    report_url: str = option("Page that the comment links to as the report.", "URL", default="")
    api_url: str = option("Address of the API.", "URL", default="https://api.github.com", envvar="GITHUB_API_URL")
    site_url: str = option("Address of the pages.", "URL", default="https://github.com", envvar="GITHUB_SERVER_URL")


@app.own(help=HELP)
def comment(
    identities: Annotated[
        list[str], typer.Argument(metavar="ID", show_default=False, autocompletion=completion.results)
    ],
    *,
    of: CommentOptions,
    store: options.StoreLocation = None,
) -> None:
    """Write the comment and print its address, or print the comment."""
    import asyncio

    from zerolap.cli.logging import set_up_logs
    from zerolap.cli.stored_comparisons import PullRequestAddress
    from zerolap.github import GitHub

    site = of.site_url.rstrip("/")
    if of.dry_run:
        address = PullRequestAddress(of.repository or UNKNOWN_REPOSITORY, of.pull_request or 0, site, of.report_url)
        writer.write(_body(_state(identities, address, store), of.marker))
        return
    if not of.repository:
        raise UsageError("`zerolap comment` needs a repository", hint="give --repository OWNER/NAME")
    if of.pull_request is None:
        raise UsageError("`zerolap comment` needs a pull request", hint="give --pull-request N, or --dry-run")
    token = _token(of.token_file, of.login)
    address = PullRequestAddress(of.repository, of.pull_request, site, of.report_url)
    state = _state(identities, address, store)
    set_up_logs()
    identifier = asyncio.run(_written(GitHub(of.api_url, token), state, of.marker))
    writer.show(f"{site}/{of.repository}/pull/{of.pull_request}#issuecomment-{identifier}")


def _state(identities: list[str], address: "PullRequestAddress", store: str | None) -> "PullRequestState":
    from zerolap.cli.stored_comparisons import state_of_comparisons
    from zerolap.documents import read_comparison
    from zerolap.store import Store

    with Store.open_to_read(store) as results:
        comparisons = [read_comparison(results, identity) for identity in dict.fromkeys(identities)]
        return state_of_comparisons(comparisons, address, results)


def _body(state: "PullRequestState", marker: str) -> str:
    """Return the comment with its marker, as it is written; raises `UsageError` for an invalid marker."""
    from zerolap.github import hidden_marker
    from zerolap.report.pull_request import MOST_COMMENT_BYTES, body_markdown

    try:
        hidden = hidden_marker(marker)
    except ValueError as wrong:
        raise UsageError(
            f"`--marker {marker}` is not valid", hint="write letters, digits and single - between"
        ) from wrong
    return f"{hidden}\n{body_markdown(state, MOST_COMMENT_BYTES - len(hidden) - 1)}"


def _token(file: Path | None, login: str | None) -> "GivenToken":
    from pydantic import SecretStr

    from zerolap.github import GivenToken, token_in

    if file is not None:
        return GivenToken(token_in(file), login)
    given = os.environ.get("GITHUB_TOKEN", "")
    if not given:
        raise UsageError("there is no token for GitHub", hint="give --token-file FILE, or set GITHUB_TOKEN")
    return GivenToken(SecretStr(given), login)


async def _written(client: "GitHub", state: "PullRequestState", marker: str) -> int:
    """Write the comment and return its id; raises `UsageError` for an invalid marker."""
    from zerolap.github import GitHubForbidden

    _, _, body = _body(state, marker).partition("\n")
    async with client as github:
        try:
            return await github.keep_comment(state.commits.repository, state.number, marker, body, None)
        except GitHubForbidden as forbidden:
            forbidden.hint = (
                "the token needs permission to write to pull requests; that of a pull request from a fork has none"
            )
            raise
