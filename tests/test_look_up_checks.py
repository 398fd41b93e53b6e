"""Whether requests find what they ask for, on a real server: no case has to ask for it."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from zerolap.build import Program
from zerolap.engines.look_up_checks import absent_keys_check, look_up_checks
from zerolap.load import CommandResult, LookUpCounts, by_socket, counted_arguments, load_program
from zerolap.records import Case, Check
from zerolap.server import KeyLookUps, RunningServer, StatisticsReader, start

REQUESTS = 200
SETUP = [
    "SET s:1 value",
    "SET bits:1 \x01",
    "SET number:1 5",
    "SET living:1 v EX 10000",
    "HSET h:1 f 0 g 1",
    "RPUSH l:1 a b c",
    "SADD set:1 a b c",
    "SADD set:2 a x",
    "ZADD z:1 1 a 2 b 3 c",
    "GEOADD geo:1 13.361389 38.115556 a",
    "XADD x:1 1-1 f v",
    "XGROUP CREATE x:1 g 0",
    "PFADD p:1 a",
]
READS = [
    "GET s:KEY",
    "MGET s:KEY s:KEY",
    "STRLEN s:KEY",
    "EXISTS s:KEY",
    "TYPE s:KEY",
    "TTL living:KEY",
    "PTTL s:KEY",
    "OBJECT ENCODING s:KEY",
    "MEMORY USAGE s:KEY",
    "DUMP s:KEY",
    "GETRANGE s:KEY 0 2",
    "SUBSTR s:KEY 0 2",
    "GETBIT bits:KEY 0",
    "BITCOUNT bits:KEY",
    "BITPOS bits:KEY 1",
    "HGET h:KEY f",
    "HMGET h:KEY f g",
    "HGETALL h:KEY",
    "HKEYS h:KEY",
    "HLEN h:KEY",
    "HSTRLEN h:KEY f",
    "HEXISTS h:KEY f",
    "HSCAN h:KEY 0",
    "LLEN l:KEY",
    "LRANGE l:KEY 0 -1",
    "LINDEX l:KEY 0",
    "LPOS l:KEY a",
    "SCARD set:KEY",
    "SMEMBERS set:KEY",
    "SISMEMBER set:KEY a",
    "SMISMEMBER set:KEY a b",
    "SRANDMEMBER set:KEY",
    "SSCAN set:KEY 0",
    "SINTER set:KEY set:KEY",
    "SINTERCARD 2 set:KEY set:KEY",
    "ZCARD z:KEY",
    "ZSCORE z:KEY a",
    "ZMSCORE z:KEY a b",
    "ZRANK z:KEY a",
    "ZCOUNT z:KEY -inf +inf",
    "ZRANGE z:KEY 0 -1 WITHSCORES",
    "ZSCAN z:KEY 0",
    "GEOPOS geo:KEY a",
    "GEOHASH geo:KEY a",
    "GEODIST geo:KEY a a",
    "XLEN x:KEY",
    "XRANGE x:KEY - +",
    "PFCOUNT p:KEY",
    "SORT l:KEY ALPHA",
    "GETEX s:KEY",
]
TAKES = [
    "GETDEL s:KEY",
    "LPOP l:KEY",
    "SPOP set:KEY",
    "ZPOPMIN z:KEY",
    "HDEL h:KEY f",
    "SREM set:KEY a",
    "ZREM z:KEY a",
    "DEL s:KEY",
    "UNLINK s:KEY",
    "EXPIRE s:KEY 1000",
    "LMOVE l:KEY l:KEY LEFT RIGHT",
]
NO_MISSES = [
    "SADD set:1 a",
    "HSET h:1 f 0",
    "SET s:1 v NX",
    "SETNX s:1 v",
    "ZADD z:1 NX INCR 1 a",
    "PFADD p:1 a",
    "INCRBY zero 0",
    "PUBLISH nobody x",
    "CONFIG GET nothing",
    "EVAL 'return nil' 1 s:1",
    "EVAL 'return {}' 0",
    "TTL s:1",
    "SISMEMBER set:1 nobody",
    "SMISMEMBER set:1 nobody none",
    "HEXISTS h:1 nothing",
    "GETBIT bits:1 500",
    "ZCOUNT z:1 100 200",
    "GETRANGE s:1 50 60",
    "ZREMRANGEBYSCORE z:1 100 200",
    "MGET s:1 absent",
]


@dataclass(frozen=True)
class Looked:
    """A server on which slices of a case are looked at."""

    server: RunningServer
    directory: Path

    def checks(self, *commands: str, slices: int = 1, **fields: object) -> list[Check]:
        """Send requests as a trial does and return what is checked of them."""
        written = {"name": "c", "group": "g", "commands": list(commands), "connections": 1, "pipeline": 10, **fields}
        case = Case.model_validate(written)
        arguments = counted_arguments(case, 1)
        with (
            load_program(by_socket(self.server.socket), self.directory / "load", arguments) as load,
            contextlib.closing(StatisticsReader(self.server.socket, case.verbs)) as statistics,
        ):
            before = statistics.read()
            results = [load.slice(REQUESTS).commands for _ in range(slices)]
            keys = (statistics.read() - before).keys
        return look_up_checks(case, results, keys)

    def fill(self) -> None:
        self.server.command("FLUSHALL")
        for line in SETUP:
            self.server.command(*line.split())


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("not installed: redis-server")
    directory = tmp_path_factory.mktemp("looked")
    (directory / "server").mkdir()
    with start(Program(Path(program)), {}, directory / "server", log=directory / "log") as server:
        yield Looked(server, directory)


@pytest.mark.parametrize("line", READS)
def test_a_command_that_reads_what_is_not_there_is_invalid(looked: Looked, line: str) -> None:
    looked.fill()
    [there] = looked.checks(line.replace(":KEY", ":1"))
    assert (there.check, there.ok, there.value) == ("misses", True, 0.0)
    [absent] = looked.checks(line.replace(":KEY", ":absent"))
    assert (absent.check, absent.ok, absent.value) == ("misses", False, 1.0)
    assert line.split(maxsplit=1)[0] in absent.limit
    assert 'hit_rate: "<= 0.1"' in absent.limit
    [declared] = looked.checks(line.replace(":KEY", ":absent"), expect={"hit_rate": "<= 0.1"})
    assert (declared.check, declared.ok, declared.value) == ("hit_rate", True, 0.0)
    [wanted] = looked.checks(line.replace(":KEY", ":absent"), expect={"hit_rate": ">= 0.99"})
    assert not wanted.ok


@pytest.mark.parametrize("line", TAKES)
def test_a_command_that_takes_what_is_not_there_is_invalid(looked: Looked, line: str) -> None:
    looked.fill()
    [absent] = looked.checks(line.replace(":KEY", ":absent"))
    assert (absent.check, absent.ok, absent.value) == ("misses", False, 1.0)


@pytest.mark.parametrize("line", NO_MISSES)
def test_replies_with_another_reason_are_not_blamed(looked: Looked, line: str) -> None:
    looked.fill()
    assert [check for check in looked.checks(line) if not check.ok] == []


def test_a_hit_rate_of_commands_that_look_nothing_up_does_not_hold(looked: Looked) -> None:
    [check] = looked.checks("SET s:1 v", expect={"hit_rate": ">= 0.99"})
    assert (check.ok, check.value) == (False, "unknown, as no command looks anything up")


def test_commands_that_write_do_not_dilute_a_hit_rate(looked: Looked) -> None:
    looked.fill()
    [check] = looked.checks("SET s:2 v", "GET s:absent", expect={"hit_rate": ">= 0.4"})
    assert (check.ok, check.value) == (False, 0.0)


def test_a_drained_list_is_invalid_unless_that_is_declared_or_others_feed_it(looked: Looked) -> None:
    looked.fill()
    assert not looked.checks("LPOP l:1")[0].ok
    looked.fill()
    [declared] = looked.checks("LPOP l:1", state="drains")
    assert declared.ok
    assert isinstance(declared.value, float)
    assert declared.value > 0.9
    looked.fill()
    assert looked.checks("RPUSH l:1 a", "LPOP l:1")[0].ok
    assert not looked.checks("LPOP l:absent", state="drains")[0].ok


def test_keys_that_expire_while_a_trial_runs_are_seen(looked: Looked) -> None:
    """A slice of twenty that misses is enough."""
    looked.fill()
    case = Case.model_validate({"name": "c", "group": "g", "commands": ["GET s:1"]})

    def result(nothing: int) -> list[CommandResult]:
        counts = LookUpCounts(role="reads", answers=200, nothing=nothing, no_member=0, empty_value=0, unclear=0)
        return [CommandResult(command="GET", look_ups=counts, errors={})]

    assert look_up_checks(case, [result(0)] * 20, None)[0].ok
    [check] = look_up_checks(case, [*[result(0)] * 19, result(150)], None)
    assert (check.ok, check.value) == (False, 0.75)
    # Of many slices that miss by chance as often as they may, some miss more often.
    [by_chance] = look_up_checks(case, [*[result(14)] * 19, result(26)], None)
    assert by_chance.ok


def test_keys_that_expire_are_missed_by_later_slices(looked: Looked) -> None:
    looked.server.command("SET", "short", "v", "PX", "1")
    checks = looked.checks("GET short", slices=3)
    assert [(check.check, check.ok) for check in checks] == [("misses", False)]


def test_transactions_are_looked_into(looked: Looked) -> None:
    looked.fill()
    assert looked.checks("MULTI", "GET s:1", "EXEC")[0].ok
    assert not looked.checks("MULTI", "GET s:absent", "EXEC")[0].ok


def test_the_server_alone_is_asked_where_another_program_sends() -> None:
    def case(*commands: str) -> Case:
        return Case.model_validate({"name": "c", "group": "g", "commands": list(commands)})

    missed = absent_keys_check(case("GET k", "SET k v"), KeyLookUps(10, 90))
    assert missed is not None
    assert (missed.ok, missed.value) == (False, 0.9)
    hit = absent_keys_check(case("GET k"), KeyLookUps(100, 0))
    assert hit is not None
    assert hit.ok
    assert absent_keys_check(case("SET k v"), KeyLookUps(0, 0)) is None
    assert absent_keys_check(case("GET k", "LPOP l"), KeyLookUps(0, 9)) is None
