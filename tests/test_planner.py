"""What is planned next, and what the loop makes of it: with an engine that makes its outcomes up."""

import itertools
import json
import math
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from zerolap.build import Program, resolve
from zerolap.documents.conclusions import conclude
from zerolap.documents.identity import TIMED_SHARE, timed_nevertheless
from zerolap.documents.results import Results
from zerolap.engines import TRACED_PASSES, Place
from zerolap.engines.simulated import Simulated
from zerolap.judge import ALL_LOOKS, COUNTED_LOOKS, LOOKS, MIN_BLOCKS
from zerolap.lab import Lab, Options, Worker, compare, comparison_request, on_platforms, resume, run, run_request
from zerolap.lab.execution import recorded_results
from zerolap.lab.planner import STARTS_AS_BUILT, Planner, build_jobs
from zerolap.records import (
    ANCHOR,
    BASE,
    HEAD,
    Abilities,
    ArchiveSource,
    BinarySource,
    Block,
    BuildSpec,
    Case,
    CaseRefused,
    Check,
    Comparison,
    Event,
    Interrupted,
    Measurement,
    Progress,
    Request,
    RequestedServer,
    Resolved,
    Side,
    TracedCall,
    TracedCase,
    TrialDone,
    TrialFailed,
    TrialsJob,
    UsageError,
    Validity,
    WrittenClient,
    read_job,
)
from zerolap.store import Store

NEW_SETTING = "a-new-setting"


def cases(count: int = 3) -> list[Case]:
    clients = [WrittenClient(commands=[f"GET {number}:__key__"]).client for number in range(count)]
    return [Case(name=f"case-{number}", group="made up", client=client) for number, client in enumerate(clients)]


class Bench:
    """Compares the installed server with itself by simulated engines, and keeps what happened.

    With `copied_to` the head is a copy of it, which is another build.
    """

    def __init__(self, store: Store, redis_server: Path, copied_to: Path | None = None, **simulated: object) -> None:
        self.counted = Simulated(**simulated)  # type: ignore[arg-type]
        self.timed = Simulated(**simulated)  # type: ignore[arg-type]
        self.events: list[Event] = []
        self.store = store
        self.server = self.head = RequestedServer(source=resolve(str(redis_server), None))
        if copied_to is not None:
            shutil.copy(redis_server, copied_to)
            with copied_to.open("ab") as file:
                file.write(b"copied")
            self.head = RequestedServer(source=resolve(str(copied_to), None))

    def lab(self) -> Lab:
        worker = Worker({"counted": self.counted, "timed": self.timed})
        return Lab(self.store, self.events.append, worker=worker)

    def compare(self, chosen: Sequence[Case], options: Options | None = None, lab: Lab | None = None) -> Comparison:
        options = options or Options(engines=["counted", "timed"])
        options = replace(options, seed=1) if options.seed is None else options
        return compare(comparison_request(self.server, self.head, chosen, options), lab or self.lab())

    def trials(self) -> list[tuple[str, int, str]]:
        """Everything that was carried out, of both engines."""
        return [*self.counted.carried_out, *self.timed.carried_out]


@pytest.fixture
def bench(store: Store, redis_server: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bench]:
    # What else the machine does is all the same to simulated engines, and is looked at for half a second.
    monkeypatch.setattr("zerolap.lab.local.wait_for_quiet", lambda *_: None)

    def make(**simulated: object) -> Bench:
        return Bench(store, redis_server, **simulated)

    return make


def plan_of(bench: Bench, identity: str) -> tuple[Resolved, Planner, Results]:
    resolved = bench.store.resolved(identity)
    assert resolved is not None
    results = Results(resolved, bench.store.blobs)
    # Both sides are one build.
    built = bench.store.build(resolved.servers[BASE].spec.digest)
    assert built is not None
    results.builds[built.build] = built
    return resolved, Planner(resolved), results


def test_the_head_is_built_after_the_base_whose_objects_it_uses(bench: Callable[..., Bench]) -> None:
    def asked(**contents: str) -> tuple[Request, dict[Side, BuildSpec]]:
        finished = made.store.request(made.compare(cases(1), Options(engines=["counted"])).id).request
        archives = {
            side: ArchiveSource(name=side, form="tree", content=of, archive="a") for side, of in contents.items()
        }
        servers = {side: RequestedServer(source=archive) for side, archive in archives.items()}
        specs = {side: BuildSpec(content=of, variant="default", recipe=1) for side, of in contents.items()}
        return finished.model_copy(update={"servers": servers}), specs

    made = bench()
    request, specs = asked(base="old", head="new")
    [first] = build_jobs(request, specs, there=())
    assert (first.spec, first.objects_of) == (specs[BASE], None)
    [second] = build_jobs(request, specs, there={specs[BASE].digest})
    assert (second.spec, second.objects_of) == (specs[HEAD], specs[BASE].digest)
    assert build_jobs(request, specs, there={spec.digest for spec in specs.values()}) == []
    same, one_spec = asked(base="old", head="old")
    [only] = build_jobs(same, one_spec, there=())
    assert only.objects_of is None

    program = made.server.model_copy(update={"source": BinarySource(name="server", path=Path("/server"))})
    mixed = request.model_copy(update={"servers": {**request.servers, BASE: program}})
    [job] = build_jobs(mixed, {**specs, BASE: BuildSpec(content="program")}, there=())
    assert (job.spec, job.objects_of) == (specs[HEAD], None)


