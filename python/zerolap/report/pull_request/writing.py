"""How names and sentences of others are written into a text, by who shows it."""

from collections.abc import Callable
from dataclasses import dataclass

from zerolap.report import markup


@dataclass(frozen=True)
class Writing:
    """Writes a name, and a sentence with foreign parts, so that they do not act where the text is shown."""

    name: Callable[[str], str]
    sentence: Callable[[str], str]


def markdown_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for GitHub's Markdown, with the most characters that each may have."""
    return Writing(
        name=lambda text: markup.code(text, name_characters),
        sentence=lambda text: markup.prose(text, sentence_characters),
    )


def plain_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for titles, descriptions and annotations, which are shown as they are."""
    return Writing(
        name=lambda text: markup.plain(text, name_characters),
        sentence=lambda text: markup.plain(text, sentence_characters),
    )


def slack_writing(name_characters: int = 60, sentence_characters: int = 300) -> Writing:
    """Return the writing for Slack's markup."""
    return Writing(
        name=lambda text: markup.slack_code(text, name_characters),
        sentence=lambda text: markup.slack(text, sentence_characters),
    )
