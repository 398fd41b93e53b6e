"""`zerolap snapshot` as a user meets it, with a real server and little data."""

import contextlib
import signal
import sqlite3
import tempfile
from pathlib import Path

import pytest
from command_line import Zerolap, stop
from toy_server import ToySource, compile_toy
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.engines import TRIAL_PREFIX
from zerolap.host import huge_pages
from zerolap.records import SnapshotReport
from zerolap.sandbox import remove_abandoned, scratch
from zerolap.store import Store

SMALL = ("--sizes", "32MiB,64MiB", "--rate", "1000", "--connections", "4", "--repetitions", "1", "--seed", "7")
REPORTED = {"fork_us", "cow_bytes"}
ALWAYS = {"longest_pause_us", "event_seconds", "throughput_lost", "during_p99_us", "outside_p99_us", "resident_bytes"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tcp://127.0.0.1:1"], "is a running server"),
        (["redis-server", "--event", "save"], "'--event': 'save' is not one of 'bgsave', 'bgrewriteaof', "),
        (["redis-server", "--load", "open,shut"], "`--load open,shut` is not valid"),
        (["redis-server", "--sizes", "12"], "`--sizes 12` is not a size of data"),
        (["redis-server", "--sizes", "1KiB"], "is not a size of data"),
        (["redis-server", "--sizes", ","], "names no size"),
        (["redis-server", "--vary", "io-threads"], "`--vary io-threads` is not valid"),
        (["redis-server", "--vary", "io-threads=1,"], "is not valid"),
        (["redis-server", "--vary", "transparent-huge-pages=yes,no"], "transparent-huge-pages=yes` is not valid"),
        (["redis-server", "--vary", "hz=1,2", "--base", "redis-server"], "`--base` and `--vary` both name"),
        (["redis-server", "--base", "tcp://127.0.0.1:1"], "is a running server"),
        (["redis-server", "--min-effect", "0%", "--vary", "hz=1,2"], "is not a change"),
        (["redis-server", "--fail-on", "regression"], "`--fail-on` needs something to compare with"),
        (["redis-server", "--fail-on", "work", "--vary", "hz=1,2"], "no verdicts on it"),
        (["no-such-server"], "names no server"),
    ],
)
def test_wrong_usage_is_refused_at_once(zerolap: Zerolap, words: list[str], message: str) -> None:
    zerolap("snapshot", *words).fails_with(2, message)
    zerolap.leaves_nothing()


def test_data_that_does_not_fit_is_refused_before_anything_is_started(zerolap: Zerolap) -> None:
    ended = zerolap("snapshot", "redis-server", "--sizes", "64MiB,900TiB")
    ended.fails_with(
        3, "921,600 GiB of data needs 1,843,200 GiB of memory", "hint: give smaller ones, such as --sizes "
    )
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
@pytest.mark.parametrize("event", ["bgsave", "bgrewriteaof"])
def test_a_sweep_reports_fork_and_latencies_of_each_size_and_load(zerolap: Zerolap, event: str) -> None:
    ended = zerolap("snapshot", "redis-server", *SMALL, "--event", event, "--json", "-", "--quiet")
    assert ended.code == 0, ended.err
    report = SnapshotReport.model_validate(ended.document())
    assert report.schema_ == "zerolap.snapshot/1"
    assert report.settings.event == event
    places = [(point.size_bytes >> 20, point.load) for point in report.points]
    assert places == [(32, "open"), (32, "closed"), (64, "open"), (64, "closed")]
    for point in report.points:
        assert set(point.metrics) >= REPORTED | ALWAYS
        assert point.data_bytes is not None
        assert 0.8 < point.data_bytes / point.size_bytes < 1.5
        [repetition] = point.repetitions
        assert sum(slot.replies for slot in repetition.series) > 0
        starts = [slot.at_seconds for slot in repetition.series]
        assert starts == sorted(starts)
        assert starts[0] < 0 < starts[-1]
    fit = report.fits["fork_us"]
    assert fit.repetitions == len(report.points)
    again = zerolap("explain", report.id, "--json", "-")
    assert again.out == ended.out, "the store has all of it"
    assert [start.size_bytes >> 20 for start in report.starts] == [32, 64], "a start has both loads"
    assert all(start.first_fork_us is not None for start in report.starts)
    assert report.reading is not None
    assert any("first fork after filling" in sentence for sentence in report.reading.sentences)
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_replica_that_is_attached_is_an_event_each_time_in_full(zerolap: Zerolap) -> None:
    words = ["--sizes", "32MiB", "--rate", "1000", "--connections", "4", "--repetitions", "2", "--load", "open"]
    ended = zerolap("snapshot", "redis-server", *words, "--event", "replica", "--json", "-", "--quiet")
    assert ended.code == 0, ended.err
    [point] = SnapshotReport.model_validate(ended.document()).points
    assert set(point.metrics) >= REPORTED | ALWAYS
    # A partial synchronisation does not fork: an event of one fails the sweep.
    assert len(point.repetitions) == 2
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_nothing_happens_without_an_event(zerolap: Zerolap) -> None:
    words = ["--sizes", "32MiB", "--rate", "1000", "--repetitions", "1", "--load", "open", "--event", "none"]
    ended = zerolap("snapshot", "redis-server", *words, "--markdown", "-")
    assert ended.code == 0, ended.err
    assert "no event: longest pause of" in ended.out
    assert "first fork" not in ended.out
    assert "fork ms" not in ended.out


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_server_that_cannot_save_fails_with_its_log(zerolap: Zerolap) -> None:
    words = ["--sizes", "16MiB", "--repetitions", "1", "--load", "open", "--config", "dir=/proc"]
    ended = zerolap("snapshot", "redis-server", *words)
    assert ended.code == 4, ended
    assert "Traceback" not in ended.err
    assert "error: `BGSAVE` failed" in ended.err
    assert "see the end of its log" in ended.err
    zerolap.leaves_nothing()


