"""The command line: one file per verb, imported when the verb is called."""

from zerolap.cli.main import main as main
