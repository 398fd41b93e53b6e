"""Ten kinds of fault, put into files of the public format."""

import copy
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Suite: TypeAlias = dict[str, Any]

FIRST_KEY_RANGE = re.compile(r'--command[= ]"?(\w+) (\S+)')
KEYED = re.compile(r"--command[= ](?:\"|')?(\w+) (__key__)")


@dataclass(frozen=True)
class Injection:
    """A kind of fault: `inject` puts it into a suite, `applies` returns whether it would be a fault in that suite.

    It is caught where the check reports one of the kinds in `faults`.
    """

    kind: str
    faults: frozenset[str]
    applies: Callable[[Suite], bool]
    inject: Callable[[Suite], None]


def injected(suite: Suite, injection: Injection) -> Suite:
    """Return a copy of the suite with the fault."""
    changed = copy.deepcopy(suite)
    injection.inject(changed)
    return changed


def client_arguments(suite: Suite) -> str:
    """Return the arguments of the only client, as one line."""
    return " ".join(str(suite["clientconfig"]["arguments"]).split())


def _is_plain(suite: Suite) -> bool:
    return bool(suite.get("clientconfig", {}).get("tool") == "memtier_benchmark")


def _loads(suite: Suite) -> bool:
    return _is_plain(suite) and "preload_tool" in suite["dbconfig"] and "init_commands" not in suite["dbconfig"]


def _reads_loaded_keys(suite: Suite) -> bool:
    """Whether the client reads what was loaded, key by key."""
    return _loads(suite) and _sends_only_reads(suite) and re.search(r"--command", client_arguments(suite)) is not None


READS = {"GET", "STRLEN", "HGET", "HGETALL", "HMGET", "HKEYS", "HVALS", "HLEN", "LRANGE", "LINDEX", "LLEN", "SMEMBERS"}
READS |= {"ZRANGE", "ZSCORE", "ZCARD", "ZREVRANGE", "GETRANGE", "MGET", "EXISTS", "TTL", "TYPE", "SCARD", "HSTRLEN"}
READS |= {
    "ZRANK",
    "ZRANGEBYSCORE",
    "ZCOUNT",
    "XRANGE",
    "XLEN",
    "PFCOUNT",
    "BITCOUNT",
    "HEXISTS",
    "ZMSCORE",
    "SISMEMBER",
}


def _verbs(suite: Suite) -> list[str]:
    return [found.upper() for found in re.findall(r"--command[= ](?:\"|')?(\w+)", client_arguments(suite))]


def _sends_only_reads(suite: Suite) -> bool:
    verbs = _verbs(suite)
    return bool(verbs) and all(verb in READS for verb in verbs)


def _reads_by_key(suite: Suite) -> bool:
    if not _reads_loaded_keys(suite):
        return False
    commands = re.findall(r"--command[= ](?:\"|')?(\w+) (\S+)", client_arguments(suite))
    return all(key.startswith("__key__") for _, key in commands)


def _set_arguments(suite: Suite, arguments: str) -> None:
    suite["clientconfig"]["arguments"] = arguments


def _wrong_range(suite: Suite) -> None:
    shifted = "--key-minimum 700000001 --key-maximum 700100000"
    _set_arguments(suite, f"{client_arguments(suite)} {shifted}")


def _renamed_prefix(suite: Suite) -> None:
    _set_arguments(suite, f'{client_arguments(suite)} --key-prefix "renamed-"')


def _misspelt(suite: Suite) -> None:
    changed = re.sub(r"(--command[= ](?:\"|')?)(\w+)", r"\1\2X", client_arguments(suite), count=1)
    _set_arguments(suite, changed)


def _no_dataset(suite: Suite) -> None:
    for name in ("preload_tool", "init_commands", "init_lua"):
        suite["dbconfig"].pop(name, None)


