"""The HTTP API: files for agents, health and metrics."""

from zerolap.api.app import application
from zerolap.api.serving import Address, ServeOptions, serve
from zerolap.api.tokens import INCLUDED, TokenScope, new_token, token_digest
from zerolap.api.upkeep import look_after, usage
from zerolap.api.watched_remote import follow

__all__ = [
    "INCLUDED",
    "Address",
    "ServeOptions",
    "TokenScope",
    "application",
    "follow",
    "look_after",
    "new_token",
    "serve",
    "token_digest",
    "usage",
]
