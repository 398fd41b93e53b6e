"""Functions of a program by the names of its symbols, and a copy of the program with only chosen symbols, renamed.

An ELF file of code under test may contain anything. This module reads it as numbers and texts within bounds. Privileged
tools that look up functions then read the symbols written here, and no table of the hostile file.
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

MOST_SYMBOLS: Final = 1 << 20
"""The most symbols of all tables of a file together: its sections may name the same table many times."""
MOST_SECTIONS: Final = 1_000
MOST_SEGMENTS: Final = 64
LONGEST_SYMBOL: Final = 200

MAGIC: Final = b"\x7fELF\x02\x01"
"""The first bytes of a 64-bit, little-endian ELF file."""
HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION: Final = struct.Struct("<IIQQQQIIQQ")
SYMBOL: Final = struct.Struct("<IBBHQQ")
SEGMENT_BYTES: Final = 56
TEXTS_KIND, SYMBOLS_KIND, DYNAMIC_SYMBOLS_KIND = 3, 2, 11
FUNCTION, GLOBAL_FUNCTION = 2, 0x12
ABSOLUTE: Final = 0xFFF1
NAME: Final = re.compile(rb"[A-Za-z0-9_.]+")
PIECE: Final = re.compile(r"(?:\.(?:constprop|isra|part|lto_priv|llvm)\.\d+)+")
"""What compilers append to the names of functions that they have changed; `.cold` is no entry of one."""
CHANGED: Final = re.compile(r"\.(?:constprop|isra|part)\.")
"""Such a function need not take the parameters of its source."""


class NoProgram(ValueError):
    """A file is no ELF file of the kind that is read here."""


@dataclass(frozen=True)
class FunctionSymbol:
    """A function of the program: its name in the source, and where it lies.

    `is_as_written` states that it takes the parameters of the source.
    """

    name: str
    address: int
    size_bytes: int
    is_as_written: bool


def function_symbols(program: bytes) -> dict[str, list[FunctionSymbol]]:
    """Return the functions of a program by their names in the source, those at one address once.

    Raises `NoProgram`. A name with other letters than those of C is left out.
    """
    functions: dict[str, dict[int, FunctionSymbol]] = {}
    for name, address, size_bytes in _symbols(program):
        piece = PIECE.search(name)
        if piece is not None and piece.end() != len(name):
            continue
        source_name = name if piece is None else name[: piece.start()]
        if "." not in source_name:
            symbol = FunctionSymbol(source_name, address, size_bytes, CHANGED.search(name) is None)
            functions.setdefault(source_name, {}).setdefault(address, symbol)
    return {name: list(by_address.values()) for name, by_address in functions.items()}


def _symbols(program: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, address and size of the functions in all tables of symbols, `MOST_SYMBOLS` in all.

    Raises `NoProgram`.
    """
    sections, content = list(_sections(program)), memoryview(program)
    left = MOST_SYMBOLS
    for _, kind, _, _, offset, size_bytes, texts, _, _, entry_bytes in sections:
        if kind not in (SYMBOLS_KIND, DYNAMIC_SYMBOLS_KIND) or entry_bytes != SYMBOL.size or texts >= len(sections):
            continue
        names_from, names_bytes = sections[texts][4], sections[texts][5]
        names = content[names_from : names_from + names_bytes]
        table = content[offset : offset + min(size_bytes, left * SYMBOL.size)]
        left -= len(table) // SYMBOL.size
        for name_at, info, _, section, address, symbol_bytes in SYMBOL.iter_unpack(
            table[: len(table) - len(table) % SYMBOL.size]
        ):
            if info & 0xF != FUNCTION or not section or not address or not symbol_bytes:
                continue
            name = NAME.match(names, name_at, name_at + LONGEST_SYMBOL)
            if name is not None and bytes(names[name.end() : name.end() + 1]) == b"\0":
                yield name[0].decode("ascii"), address, symbol_bytes


def _sections(program: bytes) -> Iterator[tuple[int, ...]]:
    header = _header(program)
    first, size_bytes, number = header[6], header[11], header[12]
    if size_bytes != SECTION.size or number > MOST_SECTIONS or first + number * SECTION.size > len(program):
        raise NoProgram("its table of sections cannot be read")
    for place in range(number):
        yield SECTION.unpack_from(program, first + place * SECTION.size)


def _header(program: bytes) -> tuple[int, ...]:
    if len(program) < HEADER.size or not program.startswith(MAGIC):
        raise NoProgram("it is no 64-bit program of this kind of machine")
    header: tuple[int, ...] = HEADER.unpack_from(program)
    first, size_bytes, number = header[5], header[9], header[10]
    if size_bytes != SEGMENT_BYTES or number > MOST_SEGMENTS or first + number * size_bytes > len(program):
        raise NoProgram("its segments cannot be read")
    return header


def with_symbols(program: bytes, symbols: Mapping[str, FunctionSymbol]) -> bytes:
    """Return a program that runs as before, whose only symbols and sections are these symbols; raises `NoProgram`.

    What a program is loaded and linked by at its start is not in sections, and stays.
    """
    header = list(_header(program))
    names = b"\0.strtab\0.symtab\0"
    table = bytes(SYMBOL.size)
    for name, symbol in symbols.items():
        table += SYMBOL.pack(len(names), GLOBAL_FUNCTION, 0, ABSOLUTE, symbol.address, symbol.size_bytes)
        names += name.encode("ascii") + b"\0"
    padding = -len(program) % 8
    table_at = len(program) + padding
    names_at = table_at + len(table)
    sections_at = names_at + len(names) + -len(names) % 8
    sections = bytes(SECTION.size)
    sections += SECTION.pack(1, TEXTS_KIND, 0, 0, names_at, len(names), 0, 0, 1, 0)
    sections += SECTION.pack(9, SYMBOLS_KIND, 0, 0, table_at, len(table), 1, 1, 8, SYMBOL.size)
    header[6], header[11:] = sections_at, [SECTION.size, 3, 1]
    body = program[HEADER.size :] + bytes(padding) + table + names
    return HEADER.pack(*header) + body + bytes(-len(names) % 8) + sections


def ambiguous(symbols: Collection[FunctionSymbol]) -> bool:
    """Whether several functions of the source have one name: each has at most one symbol that is as it was written."""
    return sum(symbol.is_as_written for symbol in symbols) > 1
