"""The figures of `zerolap snapshot` without a server: windows, return to normal, estimates, sizes, reports."""

import io
import json
from pathlib import Path

import pytest
from made_snapshots import report
from report_page import embedded
from rich.console import Console

from zerolap.engines import EventMoments, Room, event_metrics, fitting_sizes, seconds_until_normal
from zerolap.errors import EnvironmentMissing, TrialFailed
from zerolap.judge import line_fit, median_estimate
from zerolap.load import LatencySummary, LoadSeries, LoadSlot, read_series
from zerolap.records import MedianEstimate, SnapshotReport, SnapshotStart
from zerolap.report import document_json, sheet_html, sheet_markdown, show_sheet
from zerolap.sheets import sweep_sheet, with_sweep_reading

MS = 1_000_000
SLOT_NS = 10 * MS
GIB = 1 << 30
BEGAN_NS = 5_000 * MS


def slot(replies: int = 50, latency_us: float = 100.0, longest_us: float | None = None) -> LoadSlot:
    """A slot whose replies took as long as each other, but for one that took the longest."""
    longest = latency_us if longest_us is None else longest_us
    histogram = [(round(latency_us * 1000), replies - 1), (round(longest * 1000), 1)]
    latency = {"max": longest} if replies else None
    return LoadSlot.model_validate(
        {"replies": replies, "latency_us": latency, "histogram_ns": histogram if replies else []}
    )


def series(slots: list[LoadSlot]) -> LoadSeries:
    return LoadSeries(BEGAN_NS, SLOT_NS, slots)


def moment(slots: int) -> int:
    """The beginning of the slot of that number."""
    return BEGAN_NS + slots * SLOT_NS


PAUSE = [slot(0)] * 3 + [slot(200, 15_000, 30_000)]
"""Nothing for 30 ms, then all that was due meanwhile."""


def with_pause(before: int = 250, after: int = 150) -> LoadSeries:
    return series([slot()] * before + PAUSE + [slot(latency_us=150)] * 20 + [slot()] * after)


def test_slots_between_two_moments_are_those_of_both_ends() -> None:
    numbered = series([slot(number) for number in range(1, 11)])
    between = numbered.between(moment(2), moment(4) + SLOT_NS - 1)
    assert [one.replies for one in between] == [3, 4, 5]
    assert numbered.between(0, BEGAN_NS - 1) == []
    assert numbered.ended_ns == moment(9), "the last slot may be incomplete"


def test_latencies_of_slots_are_of_all_their_replies_together() -> None:
    # A mean of percentiles would be far off: of 1,000 replies 10 took 5 ms, all of them in one slot.
    slots = [slot(90, 100.0)] * 11 + [slot(10, 5_000.0)]
    summary = LatencySummary.of(slots, SLOT_NS)
    assert summary is not None
    assert (summary.p50_us, summary.p99_us, summary.p99_9_us, summary.max_us) == (100.0, 100.0, 5_000.0, 5_000.0)
    assert summary.ops_per_sec == pytest.approx(1_000 / 0.12)


def test_slots_without_replies_have_no_latencies_but_count_for_the_rate() -> None:
    assert LatencySummary.of([slot(0)] * 5, SLOT_NS) is None
    summary = LatencySummary.of([slot(50), slot(0)], SLOT_NS)
    assert summary is not None
    assert summary.ops_per_sec == pytest.approx(2_500)


def test_an_event_has_its_longest_pause_and_latencies_in_and_outside_of_it() -> None:
    moments = EventMoments(moment(250), moment(254), moment(273))
    metrics = event_metrics(with_pause(), moments)
    assert metrics["longest_pause_us"] == metrics["during_max_us"] == 30_000
    assert metrics["outside_max_us"] == 100
    assert metrics["during_p50_us"] == 150
    assert metrics["event_seconds"] == pytest.approx(0.23)
    # 24 slots with 1,200 replies, as before.
    assert metrics["throughput_lost"] == pytest.approx(0)


