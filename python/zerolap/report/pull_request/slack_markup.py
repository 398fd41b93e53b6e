"""Slack's markup."""

from zerolap.sheets import plain


def slack(text: str, longest: int | None = None) -> str:
    """Return foreign text for Slack, in which neither links nor mentions remain; names in backticks are code."""
    return plain(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_code(text: str, longest: int | None = None) -> str:
    """Return foreign text as code in Slack's markup, in which code cannot contain a backtick."""
    shown = slack(text, longest).replace("`", "'")
    return f"`{shown}`" if shown else ""
