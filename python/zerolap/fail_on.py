"""When a comparison counts as failed, for gates of the command line, of reports and of pull requests."""

from typing import Literal, TypeAlias

FailOn: TypeAlias = Literal["never", "work", "time", "regression", "unsure"]
"""Each of the last two includes those before it, `unsure` invalid cases too.

All but `never` include a case that fails on the head alone, and a comparison that has no answer to what is asked.
"""
