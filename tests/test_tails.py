"""The open loop of a timed start: what is sent, which slices count, what verdicts and reports make of its tails."""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_records import a_case, a_comparison, a_time
from toy_server import CASES, ToySource, compile_toy

from zerolap import load_cases
from zerolap.build import Program
from zerolap.engines.open_loop import FEWEST_SLICES, OpenLoop, choose_loads, used_slices
from zerolap.engines.slices import SentSlice, Slice
from zerolap.engines.timed import StartOutcome, TimedStart, time_start
from zerolap.host import choose_pinning, read_processors
from zerolap.judge import (
    DEFAULT_MIN_EFFECT,
    LOOKS,
    JudgedCase,
    StartsLookedAt,
    TimedPair,
    judge_cases,
    undecided_in_time,
)
from zerolap.judge.cases import Starts
from zerolap.judge.tail_rules import MOST_STARTS_FOR_TAIL
from zerolap.lab.planner import first_amounts
from zerolap.load import SliceResult
from zerolap.load.generator import LatencyResult
from zerolap.records import (
    ANCHOR,
    BASE,
    FAR_TAIL,
    HEAD,
    LONGEST_PAUSE,
    STANDALONE,
    TAIL,
    TAIL_AT_HALF,
    TAIL_METRICS,
    Amounts,
    Case,
    CaseResult,
    OpenLoad,
    OpenLoadRecord,
    Request,
    Resolved,
    ServerSpec,
    Settings,
    WrittenClient,
)
from zerolap.server import CpuTimes
from zerolap.sheets.case_sentences import case_sentences
from zerolap.sheets.case_table import AnswerColumns
from zerolap.sheets.case_words import answer_of, statement
from zerolap.sheets.gate import gate_sentence
from zerolap.sheets.headline import headline_of
from zerolap.sheets.measured_change import Done, PlatformOutcome

CPU, ELAPSED = "cpu_ns_per_op", "elapsed_ns_per_op"
SETTINGS = Settings(engines=["timed"], min_effect=dict(DEFAULT_MIN_EFFECT), q=0.01, budget_seconds=None, seed=1)
PAUSE_US = 20_000
GET_BEGINS = "    struct slice *value = table_find(arguments[1]);\n    if (value == NULL) {\n        add_bulk"


def a_case_of(pipeline: int = 16, connections: int = 20, **changes: object) -> Case:
    client = WrittenClient(commands=["GET __key__"], pipeline=pipeline, connections=connections).client
    return Case(name="case", group="made up", client=client, **changes)  # type: ignore[arg-type]


def a_result(histogram: Sequence[tuple[int, int]], rate: float = 1000.0, waited_ns: int = 0) -> SliceResult:
    requests = sum(count for _, count in histogram)
    return SliceResult(
        requests=requests,
        succeeded=requests,
        elapsed_ns=1_000_000,
        client_cpu_ns=1,
        client_wait_ns=waited_ns,
        ops_per_sec=rate,
        latency_us=LatencyResult(p50=1, p99=1, p99_9=1, max=1),
        histogram_ns=list(histogram),
        replies={},
        misses=0,
        errors={},
    )


def sent(latency_ns: int, waited_ns: int = 0) -> SentSlice:
    return SentSlice(a_result([(latency_ns, 100)], waited_ns=waited_ns), [CpuTimes(500, 0, 0)])


def at_full_speed(*rates: float, requests: int = 640, waited_ns: int = 0) -> list[Slice]:
    results = [a_result([(1000, requests)], rate, waited_ns) for rate in rates]
    return [Slice(one, CpuTimes(1, 0, 0), 1, None, 0, None, None, None) for one in results]


def test_the_loads_are_parts_of_the_base_s_full_speed_in_whole_pipelines() -> None:
    half, high = choose_loads(a_case_of(), at_full_speed(390_000.0, 400_000.0, 410_000.0))
    assert (half.per_second, high.per_second) == (200_000, 320_000)
    assert half.requests % 320 == high.requests % 320 == 0
    assert 0 < half.requests < high.requests


def test_what_others_slow_down_is_not_what_the_base_can_do() -> None:
    disturbed = at_full_speed(50_000.0, 60_000.0, 100_000.0, waited_ns=900_000)
    assert choose_loads(a_case_of(), disturbed)[1].per_second == 80_000


