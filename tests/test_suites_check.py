"""`zerolap suites check` and `zerolap run` on suites of the public format, and how single requests are looked at."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from toy_server import CASES

from zerolap.engines.probing.recorder import Recorder
from zerolap.engines.probing.samples import CommandSamples, Sample, shown
from zerolap.records import TrialFailed
from zerolap.server import FrameReader, Reply, ReplyError, written

PRELOAD = '--command "SET __key__ __data__" --command-key-pattern P -n allkeys'
RANGE = "--key-minimum 1 --key-maximum 2000 --key-prefix k-"
LIST = '--command "RPUSH __key__ __data__" --command-key-pattern P -n allkeys'


def suite(
    client: str, preload: str | None = None, tools: tuple[str, str] = ("memtier_benchmark",) * 2, **database: object
) -> dict[str, Any]:
    """The values of a suite's file; both clients have keys of one range unless their arguments say otherwise."""
    fields: dict[str, Any] = {"configuration-parameters": {"save": '""'}, **database}
    if preload is not None:
        fields["preload_tool"] = {"tool": tools[0], "arguments": f"{RANGE} -c 1 -t 1 {preload}"}
    arguments = f"{RANGE} -c 2 -t 1 --test-time 60 {client}"
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
        suite(f'{GET} --command-ratio 250 --command "INCR __key__" --command-ratio 1', PRELOAD),
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
            '--command "HDEL hash __key__"', '--command "HSET hash __key__ __data__" --command-key-pattern P -n allkeys'
        ),
        "drained",
        "HDEL",
    ),
    "outgrows-memory": (
        suite(
            '--command "SET __key__ __data__" -d 200 --key-maximum 20000000',
            **{"configuration-parameters": {"maxmemory": "300mb"}},
        ),
        "out of memory",
        None,
    ),
    "hardly-written-again": (
        suite(
            f'{GET} --command-ratio 100 --command "SET __key__ __data__" --command-ratio 1 --key-maximum 200000',
            f"{PRELOAD} --key-maximum 200000",
            init_commands=[["EVAL", EXPIRE, "0"]],
        ),
        "expires",
        "GET",
    ),
    "waits-for-nothing": (suite('--command "BLPOP nothing 0"'), "failed", None),
    "waits-for-long": (suite('--command "BLPOP nothing 0.3"'), "misses", "BLPOP"),
    "ends-the-server": (suite('--command "SHUTDOWN NOSAVE"'), "failed", None),
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
        '--command "SETEX __key__ 5 __data__" --command-ratio 1 --command "GET __key__" --command-ratio 2',
        '--command "SETEX __key__ 5 __data__" --command-key-pattern P -n allkeys',
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
    "much-memory": (suite(GET, PRELOAD, resources={"requests": {"memory": "900t"}}), "memory"),
}


def write(directory: Path, suites: Mapping[str, object]) -> Path:
    """Write suites, as JSON is YAML too."""
    directory.mkdir(exist_ok=True)
    for name, values in suites.items():
        assert isinstance(values, dict)
        (directory / f"{name}.yml").write_text(json.dumps({"name": name, **values}, indent=1))
    return directory


