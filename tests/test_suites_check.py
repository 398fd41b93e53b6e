"""`zerolap suites check` and `zerolap run` on suites of the public format."""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from api_client import request as http
from command_line import Zerolap
from http_server import served_lab
from report_page import embedded
from simulated_fleet import PLATFORM, SimulatedFleet
from toy_server import CASES
from waiting import wait_until

from zerolap.build import resolve
from zerolap.cases import load_cases
from zerolap.documents import read_check
from zerolap.lab import Lab, SubmissionOptions, check, check_request, on_platforms, resume
from zerolap.records import CheckReport, Event, Interrupted, Measurement, Request, RequestedServer, TrialDone, TrialsJob
from zerolap.report import document_json, sheet_markdown
from zerolap.sheets import check_sheet
from zerolap.store import Store

PRELOAD = '--command "SET __key__ __data__" --command-key-pattern P -n allkeys'
RANGE = "--key-minimum 1 --key-maximum 2000 --key-prefix k-"
LIST = '--command "RPUSH __key__ __data__" --command-key-pattern P -n allkeys'


def suite(
    client: str, preload: str | None = None, tools: tuple[str, str] = ("memtier_benchmark",) * 2, **database: object
) -> dict[str, Any]:
    """The values of a suite's file; both clients have keys of one range unless their arguments set another."""
    fields: dict[str, Any] = {"configuration-parameters": {"save": '""'}, **database}
    if preload is not None:
        fields["preload_tool"] = {"tool": tools[0], "arguments": f"{RANGE} -c 1 -t 1 {preload}"}
    amount = "" if "--requests" in client else "--test-time 60"
    arguments = f"{RANGE} -c 2 -t 1 {amount} {client}"
    return {"version": 0.4, "dbconfig": fields, "clientconfig": {"tool": tools[1], "arguments": arguments}}


