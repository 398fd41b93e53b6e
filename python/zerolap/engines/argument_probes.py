"""How often functions get the arguments of an earlier call of the same request, by probes of bpftrace, in a pass alone.

Each probe slows the server down: nothing is timed meanwhile. A probe compares in the kernel, by a hash of the arguments
and of the request in a table of fixed size, so that no argument reaches user space and no server can fill any memory.

bpftrace looks functions up in the program's table of symbols, with the privileges of root. The server is therefore
started from a copy of its program that has a table made by the lab, with names of its own.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from zerolap.build import Parameter
from zerolap.engines.bpftrace import AttachedProgram, attached, count_of, counts_by_number, read_maps
from zerolap.engines.counted_checks import reply_checks
from zerolap.engines.program_symbols import FunctionSymbol, with_symbols
from zerolap.engines.server_trial import PinnedTrial, deployed, filled
from zerolap.load import SliceResult, Target, counted_arguments, load_program
from zerolap.records import Case, TrialFailed
from zerolap.server import named_death

ARGUMENT_METHOD: Final = 2
"""The version of the method, raised when the same server would get other counts."""
MOST_PROBED: Final = 32
"""Entries of functions in one pass, and as many of commands."""
REQUESTS: Final = 500
LONGEST_SECONDS: Final = 3.0
SLICE_REQUESTS: Final = 50

REGISTERS: Final = 6
"""The registers of arguments that are integers or pointers on x86-64; other processors have as many or more."""
COMPARED_REGISTERS: Final = 4
"""The registers that are compared of a function whose parameters are not known."""
TEXT_WORDS, STRUCTURE_WORDS = 4, 2
"""How many words of 8 bytes are compared behind a pointer to text and to a structure. Beyond these, other data may
lie.
"""
CONTENT_WORDS: Final = 8
"""How many words of 8 bytes are compared of text that is compared alone, wherever it lies."""
SLOTS: Final = 1024
"""The slots of the table of arguments; two arguments of one slot displace each other, and are not taken for equal."""
MULTIPLIER: Final = 6364136223846793005
"""An odd number with bits all over (Knuth's, of MMIX): multiplying by it loses nothing and mixes upwards."""
LOWEST_BITS: Final = 0x0101010101010101

_COMMAND: Final = """
uprobe:{path}:{label} /pid == {process}/
{{
  $thread = (uint64)tid;
  $depth = @depth[$thread];
  if ($depth == 0) {{ @request[$thread] = nsecs; @commands = count(); }}
  @depth[$thread] = $depth + 1;
}}

uretprobe:{path}:{label} /pid == {process}/
{{
  $thread = (uint64)tid;
  $depth = @depth[$thread];
  if ($depth > 0) {{ @depth[$thread] = $depth - 1; }}
}}
"""
"""A request lasts as long as the outermost function of a command: scripts and transactions call others within it."""

_FUNCTION: Final = """
uprobe:{path}:{label} /pid == {process}/
{{
  $thread = (uint64)tid;
  if (@depth[$thread] > 0) {{
    @calls[{index}] = count();
    $mark = (uint64)((@request[$thread] ^ {index}) * {multiplier});
{mixed}
    $place = ($mark >> 40) & {last_place};
    if (@seen[$place] == $mark) {{ @repeated[{index}] = count(); }} else {{ @seen[$place] = $mark; }}
  }}
}}
"""


@dataclass(frozen=True)
class ProbedEntry:
    """An entry of a function in the program, and its parameters; none where they are not known.

    With `by_content`, arguments that lead to the same text are the same wherever it lies.
    """

    symbol: FunctionSymbol
    parameters: Sequence[Parameter] | None
    by_content: bool = False


@dataclass(frozen=True)
class ProbedCalls:
    """Calls of a function within requests, and how many of them had the arguments of an earlier call of the request."""

    calls: int
    repeated: int


@dataclass(frozen=True)
class ArgumentCounts:
    """What was counted: how often commands were carried out, and calls by the place of the function among the probed.

    Meanwhile so many `requests` were sent, those of commands that are not probed among them.
    """

    commands: int
    functions: Sequence[ProbedCalls]
    requests: int = 0


def sees_all(parameters: Sequence[Parameter] | None) -> bool:
    """Whether all arguments of a function are compared: they are known, and in the registers that are read."""
    if parameters is None:
        return False
    return Parameter.FLOATING not in parameters and len(parameters) <= REGISTERS


def argument_program(
    process: int, path: str, commands: Sequence[FunctionSymbol], functions: Sequence[Sequence[ProbedEntry]]
) -> str:
    """Return the program for functions, each with its entries, whose symbols in the file `path` are `labels_of`."""
    parts = [_COMMAND.format(path=path, label=_command_label(index), process=process) for index in range(len(commands))]
    for index, entries in enumerate(functions):
        for number, entry in enumerate(entries):
            parts.append(
                _FUNCTION.format(
                    path=path,
                    label=_function_label(index, number),
                    process=process,
                    index=index,
                    multiplier=MULTIPLIER,
                    mixed="\n".join(f"    {line}" for line in _mixed(entry)),
                    last_place=SLOTS - 1,
                )
            )
    return "".join(parts)


def labels_of(
    commands: Sequence[FunctionSymbol], functions: Sequence[Sequence[ProbedEntry]]
) -> dict[str, FunctionSymbol]:
    """Return the symbols by the names that the program of bpftrace has for them."""
    labels = {_command_label(index): symbol for index, symbol in enumerate(commands)}
    for index, entries in enumerate(functions):
        labels |= {_function_label(index, number): entry.symbol for number, entry in enumerate(entries)}
    return labels


def _command_label(index: int) -> str:
    return f"command_{index}"


def _function_label(index: int, number: int) -> str:
    return f"function_{index}_{number}"


def _mixed(entry: ProbedEntry) -> Iterator[str]:
    """Yield the statements that mix the arguments of a function into `$mark`."""
    kinds = entry.parameters
    if kinds is None:
        kinds = [Parameter.STRUCTURE] * COMPARED_REGISTERS
    in_registers = [kind for kind in kinds if kind is not Parameter.FLOATING]
    for number, kind in enumerate(in_registers[:REGISTERS]):
        register = f"arg{number}"
        match kind:
            case Parameter.SHORT_NUMBER:
                yield _mix(f"((uint64){register} & {0xFFFFFFFF})")
            case Parameter.TEXT:
                if not entry.by_content:
                    yield _mix(f"(uint64){register}")
                yield from _mixed_text(register, CONTENT_WORDS if entry.by_content else TEXT_WORDS)
            case Parameter.OBJECT:
                yield _mix(f"(uint64){register}")
                yield f"$object = *(uint64 *)({register} + 8);"
                yield _mix("$object")
                yield from _mixed_text("$object", TEXT_WORDS)
            case Parameter.STRUCTURE:
                yield _mix(f"(uint64){register}")
                for word in range(STRUCTURE_WORDS):
                    yield _mix(f"*(uint64 *)({register} + {8 * word})")
            case _:
                yield _mix(f"(uint64){register}")


def _mixed_text(pointer: str, words: int) -> Iterator[str]:
    """Yield the statements that mix the text at a pointer up to its end: what lies behind it is no part of it."""
    yield "$goes_on = 1;"
    for word in range(words):
        yield "if ($goes_on == 1) {"
        yield f"  $word = (uint64)(*(uint64 *)({pointer} + {8 * word}));"
        # The lowest bit that is set marks the first zero byte (Mycroft's test); below it all bits are kept.
        yield f"  $zeros = (uint64)(($word - {LOWEST_BITS}) & ~$word & ({LOWEST_BITS} << 7));"
        yield "  $first = (uint64)($zeros & (0 - $zeros));"
        yield f"  {_mix(f'($word & ((($first >> 7) & {LOWEST_BITS}) - 1))')}"
        yield "  if ($zeros != 0) { $goes_on = 0; }"
        yield "}"


def _mix(value: str) -> str:
    return f"$mark = (uint64)(($mark ^ {value}) * {MULTIPLIER});"


def read_argument_counts(output: str, functions: int) -> ArgumentCounts:
    """Return what was counted of so many functions, from what bpftrace wrote; raises `ValueError` for anything else."""
    maps = read_maps(output)
    calls, repeated = (counts_by_number(maps.get(name, {})) for name in ("calls", "repeated"))
    return ArgumentCounts(
        count_of(maps.get("commands", 0)),
        [ProbedCalls(calls.get(index, 0), repeated.get(index, 0)) for index in range(functions)],
    )


def count_repeated(
    trial: PinnedTrial,
    content: bytes,
    commands: Sequence[FunctionSymbol],
    functions: Sequence[Sequence[ProbedEntry]],
) -> ArgumentCounts:
    """Start a server, and count over some hundred requests of its case, sent one after another.

    `content` is that of the trial's program. Raises `TrialFailed` if the server, the load generator or bpftrace fails.
    """
    if trial.server.topology.nodes > 1:
        raise TrialFailed("one server is probed; the topology has several")
    probed = with_symbols(content, labels_of(commands, functions))
    path = trial.directory / "program"
    path.write_bytes(probed)
    path.chmod(0o755)
    trial = replace(trial, program=replace(trial.program, path=path))
    with contextlib.ExitStack() as stack:
        deployment = stack.enter_context(deployed(trial, trial.server.topology))
        target = Target.of(deployment)
        data = stack.enter_context(filled(trial, deployment, target, processors=trial.pinning.client))
        stack.enter_context(named_death(target.server))
        arguments = counted_arguments(trial.case, trial.seed)
        load = stack.enter_context(load_program(target.reach, trial.load_log, arguments))
        process = deployment.nodes[0].process
        executed = stack.enter_context(_executed_file(process, probed))
        program = argument_program(process, executed, commands, functions)
        probes = stack.enter_context(attached(program, trial.directory))
        slices = list(_sent(load.slice, trial.case))
        counts = _counts(probes, len(functions))
        data.beside.require_running()
    _require_replies(trial.case, slices)
    return replace(counts, requests=sum(part.requests for part in slices))


@contextlib.contextmanager
def _executed_file(process: int, content: bytes) -> Iterator[str]:
    """Give a path of the file that a process executes, whatever the server has put in its place meanwhile.

    Raises `TrialFailed` unless it is the program that the server was started with.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(Path(f"/proc/{process}/exe").open("rb"))
        except OSError as fault:
            raise TrialFailed(f"the server's program cannot be read: {fault}") from fault
        if file.read(len(content) + 1) != content:
            raise TrialFailed("the server runs as another program than it was started with")
        yield f"/proc/{os.getpid()}/fd/{file.fileno()}"


def _sent(send: Callable[[int], SliceResult], case: Case) -> Iterator[SliceResult]:
    """Send requests in slices until there are enough, time is up, or the data runs out."""
    unit = math.lcm(case.client.pipeline, case.client.cycle)
    in_slice = max(1, SLICE_REQUESTS // unit) * unit
    end = time.monotonic() + LONGEST_SECONDS
    sent = 0
    while sent < REQUESTS and (sent == 0 or time.monotonic() < end):
        result = send(unit if sent == 0 else in_slice)
        yield result
        sent += result.requests
        if case.state == "drains" and result.misses > 0:
            return


def _counts(probes: AttachedProgram, functions: int) -> ArgumentCounts:
    try:
        return read_argument_counts(probes.output(), functions)
    except ValueError as wrong:
        raise probes.unusable(wrong) from wrong


def _require_replies(case: Case, slices: Sequence[SliceResult]) -> None:
    # Data that runs out is asked for until there is none.
    may_fail = {"hit_rate", "misses"} if case.state == "drains" else set[str]()
    failed = [check.check for check in reply_checks(case, slices, None) if not check.ok and check.check not in may_fail]
    if failed:
        raise TrialFailed(f"its replies are not those of the case: {', '.join(failed)}")
