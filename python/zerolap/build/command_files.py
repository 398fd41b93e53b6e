"""Which commands a source file of a server implements, from the tree of a commit, which may be hostile.

A command names its handler in a table of the sources, `{"sort",sortCommand,-2,...}`, or in a description of it in JSON,
`src/commands/sort.json`. No file is parsed as a compiler does; in doubt a file counts as one that others use too.
"""

import itertools
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.build.git import GitEnded, read_git
from zerolap.records import EnvironmentMissing, RevisionSource

MOST_FILE_BYTES: Final = 4 << 20
MOST_LISTED_BYTES: Final = 8 << 20
MOST_NAMES: Final = 500
NAMES_AT_ONCE: Final = 20
MOST_DESCRIPTIONS: Final = 500
SECONDS: Final = 60.0
"""For all that is read of the commits that are compared."""
SOURCES: Final = ("*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hpp", "*.def", "*.inc", "*.json")
HEADERS: Final = (".h", ".hpp")

_NO_CODE = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|^[ \t]*#(?:\\.|[^\n\\])*",
    re.DOTALL | re.MULTILINE,
)
"""Comments, literals and lines of the preprocessor."""
_TOKEN = re.compile(r"^\}|[A-Za-z_]\w*|[{}()\[\];=,]", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT_LINE = re.compile(r"\s*(?://.*|/\*(?:(?!\*/).)*(?:\*/\s*)?|\*(?:/\s*|\s(?:(?!\*/).)*(?:\*/\s*)?)?)")
"""A line of nothing but a comment; `*` begins one as in the middle of a longer comment."""
_TABLE_ENTRY = re.compile(r'[{(]\s*"([A-Za-z][\w.|-]{0,63})"\s*,')
_JSON_HANDLER = re.compile(r'\s*"function"\s*:')
_JSON_NAME = r'^ *"([A-Z][A-Z0-9_.|-]*)" *: *\{|"container" *: *"([A-Za-z0-9_.|-]+)"'
_TYPES = frozenset({"struct", "union", "enum", "typedef", "extern"})


@dataclass
class CommandFiles:
    """Reads which commands the files of some commits implement, such as of those that are compared.

    What cannot be read in `SECONDS` altogether is not known.
    """

    sources: Sequence[RevisionSource]

    def __post_init__(self) -> None:
        end = time.monotonic() + SECONDS
        self._trees = [_Tree(source, end) for source in self.sources]

    def commands(self, file: str) -> frozenset[str]:
        """Return the commands, in upper case, whose handlers a file has in any of the commits; none if unknown."""
        try:
            return frozenset(command for tree in self._trees for command in _commands(tree, file))
        except EnvironmentMissing:
            # Git took too long, or the tree has too much of it.
            return frozenset()

    def is_own(self, file: str) -> bool:
        """Whether the functions of a file are executed by its commands alone, in each of the commits that has it.

        No other file names any of them but for the table of commands.
        """
        try:
            uses = [_is_used_elsewhere(tree, file) for tree in self._trees]
        except EnvironmentMissing:
            return False
        return False in uses and True not in uses


@dataclass(frozen=True)
class _Tree:
    """The tree of a commit, which is read until `end`, by the clock `time.monotonic`."""

    source: RevisionSource
    end: float

    def git(self, *arguments: str, most_bytes: int = MOST_LISTED_BYTES) -> GitEnded:
        """Run git in its repository; raises `EnvironmentMissing` where time is up, or git writes too much."""
        left_seconds = self.end - time.monotonic()
        if left_seconds <= 0:
            raise EnvironmentMissing(f"the files of {self.source.commit} take too long to read")
        return read_git(["-C", str(self.source.repository), *arguments], most_bytes, left_seconds)


@dataclass(frozen=True)
class DefinedNames:
    """The functions that a file defines, and those of its functions and variables that other files can name."""

    functions: frozenset[str]
    shared: frozenset[str]


def defined_names(text: str) -> DefinedNames:
    """Return the names that a C source defines outside of functions."""
    functions, shared = set(), set()
    for definition in _definitions(_NO_CODE.sub(" ", text)):
        name = _function_of(definition)
        if name is not None:
            functions.add(name)
        names = {name} if name is not None else _variables_of(definition)
        if "static" not in definition:
            shared |= names
    return DefinedNames(frozenset(functions), frozenset(shared))


def _definitions(code: str) -> Iterator[list[str]]:
    """Yield the tokens of each definition outside of braces, each block as `{`; prototypes end with `;`."""
    depth, definition = 0, list[str]()
    for match in _TOKEN.finditer(code):
        token = match[0]
        if token == "}":
            if depth == 0:
                definition = []
                continue
            # At the beginning of a line it ends a definition: branches of the preprocessor may leave others open.
            depth = 0 if code[match.start() - 1] == "\n" else depth - 1
            if depth == 0 and _function_of(definition) is not None:
                yield definition
                definition = []
        elif token == "{":
            if depth == 0:
                definition.append(token)
            depth += 1
        elif depth == 0:
            definition.append(token)
            if token == ";":
                yield definition
                definition = []


def _function_of(definition: Sequence[str]) -> str | None:
    """Return the name of the function that a definition is of: the word before the parameters before its block."""
    if "{" not in definition:
        return None
    head = definition[: definition.index("{")]
    if "=" in head or not head or head[-1] != ")":
        return None
    depth = 0
    for at in range(len(head) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(head[at], 0)
        if depth == 0:
            return head[at - 1] if _WORD.fullmatch(head[at - 1]) else None
    return None


def _variables_of(definition: Sequence[str]) -> set[str]:
    """Return the names of the variables that a statement defines; none of a prototype or a type."""
    is_type = definition[:1] and definition[0] in _TYPES and "=" not in definition
    if is_type or definition[0] in ("typedef", "extern") or "(" in definition[: _index(definition, "=")]:
        return set()
    names = set()
    for word, after in itertools.pairwise(definition):
        if after in ("=", "[", ";", ",") and _WORD.fullmatch(word):
            names.add(word)
    return names


def _index(definition: Sequence[str], token: str) -> int:
    return definition.index(token) if token in definition else len(definition)


@dataclass(frozen=True)
class _Mention:
    file: str
    line: str

    def words_of(self, names: frozenset[str]) -> frozenset[str]:
        return names.intersection(_WORD.findall(self.line))


def _commands(tree: _Tree, file: str) -> frozenset[str]:
    """Return the commands whose handlers a file of a commit has."""
    functions = _names(tree, file).functions
    mentions = list(_mentions(tree, functions))
    descriptions = sorted(
        {
            mention.file
            for mention in mentions
            if mention.file.endswith(".json") and _JSON_HANDLER.match(mention.line) and mention.words_of(functions)
        }
    )
    described = frozenset(_described(tree, descriptions[:MOST_DESCRIPTIONS]))
    return described or frozenset(command for mention in mentions for command in _in_table(mention, functions))


def _is_used_elsewhere(tree: _Tree, file: str) -> bool | None:
    """Whether another file of a commit may use what a file defines; None if the commit does not have the file."""
    names = _names(tree, file)
    if not names.functions:
        return None
    is_used = any(
        mention.file != file and mention.words_of(names.shared) and _is_used(mention, names)
        for mention in _mentions(tree, names.shared)
    )
    if is_used:
        return True
    # The file may be compiled as a part of another one, which then has its functions too.
    includes = _grep(tree, ["-F", "-e", file.rpartition("/")[2]], SOURCES)
    return any(re.match(r"\s*#\s*include", mention.line) for mention in includes)


def _names(tree: _Tree, file: str) -> DefinedNames:
    """Return what a file of a commit defines; nothing if the commit does not have it."""
    shown = tree.git("cat-file", "blob", f"{tree.source.commit}:{file}", most_bytes=MOST_FILE_BYTES)
    names = defined_names(shown.output.decode(errors="replace") if shown.code == 0 else "")
    if len(names.functions | names.shared) > MOST_NAMES:
        raise EnvironmentMissing(f"{file} defines more than {MOST_NAMES:,} names")
    return names


def _mentions(tree: _Tree, names: frozenset[str]) -> Iterator[_Mention]:
    """Yield the lines of a commit that have any of these words."""
    # In parts: one search for all is slow, and the first part often has what decides.
    ordered = sorted(names)
    for begin in range(0, len(ordered), NAMES_AT_ONCE):
        words = [option for name in ordered[begin : begin + NAMES_AT_ONCE] for option in ("-e", name)]
        yield from _grep(tree, ["-w", "-F", *words], SOURCES)


def _grep(tree: _Tree, pattern: Sequence[str], places: Sequence[str]) -> Iterator[_Mention]:
    found = tree.git("grep", "-I", "-z", "--full-name", *pattern, tree.source.commit, "--", *places)
    for line in found.output.decode(errors="replace").split("\n"):
        place, zero, text = line.partition("\0")
        if zero:
            yield _Mention(place.partition(":")[2], text)


def _described(tree: _Tree, descriptions: Sequence[str]) -> Iterator[str]:
    """Yield the commands that files of JSON describe: that of a subcommand is its container."""
    if not descriptions:
        return
    names: dict[str, str] = {}
    containers: dict[str, str] = {}
    for mention in _grep(tree, ["-E", "-e", _JSON_NAME], descriptions):
        match = re.search(_JSON_NAME, mention.line)
        if match is not None and match[2]:
            containers[mention.file] = match[2].upper()
        elif match is not None:
            names.setdefault(mention.file, match[1])
    yield from (containers | {file: name for file, name in names.items() if file not in containers}).values()


def _in_table(mention: _Mention, functions: frozenset[str]) -> Iterator[str]:
    """Yield the commands of the entries of a table, in a line, that name one of these functions."""
    entries = list(_TABLE_ENTRY.finditer(mention.line))
    for entry, following in itertools.zip_longest(entries, entries[1:]):
        end = len(mention.line) if following is None else following.start()
        if functions.intersection(_WORD.findall(mention.line[entry.end() : end])):
            yield entry[1].upper().partition("|")[0]


def _is_used(mention: _Mention, names: DefinedNames) -> bool:
    """Whether a line of another file may use a function or a variable, and neither declares it nor is a comment."""
    line = mention.line
    if mention.file.endswith(".json") or _COMMENT_LINE.fullmatch(line):
        return False
    if any(True for _ in _in_table(mention, names.functions)) and mention.words_of(names.shared) <= names.functions:
        return False
    is_at_margin = not line[:1].isspace()
    if is_at_margin and line.startswith("extern "):
        return False
    is_prototype = line.rstrip().endswith(";") or mention.file.endswith(HEADERS)
    is_macro, is_call = line.startswith("#"), line.split("(")[0].split()[1:] == []
    return not (is_at_margin and is_prototype and not is_macro and not is_call and "{" not in line and "=" not in line)
