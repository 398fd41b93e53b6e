"""Probes of arguments: the program that bpftrace gets, what is read of its output, and real functions and servers."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from engine_place import job_of, place_in
from waiting import PATIENCE_SECONDS

from zerolap.build import Parameter
from zerolap.engines import FunctionSymbol, ProbedCalls, ProbedEntry, count_repeated, function_symbols, sees_all
from zerolap.engines.argument_probes import (
    SLOTS,
    ArgumentCounts,
    argument_program,
    labels_of,
    read_argument_counts,
)
from zerolap.engines.bpftrace import attached
from zerolap.engines.program_symbols import with_symbols
from zerolap.engines.server_trial import PinnedTrial
from zerolap.host import probing_obstacle, tracing
from zerolap.records import HEAD, Case, TrialFailed

PATH = "/proc/1/fd/5"
COMMANDS = [FunctionSymbol("xaddCommand", 0x1000, 16, True)]


@pytest.fixture(scope="module")
def may_probe() -> None:
    obstacle = probing_obstacle()
    if obstacle is not None:
        pytest.skip(obstacle.reason)


def entry(*parameters: Parameter, name: str = "f", known: bool = True, by_content: bool = False) -> ProbedEntry:
    symbol = FunctionSymbol(name, 0x2000, 16, is_as_written=True)
    return ProbedEntry(symbol, parameters if known else None, by_content)


def program(*entries: ProbedEntry) -> str:
    return argument_program(4711, PATH, COMMANDS, [entries])


def test_the_program_names_no_function_of_the_server() -> None:
    text = program(entry(name="createStreamIDString"), entry(name="createStreamIDString"))
    assert re.findall(r"^u\w+:.*$", text, re.MULTILINE) == [
        f"uprobe:{PATH}:command_0 /pid == 4711/",
        f"uretprobe:{PATH}:command_0 /pid == 4711/",
        f"uprobe:{PATH}:function_0_0 /pid == 4711/",
        f"uprobe:{PATH}:function_0_1 /pid == 4711/",
    ]
    assert text.count("{") == text.count("}")
    # Nothing is written for single calls.
    assert "print" not in text


def test_the_symbols_have_the_names_of_the_program() -> None:
    functions = [[entry(name="f"), entry(name="f")], [entry(name="g")]]
    labels = labels_of(COMMANDS, functions)
    assert list(labels) == ["command_0", "function_0_0", "function_0_1", "function_1_0"]
    text = argument_program(1, PATH, COMMANDS, functions)
    assert set(re.findall(r"^u\w+:\S+:(\w+) ", text, re.MULTILINE)) == set(labels)


def test_the_table_of_arguments_has_a_fixed_size() -> None:
    assert f"$place = ($mark >> 40) & {SLOTS - 1};" in program(entry(Parameter.NUMBER))


def registers(text: str) -> list[str]:
    return sorted(set(re.findall(r"\barg\d", text)))


def test_only_the_registers_of_parameters_are_compared() -> None:
    assert registers(program(entry(Parameter.HANDLE, Parameter.NUMBER))) == ["arg0", "arg1"]
    # A floating-point number takes none of them.
    assert registers(program(entry(Parameter.FLOATING, Parameter.NUMBER))) == ["arg0"]
    assert registers(program(entry(*[Parameter.NUMBER] * 9))) == [f"arg{number}" for number in range(6)]
    assert registers(program(entry(known=False))) == [f"arg{number}" for number in range(4)]
    assert registers(program(entry())) == []


def test_what_pointers_lead_to_is_compared_as_far_as_it_belongs_to_them() -> None:
    def reads(parameter: Parameter, **options: bool) -> int:
        return program(entry(parameter, **options)).count("*(uint64 *)")

    assert reads(Parameter.NUMBER) == reads(Parameter.HANDLE) == reads(Parameter.SHORT_NUMBER) == 0
    assert reads(Parameter.STRUCTURE) == 2
    assert reads(Parameter.TEXT) == 4
    # The pointer of an object, and the text there.
    assert reads(Parameter.OBJECT) == 5
    assert reads(Parameter.TEXT, by_content=True) == 8
    pointer = "($mark ^ (uint64)arg0)"
    assert pointer in program(entry(Parameter.TEXT))
    assert pointer not in program(entry(Parameter.TEXT, by_content=True))


@pytest.mark.parametrize(
    ("parameters", "all_of_them"),
    [
        (None, False),
        ((), True),
        ((Parameter.NUMBER,) * 6, True),
        ((Parameter.NUMBER,) * 7, False),
        ((Parameter.FLOATING,), False),
    ],
)
def test_it_is_known_whether_all_arguments_are_seen(
    parameters: tuple[Parameter, ...] | None, all_of_them: bool
) -> None:
    assert sees_all(parameters) is all_of_them


def output(**maps: Any) -> str:
    documents: list[dict[str, Any]] = [{"type": "attached_probes", "data": {"probes": 3}}]
    documents += [{"type": "map", "data": {f"@{name}": values}} for name, values in maps.items()]
    return "\n".join(map(json.dumps, documents)) + "\n"


def test_counts_are_read_by_function() -> None:
    seen = {str(place): -(2**62) for place in range(SLOTS)}
    written = output(commands=500, calls={"0": 1000, "1": 7}, repeated={"0": 500}, seen=seen, depth={"12": 0})
    assert read_argument_counts(written, 3) == ArgumentCounts(
        500, [ProbedCalls(1000, 500), ProbedCalls(7, 0), ProbedCalls(0, 0)]
    )


def test_a_server_that_was_not_called_has_no_counts() -> None:
    assert read_argument_counts(output(), 1) == ArgumentCounts(0, [ProbedCalls(0, 0)])


@pytest.mark.parametrize(
    "wrong",
    [
        "not JSON",
        "[]",
        output(commands="5"),
        output(commands=-1),
        output(commands={"0": 1}),
        output(calls={"0,1": 1}),
        output(calls={"x": 1}),
        output(calls={"0": 1.5}),
        output(repeated=[1]),
        output(depth={str(thread): 1 for thread in range(4096)}),
    ],
)
def test_output_of_another_form_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_argument_counts(wrong, 1)


def test_a_kernel_without_probes_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "version_of", lambda command: "0.17")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tracing, "_refusal", lambda attempt: None)
    obstacle = probing_obstacle(tmp_path)
    assert obstacle is not None
    assert "CONFIG_UPROBE_EVENTS" in obstacle.remedy
    (tmp_path / tracing.PROBES).mkdir(parents=True)
    assert probing_obstacle(tmp_path) is None


# In the kernel.

CALLED = """\
#include <stdio.h>
#include <string.h>

