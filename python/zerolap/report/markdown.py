"""GitHub's Markdown of all reports and comments: foreign text that is shown and never acts, tables, lists, sections.

Names of commits, branches, cases, functions and files, and what servers print, come from whoever wrote the code under
test. GitHub does more than Markdown: it turns `@name`, `#12`, commit hashes, addresses, `:words:` and dollar signs in
rendered text into mentions, links, images and formulas, however they were escaped. It leaves code spans alone. So a
name is shown as a code span; of a sentence, every word that is not plainly a word or a number.
"""

import re
from collections.abc import Container, Iterable, Sequence
from html import escape
from urllib.parse import quote

from zerolap.sheets import one_line, shortened

LONGEST_FENCE = 20
"""GitHub's parser takes a longer run of backticks, from 81 on, for text."""
BACKTICKS = re.compile("`+")
TOO_MANY_BACKTICKS = re.compile(f"`{{{LONGEST_FENCE},}}")

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#&$!])")
BLOCK_START = re.compile(r"([-+=]|\d+(?=[.)](?: |$)))")
"""What begins a list, or makes a heading of the line before; the rest of what begins a block is special anywhere."""

LETTERS = r"[^\W\d_]+"
WORD = re.compile(
    rf"(?!.*www){LETTERS}(?:[-'\u2019/]{LETTERS})*"  # non-zero, server's, I/O
    r"|[A-Za-z]\d{1,2}(?:\.\d)?"  # p99.9
    r"|<|>|<=|>=|=|->|→|\+|-|±|/|·|&|",
    re.IGNORECASE,
)
NUMBER = re.compile(r"[-+±]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,6}(?:\.\d{1,6})*|∞)")
FIGURES = re.compile(r"[-+\d.,%∞ \[\]]{1,40}")
COMMIT_HASH = re.compile(r"[0-9a-fA-F]{7,}")
OPENING, CLOSING = "([{\"'", ")]}\"',.;:!?%"

BAR = r"\|"
LINK_CHARACTERS = ":/?#@!=+,;%-._~&"

# GitHub takes 65,536 characters in a comment; these limits keep a document of any size within them.
LISTED_ROWS = 80
REASONS = 5


def code(text: str, longest: int | None = None) -> str:
    """Return foreign text as a code span of at most `longest` characters; an empty string for an empty text."""
    shown = TOO_MANY_BACKTICKS.sub("\N{REPLACEMENT CHARACTER}", one_line(text))
    if longest is not None:
        shown = shortened(shown, longest)
    fence = "`" * (max((len(run) for run in BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def prose(text: str, longest: int | None = None) -> str:
    """Return a sentence with foreign parts: words and numbers as they are, the rest as code."""
    line = one_line(text)
    if longest is not None:
        line = shortened(line, longest)
    return _prose_of_line(line, at_start=True)


def sentence_with_names(text: str, longest: int | None = None, *, at_start: bool = True) -> str:
    """Return a sentence: what stands in backticks as code, the rest as `prose` does; figures alone as they are.

    `at_start`: it begins a line, where some characters would begin a list or a heading.
    """
    line = one_line(text)
    if longest is not None:
        line = shortened(line, longest)
    if not at_start and FIGURES.fullmatch(line):
        return line
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return _prose_of_line(line, at_start=at_start)
    shown = ""
    for number, part in enumerate(parts):
        markup = code(part) if number % 2 else _prose_of_line(part, at_start=at_start and number == 0)
        is_run_together = shown.endswith("`") and markup.startswith("`")
        shown += f" {markup}" if is_run_together else markup
    return shown


def summary(text: str) -> str:
    """Return a sentence with names as HTML, for where Markdown is not read: the summary of what is folded.

    What is no plain word is code, as in `sentence_with_names`.
    """
    line = one_line(text)
    parts = line.split("`") if line.count("`") % 2 == 0 else [line.replace("`", "'")]
    shown = [
        _html_code(part)
        if number % 2
        else " ".join(_html_code(word) if "`" in _word(word) else escape(word) for word in part.split(" "))
        for number, part in enumerate(parts)
    ]
    return "".join(shown)


def _html_code(name: str) -> str:
    return f"<code>{escape(name)}</code>" if name else ""


def link(shown: str, target: str) -> str:
    """Return a link; `shown` is Markdown already, `target` an address whose foreign parts are percent-encoded."""
    return f"[{shown}]({link_target(target)})"


def link_target(address: str) -> str:
    """Return an address that cannot end the link that it stands in; what is percent-encoded stays as it is."""
    return quote(address, safe=LINK_CHARACTERS).replace("&", "&amp;")


# Tables, lists and sections; their cells, lines and contents are Markdown already.


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Container[int] = (),
    most_rows: int = LISTED_ROWS,
) -> str:
    """Return a table; the columns at the indices in `numbers` are right-aligned.

    Where there are more rows than `most_rows`, the last line is how many are not listed.
    """
    rules = ["--:" if index in numbers else "---" for index in range(len(headings))]
    lines = [_table_row(headings), f"|{'|'.join(rules)}|", *map(_table_row, rows[:most_rows])]
    if len(rows) > most_rows:
        lines.append(f"\n{len(rows) - most_rows} more are not listed.")
    return "\n".join(lines)


def _table_row(cells: Sequence[str]) -> str:
    # A bare `|` would end the cell, even in code.
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def numbered(lines: Iterable[str]) -> str:
    """Return lines as a numbered list, which begins at 1."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


def folded(shown: str, content: str) -> str:
    """Return content of which only a summary, which is HTML, is visible until a reader opens it."""
    return f"<details><summary>{shown}</summary>\n\n{content}\n\n</details>"


# How foreign text is written.


def _prose_of_line(line: str, *, at_start: bool) -> str:
    words = " ".join(_word(word) for word in line.split(" "))
    return BLOCK_START.sub(_escaped_start, words, count=1) if at_start and BLOCK_START.match(words) else words


def _escaped_start(start: re.Match[str]) -> str:
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def _word(word: str) -> str:
    """Return a safe word as it is, any other as code, without the punctuation around it."""
    core = word.lstrip(OPENING)
    before, core = word[: len(word) - len(core)], core.rstrip(CLOSING)
    after = word[len(before) + len(core) :]
    if "(" in core and after.startswith(")"):
        core, after = core + ")", after[1:]
    if NUMBER.fullmatch(core):
        return _escaped(before + core + after)
    if "[" in before or "]" in after:
        return code(word)  # at the beginning of a list it could be the box of a task
    is_plain = WORD.fullmatch(core) is not None and COMMIT_HASH.fullmatch(core) is None
    return _escaped(before) + (_escaped(core) if is_plain else code(core)) + _escaped(after)


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)