def test_a_later_hiccup_of_the_event_is_not_its_pause() -> None:
    slots = [*with_pause().slots]
    slots[265] = slot(longest_us=80_000)
    metrics = event_metrics(series(slots), EventMoments(moment(250), moment(258), moment(273)))
    assert (metrics["longest_pause_us"], metrics["during_max_us"]) == (30_000, 80_000)


def test_a_pause_and_an_event_last_until_the_first_reply() -> None:
    # The server says that it has forked and saved, but no processor is left for it for 300 ms.
    slots = [slot()] * 250 + [slot(0)] * 30 + [slot(1_500, 150_000, 300_000)] + [slot()] * 150
    for begin in (moment(250), moment(249) + 3 * MS):
        metrics = event_metrics(series(slots), EventMoments(begin, begin + 50 * MS, begin + 100 * MS))
        assert metrics["longest_pause_us"] == metrics["during_max_us"] == 300_000
        assert metrics["event_seconds"] == pytest.approx(0.3, abs=0.02)
    assert metrics["outside_max_us"] == 100


def test_throughput_that_is_lost_is_a_share_of_that_outside() -> None:
    slots = [slot()] * 200 + [slot(20)] * 50 + [slot()] * 200
    metrics = event_metrics(series(slots), EventMoments(moment(200), moment(205), moment(249)))
    assert metrics["throughput_lost"] == pytest.approx(0.6)


def test_the_first_second_of_the_load_is_left_out() -> None:
    slots = [slot(latency_us=9_000)] * 100 + [slot()] * 300
    metrics = event_metrics(series(slots), EventMoments(moment(300), moment(305), moment(310)))
    assert metrics["outside_max_us"] == 100


def test_an_event_without_any_reply_is_no_measurement() -> None:
    slots = [slot()] * 200 + [slot(0)] * 50
    with pytest.raises(TrialFailed, match="no reply came during the event"):
        event_metrics(series(slots), EventMoments(moment(210), moment(220), moment(230)))
    with pytest.raises(TrialFailed, match="before and after"):
        event_metrics(series([slot()] * 110), EventMoments(moment(20), moment(60), moment(109)))


def test_latency_is_normal_where_its_p99_is_and_replies_come() -> None:
    # 250 to 252 are empty, 253 has the long ones: from 254 on the p99 is 150 us, within twice the 100 us of before.
    assert seconds_until_normal(with_pause(), moment(250)) == pytest.approx(0.04)
    still = series([slot()] * 250 + [slot(latency_us=500)] * 200)
    assert seconds_until_normal(still, moment(250)) is None
    assert seconds_until_normal(series([slot()] * 400), moment(250)) == 0
    assert seconds_until_normal(series([slot()] * 20), moment(10)) is None, "nothing is known of before"


def test_the_series_around_an_event_counts_from_it() -> None:
    around = with_pause().around(moment(250) + 3 * MS, 2, 4)
    assert [one.at_seconds for one in around] == pytest.approx([-0.023, -0.013, -0.003, 0.007, 0.017, 0.027, 0.037])
    assert [one.replies for one in around] == [50, 50, 0, 0, 0, 200, 50]
    assert (around[2].p99_us, around[2].max_us, around[5].max_us) == (None, None, 30_000)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], (3, 3, 3)),
        ([1.0, 2.0], (1.5, 1, 2)),
        ([5.0, 1.0, 4.0, 2.0, 3.0], (3, 1, 5)),
        # The second smallest and largest of eight miss the median with 2 * 9 / 256 = 7.03 %, those of nine with 3.9 %.
        ([float(value) for value in range(8)], (3.5, 0, 7)),
        ([float(value) for value in range(9)], (4, 1, 7)),
        ([float(value) for value in range(20)], (9.5, 5, 14)),
    ],
)
def test_the_interval_of_a_median_is_between_two_of_the_values(
    values: list[float], expected: tuple[float, float, float]
) -> None:
    estimate = median_estimate(values)
    assert (estimate.median, estimate.low, estimate.high) == expected