struct pair { long first, second; };

__attribute__((noinline)) void by_value(int value) { __asm__ volatile("" : : "r"(value) : "memory"); }
__attribute__((noinline)) void by_text(const char *text) { __asm__ volatile("" : : "r"(text) : "memory"); }
__attribute__((noinline)) void by_key(const void *key) { __asm__ volatile("" : : "r"(key) : "memory"); }
__attribute__((noinline)) void by_pair(struct pair *both) { __asm__ volatile("" : : "r"(both) : "memory"); }

__attribute__((noinline)) void xCommand(int number) {
    char text[64], copy[64];
    struct pair both = {number, 1};
    by_value(number);
    by_value(number);
    by_value(number + 1);
    /* The same buffer, behind whose text something changes; then with another text. */
    memset(text, 'x', sizeof(text));
    strcpy(text, "a text of twenty....");
    by_text(text);
    text[40] = 'y';
    by_text(text);
    text[17] = 'y';
    by_text(text);
    /* The same key at another place. */
    strcpy(copy, text);
    by_key(text);
    by_key(copy);
    by_key("another one");
    by_pair(&both);
    both.second = 2;
    by_pair(&both);
    by_pair(&both);
}

int main(void) {
    puts("ready");
    fflush(stdout);
    getchar();
    by_value(7);
    for (int number = 0; number < 100; number++) xCommand(number);
    by_value(99);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("may_probe")
def test_calls_with_the_arguments_of_an_earlier_one_are_counted_by_request(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source, plain, probed = tmp_path / "called.c", tmp_path / "plain", tmp_path / "probed"
    source.write_text(CALLED)
    subprocess.run([compiler, "-O1", "-w", "-o", plain, source], check=True)
    content = plain.read_bytes()
    symbols = function_symbols(content)
    commands = symbols["xCommand"]
    functions = [
        [ProbedEntry(symbols["by_value"][0], (Parameter.SHORT_NUMBER,))],
        [ProbedEntry(symbols["by_text"][0], (Parameter.TEXT,))],
        [ProbedEntry(symbols["by_key"][0], (Parameter.TEXT,), by_content=True)],
        [ProbedEntry(symbols["by_pair"][0], (Parameter.STRUCTURE,))],
    ]
    probed.write_bytes(with_symbols(content, labels_of(commands, functions)))
    probed.chmod(0o755)
    with subprocess.Popen([probed], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        text = argument_program(child.pid, str(probed), commands, functions)
        with attached(text, tmp_path) as probes:
            child.communicate(b"\n", timeout=PATIENCE_SECONDS)
            counts = read_argument_counts(probes.output(), len(functions))
    # Calls outside of the command are none of a request.
    assert counts == ArgumentCounts(100, [ProbedCalls(300, 100)] * 4)


@pytest.mark.slow
@pytest.mark.usefixtures("may_probe")
def test_a_server_is_probed_while_it_answers_its_case(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    place = place_in(tmp_path / "t")
    job = job_of("counted", cases["good"], redis_server, place)
    program = place.program(job.servers[HEAD])
    symbols = function_symbols(program.path.resolve().read_bytes())
    if "getCommand" not in symbols or "lookupKey" not in symbols:
        pytest.skip("the server's functions have no names")
    with place.trial_directory() as directory:
        trial = PinnedTrial(program, job.servers[HEAD], job.case, 1, directory, place.pinning(job))
        counts = count_repeated(
            trial,
            program.path.resolve().read_bytes(),
            symbols["getCommand"],
            [[ProbedEntry(symbol, None) for symbol in symbols["lookupKey"]]],
        )
    assert counts.requests >= 500
    assert counts.functions[0].calls == counts.commands == counts.requests
    assert counts.functions[0].repeated == 0


@pytest.mark.slow
@pytest.mark.usefixtures("may_probe")
def test_a_server_that_runs_as_another_program_is_not_probed(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path / "t")
    job = job_of("counted", cases["good"], redis_server, place)
    program = place.program(job.servers[HEAD])
    content = program.path.resolve().read_bytes()
    monkeypatch.setattr(Path, "write_bytes", lambda self, data: shutil.copyfile(program.path, self))
    with place.trial_directory() as directory:
        trial = PinnedTrial(program, job.servers[HEAD], job.case, 1, directory, place.pinning(job))
        with pytest.raises(TrialFailed, match="another program"):
            count_repeated(trial, content, COMMANDS, [[entry(Parameter.NUMBER)]])