VARIED = ("--sizes", "16MiB", "--rate", "1000", "--connections", "4", "--load", "open")


SAVES = """\
static long long saving_until_us, last_save;

static void bgsave_command(struct client *client, struct slice *arguments, int count) {
    (void)arguments, (void)count;
    usleep(60000);
    saving_until_us = now_us + 200000;
    add_status(client, "Background saving started");
}

static void lastsave_command(struct client *client, struct slice *arguments, int count) {
    (void)arguments, (void)count;
    if (saving_until_us && now_us > saving_until_us) last_save = saving_until_us, saving_until_us = 0;
    add_integer(client, last_save);
}

static void info_command(struct client *client, struct slice *arguments, int count);

static struct command commands[] = {
    {"bgsave", bgsave_command, 1, 0}, {"lastsave", lastsave_command, 1, 0},
"""
"""The toy server saves without a child: it answers nothing for 60 ms, and has saved after 200 ms."""
SAVE_REPORTS = {
    "a server that reports a save as Redis does": "rdb_bgsave_in_progress:%d\\r\\nlatest_fork_usec:0\\r\\n",
    "Dragonfly": "saving:%d\\r\\n",
    "Garnet, which has but LASTSAVE": "",
}


def saving_server(toy: ToySource, tmp_path: Path, reported: str, commands: str = SAVES) -> Path:
    """Return a server that saves without forking, and reports it by this format in INFO."""
    source = toy.copied_to(tmp_path / "source")
    declared = "static void info_command(struct client *client, struct slice *arguments, int count);\n\n"
    source.replace("commands.c", declared + "static struct command commands[] = {\n", commands)
    source.replace("commands.c", "#include <strings.h>", "#include <strings.h>\n#include <unistd.h>")
    if reported:
        printed = f'snprintf(text + length, sizeof(text) - length, "{reported}", now_us < saving_until_us)'
        source.replace(
            "commands.c", "    add_bulk(client, text, length);", f"    add_bulk(client, text, length + {printed});"
        )
    return compile_toy(source.path)


@pytest.mark.slow
@pytest.mark.parametrize("reported", SAVE_REPORTS.values(), ids=SAVE_REPORTS)
def test_a_server_that_saves_without_a_fork_has_pauses_and_no_fork(
    zerolap: Zerolap, toy: ToySource, tmp_path: Path, reported: str
) -> None:
    server = saving_server(toy, tmp_path, reported)
    words = ["--sizes", "16MiB", "--rate", "1000", "--connections", "4", "--repetitions", "1", "--json", "-", "--quiet"]
    ended = zerolap("snapshot", server, *words)
    assert ended.code == 0, ended.err
    report = SnapshotReport.model_validate(ended.document())
    assert [point.load for point in report.points] == ["open", "closed"]
    for point in report.points:
        assert set(point.metrics) >= ALWAYS
        assert "fork_us" not in point.metrics
        assert point.metrics["event_seconds"].median >= 0.19
    # Of requests that are due each millisecond, however late they are sent.
    assert report.points[0].metrics["longest_pause_us"].median >= 50_000
    assert [start.first_fork_us for start in report.starts] == [None]
    assert report.fits.keys() == set(), "one size has no lines"
    assert report.reading is not None
    assert report.reading.headline.startswith("BGSAVE: longest pause of ")
    zerolap.leaves_nothing()


