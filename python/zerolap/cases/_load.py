"""Reads case files: a single file, a directory, or a suite of the package."""

import functools
from collections.abc import Iterable, Set
from importlib import resources
from pathlib import Path

from zerolap.cases._build import cases_of
from zerolap.cases._document import Document, FileProblem, read_document
from zerolap.cases._format import CaseFile
from zerolap.cases._public_topologies import PublicTopologies, load_topologies
from zerolap.cases.public import case_of, is_public
from zerolap.named_file import read_named
from zerolap.records import Case, CaseFileError, UsageError

_ENDINGS = (".yml", ".yaml")
ALL_SUITES = "all"
TOPOLOGIES = "topologies.yml"
MOST_PATHS = 100_000
MOST_FILES = 5_000
MOST_DIRECTORY_BYTES = 64 << 20
MOST_CASES = 10_000
MOST_SHOWN = 100
FILE_HINT = "give a case file, a directory of case files, or the name of a suite"
DIRECTORY_HINT = "give the directory that has the case files alone"


def load_cases(directory_or_file: Path) -> list[Case]:
    """Read a case file, or all case files below a directory, in the lab's own format or the public one.

    If neither exists, the argument is the name of a suite of the package, such as `geo`, or `all`. Faults in a file of
    the public format are warnings of its case, not errors.

    Raises:
        UsageError: There is no such file or suite, or the directory has no case file.
        CaseFileError: A file does not follow the format; `details` lists all problems, one per line.
    """
    if directory_or_file.is_dir():
        documents = [_read(path) for path in _case_files(directory_or_file)]
        documents = [document for document in documents if _may_hold_cases(document)]
    elif directory_or_file.exists():
        documents = [_read(directory_or_file)]
    elif str(directory_or_file) == ALL_SUITES:
        return packaged_cases()
    elif str(directory_or_file) in packaged_suites():
        return _packaged(str(directory_or_file))
    else:
        raise UsageError(
            f"{directory_or_file}: no such file or directory, nor a suite of that name",
            hint=f"suites: {', '.join(packaged_suites())}; {ALL_SUITES} are all of them",
        )
    if not documents:
        raise UsageError(
            f"{directory_or_file}: no case file (*.yml, *.yaml) in it", hint="docs/cases.md has an example"
        )
    return _cases(documents)


def _case_files(directory: Path) -> list[Path]:
    """Return the case files below a directory, sorted; raises `UsageError` where it holds more than is read."""
    paths, size_bytes = list[Path](), 0
    for looked_at, path in enumerate(directory.rglob("*")):
        if looked_at >= MOST_PATHS:
            raise UsageError(f"{directory}: more than {MOST_PATHS:,} files are below it", hint=DIRECTORY_HINT)
        if path.suffix in _ENDINGS and path.is_file():
            paths.append(path)
            size_bytes += path.stat().st_size
        if len(paths) > MOST_FILES or size_bytes > MOST_DIRECTORY_BYTES:
            most = f"{MOST_FILES:,} case files, or {MOST_DIRECTORY_BYTES >> 20} MiB of them,"
            raise UsageError(f"{directory}: more than {most} are below it", hint=DIRECTORY_HINT)
    return sorted(paths)


def core_suite() -> list[Case]:
    """Return the cases that are measured by default."""
    return _packaged("core")


def packaged_suites() -> list[str]:
    """Return the names of the suites that come with the package."""
    files = (resources.files("zerolap.cases") / "suites").iterdir()
    return sorted(file.name.removesuffix(".yml") for file in files if file.name.endswith(".yml"))


def packaged_cases() -> list[Case]:
    """Return the cases of all suites that come with the package."""
    files = (resources.files("zerolap.cases") / "suites" / f"{name}.yml" for name in packaged_suites())
    return _cases([read_document(file.read_text(encoding="utf-8"), str(file)) for file in files])


def _packaged(name: str) -> list[Case]:
    resource = resources.files("zerolap.cases") / "suites" / f"{name}.yml"
    return _cases([read_document(resource.read_text(encoding="utf-8"), str(resource))])


def _read(path: Path) -> Document:
    try:
        return read_document(read_named(path, hint=FILE_HINT).decode(), str(path))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Document(str(path), problems=[FileProblem(str(path), line, "not UTF-8 text")])


def _may_hold_cases(document: Document) -> bool:
    """Whether a file of a directory is neither empty nor of another kind, such as the public format's defaults."""
    data = document.data
    if isinstance(data, dict):
        return is_public(data) or not CaseFile.model_fields.keys().isdisjoint(data)
    return data is not None or bool(document.problems)


def _cases(documents: Iterable[Document]) -> list[Case]:
    cases: list[Case] = []
    problems: list[FileProblem] = []
    first_of: dict[str, Case] = {}
    documents = list(documents)
    stems = {Path(document.file).stem for document in documents if is_public(document.data)}
    for document in documents:
        if is_public(document.data):
            suite = case_of(document, _topologies_in(Path(document.file).resolve().parent))
            document_cases = [_with_own_name(suite, stems | first_of.keys())]
            document.problems.clear()
        else:
            document_cases = cases_of(document)
        if len(cases) + len(document_cases) > MOST_CASES:
            raise CaseFileError(f"{document.file}: with it, there are more than {MOST_CASES:,} cases", DIRECTORY_HINT)
        problems += document.sorted_problems
        cases += document_cases
        for case in document_cases:
            first = first_of.setdefault(case.name, case)
            if first is not case:
                text = f'field "name": case "{case.name}" exists already, at {first.file}:{first.line}'
                problems.append(FileProblem(case.file, case.line, text))
    if problems:
        raise _error(problems)
    return cases


@functools.cache
def _topologies_in(directory: Path) -> PublicTopologies:
    """Return the topologies that suites in a directory refer to by name."""
    for candidate in (directory, directory.parent, directory.parent / "setups" / "topologies"):
        if (candidate / TOPOLOGIES).is_file():
            return load_topologies(candidate / TOPOLOGIES)
    return PublicTopologies()


def known_topologies(directory_or_file: Path) -> PublicTopologies:
    """Return the public format's topologies that belong to these cases."""
    path = directory_or_file.resolve()
    return _topologies_in(path if path.is_dir() else path.parent)


def _with_own_name(suite: Case, others: Set[str]) -> Case:
    """Return the suite, renamed after its file if another suite has the same name, as in copies."""
    stem = Path(suite.file).stem
    if suite.name == stem or suite.name not in others:
        return suite
    warning = f'{suite.file}:{suite.line}: field "name": "{suite.name}" is another suite\'s; the file\'s name is taken'
    return suite.model_copy(update={"name": stem, "warnings": [*suite.warnings, warning]})


def _error(problems: list[FileProblem]) -> CaseFileError:
    first, *others = problems
    message = str(first)
    if others:
        message += f" (and {len(others)} more)"
    hint = next((problem.hint for problem in problems if problem.hint), "")
    shown = problems[:MOST_SHOWN]
    details = "\n".join(f"{problem} ({problem.hint})" if problem.hint else str(problem) for problem in shown)
    if len(problems) > MOST_SHOWN:
        details += f"\nand {len(problems) - MOST_SHOWN:,} more"
    return CaseFileError(message, hint=first.hint or hint, details=details if others else "")