def test_a_case_that_cannot_be_counted_is_timed(bench: Callable[..., Bench]) -> None:
    def refuse(job: TrialsJob, _: Block) -> None:
        if job.case.name == "case-1":
            raise CaseRefused("it cannot be counted")

    made = bench(changes={"case-1": 0.3}, scatter=0.01)
    made.counted.on_trial = refuse
    answers = {case.case: (case.work, case.time, case.verdict) for case in made.compare(cases()).cases}
    assert answers["case-1"] == (None, "regression", "regression")
    assert answers["case-0"][0] is not None
    alone = bench()
    alone.counted.on_trial = refuse
    [refused] = [case for case in alone.compare(cases(), Options(engines=["counted"])).cases if case.case == "case-1"]
    assert (refused.verdict, refused.failure) == ("invalid", "it cannot be counted")


def test_counting_begins_with_a_few_blocks_and_goes_on_while_undecided(bench: Callable[..., Bench]) -> None:
    # A change of the size of the minimum effect, hidden in scatter: no number of blocks decides it.
    unsure = bench(changes={"case-1": 0.005}, scatter=0.01)
    unsure.compare(cases(), Options(engines=["counted"]))
    blocks = {name: {block for case, block, _ in unsure.counted.carried_out if case == name} for name in ("case-1",)}
    assert len(blocks["case-1"]) > MIN_BLOCKS
    sure = bench()
    sure.compare(cases(), Options(engines=["counted"], seed=2))
    assert sorted(sure.counted.carried_out) == sorted(
        (f"case-{number}", block, side) for number in range(3) for block in range(MIN_BLOCKS) for side in (BASE, HEAD)
    )


def test_the_order_in_which_trials_end_does_not_matter(bench: Callable[..., Bench]) -> None:
    made = bench(changes={"case-0": 0.01}, scatter=0.002)
    finished = made.compare(cases(1), Options(engines=["counted"]))
    verdicts = []
    for turned in (False, True):
        _, planner, results = plan_of(made, finished.id)
        worker, place = Worker({"counted": made.counted}), made.lab().place
        while jobs := planner.next_jobs(results):
            assert len({job.id for job in jobs}) == len(jobs) in (1, MIN_BLOCKS - 1)
            happened = [(job, event) for job in jobs for event in worker.carry_out(job, place)]
            trials = [(job, event) for job, event in happened if isinstance(event, TrialDone)]
            bases, heads = ([one for one in trials if side in one[1].measurements] for side in (BASE, HEAD))
            ends = [(job, event) for job, event in happened if not isinstance(event, TrialDone)]
            # Blocks side by side: the last one's head is done before the first one's.
            if turned:
                happened = [*bases, *reversed(heads), *ends]
            for job, event in happened:
                results.add(job, event)
        verdicts.append([verdict for case in conclude(results, {}, None) for verdict in case.verdicts])
    assert verdicts[0] == verdicts[1]
    assert verdicts[0][0].samples == MIN_BLOCKS


def test_jobs_of_the_same_results_are_the_same_and_survive_their_json(bench: Callable[..., Bench]) -> None:
    made = bench()
    comparison = made.compare(cases())
    _, planner, results = plan_of(made, comparison.id)
    jobs = planner.next_jobs(results)
    assert [job.id for job in jobs] == [job.id for job in planner.next_jobs(results)]
    assert len({job.id for job in jobs}) == len(jobs) == 3
    for job in jobs:
        assert isinstance(job, TrialsJob)
        assert job.engine == "counted"
        again = read_job(job.model_dump_json(by_alias=True))
        assert again == job
        assert again.id == job.id


