"""A finished comparison in a store, and a token to read it with."""

from collections.abc import Mapping
from typing import Any

from benches.page import FIXTURE
from zerolap.api.tokens import INCLUDED, TokenScope, new_token, token_digest
from zerolap.records import Comparison, Request, RequestedServer, Resolved, ResolvedServer, RunReport, Side
from zerolap.store import ApiToken, Store
from zerolap.triggers.settings import TriggerSettings

COMPARISON = Comparison.model_validate_json(FIXTURE.read_text())
ID = "c-0123456789abcdef01234567"
ONLY_WITH_A_TOKEN = TriggerSettings()


def recorded_comparison(store: Store, **changes: Any) -> Comparison:
    """Record the comparison under its id, with changes."""
    comparison = COMPARISON.model_copy(update={"id": ID, **changes})
    record_document(store, comparison)
    return comparison


def record_document(
    store: Store, document: Comparison | RunReport, servers: Mapping[Side, ResolvedServer] | None = None
) -> None:
    """Record a comparison or run that has ended, with a request of the least that there can be."""
    request = Request(
        id=document.id,
        kind="compare" if isinstance(document, Comparison) else "run",
        created=document.created,
        command_line=document.command_line,
        servers={
            side: RequestedServer(source=server.source, variant=server.variant)
            for side, server in (servers or {}).items()
        },
        cases=(),
        settings=document.settings,
    )
    store.begin(Resolved(request=request, platform=document.platform, servers=dict(servers or {}), cases=()))
    if isinstance(document, Comparison):
        store.record_comparison(document)
        store.end(document.id, document.state)
    else:
        store.record_run(document)
        store.end(document.id, "done")


def stored_token(store: Store, name: str, scope: TokenScope, actor: str = "") -> str:
    """Record a token, and return it."""
    token = new_token()
    digest = token_digest(token)
    assert digest is not None
    assert store.triggers.add_token(ApiToken(name, digest, actor or name, INCLUDED[scope]))
    return token


def reading_token(store: Store) -> str:
    """Record a token that permits to read, and return it."""
    return stored_token(store, "reader", "read")