@pytest.fixture(scope="module")
def report(redis_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a check of all suites says, in one run."""
    directory = tmp_path_factory.mktemp("check")
    suites = {name: values for name, (values, *_) in (FAULTY | UNMEASURABLE).items()} | SOUND
    files = write(directory / "suites", suites)
    zerolap = Zerolap(directory)
    ended = zerolap("suites", "check", files, "--server", redis_server, "--json", "-", "--store", zerolap.store)
    assert ended.code == 0, ended.err
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
        commands = checked(report, "mixed")["facts"]["commands"]
        assert sorted(command["command"] for command in commands) == ["GET", "SETRANGE"]
        assert sum(command["requests"] for command in commands) == 600
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
        common = ["--cases", files, "--server", redis_server, "--store", zerolap.store, "--fail-on-fault"]
        faulty = zerolap("suites", "check", "no-*", *common)
        assert faulty.code == 1
        assert "misses" in faulty.out
        assert zerolap("suites", "check", "--command", "SET", *common).code == 2
        zerolap.leaves_nothing()

    def test_bad_input(self, zerolap: Zerolap, tmp_path: Path) -> None:
        files = write(tmp_path / "suites", {"reads": SOUND["reads"]})
        zerolap("suites", "check", "no-such.yml").fails_with(2, "no-such.yml")
        zerolap("suites", "check", "no-such", "--cases", files).fails_with(2, "no-such")
        zerolap("suites", "check", "--cases", tmp_path / "nowhere").fails_with(2, "nowhere")
        zerolap("suites", "check", files, "--server", "no-such-server").fails_with(2, "no-such-server")
        zerolap("suites", "check", files, "--json", tmp_path / "no" / "such.json").fails_with(2, "such.json")
        zerolap("suites", "check", files, "--no-run", "--json", "a.json").fails_with(2, "--json")

    def test_a_server_that_tells_little_of_itself(self, zerolap: Zerolap, toy_program: Path) -> None:
        ended = zerolap("suites", "check", CASES, "--server", toy_program, "--json", "-", "--store", zerolap.store)
        assert ended.code == 0, ended.err
        cases = ended.document()["cases"]
        faults = [fault for case in cases if case["case"] == "toy-work" for fault in case["faults"]]
        # It does so little that the load generator may be what limits.
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
    ended = zerolap("suites", "check", files, "--fail-on-fault", "--server", redis_server, "--store", zerolap.store)
    assert ended.code == 1, ended.err
    assert "arguments  unknown-argument: " in ended.out
    ended = zerolap("suites", "check", files, "--no-run")
    assert "it cannot run: arguments" in ended.err


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
    assert ended.code == 0, ended.err
    assert ended.document()["cases"] == []
    assert [one["case"] for one in ended.document()["skipped"]] == ["unknown-tool"]


# Frames

FRAMES: list[tuple[bytes, Reply]] = [
    (b"+OK\r\n", b"OK"),
    (b"-ERR no such\r\n", ReplyError("ERR no such")),
    (b":-5\r\n", -5),
    (b":+5\r\n", 5),
    (b"$3\r\na\r\n\r\n", b"a\r\n"),
    (b"$0\r\n\r\n", b""),
    (b"$-1\r\n", None),
    (b"*-1\r\n", None),
    (b"*0\r\n", []),
    (b"*3\r\n:1\r\n*1\r\n$-1\r\n+a\r\n", [1, [None], b"a"]),
    (b"_\r\n", None),
    (b"#t\r\n", 1),
    (b"#f\r\n", 0),
    (b",1.5\r\n", b"1.5"),
    (b",inf\r\n", b"inf"),
    (b"(12345678901234567890123\r\n", b"12345678901234567890123"),
    (b"=7\r\ntxt:a\r\n\r\n", b"txt:a\r\n"),
    (b"!5\r\nERR a\r\n", ReplyError("ERR a")),
    (b"~2\r\n:1\r\n:2\r\n", [1, 2]),
    (b">2\r\n+invalidate\r\n_\r\n", [b"invalidate", None]),
    (b"%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n", [b"a", 1, b"b", []]),
    (b"|1\r\n+ttl\r\n:9\r\n:1\r\n", 1),
    (b"*1\r\n|1\r\n+ttl\r\n:9\r\n+a\r\n", [b"a"]),
]


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    right.settimeout(10)
    with left, right:
        yield left, right


class TestFrames:
    @pytest.mark.parametrize(("raw", "value"), FRAMES, ids=[repr(raw)[2:-1] for raw, _ in FRAMES])
    def test_each_kind_split_anywhere(
        self, ends: tuple[socket.socket, socket.socket], raw: bytes, value: Reply
    ) -> None:
        left, right = ends
        reader = FrameReader(right)
        for split in range(len(raw) + 1):
            parts = threading.Thread(target=lambda split=split: [left.sendall(raw[:split]), left.sendall(raw[split:])])
            parts.start()
            assert reader.next_frame() == (raw, value)
            parts.join()

    def test_all_together_byte_by_byte(self, ends: tuple[socket.socket, socket.socket]) -> None:
        left, right = ends
        whole = b"".join(raw for raw, _ in FRAMES)
        sender = threading.Thread(target=lambda: [left.sendall(whole[at : at + 1]) for at in range(len(whole))])
        sender.start()
        reader = FrameReader(right)
        assert [reader.next_frame() for _ in FRAMES] == FRAMES
        sender.join()
        left.close()
        assert reader.next_frame() is None

    @pytest.mark.parametrize(
        "raw",
        [
            *(b"HTTP/1.1 400\r\n", b"\r\n", b"$x\r\n", b"$?\r\n", b"*?\r\n", b":one\r\n", b":\r\n", b"$1_0\r\n"),
            *(b"*" + b"9" * 5000 + b"\r\n", b"$999999999999\r\n", b"*1\r\n" * 200, b"\xff\xfe\r\n"),
            b"+" + b"a" * 2_000_000,
        ],
        ids=lambda raw: repr(raw[:12]),
    )
    def test_what_is_no_frame(self, ends: tuple[socket.socket, socket.socket], raw: bytes) -> None:
        left, right = ends
        sender = threading.Thread(target=lambda: _send(left, raw))
        sender.start()
        with pytest.raises(TrialFailed):
            FrameReader(right).next_frame()
        right.close()
        sender.join()

    @pytest.mark.parametrize("raw", [b"*2\r\n:1\r\n", b"$5\r\nab", b"+O", b"$5\r", b"|1\r\n+a\r\n:1\r\n"])
    def test_the_other_side_hangs_up_in_the_middle(self, ends: tuple[socket.socket, socket.socket], raw: bytes) -> None:
        left, right = ends
        left.sendall(raw)
        left.close()
        with pytest.raises(TrialFailed, match="in the middle"):
            FrameReader(right).next_frame()

    def test_nothing_comes(self, ends: tuple[socket.socket, socket.socket]) -> None:
        _, right = ends
        right.settimeout(0.01)
        with pytest.raises(TrialFailed, match="lost"):
            FrameReader(right).next_frame()


def _send(connection: socket.socket, raw: bytes) -> None:
    try:
        connection.sendall(raw)
    except OSError:
        return


# Samples


def sample(reply: Reply, keys: int = 0, missing: int = 0, left: float | None = None) -> Sample:
    return Sample([b"get", b"k"], reply, [b"k"] * keys, missing, left)


@pytest.mark.parametrize(
    ("reply", "keys", "missing", "nothing"),
    [
        *((None, 1, 0, True), (None, 0, 0, False), ([], 1, 0, True), ([None, [None]], 1, 0, True)),
        *(([None, b"a"], 2, 1, False), (b"a", 1, 1, False), (5, 1, 1, False), (-1, 1, 1, False)),
        *((0, 1, 1, True), (0, 1, 0, False), (0, 0, 0, False), (0, 2, 1, False), (0, 2, 2, True)),
        *((b"", 1, 1, True), (b"", 1, 0, False), (b"none", 1, 1, True), (-2, 1, 1, True), (b"OK", 1, 1, False)),
    ],
)
def test_what_says_that_there_is_nothing(reply: Reply, keys: int, missing: int, nothing: bool) -> None:
    assert sample(reply, keys, missing).found_nothing is nothing


def test_samples_are_counted() -> None:
    counted = CommandSamples("GET", writes=False)
    assert (counted.error_share, counted.nothing_share, counted.missing_share) == (0, 0, 0)
    counted.add(sample(ReplyError("ERR a")))
    counted.add(sample([b"a", [ReplyError("ERR b")]]))
    counted.add(sample(None, 1, 1))
    counted.add(sample(b"a", 1, 0, 30.0))
    counted.add(sample(b"a", 1, 0, 20.0))
    counted.add(sample(b"a", 0))
    assert (counted.requests, dict(counted.errors)) == (6, {"ERR a": 1, "ERR b": 1})
    assert counted.error_share == pytest.approx(2 / 6)
    assert counted.nothing_share == pytest.approx(1 / 4)
    assert counted.missing_share == pytest.approx(1 / 3)
    assert counted.shortest_life_seconds == 20.0
    assert counted.example_of_nothing == "get k"


def test_long_requests_are_shown_in_short() -> None:
    assert shown([b"SET", b"\xff", b"a" * 500]) == f"SET \\xff {'a' * 68}..."


# The recorder


class FakeServer:
    """A server on a unix socket whose replies to words are given; unknown ones end the connection."""

    def __init__(self, path: Path, replies: Mapping[bytes, bytes]) -> None:
        self.path, self._replies = path, replies
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        try:
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()
        except OSError:
            return

    def _serve(self, client: socket.socket) -> None:
        frames = FrameReader(client)
        with client:
            while (frame := frames.next_frame()) is not None:
                assert isinstance(frame[1], list)
                words = [word for word in frame[1] if isinstance(word, bytes)]
                reply = self._replies.get(words[0])
                if reply is None:
                    return
                client.sendall(reply)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


PUSH = b">2\r\n+invalidate\r\n*1\r\n+k\r\n"
REPLIES = {
    b"COMMAND": b"-ERR The command has no key arguments\r\n",
    b"GET": PUSH + b"$1\r\na\r\n",
    b"SUBSCRIBE": b">3\r\n+subscribe\r\n+a\r\n:1\r\n>3\r\n+subscribe\r\n+b\r\n:2\r\n",
    b"PING": b"+PONG\r\n",
}


class TestRecorder:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[FakeServer]:
        server = FakeServer(tmp_path / "server", REPLIES)
        yield server
        server.close()

    def ask(self, recorder: Recorder, *requests: list[bytes]) -> bytes:
        """Send requests at once, and return all that comes until the other side is silent or hangs up."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(10)
            client.connect(str(recorder.path))
            found = b""
            # What hangs up before it has read all resets the connection.
            with contextlib.suppress(ConnectionError):
                client.sendall(b"".join(map(written, requests)))
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(65536):
                    found += data
            return found

    def test_what_is_pushed_is_no_reply(self, server: FakeServer, tmp_path: Path) -> None:
        samples: list[Sample] = []
        with Recorder(tmp_path / "recorder", server.path, samples.append) as recorder:
            found = self.ask(recorder, [b"GET", b"k"], [b"SUBSCRIBE", b"a", b"b"], [b"PING"], [b"GET", b"k"])
        assert found == REPLIES[b"GET"] + REPLIES[b"SUBSCRIBE"] + REPLIES[b"PING"] + REPLIES[b"GET"]
        assert [(one.words[0], one.reply) for one in samples] == [
            (b"GET", b"a"),
            (b"SUBSCRIBE", [b"subscribe", b"b", 2]),
            (b"PING", b"PONG"),
            (b"GET", b"a"),
        ]
        assert all(one.keys == [] for one in samples)

    def test_a_server_that_hangs_up(self, server: FakeServer, tmp_path: Path) -> None:
        samples: list[Sample] = []
        with Recorder(tmp_path / "recorder", server.path, samples.append) as recorder:
            assert self.ask(recorder, [b"PING"], [b"QUIT"], [b"PING"]) == b"+PONG\r\n"
            assert recorder.unanswered() == [[b"QUIT"]]
        assert len(samples) == 1

    def test_a_server_that_is_gone(self, tmp_path: Path) -> None:
        with Recorder(tmp_path / "recorder", tmp_path / "nothing", lambda _: None) as recorder:
            assert self.ask(recorder, [b"PING"]) == b""

    def test_nothing_is_left_while_clients_stay(self, server: FakeServer, tmp_path: Path) -> None:
        with Recorder(tmp_path / "recorder", server.path, lambda _: None) as recorder:
            clients = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(20)]
            for client in clients:
                client.connect(str(recorder.path))
            clients[0].sendall(written([b"PING"]))
            assert clients[0].recv(100) == b"+PONG\r\n"
        threads = [thread for thread in recorder._threads if thread.is_alive()]
        assert threads == []
        assert all(one.fileno() == -1 for one in recorder._sockets)
        for client in clients:
            client.close()

    def test_a_path_that_is_too_long(self, tmp_path: Path) -> None:
        with (
            pytest.raises(TrialFailed, match="cannot be listened on"),
            Recorder(tmp_path / ("a" * 200), tmp_path / "server", lambda _: None),
        ):
            pass