def test_a_draining_keyspace_is_not_asked_for_more_than_at_full_speed() -> None:
    loads = choose_loads(a_case_of(state="drains"), at_full_speed(4e6, 4e6, 4e6, requests=320))
    assert {load.requests for load in loads} == {320}


def test_slices_that_waited_for_a_processor_are_left_out_on_both_sides_alike() -> None:
    calm = [sent(1000) for _ in range(FEWEST_SLICES + 2)]
    slices = {BASE: [*calm, sent(9000, 500_000)], HEAD: [sent(9000, 500_000), *calm[:-1]]}
    used = used_slices(slices)
    assert [len(of_side) for of_side in used.values()] == [FEWEST_SLICES + 1] * 2
    assert all(one.waited_share == 0 for of_side in used.values() for one in of_side)
    few = {BASE: calm, HEAD: [sent(9000, 500_000)] * len(calm)}
    assert used_slices(few) == few


def test_time_that_the_hypervisor_took_is_waited() -> None:
    assert SentSlice(a_result([(1000, 1)]), [CpuTimes(1, 0, 0)], stolen_seconds=0.01).waited_share == 1.0
    # A main thread that waits for the other threads of its own server waits for nobody else.
    own = SentSlice(a_result([(1000, 1)]), [CpuTimes(main_ns=100, io_ns=300, background_ns=0, main_waited_ns=300)])
    assert own.waited_share == 0


def test_p99_is_the_mean_of_slices_and_the_longest_pause_that_of_all() -> None:
    def record(*p99_us: float, requests: int = 3000) -> OpenLoadRecord:
        longest = round(max(p99_us) * 1000)
        return OpenLoadRecord(
            per_second=1000, slices=len(p99_us), p99_us=[*p99_us], histogram_ns=[(1000, requests), (longest, 10)]
        )

    loads = (OpenLoad(per_second=500, requests=320), OpenLoad(per_second=800, requests=320))
    seen = OpenLoop(loads, {BASE: [record(100, 100), record(100, 400)], HEAD: [record(50, 200), record(900, 900)]})
    assert seen.metrics(BASE) == pytest.approx(
        {TAIL_AT_HALF: 100.0, TAIL: 200.0, FAR_TAIL: 400.0, LONGEST_PAUSE: 400.0}
    )
    assert seen.metrics(HEAD)[TAIL] == pytest.approx(900.0)
    few = OpenLoop(loads, {BASE: [record(100), record(100, requests=50)], HEAD: [record(100), record(100)]})
    assert FAR_TAIL not in few.metrics(HEAD)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_toy(ToySource(tmp_path_factory.mktemp("toy") / "source").path)


@pytest.fixture(scope="module")
def pausing_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy server, which sleeps in each 100th GET."""
    source = ToySource(tmp_path_factory.mktemp("pausing") / "source")
    pause = f"    static int calls;\n    if (++calls % 100 == 0) usleep({PAUSE_US});\n"
    source.replace("commands.c", GET_BEGINS, pause + GET_BEGINS)
    source.replace("commands.c", "#include <strings.h>\n", "#include <strings.h>\n#include <unistd.h>\n")
    return compile_toy(source.path)


def started(base: Path, head: Path, directory: Path, amounts: Amounts) -> StartOutcome:
    directory.mkdir()
    case = next(case for case in load_cases(CASES) if case.name == "toy-get")
    return time_start(
        TimedStart(
            case=case,
            servers={side: ServerSpec(build="b-1", topology=STANDALONE) for side in (BASE, HEAD)},
            programs={BASE: Program(base), HEAD: Program(head)},
            seed=1,
            directory=directory,
            pinning=choose_pinning(read_processors()),
            amounts=amounts,
        )
    )


def test_a_pause_counts_for_all_requests_that_were_due_meanwhile(toy: Path, pausing_toy: Path, tmp_path: Path) -> None:
    found = started(toy, pausing_toy, tmp_path / "t", Amounts(pairs=2, open_loop=()))
    head = found.measurements[HEAD].metrics
    assert min(head[TAIL], head[TAIL_AT_HALF], head[LONGEST_PAUSE]) >= PAUSE_US
    _, at_80 = found.timelines[HEAD].open_loop
    late = sum(count for edge_ns, count in at_80.histogram_ns if edge_ns >= PAUSE_US * 1000 / 2)
    # In a closed loop each pause would be one late reply for each connection.
    assert late > sum(count for _, count in at_80.histogram_ns) / 2


def test_the_loads_are_chosen_once_and_kept(toy: Path, tmp_path: Path) -> None:
    first = started(toy, toy, tmp_path / "first", Amounts(pairs=2, open_loop=()))
    loads = first.amounts.open_loop
    assert loads is not None
    half, high = (load.per_second for load in loads)
    assert half == pytest.approx(0.625 * high, abs=1), "rates are whole"
    for side in (BASE, HEAD):
        assert {TAIL, TAIL_AT_HALF, LONGEST_PAUSE} <= first.measurements[side].metrics.keys()
        assert [one.per_second for one in first.timelines[side].open_loop] == [load.per_second for load in loads]
    again = started(toy, toy, tmp_path / "again", first.amounts)
    assert again.amounts.open_loop == loads


@pytest.mark.parametrize("amounts", [Amounts(pairs=2), Amounts(pairs=2, open_loop=(), per_second=1000)])
def test_starts_that_are_not_to_have_an_open_loop_have_none(toy: Path, tmp_path: Path, amounts: Amounts) -> None:
    found = started(toy, toy, tmp_path / "t", amounts)
    assert not set(TAIL_METRICS) & found.measurements[HEAD].metrics.keys()
    assert found.timelines[HEAD].open_loop == []


def pairs(count: int, seed: int, *, change: float = 0.0, tail_sd: float = 0.06) -> list[TimedPair]:
    """Starts whose CPU time and throughput scatter by 1 %, and whose tails change."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        changes = {CPU: chance.gauss(0, 0.01), ELAPSED: chance.gauss(0, 0.012)}
        changes |= {tail: math.log1p(change) + chance.gauss(0, tail_sd) for tail in TAIL_METRICS}
        found.append(TimedPair(40, changes, dict.fromkeys(changes, 14.0), {}, {}, {}))
    return found


