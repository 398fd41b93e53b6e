"""Load from another machine: the channel between both, what they send each other, and both sides."""

from zerolap.load.remote.channel import (
    Listening as Listening,
    connect_to_server_host as connect_to_server_host,
    listen_for_load_host as listen_for_load_host,
)
from zerolap.load.remote.load_side import LOAD_PREFIX as LOAD_PREFIX, serve_load as serve_load
from zerolap.load.remote.server_side import RemoteLoadHost as RemoteLoadHost
