"""Foreign text in GitHub's Markdown, in links, in plain text and in Slack's: it is shown, and never acts.

Names of commits, branches, cases, functions and files, and what servers print, come from whoever wrote the code under
test. GitHub does more than Markdown: it turns `@name`, `#12`, commit hashes, addresses, `:words:` and dollar signs in
rendered text into mentions, links, images and formulas, however they were escaped. It leaves code spans alone. So a
name is shown as a code span; of a sentence, every word that is not plainly a word or a number.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote

from zerolap.report.format import one_line

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
COMMIT_HASH = re.compile(r"[0-9a-fA-F]{7,}")
OPENING, CLOSING = "([{\"'", ")]}\"',.;:!?%"

BAR = r"\|"
LINK_CHARACTERS = ":/?#@!=+,;%-._~&"
ELLIPSIS = "…"


def code(text: str, longest: int | None = None) -> str:
    """Return foreign text as a code span, in at most so many characters; nothing for an empty text."""
    shown = TOO_MANY_BACKTICKS.sub("\N{REPLACEMENT CHARACTER}", one_line(text))
    if longest is not None:
        shown = shortened(shown, longest)
    fence = "`" * (max((len(run) for run in BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def prose(text: str, longest: int | None = None) -> str:
    """Return a sentence with foreign parts: words and numbers as they are, and the rest as code."""
    line = one_line(text)
    if longest is not None:
        line = shortened(line, longest)
    return _prose_of_line(line, at_start=True)


def sentence_with_names(text: str, longest: int | None = None) -> str:
    """Return a finding's sentence: what stands in backticks as code, the rest as `prose` does."""
    line = one_line(text)
    if longest is not None:
        line = shortened(line, longest)
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return prose(line)
    shown = ""
    for number, part in enumerate(parts):
        markup = code(part) if number % 2 else _prose_of_line(part, at_start=number == 0)
        is_run_together = shown.endswith("`") and markup.startswith("`")
        shown += f" {markup}" if is_run_together else markup
    return shown


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a table; its cells are Markdown already, and a `|` in one does not end it, not even in code."""
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def link(shown: str, target: str) -> str:
    """Return a link; `shown` is Markdown already, `target` an address whose foreign parts are percent-encoded."""
    return f"[{shown}]({link_target(target)})"


def link_target(address: str) -> str:
    """Return an address that cannot end the link that it stands in; what is percent-encoded stays as it is."""
    return quote(address, safe=LINK_CHARACTERS).replace("&", "&amp;")


def path_part(text: str) -> str:
    """Return foreign text for a place in the path of an address, a `/` in it as what divides paths."""
    return quote(text, safe="/")


def plain(text: str, longest: int | None = None) -> str:
    """Return foreign text on one line for a place that shows it as it is: a title, a description."""
    line = one_line(text)
    return line if longest is None else shortened(line, longest)


def slack(text: str, longest: int | None = None) -> str:
    """Return foreign text for Slack, in which neither links nor mentions remain."""
    return plain(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_code(text: str, longest: int | None = None) -> str:
    """Return foreign text as code in Slack's markup, which has no way to write a backtick in it."""
    shown = slack(text, longest).replace("`", "'")
    return f"`{shown}`" if shown else ""


def shortened(line: str, longest: int) -> str:
    """Return a line in at most so many characters: its beginning and its end, which tell names apart."""
    if len(line) <= longest:
        return line
    end = (longest - 1) // 3
    return line[: longest - 1 - end] + ELLIPSIS + (line[-end:] if end else "")


def _prose_of_line(line: str, *, at_start: bool) -> str:
    words = " ".join(_word(word) for word in line.split(" "))
    return BLOCK_START.sub(_escaped_start, words, count=1) if at_start and BLOCK_START.match(words) else words


def _escaped_start(start: re.Match[str]) -> str:
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def _word(word: str) -> str:
    """Return a word as it is where that is safe, else as code but for the punctuation around it."""
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
