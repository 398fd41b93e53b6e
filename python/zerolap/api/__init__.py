"""The HTTP API: files for agents, health and metrics."""

from zerolap.api.app import application as application
from zerolap.api.serving import Address as Address, ServeOptions as ServeOptions, serve as serve
from zerolap.api.tokens import (
    INCLUDED as INCLUDED,
    new_token as new_token,
    token_digest as token_digest,
)
from zerolap.api.upkeep import look_after as look_after, usage as usage
from zerolap.api.watched_remote import follow as follow
