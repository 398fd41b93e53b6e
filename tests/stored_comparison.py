"""A finished comparison in a store, and a token to read it with."""

from typing import Any

from benches.page import FIXTURE
from zerolap.api.tokens import INCLUDED, TokenScope, new_token, token_digest
from zerolap.records import Comparison, Request, Resolved
from zerolap.store import ApiToken, Store
from zerolap.triggers.settings import TriggerSettings

COMPARISON = Comparison.model_validate_json(FIXTURE.read_text())
ID = "c-0123456789abcdef01234567"
ONLY_WITH_A_TOKEN = TriggerSettings()


def recorded_comparison(store: Store, **changes: Any) -> Comparison:
    """Record the comparison under its id, with changes."""
    comparison = COMPARISON.model_copy(update={"id": ID, **changes})
    request = Request(
        id=comparison.id,
        kind="compare",
        created=comparison.created,
        command_line=comparison.command_line,
        servers={},
        cases=(),
        settings=comparison.settings,
    )
    store.begin(Resolved(request=request, platform=comparison.platform, servers={}, cases=()))
    store.record_comparison(comparison)
    store.end(comparison.id, comparison.state)
    return comparison


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
