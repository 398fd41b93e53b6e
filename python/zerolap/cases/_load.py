"""Reads case files: one, a directory of them, and the suites that come with the package."""

import functools
from collections.abc import Iterable, Set
from importlib import resources
from pathlib import Path

from zerolap.cases._build import cases_of
from zerolap.cases._document import Document, Problem, read_document
from zerolap.cases._format import CaseFile
from zerolap.cases._public_topologies import PublicTopologies, load_topologies
from zerolap.cases.public import case_of, is_public
from zerolap.records import Case, CaseFileError, UsageError

_ENDINGS = (".yml", ".yaml")
TOPOLOGIES = "topologies.yml"
_OWN_FIELDS = frozenset(CaseFile.model_fields)


def load_cases(directory_or_file: Path) -> list[Case]:
    """Read a case file, or all files below a directory, of the lab's own format and of the public one.

    Where there is neither, it may be the name of a suite that comes with the package, such as `geo`. In a file of
    the public format faults are warnings of its case, not errors.

    Raises:
        UsageError: There is no such file or suite, or no case file below the directory.
        CaseFileError: A file does not follow the format; `details` lists all problems, one a line.
    """
    if directory_or_file.is_dir():
        found = sorted(path for path in directory_or_file.rglob("*") if path.suffix in _ENDINGS and path.is_file())
        documents = [_read(path) for path in found]
        documents = [document for document in documents if not _holds_no_case(document)]
    elif directory_or_file.exists():
        documents = [_read(directory_or_file)]
    elif str(directory_or_file) in packaged_suites():
        return _packaged(str(directory_or_file))
    else:
        raise UsageError(
            f"{directory_or_file}: no such file or directory, nor a suite of that name",
            hint=f"suites: {', '.join(packaged_suites())}",
        )
    if not documents:
        raise UsageError(
            f"{directory_or_file}: no case file (*.yml, *.yaml) in it", hint="docs/cases.md has an example"
        )
    return _cases(documents)


def core_suite() -> list[Case]:
    """Return the cases that are measured where none are named."""
    return _packaged("core")


def packaged_suites() -> list[str]:
    """Return the names of the suites that come with the package."""
    files = (resources.files("zerolap.cases") / "suites").iterdir()
    return sorted(file.name.removesuffix(".yml") for file in files if file.name.endswith(".yml"))


def _packaged(name: str) -> list[Case]:
    resource = resources.files("zerolap.cases") / "suites" / f"{name}.yml"
    return _cases([read_document(resource.read_text(encoding="utf-8"), str(resource))])


def _read(path: Path) -> Document:
    try:
        return read_document(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Document(str(path), problems=[Problem(str(path), line, "not UTF-8 text")])
    except OSError as error:
        raise CaseFileError(f"{path}: cannot be read: {error.strerror}") from error


def _holds_no_case(document: Document) -> bool:
    """Whether a file of a directory is of another kind, such as the public format's defaults, or empty."""
    data = document.data
    if isinstance(data, dict):
        return not is_public(data) and _OWN_FIELDS.isdisjoint(data)
    return data is None and not document.problems


def _cases(documents: Iterable[Document]) -> list[Case]:
    cases: list[Case] = []
    problems: list[Problem] = []
    first_of: dict[str, Case] = {}
    documents = list(documents)
    stems = {Path(document.file).stem for document in documents if is_public(document.data)}
    for document in documents:
        if is_public(document.data) and not _has_faulty_form(document):
            suite = case_of(document, _topologies_beside(Path(document.file)))
            own = [_with_own_name(suite, stems | first_of.keys())]
            document.problems.clear()
        else:
            own = cases_of(document)
        problems += sorted(document.problems, key=lambda problem: problem.line)
        cases += own
        for case in own:
            first = first_of.setdefault(case.name, case)
            if first is not case:
                text = f'field "name": case "{case.name}" exists already, at {first.file}:{first.line}'
                problems.append(Problem(case.file, case.line, text))
    if problems:
        raise _error(problems)
    return cases


@functools.cache
def _topologies_in(directory: Path) -> PublicTopologies:
    for place in (directory, directory.parent, directory.parent / "setups" / "topologies"):
        if (place / TOPOLOGIES).is_file():
            return load_topologies(place / TOPOLOGIES)
    return PublicTopologies()


def known_topologies(directory_or_file: Path) -> PublicTopologies:
    """Return the topologies of the public format that belong to the cases there."""
    path = directory_or_file.resolve()
    return _topologies_in(path if path.is_dir() else path.parent)


def _topologies_beside(file: Path) -> PublicTopologies:
    """Return the topologies that suites in the file's directory mean by their names."""
    return _topologies_in(file.resolve().parent)


def _with_own_name(suite: Case, others: Set[str]) -> Case:
    """Return a suite under its file's name where its own is another suite's, as happens to copies."""
    stem = Path(suite.file).stem
    if suite.name == stem or suite.name not in others:
        return suite
    warning = f'{suite.file}:{suite.line}: field "name": "{suite.name}" is another suite\'s; the file\'s name is taken'
    return suite.model_copy(update={"name": stem, "warnings": [*suite.warnings, warning]})


def _has_faulty_form(document: Document) -> bool:
    """Whether the YAML itself could not be read as it was meant."""
    return document.data is None


def _error(problems: list[Problem]) -> CaseFileError:
    first, *others = problems
    message = str(first)
    if others:
        message += f" (and {len(others)} more)"
    hint = next((problem.hint for problem in problems if problem.hint), "")
    details = "\n".join(f"{problem} ({problem.hint})" if problem.hint else str(problem) for problem in problems)
    return CaseFileError(message, hint=first.hint or hint, details=details if others else "")
