"""Zerolap: a zero-touch performance lab for servers that speak the Redis protocol."""

__version__ = "0.1.0"
