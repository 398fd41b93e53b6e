"""GitHub's Markdown of all reports and comments: foreign text that is shown and never acts, tables, lists, sections.

Names of commits, branches, cases, functions and files, and what servers print, come from whoever wrote the code under
test. GitHub does more than Markdown: it turns `@name`, `#12`, commit hashes, addresses, `:words:` and dollar signs in
rendered text into mentions, links, images and formulas, however they were escaped. It leaves code spans alone. So a
name is shown as a code span; of a sentence, every word that is not plainly a word or a number.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from zerolap.records import CHANGED, Answer, CaseResult, Comparison, MeasuredServer, RunReport, Settings, Validity
from zerolap.report.reading import ANSWERS, NOT_MEASURED, CaseAnswer, answer_of, is_missing, usual_metric
from zerolap.sheets import Word, change, failed_check, interval, metric_label, one_line, percent, shortened

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

# GitHub takes 65,536 characters in a comment; these limits keep a document of any size within them.
LISTED_ROWS = 80
REASONS = 5
FAILURE_LENGTH = 500


def code(text: str, longest: int | None = None) -> str:
    """Return foreign text as a code span of at most `longest` characters; an empty string for an empty text."""
    shown = TOO_MANY_BACKTICKS.sub("\N{REPLACEMENT CHARACTER}", one_line(text))
    if longest is not None:
        shown = shortened(shown, longest)
    fence = "`" * (max((len(run) for run in BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def prose(text: str, longest: int | None = None, names: Container[str] = (), *, at_start: bool = True) -> str:
    """Return a sentence with foreign parts: words and numbers as they are, `names` and the rest as code.

    `at_start` is whether it may begin a line, where `-` begins a list; in the cell of a table it does not.
    """
    line = one_line(text)
    if longest is not None:
        line = shortened(line, longest)
    return _prose_of_line(line, at_start=at_start, names=names)


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


def folded(summary: str, content: str) -> str:
    """Return content of which only the summary is visible until a reader opens it."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


# What the documents and the comment on a pull request have in common.


def headline_line(headline: str, effort: str) -> str:
    """Return the first line of a document: its outcome, and what was measured for it."""
    return f"**{headline}** ({prose(effort)})"


def emphasized(outcome: Word) -> str:
    """Return an outcome, in bold where it is a change."""
    return f"**{outcome}**" if outcome in CHANGED else outcome


@dataclass(frozen=True)
class AnswerColumns:
    """The columns of a table for work and time, where any case has such an answer.

    `usual_metrics` has the metric that most cases rest on, which is in the heading; cells name only other ones.
    """

    usual_metrics: Mapping[Answer, str | None]

    @classmethod
    def of_cases(cls, cases: Sequence[CaseResult]) -> "AnswerColumns":
        """Return the columns for all of these cases."""
        present = [answer for answer in ANSWERS if any(answer_of(case, answer) for case in cases)]
        return cls({answer: usual_metric(cases, answer) for answer in present})

    @property
    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [
            f"{answer}: {prose(metric_label(metric))}" if metric else answer
            for answer, metric in self.usual_metrics.items()
        ]

    def cells(self, case: CaseResult) -> list[str]:
        """Return the cells of a case: word, change and interval; empty for an answer that nothing could differ in."""
        return [
            NOT_MEASURED if is_missing(case, answer) else _answer_cell(answer_of(case, answer), metric)
            for answer, metric in self.usual_metrics.items()
        ]


def _answer_cell(answered: CaseAnswer | None, usual_metric: str | None) -> str:
    if answered is None:
        return ""
    decided = answered.decided
    if decided is None or answered.word == "identical":
        return answered.word
    named = "" if decided.metric == usual_metric else f" {prose(metric_label(decided.metric))}"
    return f"{emphasized(answered.word)}{named} {change(decided.change)} {interval(decided.low, decided.high)}"


def failure_line(failure: str, *, failed: bool = True) -> str:
    """Return why a case failed; `failed` is false if it was measured nevertheless."""
    return f"{'failed: ' if failed else ''}{prose(failure[:FAILURE_LENGTH])}"


def failed_check_lines(validity: Validity) -> list[str]:
    """Return a line for each check that does not hold."""
    failed = [failed_check(check.check, check.value, check.limit) for check in validity.failed]
    return [f"invalid: {prose(text)}" for text in failed]


def repeating(document: Comparison | RunReport, facts: Sequence[str]) -> str:
    """Return a folded section on how to repeat a measurement; `facts` are lines of the kind of document."""
    platform, kind = document.platform, "run" if isinstance(document, RunReport) else "comparison"
    lines = [
        f"command: {code(document.command_line)}",
        f"seed: {document.settings.seed}",
        *facts,
        f"platform: {code(platform.name)}, {code(platform.cpu)}, {platform.cores} cores, "
        f"kernel {code(platform.kernel)}, fingerprint {code(platform.fingerprint)}",
        f"{kind}: {code(document.id)} of {code(document.created)}",
    ]
    return folded("How to repeat it", bullets(lines))


def settings_fact(settings: Settings) -> str:
    """Return the minimum effects, q and level in a line."""
    effects = ", ".join(f"{engine} {percent(value)}" for engine, value in settings.min_effect.items())
    level = "" if settings.level is None else f"; intervals of {percent(settings.level)}"
    return f"smallest change that counts: {effects}; q {settings.q:g}{level}"


def build_facts(build: MeasuredServer) -> str:
    """Return a build in a line: names, configuration, commit, flags, compiler, allocator."""
    parts = [
        code(build.name),
        prose(build.version),
        *(code(f"{name}={value}") for name, value in build.config.items()),
    ]
    if build.commit:
        parts.append(f"commit {code(build.commit)}")
    parts.append(f"build {code(build.build)}")
    parts.append(f"flags {code(build.flags)}" if build.flags else "flags unknown")
    if build.compiler:
        parts.append(code(build.compiler))
    if build.allocator:
        parts.append(code(build.allocator))
    return ", ".join(parts)


# How foreign text is written.


def _prose_of_line(line: str, *, at_start: bool, names: Container[str] = ()) -> str:
    words = " ".join(_word(word, names) for word in line.split(" "))
    return BLOCK_START.sub(_escaped_start, words, count=1) if at_start and BLOCK_START.match(words) else words


def _escaped_start(start: re.Match[str]) -> str:
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def _word(word: str, names: Container[str] = ()) -> str:
    """Return a safe word as it is, a name and any other as code, without the punctuation around it."""
    core = word.lstrip(OPENING)
    before, core = word[: len(word) - len(core)], core.rstrip(CLOSING)
    after = word[len(before) + len(core) :]
    if "(" in core and after.startswith(")"):
        core, after = core + ")", after[1:]
    if NUMBER.fullmatch(core):
        return _escaped(before + core + after)
    if "[" in before or "]" in after:
        return code(word)  # at the beginning of a list it could be the box of a task
    is_plain = WORD.fullmatch(core) is not None and COMMIT_HASH.fullmatch(core) is None and core not in names
    return _escaped(before) + (_escaped(core) if is_plain else code(core)) + _escaped(after)


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)
