"""Load from another machine: the channel between both, what they send each other, and both sides."""

from zerolap.load.remote.channel import Listening, connect_to_server_host, listen_for_load_host
from zerolap.load.remote.load_side import LOAD_PREFIX, serve_load
from zerolap.load.remote.server_side import RemoteLoadHost

__all__ = ["LOAD_PREFIX", "Listening", "RemoteLoadHost", "connect_to_server_host", "listen_for_load_host", "serve_load"]
