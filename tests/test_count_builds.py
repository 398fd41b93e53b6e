"""Count builds of a small server: calls of inlined functions are counted in a second build, and nothing else of it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Zerolap
from made_records import a_measurement
from stored_opportunities import planted_graph
from stored_run import RESOLVED, RUN, SPEC, record_trials, stored_run
from toy_server import CASES, ToySource

from zerolap.build import functions_of_build, parse_variant
from zerolap.documents.results import Results
from zerolap.lab.planner import Planner
from zerolap.opportunities.graph_search import GraphSearch, all_detectors
from zerolap.records import HEAD, CallCounts, CallGraph, SourceFunction, SourceFunctions, TrialDone, digest_of
from zerolap.store import Store

CHECKS = """\
static inline int {name}(struct client *client) {{
    uint64_t state = client->output_length;
    for (int round = 0; round < 8; round++) state = mix_word(state + round);
    return state == 1;
}}

"""
ADD_BYTES = "void add_bytes(struct client *client, const void *data, size_t length) {\n"
ASKS = "    if (clientHasPendingReplies(client) + clientHasPendingReplies(client) + mustObeyClient(client)) return;\n"
REPLIES = 3
"""Calls of `add_bytes` for a bulk string."""
LABEL = "(calls counted in a build without inlining)"


@pytest.fixture
def checking(toy: ToySource) -> str:
    """Return a commit in which each part of a reply asks a pure function twice, and an equal one, all of them inline.

    Commands are carried out by functions that are named as those of Redis.
    """
    toy.git("checkout", "--quiet", "--force", toy.first)
    for file, old, new in [
        ("commands.c", "get_command", "getCommand"),
        ("commands.c", "void execute(", "void processCommand("),
        ("server.h", "void execute(", "void processCommand("),
        ("server.c", "execute(", "processCommand("),
        (
            "format.c",
            ADD_BYTES,
            CHECKS.format(name="clientHasPendingReplies") + CHECKS.format(name="mustObeyClient") + ADD_BYTES + ASKS,
        ),
    ]:
        toy.replace(file, old, new, everywhere=True)
    return toy.commit("checks")


def arguments(toy: ToySource, store: Path) -> list[str | Path]:
    return ["--repo", toy.path, "--cases", CASES, "--store", store, "--seed", "1", "--quick", "--json", "-"]


def counts_of(store: Path, result: str, side: str = "head") -> tuple[CallGraph, CallCounts]:
    """Return what was counted of `toy-get`: the server's call graph, and the calls of the count build."""
    with Store.open_to_read(str(store)) as results:
        (graph,) = results.work.graphs_of_result(result, side)
        assert graph.call_counts is not None
        read = results.blobs.get
        return (
            CallGraph.model_validate_json(read(graph.graph)),
            CallCounts.model_validate_json(read(graph.call_counts)),
        )


def calls_to(counts: CallCounts, name: str) -> float:
    return sum(function.calls for function in counts.functions if function.name == name)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
