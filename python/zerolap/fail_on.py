"""When a comparison counts as failed, for gates of the command line, of reports and of pull requests."""

from typing import Literal, TypeAlias

FailOn: TypeAlias = Literal["never", "work", "time", "memory", "suite", "regression", "unmeasured", "unsure"]
"""`regression` includes those before it, and `unsure` all others and invalid cases.

`suite` is a regression of cases together, `unmeasured` a changed function that no case executed. All but these and
`never` include a case that fails on the head alone, and a comparison that has no answer to what is asked.
"""
