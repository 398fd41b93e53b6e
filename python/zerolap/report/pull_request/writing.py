"""The writing of foreign names and sentences in Markdown, plain text and Slack's markup."""

from collections.abc import Callable
from dataclasses import dataclass

from zerolap.report.markdown import code, prose
from zerolap.sheets import plain


@dataclass(frozen=True)
class Writing:
    """Writes names, and sentences with foreign parts, so that they do not act where the text is shown."""

    name: Callable[[str], str]
    sentence: Callable[[str], str]


def markdown_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for GitHub's Markdown, with the largest numbers of characters."""
    return Writing(
        name=lambda text: code(text, name_characters),
        sentence=lambda text: prose(text, sentence_characters),
    )


def plain_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for titles, descriptions and annotations, which are shown as they are."""
    return Writing(
        name=lambda text: plain(text, name_characters),
        sentence=lambda text: plain(text, sentence_characters),
    )


def slack_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for Slack's markup."""
    return Writing(
        name=lambda text: slack_code(text, name_characters),
        sentence=lambda text: slack(text, sentence_characters),
    )


def slack(text: str, longest: int | None = None) -> str:
    """Return foreign text for Slack, in which neither links nor mentions remain."""
    return plain(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_code(text: str, longest: int | None = None) -> str:
    """Return foreign text as code in Slack's markup, in which code cannot contain a backtick."""
    shown = slack(text, longest).replace("`", "'")
    return f"`{shown}`" if shown else ""