@pytest.mark.parametrize("program", ["gcc", "clang"])
def test_calls_are_counted_without_inlining_and_costs_as_ever(
    program: str, zerolap: Zerolap, toy: ToySource, checking: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"not installed: {program}")
    common = ["toy-get", "--server", checking, "--variant", program, *arguments(toy, zerolap.store)]
    counted = zerolap("run", "--count-build", *common)
    assert counted.code == 0, counted.err
    without = zerolap("run", *common).document()
    document = counted.document()
    # The server is built and counted as without the option.
    assert document["server"]["build"] == without["server"]["build"]
    assert document["cases"][0]["metrics"] == without["cases"][0]["metrics"]
    graph, counts = counts_of(zerolap.store, document["id"])
    assert not {"clientHasPendingReplies", "mustObeyClient"} & {function.name for function in graph.functions}
    assert calls_to(counts, "mustObeyClient") == pytest.approx(REPLIES, rel=0.01)
    # clang uses the result of a pure function again, which no flag forbids.
    asked = calls_to(counts, "clientHasPendingReplies")
    assert asked == pytest.approx(2 * REPLIES, rel=0.01) or (program == "clang" and asked >= 0.99 * REPLIES)
    builds = {path.parent.name for path in (zerolap.store / "builds").glob("b-*/build.json")}
    assert len(builds) == 2
    zerolap("opportunities", document["id"], "--store", zerolap.store, "--markdown", "out.md", "--quiet")
    text = (zerolap.directory / "out.md").read_text()
    assert f"times per request {LABEL} by" in text.replace("`", "")
    listed = zerolap("opportunities", document["id"], "--store", zerolap.store, "--json", "-", "--quiet").document()
    (case,) = [
        opportunity["cases"][0]
        for opportunity in listed["opportunities"]
        if (opportunity["detector"], opportunity["function"]) == ("repeated-checks", "clientHasPendingReplies")
    ]
    assert case["evidence"]["calls_without_inlining_per_op"] == pytest.approx(asked)
    assert LABEL in case["text"]
    whole = document["cases"][0]["metrics"]["instructions_per_op"]
    assert 0 < case["evidence"]["instructions_per_op"] < whole
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_both_sides_of_a_comparison_have_their_calls(zerolap: Zerolap, toy: ToySource, checking: str) -> None:
    common = ["toy-get", "--count-build", *arguments(toy, zerolap.store)]
    document = zerolap("compare", toy.first, checking, *common).document()
    assert document["cases"][0]["work"] == "regression"
    for side, times in (("base", 0.0), ("head", 2 * REPLIES)):
        _, counts = counts_of(zerolap.store, document["id"], side)
        assert calls_to(counts, "clientHasPendingReplies") == pytest.approx(times, rel=0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_reason_states_how_often_an_inlined_function_is_called(zerolap: Zerolap, toy: ToySource) -> None:
    longer = "word ^= word >> 27;\n    word *= 0x94d049bb133111ebULL;\n    return word ^ (word >> 31);"
    head = toy.changed(("server.h", "return word ^ (word >> 27);", longer))
    common = ["toy-get", "--count-build", *arguments(toy, zerolap.store)]
    case = zerolap("compare", toy.first, head, *common).document()["cases"][0]
    (reason,) = [finding for finding in case["findings"] if finding["kind"] == "culprit"]
    assert (reason["function"], reason["calls_per_op"]) == ("mix_word", None)
    # Once for each byte of a value.
    assert reason["calls_without_inlining_per_op"] == pytest.approx({"base": 40.0, "head": 40.0}, rel=0.01)
    assert reason["text"].endswith(f"It is called 40 times per request {LABEL}.")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_server_that_does_something_else_without_inlining_fails(zerolap: Zerolap, toy: ToySource) -> None:
    looks_up = "    struct slice *value = table_find(arguments[1]);"
    other = '#ifdef __NO_INLINE__\n    return add_error(client, "other");\n#endif\n'
    head = toy.changed(("commands.c", looks_up, other + looks_up))
    common = ["toy-get", "--server", head, *arguments(toy, zerolap.store)]
    ended = zerolap("run", "--count-build", *common)
    assert ended.code == 4
    assert "count build: checks fail" in ended.document()["cases"][0]["failure"]
    assert zerolap("run", *common).code == 0


@pytest.mark.usefixtures("compiler")
def test_what_has_no_count_build(zerolap: Zerolap, toy: ToySource, toy_program: Path) -> None:
    common = ["--count-build", "--cases", CASES, "--repo", toy.path]
    run = zerolap("run", "--server", toy_program, *common)
    run.fails_with(2, "is a program that is already built: it has no count build", "hint: give its source tree")
    zerolap("compare", toy.first, toy_program, *common).fails_with(2, "it has no count build")
    zerolap("run", "--server", toy.first, "--engine", "timed", *common).fails_with(
        2, "`--count-build` without counting"
    )
    zerolap("compare", "--each-commit", f"{toy.first}..{toy.first}", *common).fails_with(2, "--count-build")


def test_the_variant_of_a_count_build() -> None:
    assert parse_variant("default").of_count_build.name == "-fno-lto,no-inlining"
    assert parse_variant("clang,-O3,-flto,-march=native").of_count_build.name == (
        "clang,-O3,-fno-lto,no-inlining,-march=native"
    )


def test_jobs_of_counted_first_blocks_name_the_count_builds(store: Store) -> None:
    count_spec = SPEC.model_copy(update={"variant": "no-inlining"})
    settings = RESOLVED.settings.model_copy(update={"min_effect": {"counted": 0.005, "timed": 0.02}})
    plain = RESOLVED.model_copy(update={"request": RESOLVED.request.model_copy(update={"settings": settings})})
    servers = {side: server.model_copy(update={"count_spec": count_spec}) for side, server in plain.servers.items()}
    resolved = plain.model_copy(update={"servers": servers})
    (job, *_) = Planner(resolved).next_jobs(Results(resolved, store.blobs))
    assert (job.engine, job.count_builds) == ("counted", {HEAD: count_spec.digest})
    assert job.builds == {SPEC.digest, count_spec.digest}
    (without, *_) = Planner(plain).next_jobs(Results(plain, store.blobs))
    assert without.builds == {SPEC.digest}
    assert without.id != job.id
    # Jobs that versions without count builds have recorded are known by their ids.
    recorded = without.model_dump_json(by_alias=True, exclude={"seconds_left", "case", "count_builds"})
    assert without.id == "j-" + digest_of(recorded, without.case.name, without.case.digest)


def test_call_counts_that_are_stored_later_are_taken_into_account(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["main", "call", "xCommand", "addReplyDouble", "snprintf"]
    functions = SourceFunctions([SourceFunction("server.c", name, 900, 950) for name in names])
    monkeypatch.setattr(GraphSearch, "_functions", functions)

    def search() -> GraphSearch:
        return GraphSearch("", all_detectors(), {"get-100B": ["GET"]}, store, functions_of_build)

    stored_run(store)
    record_trials(store, "get-100B", "counted", [a_measurement(graph=store.blobs.put(planted_graph()))])
    (without,) = store.work.graphs_of_result(RUN.id, "head")
    first = search()
    first.look_through([without])
    assert [work.call_counts for work in first.works.values()] == [""]
    assert search().take_kept([without]) == []
    counts = CallCounts.of(CallGraph.model_validate_json(planted_graph()))
    digest = store.blobs.put(counts.model_dump_json(by_alias=True).encode())
    with_counts = replace(without, call_counts=digest)
    second = search()
    assert second.take_kept([with_counts]) == [with_counts]
    second.look_through([with_counts])
    assert [work.call_counts for work in second.works.values()] == [digest]
    assert search().take_kept([with_counts]) == []


def test_of_the_graphs_of_a_case_one_with_the_calls_of_a_count_build_is_taken(store: Store) -> None:
    stored_run(store)
    graphs = [store.blobs.put(planted_graph(times)) for times in (1.0, 2.0)]
    counts = CallCounts.of(CallGraph.model_validate_json(planted_graph()))
    digest = store.blobs.put(counts.model_dump_json(by_alias=True).encode())
    measured = [a_measurement(graph=graphs[0], call_counts=digest), a_measurement(graph=graphs[1])]
    record_trials(store, "get-100B", "counted", measured)
    (taken,) = store.work.graphs_of_result(RUN.id, "head")
    assert (taken.graph, taken.call_counts) == (graphs[0], digest)
    recorded = [done for of_job in store.jobs(RUN.id) for done in of_job.events if isinstance(done, TrialDone)]
    kept = [done.measurements["head"].call_counts for done in recorded if done.measurements["head"].graph]
    assert kept == [digest, None]
