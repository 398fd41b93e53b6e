"""What the file of a program says of itself: `python -m zerolap.build.binary QUESTION PROGRAM SOURCE_ROOT ANSWER`.

ELF and DWARF of code under test can be made to keep a reader busy without end, or to fill the memory with what unpacks
to a multiple of its size. They are read in a process of its own, which has limits.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from zerolap import _core
from zerolap.records import Record
from zerolap.sandbox import launch, python_environment

READ_SECONDS = 120
READ_BYTES = 4 << 30
ANSWER_BYTES = 256 << 20

SourceFunctions: TypeAlias = list[tuple[str, str, int, int]]
"""File, name, first and last line of each function of the program's own source."""
Question: TypeAlias = Literal["facts", "functions"]


class BinaryFacts(Record):
    """How a program was built, as its file says; strings are empty where it does not say."""

    build_id: str
    compiler: str
    flags: str
    stripped: bool
    compile_directory: str


_FACTS = TypeAdapter(BinaryFacts)
_FUNCTIONS = TypeAdapter(SourceFunctions)


def read_facts(program: Path) -> BinaryFacts:
    """Return how a program was built; raises `ValueError` if its file cannot be read within the limits."""
    return _FACTS.validate_json(_answer("facts", program, ""))


def read_source_functions(program: Path, source_root: str) -> SourceFunctions:
    """Return the functions of the source below a directory; raises `ValueError` as `read_facts`."""
    return _FUNCTIONS.validate_json(_answer("functions", program, source_root))


def _answer(question: Question, program: Path, source_root: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="zerolap-read-") as directory:
        answer, log = Path(directory) / "answer", Path(directory) / "log"
        # -P: the working directory may be a checkout with modules of its own.
        command = [sys.executable, "-P", "-m", __name__, question, str(program), source_root, str(answer)]
        with launch(command, environment=python_environment(), output=log) as reader:
            try:
                code = reader.wait(READ_SECONDS)
            except subprocess.TimeoutExpired as late:
                raise ValueError(f"`{program}` is not read within {READ_SECONDS} s") from late
            if code != 0:
                raise ValueError(reader.output_tail(1) or f"its reader ended with {code}")
        return answer.read_bytes()


def _read(question: str, program: str, source_root: str) -> bytes:
    if question == "functions":
        return _FUNCTIONS.dump_json(_core.source_functions(program, source_root))
    facts = _core.binary_facts(program)
    return _FACTS.dump_json(
        BinaryFacts(
            build_id=facts.build_id,
            compiler=facts.compiler,
            flags=facts.flags,
            stripped=facts.stripped,
            compile_directory=facts.compile_directory,
        )
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (READ_SECONDS, READ_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (READ_BYTES, READ_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (ANSWER_BYTES, ANSWER_BYTES))
    try:
        Path(sys.argv[4]).write_bytes(_read(*sys.argv[1:4]))
    except (OSError, ValueError, MemoryError) as fault:
        sys.exit(str(fault) or type(fault).__name__)
