"""The program that `reading` starts: reads one file within limits, and writes the answer to standard output.

    python -I -S reader.py CORE_DIRECTORY CPU_SECONDS MEMORY_BYTES FUNCTION ARGUMENT...

The answer is a letter with its data: `R` a result, `E` an error in the file, `S` an error of the operating system. Only
the extension module of the package and the necessary modules of Python are imported: this program runs for every
counted trial.
"""

import os
import resource
import sys
from collections.abc import Callable
from itertools import islice
from types import ModuleType


def _fields(*values: object) -> bytes:
    """Return values as text separated by zero bytes, which no value contains: importing a JSON module takes long."""
    return b"\0".join(str(value).encode() for value in values)


def _facts(core: ModuleType, path: str) -> bytes:
    facts = core.binary_facts(path)
    texts = [facts.build_id, facts.compiler, facts.flags, facts.compile_directory, facts.image]
    numbers = [facts.stripped, facts.debug_lines, facts.static_executable, facts.exported_functions]
    return _fields(*texts, *map(int, numbers))


def _functions(core: ModuleType, path: str, source_root: str) -> bytes:
    return _fields(*(value for function in core.source_functions(path, source_root) for value in function))


def _structures(core: ModuleType, path: str, source_root: str) -> bytes:
    return _fields(*(value for structure in core.structures(path, source_root) for value in structure))


def _code(core: ModuleType, path: str, source_root: str) -> bytes:
    known = core.function_code(path, source_root)
    return _fields(
        *(
            value
            for (name, file), digest, names, inlined in known
            for value in (name, file, digest, " ".join(names), "\n".join("\t".join(one) for one in inlined))
        )
    )


def _lines(core: ModuleType, path: str, source_root: str, *files: str) -> bytes:
    known = core.code_lines(path, source_root, list(files))
    return _fields(*(value for file, lines in known for value in (file, " ".join(map(str, lines)))))


def _graph(
    core: ModuleType, small: str, large: str, requests_small: str, requests_large: str, source_root: str
) -> bytes:
    graph: bytes = core.call_graph(small, large, int(requests_small), int(requests_large), source_root)
    return graph


def _timers(core: ModuleType, requests: str, timers: str, *arguments: str) -> bytes:
    *numbers, source_root = arguments
    graph: bytes = core.timer_graph(requests, timers, *map(int, numbers), source_root)
    return graph


def _executed(core: ModuleType, before: str, *arguments: str) -> bytes:
    *files, of_first, first, of_second, second, of_third, third, name = arguments
    *dumps, program = files
    rest = iter(dumps)
    windows = [list(islice(rest, int(number))) for number in (of_first, of_second, of_third)]
    requests = [int(first), int(second), int(third)]
    executed: bytes = core.executed(before, windows, requests, name, program)
    return executed


def _stacks(core: ModuleType, path: str, *arguments: str) -> bytes:
    *original, source_root = arguments
    table: bytes = core.read_stacks(path, source_root, *original)
    return table


def _waits(core: ModuleType, path: str, source_root: str, *bounds: str) -> bytes:
    numbers = iter(map(int, bounds))
    table: bytes = core.read_waits(path, source_root, list(zip(numbers, numbers, strict=True)))
    return table


FUNCTIONS: dict[str, Callable[..., bytes]] = {
    "binary_facts": _facts,
    "source_functions": _functions,
    "structures": _structures,
    "function_code": _code,
    "code_lines": _lines,
    "call_graph": _graph,
    "timer_graph": _timers,
    "executed": _executed,
    "read_stacks": _stacks,
    "read_waits": _waits,
}


def _result(core: ModuleType, function: str, arguments: list[str]) -> bytes:
    try:
        return b"R" + FUNCTIONS[function](core, *arguments)
    except OSError as fault:
        return b"S" + _fields(fault.errno or 0, fault.strerror or fault, fault.filename or "")
    except ValueError as fault:
        return b"E" + str(fault).encode()


def _main(core_directory: str, cpu_seconds: str, memory_bytes: str, function: str, *arguments: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # One second between SIGXCPU, which names the reason, and SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), int(memory_bytes)))
    # After Python's own library, as the package has modules of the same names.
    sys.path.append(core_directory)
    answer = memoryview(_result(__import__("_core"), function, list(arguments)))
    while answer:
        answer = answer[os.write(1, answer) :]
    # Without the interpreter's finalization, which takes as long as the reading.
    os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
