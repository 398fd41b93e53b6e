"""The command line: one verb a file, imported when it is called."""

from zerolap.cli.main import main

__all__ = ["main"]
