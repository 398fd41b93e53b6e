"""What GitHub would make of Markdown: the elements of its page, and what acts in its text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

ACTS_IN_TEXT = {
    "a mention": re.compile(r"@\w"),
    "a reference to an issue": re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    "a reference to a commit": re.compile(r"\b[0-9a-f]{7,40}\b", re.IGNORECASE),
    "an address": re.compile(r"\w://\w|\bwww\.|\bmailto:", re.IGNORECASE),
    "an emoji": re.compile(r":[\w+-]+:"),
    "a formula": re.compile(r"\$"),
    "a footnote": re.compile(r"\[\^"),
    "a task": re.compile(r"\[[ xX]\]"),
    "a command": re.compile(r"^\s*/\w", re.MULTILINE),
    "a control character": re.compile(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    ),
}
"""What GitHub, or the lab, does with text after Markdown was read; of code spans only control characters matter."""


@dataclass
class Page(HTMLParser):
    """The elements of a page with their attributes, its comments, its text without code and with it, and its code."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str = ""
    everything: str = ""
    code: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._is_in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "code":
            self._is_in_code = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_in_code = self._is_in_code and tag != "code"

    def handle_data(self, data: str) -> None:
        self.everything += data
        if self._is_in_code:
            self.code[-1] += data
        else:
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def tags(self) -> list[str]:
        """The names of the elements."""
        return [tag for tag, _ in self.elements]

    @property
    def links(self) -> list[str]:
        """The targets of the links."""
        return [attributes.get("href") or "" for tag, attributes in self.elements if tag == "a"]

    @property
    def acts(self) -> list[str]:
        """What in its text acts."""
        acts = [name for name, pattern in ACTS_IN_TEXT.items() if pattern.search(self.text)]
        hidden = ACTS_IN_TEXT["a control character"]
        return acts + ["a control character in code" for code in self.code if hidden.search(code)]


def read_by_markdown_it(markdown: str) -> Page:
    """Read Markdown as CommonMark with tables, strikethrough and HTML, by a parser that knows no GitHub."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return _page_of(reader.render(markdown))


def read_by_github(markdown: str) -> Page:
    """Read Markdown by GitHub's own parser, with all of its extensions, and HTML not filtered."""
    cmarkgfm = pytest.importorskip("cmarkgfm", reason="pip install cmarkgfm")
    options = cmarkgfm.cmark.Options
    html = cmarkgfm.github_flavored_markdown_to_html(
        markdown, options=options.CMARK_OPT_UNSAFE | options.CMARK_OPT_FOOTNOTES
    )
    return _page_of(html)


READERS: dict[str, Callable[[str], Page]] = {"markdown-it": read_by_markdown_it, "cmark-gfm": read_by_github}


def _page_of(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page