def looked_at(number: int, **cases: Sequence[TimedPair]) -> dict[str, StartsLookedAt]:
    starts = {name: Starts(of_case[:number], "standalone", has_fixed_layouts=False) for name, of_case in cases.items()}
    return {name: StartsLookedAt(number, one, one, is_paced=False) for name, one in starts.items()}


def judged(**cases: Sequence[TimedPair]) -> dict[str, CaseResult]:
    starts = {name: Starts(of_case, "standalone", has_fixed_layouts=False) for name, of_case in cases.items()}
    found = judge_cases(
        {name: JudgedCase({}, is_identical=False, at_full_speed=one, of_cost=one) for name, one in starts.items()},
        SETTINGS,
        {},
    )
    return {name: a_case(name, *verdicts) for name, verdicts in found.items()}


def test_a_longer_tail_is_a_regression_though_cpu_time_is_the_same() -> None:
    others = {f"case-{number}": pairs(12, number) for number in range(5)}
    found = judged(**others, slow=pairs(12, 77, change=0.25))
    assert (found["slow"].time, found["slow"].time_deciding) == ("regression", TAIL)
    assert found["slow"].confirmed
    assert {found[name].time for name in others} == {"same"}
    of_tail = next(one for one in found["case-0"].verdicts if one.metric == TAIL)
    assert (of_tail.min_effect, of_tail.margin) == (DEFAULT_MIN_EFFECT["tail"], 0.15)


def test_time_is_not_the_same_where_the_tail_is_open() -> None:
    cases = {f"case-{number}": pairs(12, number, tail_sd=0.5) for number in range(6)}
    found = judged(**cases)
    assert {(case.time, case.time_deciding) for case in found.values()} == {("unsure", TAIL)}
    assert all(case.has_open_tail for case in found.values())


def test_the_size_that_matters_is_an_option() -> None:
    cases = {f"case-{number}": pairs(12, number, tail_sd=0.12) for number in range(6)}
    wide = SETTINGS.model_copy(update={"min_effect": {**SETTINGS.min_effect, "tail": 0.5}})
    starts = {name: Starts(one, "standalone", has_fixed_layouts=False) for name, one in cases.items()}
    of_judge = {
        name: JudgedCase({}, is_identical=False, at_full_speed=one, of_cost=one) for name, one in starts.items()
    }

    def words(settings: Settings) -> set[str]:
        verdicts = judge_cases(of_judge, settings, {}).values()
        return {one.verdict for of_case in verdicts for one in of_case if one.metric == TAIL}

    assert "unsure" in words(SETTINGS)
    assert words(wide) == {"same"}


