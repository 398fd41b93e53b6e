"""Stacks in the formats of other programs, read back without the code that wrote them."""

import gzip
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from stored_stacks import HOSTILE, HSET, stack_table

from zerolap import _core
from zerolap.queries import FORMATS, export_format
from zerolap.records import UsageError

COST = 4500.0
SVG = "{http://www.w3.org/2000/svg}"
PLAIN = HOSTILE.replace("\n", "_")
"""The hostile name without the end of a line."""


def exported(name: str, lines: Mapping[str, int] = HSET["head"], cost: float | None = COST) -> bytes:
    """Return stacks, given by their lines, in a format; costs are CPU time of a request, or samples without one."""
    table = json.dumps(stack_table(lines)).encode()
    profile = _core.stack_profile([(0, 0, 1.0, [table])], 0.0)
    return _core.export_profile(profile, name, f"hset of {HOSTILE}", [(0, "head", cost)])


def test_files_name_their_formats() -> None:
    assert {export.name for export in FORMATS} == {export_format(None, f"a.{export.ending}").name for export in FORMATS}
    assert export_format(None, "/tmp/callgrind.out.123").name == "callgrind"
    assert export_format("svg", "-").name == "svg"
    for file in ("a", "-", "svg", "a.json", "a.svg/b"):
        with pytest.raises(UsageError, match="does not name a format"):
            export_format(None, file)


# pprof


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a protobuf message: numbers, and what is delimited by its length.

    https://protobuf.dev/programming-guides/encoding/
    """
    place = 0

    def number() -> int:
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            assert key & 7 == 2, "pprof has no other kinds"
            length = number()
            yield key >> 3, message[place : place + length]
            place += length
    assert place == len(message)


def numbers(packed: int | bytes) -> list[int]:
    """Return the numbers of a repeated field, which are packed where there are several."""
    if isinstance(packed, int):
        return [packed]
    # As fields of a message: a key before each makes it one.
    found, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(value)
            value, shift = 0, 0
    return found


def test_pprof_is_read_by_another_reader() -> None:
    """https://github.com/google/pprof/blob/main/proto/profile.proto."""
    profile = list(fields(gzip.decompress(exported("pprof"))))
    texts = [value.decode() for field, value in profile if field == 6 and isinstance(value, bytes)]
    assert texts[0] == ""

    def messages(wanted: int) -> list[dict[int, int | bytes]]:
        return [dict(fields(value)) for field, value in profile if field == wanted and isinstance(value, bytes)]

    def text(number: int | bytes) -> str:
        assert isinstance(number, int)
        return texts[number]

    kinds = [(text(kind[1]), text(kind[2])) for kind in messages(1)]
    assert kinds == [("samples", "count"), ("cpu_of_1000000_requests", "nanoseconds")]
    names = {function[1]: text(function[2]) for function in messages(5)}
    lines = {location[1]: location[4] for location in messages(4)}
    functions = {location: names[dict(fields(line))[1]] for location, line in lines.items() if isinstance(line, bytes)}
    stacks: dict[str, list[int]] = {}
    for sample in messages(2):
        stack = [functions[location] for location in numbers(sample[1])]
        stacks[";".join(reversed(stack))] = numbers(sample[2])
        label = sample[3]
        assert isinstance(label, bytes)
        assert {field: text(value) for field, value in fields(label)} == {1: "thread", 2: "server"}
    assert stacks == {
        "main;processCommand;hset;dictFind": [400, 1_800_000_000],
        f"main;processCommand;hset;{HOSTILE}": [400, 1_800_000_000],
        "main;write": [200, 900_000_000],
    }


# callgrind


def callgrind(text: str) -> tuple[Counter[str], dict[tuple[str, str], int], dict[str, str]]:
    """Return own costs by function, costs of calls, and header lines; https://valgrind.org/docs/manual/cl-format.html."""
    known: dict[tuple[str, str], str] = {}
    own: Counter[str] = Counter()
    calls: dict[tuple[str, str], int] = {}
    header: dict[str, str] = {}
    function = called = ""
    is_call = False
    for line in text.splitlines():
        spec = re.fullmatch(r"(c?)(ob|fl|fi|fn)=\((\d+)\)(?: (.+))?", line)
        cost = re.fullmatch(r"0 (\d+)", line)
        if spec is not None:
            kind = "fl" if spec[2] == "fi" else spec[2]
            name = known.setdefault((kind, spec[3]), spec[4])
            assert name is not None, f"{line} refers to nothing"
            assert spec[4] in (None, name)
            if kind == "fn" and spec[1]:
                called = name
            elif kind == "fn":
                function = name
        elif line == "calls=1 0":
            is_call = True
        elif cost is not None and is_call:
            calls[function, called] = int(cost[1])
            is_call = False
        elif cost is not None:
            own[function] += int(cost[1])
        elif line and not line.startswith("#"):
            key, colon, value = line.partition(": ")
            assert colon, line
            header[key] = value
    return own, calls, header


