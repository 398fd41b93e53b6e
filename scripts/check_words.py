"""Checks that each word has one sense, and prints each fault.

- `docs/glossary.md` defines a word once;
- names of files, classes, functions and fields have a word of `SENSES` only in its sense of the glossary.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "python" / "zerolap"
GLOSSARY = ROOT / "docs" / "glossary.md"
JSON_FIELDS = frozenset({"api", "queries", "records"})
"""Packages whose fields are names in documents and in answers of the HTTP API, which stay."""
PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Sense:
    """The packages whose names have a word in its sense, and the pattern of names that may have it everywhere."""

    packages: str
    everywhere: str = r"(?!)"

    def allows(self, package: str, name: str) -> bool:
        """Whether a name of a package may have the word."""
        return package in self.packages.split() or re.fullmatch(self.everywhere, name) is not None


SENSES = {
    # What happened in a lab. `host` and `engines` also have events of the kernel, and `triggers` those of GitHub.
    "event": Sense(
        "api cli engines events fleet host lab records report store triggers",
        r"_?(commit|platform)_events?(_of)?|CommitEvent|next_event",
    ),
    # Where a job is executed. Places of strings are a term of their own; `in place of` is no term.
    "place": Sense("engines fleet lab", r".*(string|by|of|no|with|in)_places?(_.*)?|place_missing_share"),
    # What a document says in words. Clock readings are a term of their own.
    "reading": Sense("records report sheets", r"_?((clock|random)_)?readings|ClockReadings"),
    # What a comparison concludes about work or time. `answers` is a field of the load generator.
    "answer": Sense("documents judge records report sheets", r"answers"),
    # Painted.
    "drawn": Sense("api queries report sheets"),
    # Stored until it is old.
    "kept": Sense("api build cli demonstration engines lab opportunities store"),
    # Repetitions of a snapshot event, or counted forks, over sizes of data.
    "sweep": Sense("cli demonstration engines lab queries records sheets store"),
    # A part of a whole.
    "share": Sense("cli demonstration engines explain history judge probing queries records sandbox server sheets"),
    # Where measuring takes place for a store.
    "lab": Sense("api cli events fleet history lab load queries records store triggers"),
    # The build that a segment of a timed series is measured against.
    "anchor": Sense("documents history records"),
}


def main() -> int:
    """Print each fault; return the exit code."""
    faults = list(terms_defined_twice(GLOSSARY.read_text(encoding="utf-8")))
    for path in sorted(SOURCES.rglob("*.py")):
        package = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        source = f"{path.relative_to(ROOT)}"
        faults += other_senses(package, source, path.stem, ast.parse(path.read_text(encoding="utf-8")))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def terms_defined_twice(glossary: str) -> Iterator[str]:
    """Yield the terms that more than one row of the glossary defines; a row may define several."""
    rows = [line.split("|")[1] for line in glossary.splitlines() if line.startswith("| ")]
    terms = Counter(term.strip() for row in rows for term in row.split(","))
    yield from (f"{GLOSSARY.name}: `{term}` is defined {times} times" for term, times in terms.items() if times > 1)


def other_senses(package: str, source: str, stem: str, tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module that have a word in another sense than that of the glossary."""
    for name, line in [(stem, 1), *_names(tree, with_fields=package not in JSON_FIELDS)]:
        parts = {part.lower().removesuffix("s") for part in PARTS.findall(name)}
        for word in sorted(parts & SENSES.keys()):
            if not SENSES[word].allows(package, name):
                yield f"{source}:{line}: `{name}` has `{word}` in another sense than that of {GLOSSARY.name}"


def _names(tree: ast.Module, *, with_fields: bool) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name, body=body):
                yield name, node.lineno
                if with_fields:
                    fields = (field for field in body if isinstance(field, ast.AnnAssign))
                    yield from (
                        (field.target.id, field.lineno) for field in fields if isinstance(field.target, ast.Name)
                    )


if __name__ == "__main__":
    sys.exit(main())