def _wrong_type(suite: Suite) -> None:
    """Load keys of another type under the same names."""
    verb = _verbs(suite)[0]
    line = "RPUSH __key__ x" if verb.startswith("S") and verb not in {"STRLEN"} else "SADD __key__ x"
    preload = suite["dbconfig"]["preload_tool"]
    words = re.sub(r"--command[= ](\"[^\"]*\"|'[^']*'|\S+)", "", " ".join(str(preload["arguments"]).split()))
    words = re.sub(r"--(ratio|key-pattern|command-key-pattern|command-ratio)[= ](\"[^\"]*\"|\S+)", "", words)
    preload["arguments"] = f'{words} --command "{line}" --command-key-pattern P'


def _drained(suite: Suite) -> None:
    # Its data set is another one, and needs other memory.
    suite["dbconfig"].pop("resources", None)
    suite["dbconfig"]["preload_tool"]["arguments"] = (
        '--command "RPUSH __key__ __data__" --command-key-pattern P --key-minimum 1 --key-maximum 2000 -n allkeys'
        ' --key-prefix "queue:" -c 1 -t 1 -d 10 --hide-histogram'
    )
    _set_arguments(
        suite,
        '--command "LPOP __key__" --command-key-pattern R --key-minimum 1 --key-maximum 2000 --key-prefix "queue:"'
        " -c 10 -t 1 --test-time 120 --hide-histogram",
    )


def _out_of_memory(suite: Suite) -> None:
    suite["dbconfig"].setdefault("configuration-parameters", {}).update(
        {"maxmemory": "1mb", "maxmemory-policy": "noeviction"}
    )


def _saturated(suite: Suite) -> None:
    """Have the client make random values that the server throws away: nobody has subscribed."""
    _set_arguments(
        suite,
        '--command "PUBLISH channel __data__" -R -d 1000000 -c 4 -t 1 --test-time 60 --hide-histogram',
    )


def _wrong_arity(suite: Suite) -> None:
    script = "return redis.call('GET')"
    changed = re.sub(
        r"--command[= ](\"[^\"]*\"|'[^']*'|\S+)",
        f'--command "EVAL \\\\"{script}\\\\" 0"',
        client_arguments(suite),
        count=1,
    )
    _set_arguments(suite, changed)


def _expired(suite: Suite) -> None:
    script = "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('PEXPIRE', key, 30) end"
    suite["dbconfig"]["init_commands"] = [["EVAL", script, "0"]]


MISSES = frozenset({"misses", "new keys"})
ERRORS = frozenset({"errors", "failed"})
INJECTIONS = (
    Injection("wrong key range", MISSES, _reads_by_key, _wrong_range),
    Injection("misspelt command", ERRORS, lambda suite: _is_plain(suite) and bool(_verbs(suite)), _misspelt),
    Injection("empty data set", MISSES | ERRORS, _reads_loaded_keys, _no_dataset),
    Injection("wrong type", ERRORS | MISSES, _reads_by_key, _wrong_type),
    Injection("drained list", frozenset({"drained", "misses"}), _loads, _drained),
    Injection("out of memory", ERRORS, _loads, _out_of_memory),
    Injection("saturated client", frozenset({"client saturated"}), _is_plain, _saturated),
    Injection("wrong arity in a script", ERRORS, lambda suite: _is_plain(suite) and bool(_verbs(suite)), _wrong_arity),
    Injection("expired keys", MISSES | {"drained", "expires"}, _reads_loaded_keys, _expired),
    Injection("renamed prefix", MISSES, _reads_by_key, _renamed_prefix),
)


def plan(suites: dict[str, Suite], each: int, seed: int) -> dict[Injection, list[str]]:
    """Return for each kind so many suites, drawn at random from those that it applies to."""
    chance = random.Random(seed)
    drawn: dict[Injection, list[str]] = {}
    for injection in INJECTIONS:
        names = sorted(name for name, suite in suites.items() if injection.applies(suite))
        drawn[injection] = chance.sample(names, min(each, len(names)))
    return drawn
