"""Which functions a commit changes, from what preprocessor and compiler write: neither diff nor program is read."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from benches.unseen.marked_servers import Key, MarkedServer

TOKEN: Final = re.compile(
    r'^# (\d+) "((?:[^"\\]|\\.)*)"[^\n]*$'
    r'|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d[\w.]*|[^\s\w]',
    re.MULTILINE,
)
NO_NAMES: Final = frozenset({"__attribute__", "__asm__", "asm", "__typeof__", "typeof", "__extension__", "_Alignas"})
LABEL: Final = re.compile(r"\.L([A-Z]*)(\d+)")
NAME_OF_PIECE: Final = re.compile(r"\.(?:constprop|isra|part|cold)\b.*")


def changed_texts(base: MarkedServer, head: MarkedServer, tree: str) -> set[Key]:
    """Return the functions whose text differs without macros and comments; those of one side are among them."""
    before, after = _texts_of(base), _texts_of(head)
    changed: set[Key] = set()
    for unit in before.keys() | after.keys():
        texts = [_functions(side[unit], tree) if unit in side else {} for side in (before, after)]
        if unit in before and unit in after and before[unit].samefile(after[unit]):
            continue
        changed |= {key for key in texts[0].keys() | texts[1].keys() if texts[0].get(key) != texts[1].get(key)}
    return changed


def has_other_instructions(key: Key, base: MarkedServer, head: MarkedServer, flags: tuple[str, ...]) -> bool:
    """Whether the compiler writes other instructions for a function, or for one that it is inlined into."""
    before, after = _texts_of(base), _texts_of(head)
    file = key[1].replace("/", "-") + ".i"
    units = [file] if file in before or file in after else sorted(before.keys() | after.keys())
    for unit in units:
        if unit not in before or unit not in after:
            return True
        if before[unit].samefile(after[unit]):
            continue
        names = [_assembly(side[unit], flags) for side in (before, after)]
        if key[0] in names[0] or key[0] in names[1]:
            if names[0].get(key[0]) != names[1].get(key[0]):
                return True
        elif names[0] != names[1]:
            # It is only inlined into others.
            return True
    return False


def _texts_of(server: MarkedServer) -> dict[str, Path]:
    return {file.name: file for file in server.preprocessed.iterdir()}


def _functions(preprocessed: Path, tree: str) -> Mapping[Key, str]:
    """Return a digest of the words of each function that a unit defines, of files below `tree`."""
    found: dict[Key, str] = {}
    for key, words in _definitions(preprocessed.read_text(errors="replace")):
        path = os.path.normpath(os.path.join(tree, "src", key[1]))
        if path.startswith(f"{tree}/"):
            file = path.removeprefix(f"{tree}/").removeprefix("src/")
            found[key[0], file] = hashlib.sha256(" ".join(words).encode()).hexdigest()
    return found


def _definitions(text: str) -> Iterator[tuple[Key, list[str]]]:
    """Yield each function with its file and all its words, from its type on."""
    depth, words, file = 0, list[str](), ""
    begins_in, is_function = "", False
    for match in TOKEN.finditer(text):
        if match[1] is not None:
            file = match[2]
            continue
        word = match[0]
        if not words:
            begins_in = file
        words.append(word)
        if word == "{":
            if depth == 0:
                is_function = _name_of(words) != ""
            depth += 1
        elif word == "}":
            depth -= 1
            if depth == 0 and is_function:
                yield (_name_of(words), begins_in), words
                words, is_function = [], False
        elif word == ";" and depth == 0:
            words = []


def _name_of(words: list[str]) -> str:
    """Return the name of the function that a definition with its first brace begins; empty where it is another one."""
    depth, name = 0, ""
    for at, word in enumerate(words):
        if word == "{" and depth == 0:
            return name if words[at - 1] == ")" else ""
        if word == "=" and depth == 0:
            return ""
        if word == "(":
            if depth == 0 and not name and at and re.fullmatch(r"[A-Za-z_]\w*", words[at - 1]):
                name = "" if words[at - 1] in NO_NAMES else words[at - 1]
            depth += 1
        elif word == ")":
            depth -= 1
    return ""


@cache
def _assembly(preprocessed: Path, flags: tuple[str, ...]) -> Mapping[str, str]:
    """Return what the compiler writes for each function of a unit, with constants in place of their labels."""
    command = [
        "gcc",
        *flags,
        "-std=gnu11",
        "-w",
        "-S",
        "-fno-asynchronous-unwind-tables",
        "-o",
        "-",
        "-x",
        "cpp-output",
    ]
    text = subprocess.run([*command, preprocessed], capture_output=True, text=True, check=True).stdout
    blocks, constants, current = dict[str, list[str]](), dict[str, list[str]](), list[str]()
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(("\t", " ")):
            label = line[:-1]
            if label.startswith(".LC"):
                current = constants.setdefault(label, [])
            elif not label.startswith("."):
                current = blocks.setdefault(label, [])
            else:
                current.append(line)
        elif not line.startswith(("\t.file", "\t.loc", "\t.section", "\t.p2align", "\t.align", "\t.ident")):
            current.append(line)
    together: dict[str, list[str]] = {}
    for name, lines in sorted(blocks.items()):
        together.setdefault(NAME_OF_PIECE.sub("", name), []).append(_without_labels(lines, constants))
    return {name: "\n".join(parts) for name, parts in together.items()}


def _without_labels(lines: list[str], constants: Mapping[str, list[str]]) -> str:
    numbers: dict[str, int] = {}

    def shown(match: re.Match[str]) -> str:
        label = match[0]
        if label in constants:
            return f"[{' '.join(constants[label])}]"
        return f".L{match[1]}#{numbers.setdefault(label, len(numbers))}"

    return LABEL.sub(shown, "\n".join(lines))