def test_callgrind_has_functions_and_their_calls() -> None:
    own, calls, header = callgrind(exported("callgrind").decode())
    assert own == {"dictFind": 1_800_000_000, PLAIN: 1_800_000_000, "write": 900_000_000, "main": 0, "hset": 0} | {
        "processCommand": 0,
        "server": 0,
    }
    assert calls["server", "main"] == int(header["totals"]) == int(header["summary"]) == sum(own.values())
    assert calls["main", "processCommand"] == calls["processCommand", "hset"] == 3_600_000_000
    assert calls["hset", PLAIN] == 1_800_000_000
    assert (header["events"], header["positions"]) == ("Nanoseconds", "line")
    of_samples, _, header = callgrind(exported("callgrind", cost=None).decode())
    assert (of_samples["write"], header["events"]) == (200, "Samples")


def test_callgrind_annotate_reads_it(tmp_path: Path) -> None:
    program = shutil.which("callgrind_annotate")
    if program is None:
        pytest.skip("valgrind is not installed")
    (tmp_path / "callgrind.out").write_bytes(exported("callgrind"))
    read = subprocess.run(
        [program, "--threshold=100", "--tree=both", str(tmp_path / "callgrind.out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "4,500,000,000 (100.0%)  PROGRAM TOTALS" in read.stdout
    assert re.search(r"1,800,000,000 \(40\.0\d?%\)\s+\*?\s*server\.c:dictFind", read.stdout), read.stdout
    assert read.stderr == ""


# SVG


def test_a_picture_has_a_frame_for_each_call() -> None:
    root = ET.fromstring(exported("svg"))
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert "all samples: 100.00 %, 4500 ns of a request" in titles
    assert "processCommand (server.c): 80.00 %, 3600 ns of a request" in titles
    assert f"{PLAIN} (server.c): 40.00 %, 1800 ns of a request" in titles
    widths = {
        (group.findtext(f"{SVG}title") or "").partition(" (")[0]: float(rect.attrib["width"])
        for group in root.iter(f"{SVG}g")
        if (rect := group.find(f"{SVG}rect")) is not None
    }
    assert widths["main"] == pytest.approx(1180, abs=1)
    assert widths["write"] == pytest.approx(0.2 * 1180, abs=1)


def test_a_picture_holds_nothing_but_a_picture() -> None:
    root = ET.fromstring(exported("svg"))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "style", "rect", "text", "g", "title"}
    for element in root.iter():
        assert element.attrib.keys() <= {
            *("class", "x", "y", "width", "height", "viewBox", "role", "aria-label"),
        }
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme:dark" in style
    assert "url(" not in style
    assert "@import" not in style


# All


@pytest.mark.parametrize("name", [export.name for export in FORMATS])
def test_hostile_names_break_no_format(name: str) -> None:
    """A name is any text that a program has in its table of symbols."""
    hostile = ["", " ", "\0\r\n", "(3)", "a\u2028b\u202e", "]]>&<!--", '"\\', "x" * 5_000, "fn=(1) y"]
    table = stack_table({f"f{number};work": 10 for number in range(len(hostile))})
    for frame in table["frames"]:
        if frame["function"] != "work":
            frame["function"] = hostile[int(frame["function"][1:])]
    table["threads"][0]["name"] = "\n;(1)<"
    profile = _core.stack_profile([(0, 0, 1.0, [json.dumps(table).encode()])], 0.0)
    content = _core.export_profile(profile, name, "]]><a\n", [(0, "\0'", None)])
    if name == "pprof":
        assert list(fields(gzip.decompress(content)))
    elif name == "svg":
        ET.fromstring(content)
    elif name == "callgrind":
        own, _, _ = callgrind(content.decode())
        assert own["work"] == 10 * len(hostile)
    elif name == "folded":
        rows = [line.rpartition(" ") for line in content.decode().split("\n") if line]
        assert sum(int(samples) for _, _, samples in rows) == 10 * len(hostile)
        assert all(stack.count(";") == 2 for stack, _, _ in rows)
    else:
        assert json.loads(content)
