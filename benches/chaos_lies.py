"""What agents say that is not true: each function returns who says it, what, and whether the conductor can know."""

import json
import random
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from benches.chaos_processes import AGENTS, BENCH_AGENTS
from zerolap.records import TrialsJob
from zerolap.store import Attempt

Document: TypeAlias = dict[str, Any]
Lie: TypeAlias = tuple[str, bytes, bool]


def falsified(report: Document) -> Document:
    """Return a report with other metrics."""
    falsified: Document = json.loads(json.dumps(report))
    for measurement in falsified["event"].get("measurements", {}).values():
        measurement["metrics"] = {name: 1.0 + value for name, value in measurement["metrics"].items()}
    return falsified


def _made_up(attempt: Attempt, measurement: Document | None = None, **changes: object) -> bytes:
    """Return a report of a trial that nobody has carried out."""
    assert isinstance(attempt.job, TrialsJob)
    values = {"metrics": {"instructions_per_op": 1.0}, "validity": {"valid": True, "checks": []}, **(measurement or {})}
    event = {
        "event": "trial_done",
        "job": attempt.job.id,
        "block": attempt.job.blocks[0].number,
        "measurements": dict.fromkeys(attempt.job.servers, values),
        **changes,
    }
    return json.dumps({"message": "report", "attempt": attempt.id, "event": event}).encode()


def _held(chance: random.Random, attempts: list[Attempt]) -> Attempt | None:
    held = [one for one in attempts if one.state == "claimed" and one.agent in BENCH_AGENTS]
    return chance.choice(held) if held else None


def _of_held(make: Callable[[Attempt], bytes]) -> Callable[[random.Random, list[Attempt]], Lie | None]:
    """Return a lie of an agent about the attempt that it holds."""

    def lie(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
        attempt = _held(chance, attempts)
        return None if attempt is None or attempt.agent is None else (attempt.agent, make(attempt), True)

    return lie


def _of_others(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Report the result of a job that another holds, or that is for another platform."""
    attempt = chance.choice(attempts)
    return _who_has_not(chance, attempt), _made_up(attempt), True


def _who_has_not(chance: random.Random, attempt: Attempt) -> str:
    """Return an agent that cannot have been given a job.

    Of a job that nobody holds, those of its platform may report: they may have claimed it while the conductor died.
    """
    is_held = attempt.state == "claimed"
    others = [name for name, of in AGENTS.items() if is_held or of.platform != attempt.platform]
    return chance.choice([name for name in others if name != attempt.agent])


def _end_of_others(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Report the end of a job that another holds, or give it up."""
    attempt = chance.choice(attempts)
    liar = _who_has_not(chance, attempt)
    event: Document = chance.choice([{"event": "finished"}, {"event": "failed", "reason": "it is bad"}])
    report = {"message": "report", "attempt": attempt.id, "event": {**event, "job": attempt.job.id}}
    give_up = {"message": "give up", "attempt": attempt.id, "reason": "no wish"}
    return liar, json.dumps(chance.choice([report, give_up])).encode(), True


def _claim(attempt: Attempt, delivery: int) -> bytes:
    return json.dumps({"message": "claim", "attempt": attempt.id, "delivery": delivery}).encode()


def _claim_of_other_platform(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = chance.choice(attempts)
    return (
        chance.choice([name for name, of in AGENTS.items() if of.platform != attempt.platform]),
        _claim(attempt, 9),
        True,
    )


def _claim_not_given(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Claim a job of the own platform that the bus has not given to this agent: only the bus could tell."""
    attempt = chance.choice(attempts)
    liar = chance.choice([name for name, of in BENCH_AGENTS.items() if of.platform == attempt.platform])
    return liar, _claim(attempt, chance.choice([1, 2, 1000])), False


def _claim_beyond_integers(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = chance.choice(attempts)
    liar = chance.choice([name for name, of in BENCH_AGENTS.items() if of.platform == attempt.platform])
    return liar, _claim(attempt, chance.choice([1 << 31, 1 << 70, -(1 << 40)])), True


def _give_up_in_bad_words(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = _held(chance, attempts)
    if attempt is None or attempt.agent is None:
        return None
    message = {"message": "give up", "attempt": attempt.id, "reason": "\0 no text"}
    return attempt.agent, json.dumps(message).encode(), False


def _other_machine(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Introduce oneself as another machine, whose name no database takes."""
    platform = {"fingerprint": "f-\0", "name": "\0", "cpu": "\0", "cores": 1, "kernel": "\0", "facts": {}}
    hello = {"message": "hello", "kind": "bench", "zerolap": "\0", "platform": platform, "architecture": "\0"}
    return chance.choice([*BENCH_AGENTS]), json.dumps({**hello, "memory_bytes": 1 << 80}).encode(), True


LIES: Final[tuple[Callable[[random.Random, list[Attempt]], Lie | None], ...]] = (
    _of_others,
    _of_others,
    _end_of_others,
    _claim_of_other_platform,
    _claim_not_given,
    _claim_not_given,
    _claim_beyond_integers,
    _give_up_in_bad_words,
    _other_machine,
    _of_held(lambda attempt: _made_up(attempt, block=999_999)),
    _of_held(lambda attempt: _made_up(attempt, block=1 << 40)),
    _of_held(lambda attempt: _made_up(attempt, job="j-other")),
    _of_held(lambda attempt: _made_up(attempt, measurements={})),
    _of_held(lambda attempt: _made_up(attempt, measurements={"other": {"metrics": {}, "validity": {"valid": True}}})),
    _of_held(lambda attempt: _made_up(attempt, {"graph": "0" * 64})),
    _of_held(lambda attempt: _made_up(attempt, {"graph": "../../etc/passwd"})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"instructions_per_op": float("nan")}})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"instructions_per_op": float("-inf")}})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"a\0b": 1.0}})),
    _of_held(lambda attempt: _made_up(attempt, {"method": 1 << 40})),
    _of_held(lambda attempt: _made_up(attempt, {"zerolap": "\0"})),
    _of_held(lambda attempt: _made_up(attempt, event="build_done")),
)
