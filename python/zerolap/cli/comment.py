"""`zerolap comment`: writes stored comparisons into a comment on a pull request."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import completion, options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from zerolap.cli.stored_comparisons import PullRequestAddress
    from zerolap.github import GitHub, GivenToken
    from zerolap.sheets import PullRequestState

app = Verb()

PUBLIC_API = "https://api.github.com"
PUBLIC_SITE = "https://github.com"
DEFAULT_MARKER = "pull-request"
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

Repository = Annotated[
    str,
    typer.Option(
        help="Repository of the pull request.", metavar="OWNER/NAME", envvar="GITHUB_REPOSITORY", show_default=False
    ),
]
Number = Annotated[int | None, typer.Option("--pull-request", help="Number of the pull request.", metavar="N", min=1)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the comment instead of writing it.")]
TokenPath = Annotated[
    Path | None,
    typer.Option(
        "--token-file", help="File with the token; by default the environment's GITHUB_TOKEN.", metavar="FILE"
    ),
]
Login = Annotated[
    str | None,
    typer.Option(
        help="Account that the token belongs to. By default GitHub is asked; where it does not answer that, the token"
        " is taken for that of a workflow, github-actions[bot].",
        metavar="NAME",
    ),
]
Marker = Annotated[
    str, typer.Option(help="Name of the comment: there is one of each name on a pull request.", metavar="NAME")
]
ReportUrl = Annotated[str, typer.Option(help="Page that the comment links to as the report.", metavar="URL")]
ApiUrl = Annotated[str, typer.Option(help="Address of the API.", metavar="URL", envvar="GITHUB_API_URL")]
SiteUrl = Annotated[str, typer.Option(help="Address of the pages.", metavar="URL", envvar="GITHUB_SERVER_URL")]


@app.own(help=HELP)
def comment(
    identities: Annotated[
        list[str], typer.Argument(metavar="ID", show_default=False, autocompletion=completion.results)
    ],
    pull_request: Number = None,
    dry_run: DryRun = False,
    repository: Repository = "",
    token_file: TokenPath = None,
    login: Login = None,
    marker: Marker = DEFAULT_MARKER,
    report_url: ReportUrl = "",
    api_url: ApiUrl = PUBLIC_API,
    site_url: SiteUrl = PUBLIC_SITE,
    store: options.StoreLocation = None,
) -> None:
    """Write the comment and print its address, or print the comment."""
    import asyncio

    from zerolap.cli.logging import set_up_logs
    from zerolap.cli.stored_comparisons import PullRequestAddress
    from zerolap.errors import UsageError
    from zerolap.github import GitHub

    site = site_url.rstrip("/")
    if dry_run:
        address = PullRequestAddress(repository or UNKNOWN_REPOSITORY, pull_request or 0, site, report_url)
        writer.write(_body(_state(identities, address, store), marker))
        return
    if not repository:
        raise UsageError("`zerolap comment` needs a repository", hint="give --repository OWNER/NAME")
    if pull_request is None:
        raise UsageError("`zerolap comment` needs a pull request", hint="give --pull-request N, or --dry-run")
    token = _token(token_file, login)
    address = PullRequestAddress(repository, pull_request, site, report_url)
    state = _state(identities, address, store)
    set_up_logs()
    identifier = asyncio.run(_written(GitHub(api_url, token), state, marker))
    writer.show(f"{site}/{repository}/pull/{pull_request}#issuecomment-{identifier}")


def _state(identities: list[str], address: "PullRequestAddress", store: str | None) -> "PullRequestState":
    """Return the state of a pull request from stored comparisons."""
    from zerolap.cli.stored_comparisons import state_of_comparisons
    from zerolap.documents import read_comparison
    from zerolap.store import Store

    with Store.open_to_read(store) as results:
        comparisons = [read_comparison(results, identity) for identity in dict.fromkeys(identities)]
        return state_of_comparisons(comparisons, address, results)


def _body(state: "PullRequestState", marker: str) -> str:
    """Return the comment with its marker, as it is written; raises `UsageError` for an invalid marker."""
    from zerolap.errors import UsageError
    from zerolap.github import hidden_marker
    from zerolap.report.pull_request import MOST_BYTES, body_markdown

    try:
        hidden = hidden_marker(marker)
    except ValueError as wrong:
        raise UsageError(
            f"`--marker {marker}` is not valid", hint="write letters, digits and single - between"
        ) from wrong
    return f"{hidden}\n{body_markdown(state, MOST_BYTES - len(hidden) - 1)}"


def _token(file: Path | None, login: str | None) -> "GivenToken":
    from pydantic import SecretStr

    from zerolap.errors import UsageError
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