def test_a_median_needs_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_estimate([])


def test_a_line_is_that_of_least_squares() -> None:
    fit = line_fit([GIB, GIB, 2 * GIB, 4 * GIB], [1_100, 900, 2_000, 4_000])
    assert fit is not None
    assert (fit.slope_per_gib, fit.intercept) == pytest.approx((1_000, 0))
    assert fit.r2 == pytest.approx(1 - 20_000 / 6_020_000)
    assert fit.repetitions == 4


@pytest.mark.parametrize("sizes", [[], [GIB], [GIB, GIB * 1.05]])
def test_one_size_has_no_line(sizes: list[float]) -> None:
    assert line_fit(sizes, [float(number) for number in range(len(sizes))]) is None


def room(memory: float, server: float | None = None, disk: float = 100) -> Room:
    return Room(int(memory * GIB), int((memory if server is None else server) * GIB), int(disk * GIB), Path("/tmp"))


def test_usual_sizes_are_those_that_fit_twice_into_memory() -> None:
    sizes, notes = fitting_sizes(None, "bgsave", room(9))
    assert sizes == [GIB, 2 * GIB, 4 * GIB]
    assert notes == ["left out: 8 GiB of data needs 16 GiB of memory, and 9 GiB can be used"]


def test_sizes_that_are_asked_for_are_never_left_out() -> None:
    assert fitting_sizes([2 * GIB, GIB, GIB], "bgsave", room(9))[0] == [GIB, 2 * GIB]
    with pytest.raises(EnvironmentMissing, match=r"8 GiB of data needs 16 GiB of memory") as refused:
        fitting_sizes([GIB, 8 * GIB], "bgsave", room(9))
    assert refused.value.hint == "give smaller ones, such as --sizes 4GiB"


def test_a_replica_needs_memory_and_files_need_disk_space() -> None:
    assert fitting_sizes(None, "replica", room(7))[0] == [GIB, 2 * GIB]
    with pytest.raises(EnvironmentMissing, match="memory for its server"):
        fitting_sizes([2 * GIB], "replica", room(10, server=3))
    with pytest.raises(EnvironmentMissing, match=r"disk space in `/tmp`"):
        fitting_sizes([2 * GIB], "bgsave", room(10, disk=3))
    assert fitting_sizes([2 * GIB], "none", room(10, disk=3))[0] == [2 * GIB]


def test_too_little_memory_for_any_size_is_refused() -> None:
    with pytest.raises(EnvironmentMissing, match=r"1 GiB of data needs 2 GiB of memory") as refused:
        fitting_sizes(None, "bgsave", room(0.5))
    assert refused.value.hint == "give smaller ones, such as --sizes 256MiB"


def load_document(**changes: object) -> bytes:
    """The parts that are read of the load generator's document."""
    slots = [{"replies": 2, "latency_us": {"max": 7.5}, "histogram_ns": [[5000, 1], [7500, 1]]}]
    lab: dict[str, object] = {
        "began_monotonic_ns": BEGAN_NS,
        "errors": {},
        "timed_out": 0,
        "disconnected": 0,
        "commands": [],
        "client": {"client_bound": False, "reasons": []},
        "timeline": {"slot_seconds": 0.01, "slots": slots},
    }
    return json.dumps({"lab": lab | changes}).encode()


def test_slots_are_read_from_the_load_generators_document() -> None:
    read = read_series(load_document())
    assert (read.began_ns, read.slot_ns) == (BEGAN_NS, SLOT_NS)
    assert read.slots[0].histogram_ns == [(5000, 1), (7500, 1)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"errors": {"OOM": 3}}, "error replies: 3"),
        ({"timed_out": 2}, "2 requests of the load got no reply"),
        ({"timeline": {"slot_seconds": 0, "slots": []}}, "without a length"),
        ({"timeline": {"slot_seconds": 0.01, "slots": [{"replies": 1}]}}, "not valid"),
    ],
)
def test_a_load_that_failed_has_no_series(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TrialFailed, match=message):
        read_series(load_document(**changes))