def test_an_open_tail_has_more_starts_but_not_for_ever() -> None:
    def wanted(number: int, tail_sd: float) -> frozenset[str]:
        cases = {f"case-{case}": pairs(LOOKS[-1], case, tail_sd=tail_sd) for case in range(6)}
        return undecided_in_time(looked_at(number, **cases), frozenset(), SETTINGS, {}, 100)

    # By then CPU time and throughput of all cases are decided.
    assert not wanted(12, 0.02)
    assert wanted(12, 0.2)
    # Few starts do not show that more would not decide it.
    assert wanted(6, 1.0)
    assert not wanted(MOST_STARTS_FOR_TAIL, 0.2)
    # So wide that the looks that are left would not decide it.
    assert not wanted(12, 1.0)


def a_tail(word: str, change: float, half: float) -> CaseResult:
    same = [a_time("same", 0.001), a_time("same", 0.004, ELAPSED, margin=0.04)]
    tail = a_time(word, change, TAIL, half, base=250.0, min_effect=0.1, margin=0.15, q=0.001)
    return a_case("xadd-auto-id", *same, tail)


def test_same_states_within_what_p99_is() -> None:
    case = a_tail("same", 0.01, 0.08)
    answer = answer_of(case, "time")
    assert answer is not None
    assert statement(answer).endswith("; p99 +1.0 % [-7.0, +9.0], within ±15 %")
    (cell,) = AnswerColumns.of_cases([case]).cells(case)
    assert (cell.text, cell.detail) == ("+0.10 %", "[-0.9, +1.1], p99 ±9 %")
    assert case_sentences(case)[-1] == (
        "Of an open loop: p99 at 80 % load is the same within ±15 %; too few requests were seen for p99 at half load "
        "and p99.9 at 80 % load and longest pause at 80 % load."
    )


def test_where_p99_alone_is_open_the_rest_is_said_to_be_the_same() -> None:
    case = a_tail("unsure", 0.02, 0.2)
    answer = answer_of(case, "time")
    assert answer is not None
    assert statement(answer) == "time unsure: same in CPU time and throughput; p99 open (±22 %)"
    (cell,) = AnswerColumns.of_cases([case]).cells(case)
    assert (cell.text, cell.mark) == ("+0.10 %", "unsure")
    assert cell.detail.endswith("p99 open (±22 %)")
    assert case_sentences(case)[0] == "XADD is same in CPU time and throughput; p99 open (±22 %)."
    comparison = a_comparison([case])
    assert headline_of([PlatformOutcome("laptop", Done(), comparison)]).plain == (
        "No change of CPU time and throughput in 1 case, p99 open"
    )


def test_a_longer_tail_is_in_the_headline_by_its_name_and_size() -> None:
    comparison = a_comparison([a_tail("regression", 0.22, 0.08)])
    headline = headline_of([PlatformOutcome("laptop", Done(), comparison)])
    assert headline.plain == "XADD has a 22 % higher p99 at 80 % load"
    assert gate_sentence(comparison, "time") == "--fail-on time applies: regression in xadd-auto-id"
    assert gate_sentence(comparison, "regression") is not None
    assert gate_sentence(comparison, "work") is None or "nothing was counted" in str(gate_sentence(comparison, "work"))


def test_an_open_tail_alone_does_not_fail_what_is_undecided() -> None:
    assert gate_sentence(a_comparison([a_tail("unsure", 0.02, 0.2)]), "unsure") is None
    undecided = a_case("get", a_time("unsure", 0.01))
    assert gate_sentence(a_comparison([undecided]), "unsure") is not None


@pytest.mark.parametrize(
    ("kind", "sides", "most_starts", "loads"),
    [
        ("compare", (BASE, HEAD), None, ()),
        # Searches and histories ask for CPU time alone, and a run has nothing to compare.
        ("compare", (ANCHOR, BASE, HEAD), None, None),
        ("compare", (BASE, HEAD), 12, None),
        ("run", (HEAD,), None, None),
    ],
)
def test_starts_of_comparisons_that_are_judged_have_an_open_loop(
    kind: str, sides: Sequence[str], most_starts: int | None, loads: tuple[OpenLoad, ...] | None
) -> None:
    request = Request.model_construct(kind=kind, most_starts=most_starts)
    resolved = Resolved.model_construct(request=request, servers=dict.fromkeys(sides))
    assert first_amounts(resolved).open_loop == loads