def test_each_engine_waits_for_the_one_before(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.compare(cases())
    engines = []
    for recorded in made.store.jobs(made.store.latest().id):
        assert isinstance(recorded.job, TrialsJob)
        engines.append(recorded.job.engine)
    assert engines == sorted(engines)
    assert len(made.timed.carried_out) == 3 * LOOKS[0] * 2


def test_windows_chosen_first_hold_for_later_blocks(bench: Callable[..., Bench]) -> None:
    made = bench(changes={"case-0": 0.005}, scatter=0.01)
    comparison = made.compare(cases(1), Options(engines=["counted"]))
    first, *later = [recorded.job for recorded in made.store.jobs(comparison.id)]
    assert isinstance(first, TrialsJob)
    assert first.amounts.windows is None
    assert later
    for job in later:
        assert isinstance(job, TrialsJob)
        assert job.amounts.windows == made.store.measurements(comparison.id)[0][1].amounts.windows


def test_a_change_in_time_gets_further_looks_until_it_is_decided(bench: Callable[..., Bench]) -> None:
    made = bench(changes={"case-1": 0.02}, scatter=0.02)
    made.compare(cases(), Options(engines=["timed"], min_effect={"timed": 0.02}))
    starts = {
        name: len({block for case, block, _ in made.timed.carried_out if case == name})
        for name in ("case-0", "case-1", "case-2")
    }
    assert starts["case-1"] > LOOKS[0]
    assert all(number in LOOKS for number in starts.values())


def test_a_change_in_random_layouts_has_that_of_the_programs_as_built_beside_it(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    made = bench(copied_to=tmp_path / "copy", changes={"case-1": 0.1}, as_built={"case-1": 0.03}, scatter=0.001)
    comparison = made.compare(cases(), Options(engines=["timed"]))
    by_case = {case.case: {verdict.metric: verdict for verdict in case.verdicts} for case in comparison.cases}
    as_built = by_case["case-1"].pop("as_built_cpu_ns_per_op")
    assert as_built.low < 0.03 < as_built.high
    assert as_built.samples == STARTS_AS_BUILT
    assert by_case["case-1"]["cpu_ns_per_op"].change == pytest.approx(0.1, abs=0.01)
    assert all("as_built_cpu_ns_per_op" not in verdicts for verdicts in by_case.values())


def test_work_that_costs_no_time_is_shown_beside_it(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.counted.changes = {"case-0": 0.1, "case-1": -0.1}
    comparison = made.compare(cases())
    answers = {case.case: (case.work, case.time, case.verdict) for case in comparison.cases}
    assert answers == {
        "case-0": ("regression", "same", "same"),
        "case-1": ("improvement", "same", "same"),
        "case-2": ("same", "same", "same"),
    }
    assert comparison.summary.same == 3
    assert comparison.fails_on("work")
    assert comparison.fails_on("regression")
    assert not comparison.fails_on("time")
    first = comparison.cases[0]
    assert (first.work_deciding, first.time_deciding) == ("instructions_per_op", "cpu_ns_per_op")
    assert (first.deciding, first.confirmed) == ("cpu_ns_per_op", False)
    assert any(finding.kind == "cause" for finding in first.findings)


def test_a_case_whose_time_is_not_decided_is_unsure_and_never_the_same(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.timed.scatter = 0.2
    comparison = made.compare(cases())
    assert {(case.work, case.time, case.verdict) for case in comparison.cases} == {("same", "unsure", "unsure")}
    assert comparison.summary.unsure == 3
    assert comparison.fails_on("unsure")
    assert not comparison.fails_on("regression")


def test_the_document_states_how_verdicts_are_concluded(bench: Callable[..., Bench]) -> None:
    settings = bench().compare(cases(1)).settings
    assert (settings.level, settings.equivalence_level) == (0.99, 0.05)
    assert settings.regression_rule == "interval beyond 0, estimate beyond the minimum effect"
    assert settings.look_shares is not None
    looks = {engine: tuple(shares) for engine, shares in settings.look_shares.items()}
    assert looks == {"counted": COUNTED_LOOKS, "timed": ALL_LOOKS}
    assert [sum(shares.values()) for shares in settings.look_shares.values()] == pytest.approx([1.0, 1.0], abs=0.001)


def test_cycles_decide_where_starts_differ_less_in_them(bench: Callable[..., Bench]) -> None:
    """With a tenth of the spread the first look is enough, and the document records what it rests on."""
    options = Options(engines=["timed"], min_effect={"timed": 0.02})
    made = {
        counters: bench(changes={"case-1": 0.06}, scatter=0.02, has_counters=counters) for counters in (True, False)
    }
    outcomes = {counters: one.compare(cases(), options) for counters, one in made.items()}
    assert [case.deciding for case in outcomes[True].cases] == ["cycles_per_op"] * 3
    assert [case.verdict for case in outcomes[True].cases] == ["same", "regression", "same"]
    assert {block for _, block, _ in made[True].timed.carried_out} == set(range(LOOKS[0]))
    assert {case.deciding for case in outcomes[False].cases} == {"cpu_ns_per_op"}
    assert len(made[False].timed.carried_out) > len(made[True].timed.carried_out)


def test_what_each_start_says_is_recorded_for_all_metrics_with_a_verdict(bench: Callable[..., Bench]) -> None:
    made = bench(changes={"case-1": 0.06}, scatter=0.02)
    comparison = made.compare(cases(2), Options(engines=["counted", "timed"], min_effect={"timed": 0.02}))
    recorded: dict[tuple[str, str], dict[int, float]] = {}
    for one in made.store.start_ratios(comparison.id):
        assert one.engine == "timed"
        recorded.setdefault((one.case, one.metric), {})[one.block] = one.log_ratio
    judged = {(case.case, verdict.metric): verdict for case in comparison.cases for verdict in case.verdicts}
    timed = {key: verdict for key, verdict in judged.items() if verdict.engine == "timed"}
    assert recorded.keys() == timed.keys()
    assert {metric for _, metric in timed} >= {"cpu_ns_per_op", "elapsed_ns_per_op", "ops_per_sec"}
    values: dict[tuple[str, int], dict[str, float]] = {}
    for trial, measured in made.store.measurements(comparison.id):
        if trial.engine == "timed":
            values.setdefault((trial.case, trial.block), {})[trial.side] = measured.metrics["cpu_ns_per_op"]
    for (case, metric), by_block in recorded.items():
        assert len(by_block) == timed[case, metric].samples
        if metric == "cpu_ns_per_op":
            of_case = {block: sides for (name, block), sides in values.items() if name == case}
            expected = {block: math.log(sides[HEAD] / sides[BASE]) for block, sides in of_case.items()}
            assert by_block == pytest.approx(expected)


def test_an_anchor_is_timed_beside_both_sides_and_its_contrasts_are_stored(
    store: Store, redis_server: Path, tmp_path: Path
) -> None:
    made = Bench(store, redis_server, tmp_path / "head", changes={"case-1": 0.06}, scatter=0.02)
    anchor = tmp_path / "anchor"
    anchor.write_bytes(redis_server.read_bytes() + b"anchor")
    anchor.chmod(0o755)
    request = comparison_request(
        made.server,
        made.head,
        cases(2),
        Options(engines=["timed"], seed=1),
        anchor=RequestedServer(source=resolve(str(anchor), None)),
    ).model_copy(update={"most_starts": LOOKS[0], "topic": "history:1"})
    comparison = compare(request, made.lab())
    assert [case.case for case in comparison.cases] == ["case-0", "case-1"]
    assert any("anchor" in note for note in comparison.notes)
    builds = {side: server.spec.digest for side, server in store.resolved(comparison.id).servers.items()}
    values: dict[tuple[str, int], dict[str, float]] = {}
    for trial, measured in store.measurements(comparison.id):
        values.setdefault((trial.case, trial.block), {})[trial.side] = measured.metrics["cpu_ns_per_op"]
    platform = comparison.platform.fingerprint
    contrasts = store.history.contrasts(list(builds.values()), platform, ["cpu_ns_per_op"])
    assert {contrast.is_of_three for contrast in contrasts} == {True}
    for sides in itertools.combinations((ANCHOR, BASE, HEAD), 2):
        pair = tuple(builds[side] for side in sides)
        of_pair = [one for one in contrasts if (one.base_build, one.head_build) == pair]
        assert [one.case for one in of_pair] == ["case-0", "case-1"]
        for one in of_pair:
            of_case = [times for (case, _), times in sorted(values.items()) if case == one.case]
            assert one.log_ratios == pytest.approx([math.log(of[sides[1]] / of[sides[0]]) for of in of_case])
    [alone] = store.history.contrasts([builds[ANCHOR], builds[HEAD]], platform, ["cpu_ns_per_op"])[:1]
    assert not alone.is_of_three
    with store._database.write_transaction() as connection:  # Simulated trials have no date.
        connection.execute(text("UPDATE trial SET began = '2026-01-01T00:00:00Z'"))
    absolute = store.history.absolute_times([builds[ANCHOR]], platform)
    assert {time.value for time in absolute} == {times[ANCHOR] for times in values.values()}


def with_new_setting(monkeypatch: pytest.MonkeyPatch, lacking: bytes) -> Case:
    """Return a public suite with a setting that all servers know but those whose program ends so."""

    def abilities(program: Program, *_: object) -> Abilities:
        known = frozenset[str]() if program.path.read_bytes().endswith(lacking) else frozenset({NEW_SETTING})
        return Abilities(commands=frozenset({"GET"}), settings=known)

    monkeypatch.setattr("zerolap.lab.selection.server_abilities", abilities)
    [case] = cases(1)
    public = case.client.model_copy(update={"given": []})
    return case.model_copy(update={"client": public, "config": {NEW_SETTING: "7"}})


@pytest.mark.parametrize(("lacking", "kept"), [(b"anchor", {NEW_SETTING: "7"}), (b"copied", {})])
def test_a_setting_that_only_the_anchor_lacks_stays_with_both_sides(
    store: Store,
    redis_server: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lacking: bytes,
    kept: dict[str, str],
) -> None:
    monkeypatch.setattr("zerolap.lab.local.wait_for_quiet", lambda *_: None)
    made = Bench(store, redis_server, tmp_path / "head", scatter=0.02)
    anchor = tmp_path / "anchor"
    anchor.write_bytes(redis_server.read_bytes() + b"anchor")
    anchor.chmod(0o755)
    request = comparison_request(
        made.server,
        made.head,
        [with_new_setting(monkeypatch, lacking)],
        Options(engines=["timed"], seed=1),
        anchor=RequestedServer(source=resolve(str(anchor), None)),
    ).model_copy(update={"most_starts": LOOKS[0]})
    comparison = compare(request, made.lab())
    resolved = store.resolved(comparison.id)
    assert resolved is not None
    assert [case.config for case in resolved.cases] == [kept]
    builds = [server.spec.digest for server in resolved.servers.values()]
    contrasts = store.history.contrasts(builds, comparison.platform.fingerprint, ["cpu_ns_per_op"])
    assert contrasts
    assert [contrast.case_config for contrast in contrasts] == [kept] * len(contrasts)


@pytest.mark.parametrize(("lacking", "is_counted"), [(b"anchor", True), (b"copied", False)])
def test_a_count_without_a_setting_of_the_case_is_none_of_a_history(
    store: Store, redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: bytes, is_counted: bool
) -> None:
    made = Bench(store, redis_server, tmp_path / "head")
    case = with_new_setting(monkeypatch, lacking)
    request = run_request(made.head, [case], Options(engines=["counted"], seed=1)).model_copy(
        update={"topic": "history:1"}
    )
    report = run(request, made.lab())
    uncounted = store.history.uncounted_cases([report.server.build], report.platform.fingerprint)
    reason = f"the server does not know the setting `{NEW_SETTING}`"
    assert [(one.case.name, one.reason) for one in uncounted] == ([] if is_counted else [(case.name, reason)])


def test_the_budget_ends_counting_and_leaves_time_for_timing(bench: Callable[..., Bench]) -> None:
    made = bench(seconds=10.0)
    comparison = made.compare(cases(8), Options(engines=["counted", "timed"], budget_seconds=200.0))
    assert len(made.counted.carried_out) < 8 * MIN_BLOCKS * 2
    assert made.timed.carried_out
    assert comparison.summary.unsure > 0
    undecided = [case for case in comparison.cases if case.verdict == "unsure"]
    assert all(case.failure == "the budget was used up before it was decided" for case in undecided)


def test_a_budget_that_ends_after_the_first_block_leaves_cases_unsure(bench: Callable[..., Bench]) -> None:
    made = bench(seconds=10.0)
    comparison = made.compare(cases(4), Options(engines=["counted"], budget_seconds=1.0))
    assert {block for _, block, _ in made.counted.carried_out} == {0}
    assert {(case.verdict, case.failure) for case in comparison.cases} == {
        ("unsure", "the budget was used up before it was decided")
    }


def test_a_run_measures_its_server_as_the_head(bench: Callable[..., Bench]) -> None:
    made = bench()
    report = run(run_request(made.server, cases(2), Options(engines=["counted"])), made.lab())
    assert {side for _, _, side in made.counted.carried_out} == {HEAD}
    assert [case.metrics["instructions_per_op"] > 0 for case in report.cases] == [True, True]
    assert {trial.side for trial, _ in made.store.measurements(report.id)} == {HEAD}


def test_progress_counts_trials_up_to_what_is_expected(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.compare(cases())
    advances = [event for event in made.events if isinstance(event, Progress) and event.activity == "counting"]
    assert [event.done for event in advances] == list(range(1, len(advances) + 1))
    assert advances[-1].done == advances[-1].expected


def test_what_was_recorded_is_not_measured_again(bench: Callable[..., Bench]) -> None:
    undisturbed = bench(changes={"case-1": 0.03})
    wanted = undisturbed.compare(cases(), Options(engines=["counted", "timed"]))
    # A start of both sides is one moment, and two trials.
    moments = len(undisturbed.counted.carried_out) + len(undisturbed.timed.carried_out) // 2

    class Killed(BaseException):
        pass

    for moment in range(0, moments, 7):
        left = [moment]

        def stop(job: TrialsJob, block: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        broken = bench(changes={"case-1": 0.03}, on_trial=stop)
        # The seed tells this request from the others of the store.
        options = Options(engines=["counted", "timed"], seed=100 + moment)
        with pytest.raises(Killed):
            broken.compare(cases(), options)
        again = bench(changes={"case-1": 0.03})
        finished = again.compare(cases(), options)
        assert finished.id == again.store.latest().id
        together = broken.trials() + again.trials()
        timed_starts = broken.timed.carried_out + again.timed.carried_out
        assert len(set(broken.counted.carried_out + again.counted.carried_out)) + len(set(timed_starts)) == len(
            together
        ), f"killed after {moment} trials, something was measured twice"
        assert [case.verdict for case in finished.cases] == [case.verdict for case in wanted.cases]
        recorded = again.store.measurements(finished.id)
        assert len(recorded) == len({(trial.job, trial.side, trial.block) for trial, _ in recorded})


def test_an_interrupted_comparison_goes_on_by_its_id(bench: Callable[..., Bench]) -> None:
    def stop(job: TrialsJob, block: object) -> None:
        if len(interrupted.counted.carried_out) >= 4:
            raise KeyboardInterrupt

    interrupted = bench(on_trial=stop)
    with pytest.raises(Interrupted, match="what was measured is kept"):
        interrupted.compare(cases())
    identity = interrupted.store.latest().id
    assert interrupted.store.state(identity) == "interrupted"
    again = bench()
    comparison = resume(identity[:10], again.lab())
    assert comparison.id == identity
    assert isinstance(comparison, Comparison)
    assert comparison.state == "done"
    assert not set(interrupted.counted.carried_out) & set(again.counted.carried_out)
    with pytest.raises(UsageError, match="is done"):
        resume(identity, again.lab())


def seeds(made: Bench, identity: str) -> set[int]:
    """Return the seeds of the blocks that were measured for a request."""
    return {block.seed for recorded in made.store.jobs(identity) for block in recorded.job.blocks}  # type: ignore[union-attr]


def asked(made: Bench, **options: object) -> Request:
    both = (made.server, made.server)
    chosen = Options(engines=["counted"], **options)  # type: ignore[arg-type]
    return comparison_request(*both, cases(1), chosen, "zerolap compare a b -- get")


def test_each_comparison_of_the_same_has_seeds_of_its_own(bench: Callable[..., Bench]) -> None:
    made = bench()
    first, second, *chosen = (
        compare(request, made.lab()) for request in (asked(made), asked(made), asked(made, seed=7), asked(made, seed=7))
    )
    assert first.settings.seed != second.settings.seed
    assert seeds(made, first.id).isdisjoint(seeds(made, second.id))
    assert first.command_line == f"zerolap compare --seed {first.settings.seed} a b -- get"
    assert [comparison.settings.seed for comparison in chosen] == [7, 7]
    assert seeds(made, chosen[0].id) == seeds(made, chosen[1].id)
    assert chosen[0].command_line == "zerolap compare a b -- get"
    assert [case.verdicts for case in chosen[0].cases] == [case.verdicts for case in chosen[1].cases]


def test_platforms_of_a_request_draw_seeds_of_their_own(bench: Callable[..., Bench]) -> None:
    made = bench()
    drawn, chosen = (on_platforms(asked(made, **seed), ["arm", "x86"], made.store.blobs) for seed in ({}, {"seed": 7}))
    assert len({request.settings.seed for request in drawn}) == 2
    assert [request.settings.seed for request in chosen] == [7, 7]


def test_an_unfinished_comparison_keeps_its_seed(bench: Callable[..., Bench]) -> None:
    def stop(job: TrialsJob, block: object) -> None:
        raise KeyboardInterrupt

    made, stopping = bench(), bench(on_trial=stop)
    interrupted, *others = asked(made), asked(made, seed=7), asked(made)
    with pytest.raises(Interrupted):
        compare(interrupted, stopping.lab())
    other, again = (compare(request, made.lab()) for request in others)
    assert (other.id, other.settings.seed) == (others[0].id, 7), "another seed was chosen"
    assert (again.id, again.settings.seed) == (interrupted.id, interrupted.settings.seed)


def test_a_request_can_be_cancelled_from_another_thread(bench: Callable[..., Bench]) -> None:
    waiting, released = threading.Event(), threading.Event()

    def wait(job: TrialsJob, block: object) -> None:
        waiting.set()
        released.wait()

    made = bench(on_trial=wait)
    lab = made.lab()

    def cancel() -> None:
        waiting.wait()
        lab.cancellation.cancel()
        released.set()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(Interrupted):
        made.compare(cases(), lab=lab)
    canceller.join()
    assert made.counted.carried_out == []
    # The next request of the process is another's business.
    assert bench().compare(cases(), Options(engines=["counted"], seed=2)).state == "done"


def test_a_request_can_be_cancelled_through_the_store(bench: Callable[..., Bench]) -> None:
    def cancel(job: TrialsJob, block: object) -> None:
        made.store.cancel(job.request)

    made = bench(on_trial=cancel)
    with pytest.raises(Interrupted):
        made.compare(cases(20))
    assert made.store.state(made.store.latest().id) == "interrupted"
    assert len(made.counted.carried_out) < 20 * MIN_BLOCKS * 2


def test_an_engine_that_raises_anything_fails_its_case_alone(bench: Callable[..., Bench]) -> None:
    def fail(job: TrialsJob, block: object) -> None:
        if job.case.name == "case-1":
            raise ZeroDivisionError("an odd engine")

    made = bench(on_trial=fail)
    comparison = made.compare(cases(), Options(engines=["counted"]))
    words = {case.case: case.verdict for case in comparison.cases}
    assert words == {"case-0": "same", "case-1": "invalid", "case-2": "same"}
    [failure] = [case.failure for case in comparison.cases if case.failure]
    assert "the engine `counted` failed: ZeroDivisionError: an odd engine" in failure


def test_events_recorded_give_the_same_results_again(bench: Callable[..., Bench]) -> None:
    made = bench(changes={"case-2": -0.1})
    comparison = made.compare(cases())
    resolved = made.store.resolved(comparison.id)
    assert resolved is not None
    results = recorded_results(resolved, made.store)
    for job in made.store.jobs(comparison.id):
        assert all(not isinstance(event, TrialDone) or event.job == job.job.id for event in job.events)
    built = made.store.build(resolved.servers[BASE].spec.digest)
    assert built is not None
    results.builds[built.build] = built
    assert Planner(resolved).next_jobs(results) == []
    assert results.machine_seconds == comparison.summary.machine_seconds


def test_a_lab_can_do_several_requests_one_after_the_other(bench: Callable[..., Bench]) -> None:
    made = bench()
    first = made.compare(cases(1), Options(engines=["counted"], seed=1))
    second = made.compare(cases(1), Options(engines=["counted"], seed=2), replace(made.lab()))
    assert first.id != second.id


def executed(instruction: str) -> bytes:
    """What a server executed: one instruction."""
    node = {"name": "main", "code": True, "lines": [[0, [10, 0, 0], []]]}
    listed = {"texts": [instruction], "nodes": [node], "unknown": None, "libraries": []}
    return json.dumps(
        {"schema": "zerolap.executed/2", "requests": [1, 0, 0], "image": "", "instructions": [10, 0, 0]} | listed
    ).encode()


def test_identical_work_is_not_timed_but_for_a_sample(bench: Callable[..., Bench], tmp_path: Path) -> None:
    def code(name: str, side: str) -> bytes:
        return executed("nop" if name == "case-3" and side == HEAD else "ret")

    made = bench(copied_to=tmp_path / "copy", executed=code)
    comparison = made.compare(cases(30), Options(engines=["counted", "timed"], budget_seconds=10_000))
    works = {case.case: case.work for case in comparison.cases}
    assert works == {name: "same" if name == "case-3" else "identical" for name in works}
    identical = works.keys() - {"case-3"}
    timed = {case for case, _, _ in made.timed.carried_out}
    resolved = made.store.resolved(comparison.id)
    assert resolved is not None
    assert timed == {"case-3"} | timed_nevertheless(identical, resolved)
    assert len(timed) < 15
    blocks = {name: {block for case, block, _ in made.counted.carried_out if case == name} for name in works}
    assert blocks == {name: set(range(MIN_BLOCKS)) if name == "case-3" else {0} for name in works}
    by_name = {case.case: case for case in comparison.cases}
    untimed = by_name[min(identical - timed)]
    assert (untimed.verdict, untimed.confirmed, untimed.failure) == ("same", False, None)
    assert "the same 1 instructions in 1 functions" in untimed.findings[-1].text
    assert "`main`: `ret` → `nop`" in by_name["case-3"].findings[-1].text
    [note] = [note for note in comparison.notes if "the same instructions" in note]
    assert note.startswith(f"{len(identical - timed)} cases not timed, ")
    assert "case-3" not in note


def test_a_sample_of_identical_cases_that_is_slower_has_all_cases_timed(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    made = bench(copied_to=tmp_path / "copy", executed=lambda _name, _side: executed("ret"))
    chosen = cases(14)
    made.timed.changes = {case.name: 0.1 for case in chosen}
    comparison = made.compare(chosen, Options(engines=["counted", "timed"]))
    assert {case for case, _, _ in made.timed.carried_out} == {case.name for case in chosen}
    assert {(case.work, case.verdict) for case in comparison.cases} == {("identical", "regression")}
    assert not [note for note in comparison.notes if "not timed" in note]


def test_a_sample_of_identical_cases_is_looked_at_again_only_where_its_time_seems_to_change(
    bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts differ so much that six of them show neither a change nor that there is none."""
    made = bench(copied_to=tmp_path / "copy", executed=lambda _name, _side: executed("ret"), slices=1)
    # Which cases are the sample depends on the installed server.
    sample = frozenset(case.name for case in cases(12))
    monkeypatch.setattr("zerolap.documents.results.timed_nevertheless", lambda _identical, _resolved: sample)
    made.timed.scatter = 0.03
    comparison = made.compare(cases(20), Options(engines=["counted", "timed"], budget_seconds=100_000))
    starts = Counter(case for case, _, side in made.timed.carried_out if side == HEAD)
    undecided = {case.case: case.verdict for case in comparison.cases if case.time == "unsure"}
    # By chance a few of them hint at a change after the first look.
    stopped = [name for name in undecided if starts[name] == LOOKS[0]]
    assert 2 * len(stopped) > len(undecided) > 0
    assert set(undecided.values()) == {"same"}


def test_code_that_is_identical_with_other_counts_is_not_identical(bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Twice the system calls, or another cost of ticks: other windows show what those of the requests do not."""
    made = bench(copied_to=tmp_path / "copy", executed=lambda _name, _side: executed("ret"))
    made.counted.of_head = {"syscalls_per_op": 2.0}
    comparison = made.compare(cases(2), Options(engines=["counted"]))
    assert {(case.work, case.work_deciding) for case in comparison.cases} == {("regression", "syscalls_per_op")}


def test_plans_read_no_blobs(bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(copied_to=tmp_path / "copy", executed=lambda _name, _side: executed("ret"))
    finished = made.compare(cases(3), Options(engines=["counted"]))
    resolved = made.store.resolved(finished.id)
    assert resolved is not None
    # Work that is identical ends counting, which plans have to know.
    results = recorded_results(resolved, made.store)
    assert [case.work for case in finished.cases] == ["identical"] * 3

    def refuse(_self: object, digest: str) -> bytes:
        raise AssertionError(f"the blob {digest} was read")

    monkeypatch.setattr(type(made.store.blobs), "get", refuse)
    assert Planner(resolved).next_jobs(results) == []


def test_which_identical_cases_are_timed_changes_with_the_seed(bench: Callable[..., Bench], tmp_path: Path) -> None:
    made = bench(copied_to=tmp_path / "copy", executed=lambda _name, _side: executed("ret"))
    # Where all cases are identical, one is timed at least.
    comparison = made.compare(cases(2), Options(engines=["counted", "timed"]))
    assert len({case for case, _, _ in made.timed.carried_out}) >= 1
    resolved = made.store.resolved(comparison.id)
    assert resolved is not None
    names = [f"case-{number}" for number in range(12 * TIMED_SHARE)]
    drawn = []
    for seed in range(20):
        settings = resolved.settings.model_copy(update={"seed": seed})
        request = resolved.request.model_copy(update={"settings": settings})
        drawn.append(timed_nevertheless(names, resolved.model_copy(update={"request": request})))
    assert len(set(drawn)) == len(drawn)
    assert 0.5 * len(names) < TIMED_SHARE * sum(map(len, drawn)) / len(drawn) < 2 * len(names)


def test_a_build_compared_with_itself_is_timed(bench: Callable[..., Bench]) -> None:
    made = bench(executed=lambda _name, _side: executed("ret"))
    comparison = made.compare(cases(3))
    assert {case for case, _, _ in made.timed.carried_out} == {"case-0", "case-1", "case-2"}
    assert {case.work for case in comparison.cases} == {"identical"}


class SimulatedTracing(Simulated):
    """Stands in for the engine `traced`."""

    def _measurement(self, job: TrialsJob, block: Block, side: Side, place: Place) -> Measurement:
        call = TracedCall(thread="server", call="read", calls_per_op=1.0, ns_per_op=500.0)
        recorded = TracedCase(threads=[], calls=[call]).model_dump_json(by_alias=True).encode()
        return Measurement(
            metrics={"traced_syscalls_per_op": 1.0 + block.number, "off_cpu_ns_per_op": 2000.0},
            validity=Validity.of([Check(check="errors", ok=True, value=0.0, limit="<= 0")]),
            traced=place.blobs.put(recorded),
            seconds=self.seconds,
        )


def tracing_lab(made: Bench, traced: Simulated) -> Lab:
    return Lab(made.store, made.events.append, worker=Worker({"counted": made.counted, "traced": traced}))


def test_what_is_traced_is_shown_of_both_sides_and_has_no_verdicts(bench: Callable[..., Bench]) -> None:
    made, traced = bench(changes={"case-0": 0.1}), SimulatedTracing()
    plain = made.compare(cases(), Options(engines=["counted"]))
    result = made.compare(cases(), Options(engines=["counted", "traced"]), tracing_lab(made, traced))
    assert len(traced.carried_out) == 3 * 2 * TRACED_PASSES
    # Neither the words nor how sure they are depend on tracing.
    assert [case.model_copy(update={"traced": None}) for case in result.cases] == plain.cases
    for case in result.cases:
        assert case.time is None
        assert case.traced is not None
        assert case.traced.head.metrics["traced_syscalls_per_op"] == (2.0, 1.0, 3.0)
        assert case.traced.base.traced.calls[0].call == "read"


def test_a_run_that_is_only_traced_has_its_metrics(bench: Callable[..., Bench]) -> None:
    made, traced = bench(), SimulatedTracing()
    report = run(run_request(made.server, cases(1), Options(engines=["traced"])), tracing_lab(made, traced))
    (case,) = report.cases
    assert (case.samples, case.metrics["traced_syscalls_per_op"]) == (3, 2.0)
    assert case.traced is not None
    assert case.traced.passes == 3


def test_a_case_that_cannot_be_traced_keeps_what_was_counted(bench: Callable[..., Bench]) -> None:
    def refuse(_job: TrialsJob, _block: Block) -> None:
        raise TrialFailed("bpftrace failed")

    made, traced = bench(), SimulatedTracing(on_trial=refuse)
    result = made.compare(cases(1), Options(engines=["counted", "traced"]), tracing_lab(made, traced))
    (case,) = result.cases
    assert (case.verdict, case.traced) == ("same", None)
    assert any("bpftrace failed" in finding.text for finding in case.findings)
    report = run(run_request(made.server, cases(1), Options(engines=["traced"])), tracing_lab(made, traced))
    assert report.cases[0].failure is not None
    assert "bpftrace failed" in report.cases[0].failure


def test_evidence_alone_is_no_comparison(bench: Callable[..., Bench]) -> None:
    made = bench()
    for engines in (["traced"], ["sampled", "traced"]):
        with pytest.raises(UsageError, match="judges nothing"):
            made.compare(cases(1), Options(engines=engines))
