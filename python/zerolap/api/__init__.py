"""The HTTP API: files for agents, health and metrics."""

from zerolap.api.app import application

__all__ = ["application"]
