"""Symbols of programs: which functions there are, and programs that have others instead."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS

from zerolap import _core
from zerolap.engines import program_symbols
from zerolap.engines.program_symbols import (
    HEADER,
    SECTION,
    SYMBOL,
    FunctionSymbol,
    NoProgram,
    ambiguous,
    function_symbols,
    with_symbols,
)

PROGRAM = Path(os.path.realpath("/bin/true"))


@pytest.fixture(scope="module")
def program() -> bytes:
    return PROGRAM.read_bytes()


def a_symbol(name: str, address: int, size_bytes: int = 16, *, is_as_written: bool = True) -> FunctionSymbol:
    return FunctionSymbol(name, address, size_bytes, is_as_written)


def named(program: bytes, *names: str) -> dict[str, list[FunctionSymbol]]:
    """Return what is read of a program with symbols of these names, each at an address of its own."""
    addresses = {name: a_symbol(name, 0x1000 * number) for number, name in enumerate(names, 1)}
    return function_symbols(with_symbols(program, addresses))


def test_exported_functions_are_known() -> None:
    symbols = function_symbols(Path(str(_core.__file__)).read_bytes())
    (symbol,) = symbols["PyInit__core"]
    assert symbol.is_as_written
    assert symbol.size_bytes > 0


def test_a_program_runs_as_before_with_other_symbols(program: bytes, tmp_path: Path) -> None:
    changed = tmp_path / "program"
    changed.write_bytes(with_symbols(program, {"function_0": a_symbol("f", 0x1234, 5)}))
    changed.chmod(0o755)
    assert subprocess.run([changed], check=False, timeout=PATIENCE_SECONDS).returncode == 0
    assert function_symbols(changed.read_bytes()) == {"function_0": [a_symbol("function_0", 0x1234, 5)]}


def test_other_tools_read_the_same_symbols(program: bytes, tmp_path: Path) -> None:
    changed = tmp_path / "program"
    changed.write_bytes(with_symbols(program, {"function_0": a_symbol("f", 0x1234)}))
    facts = _core.binary_facts(str(changed))
    assert not facts.stripped
    assert facts.compiler == ""


def test_what_compilers_make_of_a_function_has_its_name(program: bytes) -> None:
    symbols = named(
        program, "f", "f.constprop.0", "f.isra.0.lto_priv.3", "f.lto_priv.1", "f.cold", "f.part.0.cold", "g.0"
    )
    assert list(symbols) == ["f"]
    assert [symbol.is_as_written for symbol in symbols["f"]] == [True, False, False, True]
    assert ambiguous(symbols["f"])
    assert not ambiguous(symbols["f"][:3])


def test_functions_at_one_address_are_one(program: bytes) -> None:
    both = {name: a_symbol(name, 0x1000) for name in ("f.lto_priv.0", "f.lto_priv.1")}
    assert len(function_symbols(with_symbols(program, both))["f"]) == 1


@pytest.mark.parametrize("name", ["", "f(int)", "f\n", "f}", "f g", 'f"', "f/../g", "x" * 300])
def test_names_that_are_none_of_c_are_left_out(program: bytes, name: str) -> None:
    assert list(named(program, name, "g")) == ["g"]


def changed_header(program: bytes, place: int, value: int) -> bytes:
    header = list(HEADER.unpack_from(program))
    header[place] = value
    return HEADER.pack(*header) + program[HEADER.size :]


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"#!/bin/sh\n" * 100,
        b"\x7fELF\x01\x01" + bytes(100),
        b"\x7fELF\x02\x02" + bytes(100),
        b"\x7fELF\x02\x01" + bytes(100),
    ],
)
def test_what_is_no_program_is_refused(wrong: bytes) -> None:
    with pytest.raises(NoProgram):
        function_symbols(wrong)
    with pytest.raises(NoProgram):
        with_symbols(wrong, {})


@pytest.mark.parametrize(
    ("place", "value"), [(6, 2**63), (6, 2**64 - 1), (11, 1), (12, 65535), (9, 8), (10, 65535), (5, 2**63)]
)
def test_tables_beyond_the_file_are_refused(program: bytes, place: int, value: int) -> None:
    with pytest.raises(NoProgram):
        function_symbols(changed_header(program, place, value))


def test_any_sections_are_read_within_the_file(program: bytes) -> None:
    whole = with_symbols(program, {"f": a_symbol("f", 0x1000)})
    sections_at = struct.unpack_from("<Q", whole, 40)[0]
    for field, value in ((4, 2**64 - 1), (5, 2**64 - 1), (6, 2**32 - 1), (5, 25), (9, 0)):
        fields = list(SECTION.unpack_from(whole, sections_at + 2 * SECTION.size))
        fields[field] = value
        changed = bytearray(whole)
        SECTION.pack_into(changed, sections_at + 2 * SECTION.size, *fields)
        assert set(function_symbols(bytes(changed))) <= {"f"}


def with_two_tables(program: bytes) -> bytes:
    """Return the program with its table of four symbols as two sections, of two symbols each."""
    header = list(HEADER.unpack_from(program))
    sections_at, sections = header[6], header[12]
    assert len(program) == sections_at + sections * SECTION.size
    fields = list(SECTION.unpack_from(program, sections_at + 2 * SECTION.size))
    assert fields[5] == 4 * SYMBOL.size
    halves = [[*fields[:4], fields[4] + place * SYMBOL.size, 2 * SYMBOL.size, *fields[6:]] for place in (0, 2)]
    header[12] += 1
    kept = program[HEADER.size : sections_at + 2 * SECTION.size]
    return HEADER.pack(*header) + kept + b"".join(SECTION.pack(*half) for half in halves)


def test_the_symbols_of_all_tables_are_bounded_together(program: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = with_symbols(program, {name: a_symbol(name, 0x1000 + place) for place, name in enumerate("fgh")})
    two = with_two_tables(whole)
    assert list(function_symbols(two)) == ["f", "g", "h"]
    # The first symbol of a file is none.
    monkeypatch.setattr(program_symbols, "MOST_SYMBOLS", 3)
    assert list(function_symbols(two)) == ["f", "g"]


def test_the_interpreter_of_this_test_is_read() -> None:
    assert function_symbols(Path(os.path.realpath(sys.executable)).read_bytes())