@pytest.mark.slow
def test_a_save_whose_end_no_server_reports_is_no_measurement(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    server = saving_server(toy, tmp_path, "", SAVES.replace('{"lastsave",', '{"no-lastsave",'))
    ended = zerolap("snapshot", server, "--sizes", "16MiB", "--repetitions", "1", "--load", "open", "--rate", "1000")
    ended.fails_with(4, "it is not known when the server has saved", "unknown command")
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_settings_are_measured_in_turns_and_judged(zerolap: Zerolap) -> None:
    words = [*VARIED, "--vary", "rdbcompression=yes,no", "--repetitions", "2", "--json", "-", "--quiet"]
    ended = zerolap("snapshot", "redis-server", *words)
    assert ended.code == 0, ended.err
    # As a dictionary: what two pairs can detect may be infinite, which JSON writes as null.
    document = ended.document()
    names = ["rdbcompression=yes", "rdbcompression=no"]
    assert [side["name"] for side in document["sides"]] == names
    configs = [side["server"]["config"] for side in document["sides"]]
    assert configs == [{"rdbcompression": "yes"}, {"rdbcompression": "no"}]
    assert {point["side"]: len(point["repetitions"]) for point in document["points"]} == dict.fromkeys(names, 2)
    assert sorted(start["side"] for start in document["starts"]) == sorted(names * 2), "each repetition has a start"
    [place] = document["verdicts"]
    assert [place["base"], place["head"]] == names
    assert {verdict["metric"] for verdict in place["verdicts"]} >= {"fork_us", "longest_pause_us", "during_p99_9_us"}
    assert {verdict["pairs"] for verdict in place["verdicts"]} == {2}
    assert document["settings"]["min_effect"] == 0.1
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_two_servers_have_verdicts_that_the_gate_looks_at(zerolap: Zerolap, redis_server: Path) -> None:
    words = [*VARIED, "--base", str(redis_server), "--repetitions", "1", "--fail-on", "regression"]
    ended = zerolap("snapshot", "redis-server", *words)
    # A single pair has no verdict, whatever it measured.
    assert ended.code == 1, ended
    assert "--fail-on regression applies: there are no verdicts" in ended.err
    assert "head redis-server" in ended.out
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_memory_lies_in_huge_pages_where_that_is_asked_for(zerolap: Zerolap) -> None:
    if huge_pages() not in ("always", "madvise"):
        pytest.skip("the kernel has no transparent huge pages, or they are off")
    words = ["--sizes", "64MiB", "--rate", "1000", "--connections", "4", "--repetitions", "1"]
    words += ["--vary", "transparent-huge-pages=never,always", "--json", "-", "--quiet"]
    ended = zerolap("snapshot", "redis-server", *words)
    if ended.code == 4 and "transparent-huge-pages=always: the server does not do as" in ended.err:
        pytest.skip("the kernel has no memory in one piece for huge pages")
    assert ended.code == 0, ended.err
    report = SnapshotReport.model_validate(ended.document())
    assert report.starts == [], "an event before would split the huge pages"
    assert [point.load for point in report.points] == ["open", "closed"] * 2
    for point in report.points:
        share = point.metrics["huge_page_bytes"].median / point.metrics["resident_bytes"].median
        # Under both loads: each has a start of its own.
        assert share < 0.1 if point.side == "transparent-huge-pages=never" else share > 0.4


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_side_that_fails_is_named(zerolap: Zerolap) -> None:
    ended = zerolap("snapshot", "redis-server", *VARIED, "--vary", "io-threads=1,many", "--repetitions", "1")
    assert ended.code == 4, ended
    assert "error: io-threads=many: " in ended.err
    assert "Traceback" not in ended.err
    zerolap.leaves_nothing()


def recorded_trials(zerolap: Zerolap) -> list[tuple[str, str]]:
    """Return the repetitions that are recorded: the moment when each began, and the id of its sweep."""
    database = zerolap.directory / ".zerolap" / "zerolap.db"
    if not database.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT began, request_id FROM trial ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            # Its tables are being made.
            return []


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("is_resumed", [False, True], ids=["the same command", "resume"])
def test_a_sweep_that_was_stopped_goes_on(zerolap: Zerolap, number: signal.Signals, is_resumed: bool) -> None:
    words = ["snapshot", "redis-server", "--sizes", "16MiB,32MiB", "--rate", "1000", "--connections", "4"]
    words += ["--repetitions", "2", "--load", "open", "--json", "-"]
    child = zerolap.start(*words)
    wait_until(lambda: len(recorded_trials(zerolap)) >= 1)
    ended = stop(child, number)
    zerolap.wait_for_no_process()
    kept = recorded_trials(zerolap)
    identity = kept[0][1]
    if number != signal.SIGKILL:
        assert ended.code == 130, ended
        assert f"interrupted after {len(kept)} repetitions; what was measured is kept" in ended.err
        assert f"hint: zerolap resume {identity} goes on" in ended.err
        zerolap.leaves_nothing()
    listed = zerolap("explain").out
    assert f"zerolap resume {identity}  continues what was interrupted" in listed
    shown = zerolap("explain", identity[:8], "--json", "-")
    assert shown.code == 0, shown.err
    first = SnapshotReport.model_validate(shown.document())
    assert began_of(first) == [began for began, _ in kept]
    assert first.notes[-1].endswith(f"this is what was recorded, {len(kept)} repetitions")

    ended = zerolap("resume", identity, "--json", "-") if is_resumed else zerolap(*words)
    assert ended.code == 0, ended.err
    assert is_resumed or f"continuing {identity}, which was not finished" in ended.err
    report = SnapshotReport.model_validate(ended.document())
    assert report.id == identity
    assert began_of(report)[: len(kept)] == [began for began, _ in kept]
    assert [len(point.repetitions) for point in report.points] == [2, 2]
    assert report.starts[0] == first.starts[0]
    assert {start.size_bytes >> 20 for start in report.starts} == {16, 32}
    assert report.settings.seed == first.settings.seed
    assert report.machine_seconds > first.machine_seconds
    # A size has one start, but for one that was stopped between its repetitions.
    was_between = len(kept) % 2 == 1
    assert len(report.starts) == (3 if was_between else 2)
    assert any("1 of its starts follow others" in note for note in report.notes) == was_between
    assert zerolap("explain", identity, "--json", "-").out == ended.out
    zerolap("resume", identity).fails_with(2, f"{identity} is done")


def began_of(report: SnapshotReport) -> list[str]:
    """Return when the repetitions of a document began, in its order."""
    return [repetition.began for point in report.points for repetition in point.repetitions]


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_sweep_is_cancelled_from_elsewhere(zerolap: Zerolap) -> None:
    child = zerolap.start("snapshot", "redis-server", *VARIED, "--repetitions", "50")
    wait_until(lambda: len(recorded_trials(zerolap)) >= 1)
    with Store.open(str(zerolap.directory / ".zerolap")) as store:
        store.cancel(recorded_trials(zerolap)[0][1])
    _, err = child.communicate(timeout=PATIENCE_SECONDS)
    assert child.returncode == 130
    assert "interrupted after" in err
    zerolap.wait_for_no_process()
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_fleet_carries_out_a_sweep(zerolap: Zerolap) -> None:
    child = zerolap.start("serve", "--listen", "127.0.0.1:0")
    words = ["redis-server", *VARIED, "--vary", "rdbcompression=yes,no", "--repetitions", "1", "--platform", "local"]
    try:
        wait_until(lambda: "local" in zerolap("fleet", "status").out)
        ended = zerolap("snapshot", *words, "--json", "-")
        assert ended.code == 0, ended.err
    finally:
        stop(child, signal.SIGTERM)
    report = SnapshotReport.model_validate(ended.document())
    assert report.platform.name == "local"
    assert {point.side: len(point.repetitions) for point in report.points} == {
        "rdbcompression=yes": 1,
        "rdbcompression=no": 1,
    }
    assert len(report.starts) == 2
    assert report.id in zerolap("explain").out


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_another_seed_or_command_begins_anew(zerolap: Zerolap) -> None:
    words = ["snapshot", "redis-server", *VARIED, "--sizes", "16MiB,17MiB", "--repetitions", "1", "--json", "-"]
    child = zerolap.start(*words, "--seed", "7")
    wait_until(lambda: len(recorded_trials(zerolap)) >= 1)
    stop(child, signal.SIGINT)
    for changed in (["--seed", "8"], ["--seed", "7", "--rate", "900"]):
        ended = zerolap(*words, *changed)
        assert ended.code == 0, ended.err
        assert "continuing" not in ended.err


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_killed_no_process_is_left_and_the_next_sweep_removes_the_files(
    zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = zerolap.start("snapshot", "redis-server", *SMALL, "--repetitions", "100")
    wait_until(lambda: any("zerolap-load" in line for line in zerolap.processes()))
    child.kill()
    child.communicate()
    zerolap.wait_for_no_process()
    # A directory of less than a minute may belong to a process that has not locked it yet.
    monkeypatch.setattr(scratch, "YOUNG_SECONDS", -1)
    monkeypatch.setattr(tempfile, "tempdir", str(zerolap.trials))
    remove_abandoned(TRIAL_PREFIX)
    assert list(Path(zerolap.trials).iterdir()) == []
