"""Places on a map: made the same each time, found by the suite's searches on a real server, fewer under --quick."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from command_line import Zerolap

from zerolap.build import Program
from zerolap.cases import load_cases, packaged_suites, scaled
from zerolap.lab.selection import select_possible
from zerolap.load.filling import prepare
from zerolap.load.geo_points import LARGEST_LATITUDE, LARGEST_LONGITUDE, POINTS_PER_COMMAND, geo_commands
from zerolap.load.target import Target, by_socket
from zerolap.records import Case, CaseFileError, Generator, Keys, UsageError, parse_command
from zerolap.server import RunningServer, start


def suite() -> Mapping[str, Case]:
    return {case.name: case for case in load_cases(Path("geo"))}


def points(count: int) -> list[tuple[float, float, int]]:
    """Return longitude, latitude and member of all points, read from what is sent."""
    found = []
    for command in geo_commands(Generator(kind="geo", key="map", count=count)):
        lines = command.split(b"\r\n")
        words = lines[2::2]
        assert lines[0] == b"*%d" % len(words)
        assert [int(line[1:]) for line in lines[1:-1:2]] == list(map(len, words))
        assert words[:2] == [b"GEOADD", b"map"]
        found += list(zip(map(float, words[2::3]), map(float, words[3::3]), map(int, words[4::3]), strict=True))
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("not installed: redis-server")
    (tmp_path / "server").mkdir()
    with start(Program(Path(program)), {}, tmp_path / "server", log=tmp_path / "log") as running:
        yield running


def test_points_are_the_same_each_time_and_lie_on_the_map() -> None:
    made = points(20_001)
    assert made == points(20_001)
    assert made[:1000] == points(1000)
    assert [member for _, _, member in made] == list(range(1, 20_002))
    assert max(abs(longitude) for longitude, _, _ in made) <= LARGEST_LONGITUDE
    assert max(abs(latitude) for _, latitude, _ in made) <= LARGEST_LATITUDE
    assert len({point[:2] for point in made}) > 20_000


def test_points_are_not_held_all_at_once() -> None:
    commands = geo_commands(Generator(kind="geo", key="map", count=60_000_000))
    assert next(commands).startswith(b"*%d\r\n" % (2 + 3 * POINTS_PER_COMMAND))


def test_the_suite_asks_what_the_posts_ask() -> None:
    assert {"core", "geo"} <= set(packaged_suites())
    cases = suite()
    assert list(cases) == [
        f"{what}-{size}" for what in ("geodist", "geosearch-radius", "geosearch-box") for size in ("100k", "1M", "60M")
    ]
    distance, search = cases["geodist-60M"], cases["geosearch-box-1M"]
    assert tuple((one.client.connections, one.client.pipeline) for one in (distance, search)) == ((200, 10), (8, 1))
    assert distance.dataset is not None
    assert distance.dataset.generator == Generator(kind="geo", key="places", count=60_000_000)
    assert distance.client.keys == Keys(prefix="", minimum=1, maximum=60_000_000)


@pytest.mark.parametrize("name", ["geodist-100k", "geosearch-radius-100k", "geosearch-box-100k"])
@pytest.mark.parametrize("quick", [False, True])
def test_searches_find_points_on_a_real_server(server: RunningServer, tmp_path: Path, name: str, quick: bool) -> None:
    case = suite()[name]
    case = scaled(case, case.quick_factor) if quick else case
    checks = prepare(Target([server], by_socket(server.socket)), case, seed=1, log=tmp_path / "load.log")
    assert [check.ok for check in checks] == [True]
    count = 10_000 if quick else 100_000
    assert server.command("ZCARD", "places") == count
    assert case.client.keys.maximum == count
    first, last = (case.client.commands[0].line.replace("__key__", str(member)) for member in (1, count))
    found = [server.command(*parse_command(line)) for line in (first, last)]
    assert all(found)
    if name == "geosearch-radius-100k":
        assert isinstance(found[0], list)
        assert 200 < len(found[0]) * 100_000 / count < 500


def test_quick_makes_all_sizes_small() -> None:
    counts = []
    for size in ("100k", "1M", "60M"):
        case = suite()[f"geodist-{size}"]
        small = scaled(case, case.quick_factor)
        assert small.dataset is not None
        assert small.dataset.generator is not None
        assert small.dataset.generator.count == small.client.keys.maximum == small.dataset.keys.maximum
        counts.append(small.dataset.generator.count)
    assert counts == [10_000, 20_000, 20_000]


def test_what_does_not_fit_into_memory_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        total = 4 << 30

    monkeypatch.setattr(psutil, "virtual_memory", Small)
    selection = select_possible(list(suite().values()), [], quick=False)
    assert [skipped.case for skipped in selection.skipped] == [
        "geodist-60M", "geosearch-radius-60M", "geosearch-box-60M",
    ]  # fmt: skip
    assert {skipped.reason for skipped in selection.skipped} == {"memory"}
    assert not select_possible(list(suite().values()), [], quick=True).skipped


def test_a_suite_is_named_where_there_is_no_such_path(
    zerolap: Zerolap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "geosearch-box-1M" in zerolap("suites", "list", "--cases", "geo").out
    zerolap("suites", "list", "--cases", "goe").fails_with(2, "goe: no such file or directory", "core, expiry, geo")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "geo").mkdir()
    with pytest.raises(UsageError, match="no case file"):
        load_cases(Path("geo"))


@pytest.mark.parametrize(
    ("generator", "fault"),
    [
        ("{kind: geo, key: a, count: 0}", 'field "datasets.d.generator.count": expected at least 1'),
        ("{kind: map, key: a, count: 1}", 'field "datasets.d.generator.kind": expected one of geo'),
        ("{kind: geo, key: a, count: 1M}", 'field "datasets.d.generator.count": expected a whole number'),
    ],
)
def test_what_is_wrong_with_a_generator_is_reported(tmp_path: Path, generator: str, fault: str) -> None:
    file = tmp_path / "own.yml"
    file.write_text(
        f"group: g\ndatasets:\n  d:\n    generator: {generator}\ncases:\n"
        "  - {name: one, dataset: d, commands: [GEOHASH a 1]}\n"
    )
    with pytest.raises(CaseFileError) as raised:
        load_cases(file)
    assert fault in raised.value.message
