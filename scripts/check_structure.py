"""Checks the names in python/zerolap and the imports between its packages, and prints each fault.

- a file has a name of its own, and so has a public class; files of `cli` are named by their verbs and may share theirs;
- a package is entered by its entry: what another package imports is an `X as X` of an `__init__.py`;
- a module imports what is of its own package from where it is defined;
- a heading of several words that a table of a sheet has is not written in `web/src`, which draws sheets;
- only `writer.py` writes to standard output and standard error: text of others steers no terminal.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "python"
ROOT = "zerolap"
WRITER = "zerolap.writer"
NOT_FOR_PEOPLE = frozenset({"zerolap.lab.job_process", "zerolap.sandbox.reader", "zerolap.load_program"})
"""They write to the process that has started them, or nothing of others."""
WRITING = frozenset({"print", "input", "Console", "StreamHandler", "PrintLoggerFactory"})
WRITING |= {"echo", "secho", "print_exc", "print_exception", "print_stack", "print_last"}
GUARDED_LOGS = "zerolap.cli.logging"
"""Values are guarded there before they are coloured."""
CRATES = SOURCES.parent / "crates"
RUST_WRITER = CRATES / "load" / "src" / "terminal.rs"
WEB = SOURCES.parent / "web" / "src"
WEB_HEADING = re.compile(r"<th\b[^>]*>\s*([^<{]+?)\s*</th>")
RUST_PROGRAMS = ("load", "load-arguments", "load-engine", "load-measure", "load-output", "load-requests")
RUST_WRITING = re.compile(r"\b(?:std(?:out|err)\(\)|e?print(?:ln)?!|dbg!)")
STREAMS = frozenset({"stdout", "stderr", "__stdout__", "__stderr__"})
HARMLESS = frozenset({"isatty", "fileno"})


@dataclass(frozen=True)
class Module:
    """A source file, by its dotted name."""

    path: Path
    name: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The dotted name of the package below the root."""
        return ".".join(self.name.split(".")[:2])

    @property
    def is_entry(self) -> bool:
        """Whether it is what a package is entered by."""
        return self.path.name == "__init__.py"


def main() -> int:
    """Print each fault; return the exit code."""
    modules = [_read(path) for path in sorted((SOURCES / ROOT).rglob("*.py"))]
    faults = [*_shared_file_names(modules), *_shared_class_names(modules)]
    faults += [fault for module in modules for fault in _imports_past_entries(module)]
    faults += [fault for module in modules for fault in _writes_past_writer(module)]
    faults += _writes_past_rust_writer()
    faults += _repeated_headings(modules)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def _read(path: Path) -> Module:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    name = ".".join(parts[:-1] if path.name == "__init__.py" else parts)
    return Module(path, name, ast.parse(path.read_text(encoding="utf-8")))


def _shared_file_names(modules: list[Module]) -> Iterator[str]:
    by_name = defaultdict(list)
    for module in modules:
        if not module.is_entry and module.package != f"{ROOT}.cli":
            by_name[module.path.name].append(module.name)
    yield from (f"{name}: {' and '.join(names)} have one file name" for name, names in by_name.items() if names[1:])


def _shared_class_names(modules: list[Module]) -> Iterator[str]:
    by_name = defaultdict(list)
    for module in modules:
        for statement in module.tree.body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                by_name[statement.name].append(module.name)
    yield from (
        f"{name}: {' and '.join(names)} have a class of this name" for name, names in by_name.items() if names[1:]
    )