GET = '--command "GET __key__"'
EXPIRE = "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('PEXPIRE', key, 20000) end"
FAULTY: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "errors": (suite('--command "INCR __key__"', PRELOAD), "errors", "INCR"),
    "unknown-command": (suite('--command "GETT __key__"', PRELOAD), "errors", "GETT"),
    "wrong-range": (suite(f"{GET} --key-minimum 5001 --key-maximum 6000", PRELOAD), "misses", "GET"),
    "renamed-prefix": (suite(f"{GET} --key-prefix other-", PRELOAD), "misses", "GET"),
    "no-data-set": (suite(GET), "misses", "GET"),
    "wrong-type": (suite('--command "LRANGE __key__ 0 9"', PRELOAD), "errors", "LRANGE"),
    "drained": (suite('--command "LPOP __key__" --command-key-pattern R', LIST), "drained", "LPOP"),
    "out-of-memory": (
        suite(
            '--command "SET __key__ __data__" -d 1000',
            **{"configuration-parameters": {"maxmemory": "1mb", "maxmemory-policy": "noeviction"}},
        ),
        "errors",
        "SET",
    ),
    "expires": (suite(GET, PRELOAD, init_commands=[["EVAL", EXPIRE, "0"]]), "expires", "GET"),
    "wrong-arity": (suite('--command "EVAL \\"return redis.call(\'GET\')\\" 0"'), "errors", "EVAL"),
    "new-keys": (suite('--command "LPUSH __key__ x" --key-prefix other-', LIST), "new keys", "LPUSH"),
    "comes-late": (
        suite(f'{GET} --command-ratio 160 --command "INCR __key__" --command-ratio 1', PRELOAD),
        "errors",
        "INCR",
    ),
    "keeps-errors-to-itself": (
        suite('--command "EVAL \\"redis.pcall(\'LPUSH\', KEYS[1]) return 1\\" 1 __key__"', PRELOAD),
        "errors",
        None,
    ),
    "takes-until-zero": (
        suite(
            '--command "HDEL hash __key__"',
            '--command "HSET hash __key__ __data__" --command-key-pattern P -n allkeys -d 1000',
        ),
        "drained",
        "HDEL",
    ),
    "outgrows-memory": (
        suite(
            '--command "SET __key__ __data__" -d 200 --key-maximum 20000000 --requests 10000000',
            **{"configuration-parameters": {"maxmemory": "300mb"}},
        ),
        "out of memory",
        None,
    ),
    "hardly-written-again": (
        suite(
            f'{GET} --command-ratio 100 --command "SET __key__ __data__" --command-ratio 1 --key-maximum 20000000',
            f"{PRELOAD} --key-maximum 20000000",
            init_commands=[["EVAL", EXPIRE, "0"]],
        ),
        "expires",
        "GET",
    ),
    "waits-for-nothing": (suite('--command "BLPOP nothing 0"'), "failed", None),
    "waits-for-long": (suite('--command "BLPOP nothing 0.3"'), "misses", "BLPOP"),
    "ends-the-server": (
        suite('--command "DEBUG SEGFAULT"', **{"configuration-parameters": {"enable-debug-command": "yes"}}),
        "failed",
        None,
    ),
    "setting-that-is-refused": (
        suite(GET, PRELOAD, **{"configuration-parameters": {"maxmemory": "much"}}),
        "failed",
        None,
    ),
    "init-that-is-refused": (suite(GET, PRELOAD, init_commands=["SADD k-1 a"]), "failed", None),
    "error-within-exec": (
        suite('--command MULTI --command "INCR __key__" --command EXEC -c 1 --pipeline 3', PRELOAD),
        "errors",
        "EXEC",
    ),
}
SOUND: dict[str, dict[str, Any]] = {
    "reads": suite("--ratio 0:1", PRELOAD),
    "writes": suite("--ratio 1:0 -d 100", PRELOAD),
    "mixed": suite(f'{GET} --command "SETRANGE __key__ 0 __data__"', PRELOAD),
    "pushes-and-pops": suite('--command "LPUSH __key__ a" --command "LPOP __key__"', LIST),
    "shrinks-to-a-size": suite(
        '--command "LPUSH __key__ __data__" --command "LTRIM __key__ 0 4"',
        '--command "RPUSH __key__ a b c d e f g h i j k l m n o p q r s t u v w" --command-key-pattern P -n allkeys',
    ),
    "has-memory-enough": suite("--ratio 1:0 -d 100", PRELOAD, **{"configuration-parameters": {"maxmemory": "100mb"}}),
    "written-again-soon": suite(
        '--command "SETEX __key__ 30 __data__" --command-ratio 1 --command "GET __key__" --command-ratio 2',
        '--command "SETEX __key__ 30 __data__" --command-key-pattern P -n allkeys',
    ),
    "script": suite('--command "EVAL \\"return redis.call(\'GET\', KEYS[1])\\" 1 __key__"', PRELOAD),
    "by-init": suite('--command "SISMEMBER s 5"', init_commands=[["SADD", "s", *map(str, range(10))]]),
    "without-keys": suite('--command PING --command "ECHO __data__"'),
    "transaction": suite('--command MULTI --command "GET __key__" --command EXEC -c 1 --pipeline 3', PRELOAD),
    "resp3": suite('--command "HELLO 3" --command "CLIENT TRACKING ON BCAST" --command "SET __key__ a"', PRELOAD),
    "streams": suite(
        '--command "XADD __key__ * a b" --command "XLEN __key__"',
        '--command "XADD __key__ * a b" --command-key-pattern P -n allkeys',
    ),
}
UNMEASURABLE: dict[str, tuple[dict[str, Any], str]] = {
    "unknown-tool": (suite(GET, tools=("memtier_benchmark", "ycsb")), "unsupported tool"),
    "unknown-argument": (suite("--no-such-argument 1"), "arguments"),
    "no-reply": (suite('--command "SHUTDOWN NOSAVE"'), "arguments"),
    "much-memory": (suite(GET, PRELOAD, resources={"requests": {"memory": "900t"}}), "memory"),
}


