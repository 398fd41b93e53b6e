"""`zerolap token`: makes, lists and removes tokens of the HTTP API."""

import re
from typing import Annotated, Literal

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

app = Verb(help=VERBS["token"])

TOKENS_SCHEMA = "zerolap.tokens/1"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.", show_default=False)]


@app.own()
def add(
    name: Name,
    scope: Annotated[
        Literal["read", "submit", "admin"],
        typer.Option(
            help="What it permits: read; submit, which may also ask for comparisons and end them; admin, which may also"
            " end those of others and ask for the priority release.",
            metavar="read|submit|admin",
        ),
    ] = "read",
    actor: Annotated[
        str, typer.Option(help="Actor of the token in reports and limits; by default NAME.", metavar="WHO")
    ] = "",
    store: options.StoreLocation = None,
) -> None:
    """Make a token, and print it: it is shown only now, and the store holds no more than its SHA-256.

    Examples: zerolap token add ci --scope submit; zerolap token add ci-2 --scope submit --actor ci > token
    """
    from zerolap.api import INCLUDED, new_token, token_digest
    from zerolap.store import ApiToken, Store
    from zerolap.triggers import LOGIN

    if NAME.fullmatch(name) is None:
        raise UsageError(f"`{name}` is not a valid name of a token", hint="use letters, digits, `-`, `_` and `.`")
    if LOGIN.fullmatch(actor or name) is None:
        raise UsageError(f"`{actor or name}` is no name of an actor", hint="--actor takes letters, digits, `-` and `_`")
    token = new_token()
    digest = token_digest(token)
    assert digest is not None
    with Store.open(store) as results:
        new = ApiToken(name, digest, actor or name, INCLUDED[scope])
        if not results.triggers.add_token(new):
            raise UsageError(f"there is a token {name} already", hint=f"zerolap token remove {name}, or another name")
    writer.note(f"the token {name} is shown only now; keep it secret")
    writer.show(token)


@app.own("list")
def list_tokens(json: options.Json = None, store: options.StoreLocation = None) -> None:
    """List the tokens, with their actors, scopes and last uses.

    Example: zerolap token list --json -
    """
    from rich.text import Text

    from zerolap.cli.output import write_document
    from zerolap.records import moment_text
    from zerolap.store import Store

    with Store.open(store) as results:
        tokens = results.triggers.tokens()
    listed = [
        {
            "name": token.name,
            "actor": token.actor,
            "scope": token.scopes[-1],
            "created": moment_text(token.created),
            "last_used": moment_text(token.last_used) or None,
        }
        for token in tokens
    ]
    write_document(json, {"schema": TOKENS_SCHEMA, "tokens": listed})
    if json == "-":
        return
    if not listed:
        writer.show("There are no tokens. Make one: zerolap token add NAME")
        return
    table = writer.table("token", "actor", "scope", "created", "last used")
    for row in listed:
        table.add_row(*(Text(value or "never") for value in row.values()))
    writer.console().print(table)


@app.own()
def remove(name: Name, store: options.StoreLocation = None) -> None:
    """Remove a token, which is refused from now on, also by a zerolap serve that is running.

    Example: zerolap token remove ci
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        if not results.triggers.remove_token(name):
            raise UsageError(f"there is no token {name}", hint="zerolap token list shows all")
    writer.show(f"the token {name} is removed")