def test_a_terminal_shows_the_pauses_and_what_was_noticed() -> None:
    output = io.StringIO()
    show_sheet(sweep_sheet(report()), Console(file=output, width=160))
    text = output.getvalue()
    assert "BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB" in text
    assert "25.0 ms more for each GiB of resident memory (r² 1.000, 2 repetitions)" in text
    assert "p99.9 during the event at 4 GiB: 100 ms where requests are due at a fixed rate, 0.5 ms in a closed" in text
    assert "note: 8 GiB failed: the server died" in text
    assert "note: 1 GiB, closed loop, 1 of 1 repetition: thread 0 was busy" in text
    assert "12.5 %" in text
    assert "\x1b[31m" not in text


def test_the_first_forks_are_reported_apart_by_all_reports() -> None:
    starts = [(4 * GIB, 70_000.0), (GIB, 21_000.0), (4 * GIB, 80_000.0), (8 * GIB, None)]
    document = report().model_copy(
        update={
            "starts": [
                SnapshotStart(size_bytes=size, began="2026-11-25T20:00:00Z", first_fork_us=fork)
                for size, fork in starts
            ]
        }
    )
    output = io.StringIO()
    show_sheet(sweep_sheet(document), Console(file=output, width=160))
    sentence = "the first fork after filling, which is not among the repetitions, took 21 ms at 1 GiB, 75 ms at 4 GiB"
    assert sentence in output.getvalue()
    assert sentence in sheet_markdown(sweep_sheet(document))
    held = json.loads(embedded(sheet_html(with_sweep_reading(document), sweep_sheet(document)), "document"))
    assert sentence in held["reading"]["sentences"]
    assert [start["first_fork_us"] for start in held["starts"]] == [fork for _, fork in starts]
    without = document.model_copy(update={"starts": document.starts[-1:]})
    assert "first fork" not in sheet_markdown(sweep_sheet(without))


def test_a_loss_that_rounds_to_none_has_no_sign() -> None:
    document = report()
    none = {"throughput_lost": MedianEstimate(median=-0.0002, low=-0.001, high=0.001)}
    points = [point.model_copy(update={"metrics": point.metrics | none}) for point in document.points]
    pauses, _ = sweep_sheet(document.model_copy(update={"points": points})).tables
    lost = [column.key for column in pauses.columns].index("throughput_lost")
    assert {row[lost].text for row in pauses.rows} == {"0.0 %"}


def test_markdown_has_both_tables_and_no_foreign_markup() -> None:
    text = sheet_markdown(sweep_sheet(report()))
    assert "| data | load | resident, GiB | fork, ms | longest pause, ms | throughput lost |" in text
    assert "| 4 GiB | open | 4.32 | 100 (90 to 110) | 105 (94.5 to 115.5) | 12.5 % |" in text
    assert "`" in text.splitlines()[2]
    assert "\x1b" not in text


def test_the_document_is_read_back() -> None:
    document = report()
    text = document_json(with_sweep_reading(document))
    assert json.loads(text)["schema"] == "zerolap.snapshot/1"
    read = SnapshotReport.model_validate_json(text)
    assert read.model_copy(update={"reading": None}) == document
    assert read.reading is not None
    assert read.reading.headline == "BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB"


def test_the_page_holds_the_document() -> None:
    held = json.loads(embedded(sheet_html(with_sweep_reading(report()), sweep_sheet(report())), "document"))
    assert held == json.loads(document_json(with_sweep_reading(report())))


def test_without_an_event_there_is_no_word_on_closed_loops() -> None:
    output = io.StringIO()
    show_sheet(sweep_sheet(report("none")), Console(file=output, width=160))
    assert "no event: " in output.getvalue()
    assert "closed loop, which" not in output.getvalue()