def write(directory: Path, suites: Mapping[str, object]) -> Path:
    """Write suites, as JSON is YAML too."""
    directory.mkdir(exist_ok=True)
    for name, values in suites.items():
        assert isinstance(values, dict)
        (directory / f"{name}.yml").write_text(json.dumps({"name": name, **values}, indent=1))
    return directory


def request_for(files: Path, server: Path) -> Request:
    """Return the request for a check of files."""
    return check_request(RequestedServer(source=resolve(str(server), None)), load_cases(files), 1, "tests")


def began(store: Store, identity: str) -> dict[str, str]:
    """Return when each case was examined, of those that were; each of them once."""
    trials = {
        recorded.job.case.name: [measured.began for event in recorded.events for measured in measurements(event)]
        for recorded in store.jobs(identity)
        if isinstance(recorded.job, TrialsJob)
    }
    assert all(len(moments) <= 1 for moments in trials.values()), trials
    return {name: moments[0] for name, moments in trials.items() if moments}


def measurements(event: Event) -> list[Measurement]:
    return [*event.measurements.values()] if isinstance(event, TrialDone) else []


@pytest.fixture(scope="module")
def report(redis_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a check of all suites reports, in one run."""
    directory = tmp_path_factory.mktemp("check")
    suites = {name: values for name, (values, *_) in (FAULTY | UNMEASURABLE).items()} | SOUND
    files = write(directory / "suites", suites)
    zerolap = Zerolap(directory)
    ended = zerolap("suites", "check", files, "--server", redis_server, "--json", "-", "--store", zerolap.store)
    assert ended.code == 1, ended.err
    assert "Traceback" not in ended.err
    zerolap.leaves_nothing()
    return ended.document()


def checked(report: Any, name: str) -> Any:
    [case] = [case for case in report["cases"] if case["case"] == name]
    return case


@pytest.mark.slow
class TestCheck:
    @pytest.mark.parametrize("name", FAULTY)
    def test_a_fault_is_found(self, report: Any, name: str) -> None:
        _, kind, command = FAULTY[name]
        found = [(fault["kind"], fault["command"]) for fault in checked(report, name)["faults"]]
        assert (kind, command) in found, checked(report, name)

    @pytest.mark.parametrize("name", SOUND)
    def test_a_sound_suite_has_none(self, report: Any, name: str) -> None:
        # Which side is busier depends on the machine.
        faults = [fault for fault in checked(report, name)["faults"] if fault["kind"] != "client saturated"]
        assert faults == [], checked(report, name)["facts"]

    def test_those_that_cannot_run_are_listed(self, report: Any) -> None:
        reasons = {one["case"]: one["reason"] for one in report["skipped"]}
        assert reasons == {name: reason for name, (_, reason) in UNMEASURABLE.items()}
        assert all(one["text"] for one in report["skipped"])

    def test_a_request_without_a_reply_is_named(self, report: Any) -> None:
        [fault] = checked(report, "waits-for-nothing")["faults"]
        assert "`BLPOP nothing 0`" in fault["text"]
        [fault] = checked(report, "ends-the-server")["faults"]
        assert "the server died" in fault["text"]

    def test_all_requests_are_counted(self, report: Any) -> None:
        facts = checked(report, "mixed")["facts"]
        commands = facts["commands"]
        assert sorted(command["command"] for command in commands) == ["GET", "SETRANGE"]
        assert min(command["requests"] for command in commands) > 0
        # Before the burst and after it; on a machine that is very busy time may end before there are 300.
        assert 0 < facts["sampled_requests"] < sum(command["requests"] for command in commands) <= 600
        assert {command["command"] for command in commands if command["writes"]} == {"SETRANGE"}


class TestCommandLine:
    def test_files_alone(self, zerolap: Zerolap, tmp_path: Path) -> None:
        values = {name: FAULTY[name][0] for name in ("no-data-set", "wrong-type")} | {"reads": SOUND["reads"]}
        files = write(tmp_path / "suites", values)
        ended = zerolap("suites", "check", "--no-run", files, "--server", "/no/such/server")
        assert (ended.code, ended.out, ended.err) == (0, "3 cases, all well-formed\n", "")
        (files / "odd.yml").write_text(json.dumps({**SOUND["reads"], "priorty": 1}))
        ended = zerolap("suites", "check", "--no-run", files)
        assert (ended.code, ended.out) == (0, "4 cases, 1 with warnings\n")
        assert f'{files}/odd.yml:1: field "priorty": unknown field' in ended.err

    def test_exit_code_of_a_fault(self, zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
        files = write(tmp_path / "suites", {"no-data-set": FAULTY["no-data-set"][0], "reads": SOUND["reads"]})
        common = ["--cases", files, "--server", redis_server, "--store", zerolap.store]
        faulty = zerolap("suites", "check", "no-*", *common)
        assert faulty.code == 1
        assert "misses" in faulty.out
        assert zerolap("suites", "check", "no-*", *common, "--ignore-faults").code == 0
        assert zerolap("suites", "check", "--command", "SET", *common).code == 2
        zerolap.leaves_nothing()

    def test_exit_code_where_nothing_can_be_checked(self, zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
        files = write(tmp_path / "suites", {"unknown-tool": UNMEASURABLE["unknown-tool"][0]})
        ended = zerolap("suites", "check", files, "--server", redis_server, "--store", zerolap.store)
        ended.fails_with(4, "no case was checked")
        assert "unsupported tool: `unknown-tool`" in ended.out

    def test_bad_input(self, zerolap: Zerolap, tmp_path: Path) -> None:
        files = write(tmp_path / "suites", {"reads": SOUND["reads"]})
        zerolap("suites", "check", "no-such.yml").fails_with(2, "no-such.yml")
        zerolap("suites", "check", "no-such", "--cases", files).fails_with(2, "no-such")
        zerolap("suites", "check", "--cases", tmp_path / "nowhere").fails_with(2, "nowhere")
        zerolap("suites", "check", files, "--server", "no-such-server").fails_with(2, "no-such-server")
        zerolap("suites", "check", files, "--json", tmp_path / "no" / "such.json").fails_with(2, "such.json")
        zerolap("suites", "check", files, "--no-run", "--json", "a.json").fails_with(2, "--json")

    @pytest.mark.slow
    def test_a_server_that_tells_little_of_itself(self, zerolap: Zerolap, toy_program: Path) -> None:
        ended = zerolap("suites", "check", CASES, "--server", toy_program, "--json", "-", "--store", zerolap.store)
        # It does so little that the load generator may be what limits, which is a fault.
        assert ended.code in (0, 1), ended.err
        cases = ended.document()["cases"]
        faults = [fault for case in cases if case["case"] == "toy-work" for fault in case["faults"]]
        assert {fault["kind"] for fault in faults} <= {"client saturated"}, faults


@pytest.mark.usefixtures("valgrind")
def test_faults_of_files_stand_beside_results(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "suites", {"reads": SOUND["reads"] | {"ersion": 0.4}})
    (files / "compose.yml").write_text("services: {redis: {image: redis}}\n")
    (files / "empty.yml").write_text("")
    common = ["--quick", "--topology", "replicas-1", "--server", redis_server, "--store", zerolap.store]
    ended = zerolap("run", "--cases", files, *common, "--engine", "counted,timed", "--json", "-")
    assert ended.code == 0, ended.err
    notes = ended.document()["notes"]
    assert any("reads.yml" in note and "ersion" in note for note in notes), notes
    assert "`replicas-1`: counted is the primary; replicas beside it: 1" in notes
    assert "left out: timed" in ended.err


def test_a_file_that_cannot_run_is_a_fault(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "suites", {"unknown-argument": UNMEASURABLE["unknown-argument"][0]})
    ended = zerolap("suites", "check", files, "--server", redis_server, "--store", zerolap.store)
    assert ended.code == 1, ended.err
    assert "arguments: `unknown-argument`: " in ended.out
    ended = zerolap("suites", "check", files, "--no-run")
    assert ended.code == 1
    assert "it cannot run: arguments" in ended.err


def test_a_check_that_time_cuts_short_has_a_note(
    redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package has a function of the same name.
    monkeypatch.setattr(import_module("zerolap.engines.probing.probe"), "SAMPLING_SECONDS", 0)
    files = write(tmp_path / "suites", {"reads": SOUND["reads"]})
    with Store.open(str(tmp_path / "store")) as store:
        [case] = check(request_for(files, redis_server), Lab(store)).cases
    assert case.facts is not None
    examined = sum(command.requests for command in case.facts.commands)
    assert examined < 600
    assert case.warnings == [f"{examined} of 600 requests were examined: each takes long"]


def test_a_check_that_is_cancelled_goes_on_with_the_cases_that_are_left(redis_server: Path, tmp_path: Path) -> None:
    names = ("reads", "without-keys", "by-init")
    request = request_for(write(tmp_path / "suites", {name: SOUND[name] for name in names}), redis_server)
    with Store.open(str(tmp_path / "store")) as store:

        def cancel_after_the_first(event: Event) -> None:
            if isinstance(event, TrialDone):
                store.cancel(request.id)

        with pytest.raises(Interrupted, match="interrupted after 1 of 3 cases; what was measured is kept"):
            check(request, Lab(store, cancel_after_the_first))
        assert (store.state(request.id), store.is_cancelled(request.id)) == ("interrupted", False)
        kept = began(store, request.id)
        assert [case.case for case in read_check(store, request.id).cases] == [*kept]
        assert len(kept) == 1

        document = resume("latest", Lab(store))
        assert isinstance(document, CheckReport)
        assert (document.id, store.state(request.id)) == (request.id, "done")
        assert {case.case for case in document.cases} == {*names}
        assert began(store, request.id).items() >= kept.items()
        assert read_check(store, request.id) == document
        with served_lab(store) as url:
            listed = http("GET", f"{url}/api/v1/pages/reports?kind=check").json()["reports"]
            as_json, markdown, page, plain = (
                http("GET", f"{url}/checks/{request.id}{ending}") for ending in (".json", ".md", "", ".html")
            )
        assert [(one["id"], one["path"], one["state"]) for one in listed] == [(request.id, "checks", "done")]
        assert as_json.text == document_json(document)
        assert markdown.text == sheet_markdown(check_sheet(document))
        assert page.text == plain.text
        assert json.loads(embedded(page.text, "document")) == json.loads(as_json.text)


@pytest.mark.slow
def test_a_check_that_was_killed_is_listed_and_goes_on(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "suites", {name: SOUND[name] for name in ("reads", "without-keys", "by-init", "script")})
    words = ["suites", "check", files, "--server", redis_server, "--store", zerolap.store, "--json", "-"]
    with Store.open(str(zerolap.store)) as store:
        child = zerolap.start(*words)
        wait_until(lambda: any(began(store, request.id) for request in store.undocumented(1)))
        # In the midst of the next case: its server is up.
        wait_until(lambda: any("zerolap-load" in line for line in zerolap.processes()))
        child.kill()
        child.communicate()
        zerolap.wait_for_no_process()
        [short] = store.undocumented(1)
        kept = began(store, short.id)
    listed = zerolap("explain", "--store", zerolap.store).out
    assert f"zerolap resume {short.id}  continues what was interrupted" in listed
    shown = zerolap("explain", short.id[:8], "--store", zerolap.store, "--json", "-")
    assert [case["case"] for case in shown.document()["cases"]] == [*kept]

    ended = zerolap(*words, "--ignore-faults")
    assert ended.code == 0, ended.err
    assert f"continuing {short.id}, which was not finished" in ended.err
    assert len(ended.document()["cases"]) == 4
    with Store.open(str(zerolap.store)) as store:
        assert store.state(short.id) == "done"
        assert began(store, short.id).items() >= kept.items()
        assert [request.id for request in store.undocumented(9)] == [short.id]
    assert short.id in zerolap("explain", "--store", zerolap.store).out
    assert zerolap("explain", short.id, "--store", zerolap.store, "--json", "-").out == ended.out
    zerolap("resume", short.id, "--store", zerolap.store).fails_with(2, f"{short.id} is done")
    zerolap.wait_for_no_process()


@pytest.mark.slow
def test_agents_of_a_fleet_examine_the_cases(store: Store, redis_server: Path, tmp_path: Path) -> None:
    cases = {"reads": SOUND["reads"], "no-data-set": FAULTY["no-data-set"][0]}
    asked = request_for(write(tmp_path / "suites", cases), redis_server)
    fleet = SimulatedFleet(store, redis_server)
    submitting = SubmissionOptions()
    [done], [cancelled] = (on_platforms(asked, [PLATFORM], store.blobs, submitting) for _ in range(2))
    store.submit([done])

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(done) == ["done"]
        store.submit([cancelled])
        await fleet.until(lambda: began(store, cancelled.id))
        assert store.fleet.set_state(cancelled.id, "cancelled", "by a test")
        await fleet.until(lambda: not store.fleet.open_requests())

    fleet.run(scenario)
    report = read_check(store, done.id)
    assert report.platform.name == PLATFORM
    assert {case.case for case in report.cases} == {*cases}
    assert any(fault.kind == "misses" for case in report.cases for fault in case.faults)
    assert store.state(cancelled.id) == "cancelled"


def test_a_lost_part_of_the_data_is_a_fault(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    values = SOUND["reads"]
    assert "preload_tool" in values["dbconfig"]
    lost = {name.replace("preload_tool", "preload_tol"): value for name, value in values["dbconfig"].items()}
    files = write(tmp_path / "suites", {"lost": values | {"dbconfig": lost}})
    ended = zerolap("suites", "check", files, "--server", redis_server, "--store", zerolap.store)
    assert ended.code == 1, ended.err
    assert 'file: `lost`: field "dbconfig.preload_tol": unknown field' in ended.out


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_run_of_public_suites(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    suites = {
        "reads": SOUND["reads"],
        "unknown-command": FAULTY["unknown-command"][0],
        "unknown-tool": UNMEASURABLE["unknown-tool"][0],
    }
    files = write(tmp_path / "suites", suites)
    common = ["--server", redis_server, "--store", zerolap.store]
    ended = zerolap("run", "--cases", files, "--quick", *common, "--json", "-")
    assert ended.code == 0, ended.err
    document = ended.document()
    [case] = document["cases"]
    assert (case["case"], case["failure"], case["validity"]["valid"]) == ("reads", None, True)
    assert case["metrics"]["instructions_per_op"] > 100
    skipped = {one["case"]: (one["reason"], one["text"]) for one in document["skipped"]}
    assert {name: reason for name, (reason, _) in skipped.items()} == {
        "unknown-command": "unknown command",
        "unknown-tool": "unsupported tool",
    }
    assert "GETT" in skipped["unknown-command"][1]
    assert "ycsb" in skipped["unknown-tool"][1]
    again = zerolap("explain", document["id"], "--store", zerolap.store, "--json", "-")
    assert again.code == 0, again.err
    assert again.document()["skipped"] == document["skipped"]
    shown_again = zerolap("explain", document["id"], "--store", zerolap.store)
    assert "reads" in shown_again.out
    assert "2" in shown_again.out
    zerolap.leaves_nothing()


@pytest.mark.usefixtures("valgrind")
def test_run_of_nothing_that_can_be_measured(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "suites", {"unknown-tool": UNMEASURABLE["unknown-tool"][0]})
    ended = zerolap(
        *("run", "--cases", files, "--quick", "--server", redis_server, "--store", zerolap.store, "--json", "-")
    )
    assert (ended.code, "nothing was measured" in ended.err) == (3, True), ended.err
    assert ended.document()["cases"] == []
    assert [one["case"] for one in ended.document()["skipped"]] == ["unknown-tool"]
