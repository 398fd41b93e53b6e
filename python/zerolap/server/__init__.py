"""Build and settings in, running server out."""

from zerolap.server.running import RunningServer, start

__all__ = ["RunningServer", "start"]