def _imports_past_entries(module: Module) -> Iterator[str]:
    for statement in ast.walk(module.tree):
        if not isinstance(statement, ast.ImportFrom) or not (statement.module or "").startswith(f"{ROOT}."):
            continue
        source = statement.module or ""
        place = f"{module.path.relative_to(SOURCES.parent)}:{statement.lineno}"
        is_own = source == module.package or source.startswith(f"{module.package}.")
        entry = SOURCES.joinpath(*source.split(".")) / "__init__.py"
        if is_own:
            names = [alias.name for alias in statement.names if not _is_module(source, alias.name)]
            if entry.exists() and module.name.startswith(f"{source}.") and names:
                yield f"{place}: `{source}` is the entry of the module's own package; import from where it is defined"
        elif entry.exists():
            missing = [alias.name for alias in statement.names if alias.name not in _exported(entry)]
            yield from (f"{place}: `{name}` is not exported by `{source}`" for name in missing)
        elif SOURCES.joinpath(*source.split(".")[:2]).is_dir():
            yield f"{place}: `{source}` is private to its package, which is entered by its `__init__.py`"


def _writes_past_writer(module: Module) -> Iterator[str]:
    """Yield where a module writes to standard output or standard error by itself."""
    if module.name in (WRITER, GUARDED_LOGS) or module.name in NOT_FOR_PEOPLE:
        return
    nodes = list(ast.walk(module.tree))
    harmless = {node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in HARMLESS}
    for node in nodes:
        if (written := _written_by(node)) is not None and node not in harmless:
            place = f"{module.path.relative_to(SOURCES.parent)}:{getattr(node, 'lineno', 0)}"
            yield f"{place}: `{written}` writes to the terminal, and only `{WRITER}` may"


def _written_by(node: ast.AST) -> str | None:
    """Return what writes to standard output or standard error in a node, none where nothing does."""
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr=name) if name in STREAMS:
            return f"sys.{name}"
        case ast.ImportFrom(module="sys", names=[*names]) if any(alias.name in STREAMS for alias in names):
            return "sys"
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in WRITING:
            # A console may have a method of such a name.
            return None if name == "print" and isinstance(node.func, ast.Attribute) else name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="write"), args=[ast.Constant(value=1 | 2), *_]):
            return "os.write"
        case _:
            return None


def _writes_past_rust_writer() -> Iterator[str]:
    """Yield where the load generator writes to standard output or standard error but in its writer."""
    for path in sorted(path for crate in RUST_PROGRAMS for path in (CRATES / crate / "src").rglob("*.rs")):
        if path != RUST_WRITER:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if (written := RUST_WRITING.search(line)) is not None:
                    place = f"{path.relative_to(SOURCES.parent)}:{number}"
                    yield f"{place}: `{written[0]}` writes to the terminal, and only `{RUST_WRITER.name}` may"


def _repeated_headings(modules: list[Module]) -> Iterator[str]:
    """Yield where the pages write a heading of a sheet; single words are also headings of what is no sheet."""
    headings = {heading for module in modules for heading in _headings_of(module) if " " in heading}
    for path in sorted(path for path in WEB.rglob("*.tsx") if ".test." not in path.name):
        for text in sorted({*WEB_HEADING.findall(path.read_text(encoding="utf-8"))} & headings):
            yield f"{path.relative_to(SOURCES.parent)}: `{text}` is a heading of a sheet"


def _headings_of(module: Module) -> Iterator[str]:
    """Yield the headings of columns that a module of sheets writes out."""
    if module.package != f"{ROOT}.sheets":
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Column":
            for keyword in node.keywords:
                if keyword.arg == "heading" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def _is_module(package: str, name: str) -> bool:
    path = SOURCES.joinpath(*package.split("."), name)
    return path.with_suffix(".py").exists() or path.is_dir()


def _exported(entry: Path) -> frozenset[str]:
    """Return the names that an entry exports: those imported under a name that is written out, and its own."""
    names: set[str] = set()
    for statement in ast.parse(entry.read_text(encoding="utf-8")).body:
        match statement:
            case ast.ImportFrom(names=[*aliases]):
                names |= {alias.asname for alias in aliases if alias.asname is not None}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
    return frozenset(names)


if __name__ == "__main__":
    sys.exit(main())
