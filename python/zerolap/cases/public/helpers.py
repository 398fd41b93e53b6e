"""Helper programs of the public suites, translated to the load generator's arguments.

The lab does not install them; they send and receive few kinds of commands. Of a job queue there are a producer and its
workers: each sends the commands that the queue's own client sends for a job, without the queue's bookkeeping.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from zerolap.records import UsageError

Words: TypeAlias = list[str]

LISTENING_SECONDS = "120"
JOB_BYTES = "256"
"""The approximate size of a job's JSON."""


def _options(words: Sequence[str], known: frozenset[str], program: str) -> dict[str, str]:
    """Return `-name value` and `--name value` pairs by name; raises `UsageError` for an unknown one."""
    options: dict[str, str] = {}
    at = 0
    while at < len(words):
        name = words[at].lstrip("-")
        if not words[at].startswith("-") or name not in known:
            raise UsageError(f"`{words[at]}` is no argument of {program} that is known here")
        has_value = at + 1 < len(words) and not words[at + 1].startswith("-")
        options[name] = words[at + 1] if has_value else ""
        at += 2 if has_value else 1
    return options


def _subscribers(words: Sequence[str]) -> list[Words]:
    """pubsub-sub-bench: connections that are subscribed to channels of a range, and read."""
    known = {"clients", "channel-minimum", "channel-maximum", "subscriber-prefix", "mode", "test-time"}
    known |= {"subscribers-per-channel", "min-number-channels-per-subscriber", "max-number-channels-per-subscriber"}
    options = _options(words, frozenset(known), "pubsub-sub-bench")
    mode = options.get("mode", "subscribe")
    verbs = {"subscribe": "SUBSCRIBE", "ssubscribe": "SSUBSCRIBE"}
    if mode not in verbs:
        raise UsageError(f"pubsub-sub-bench's mode `{mode}` is not known here")
    channels = int(options.get("max-number-channels-per-subscriber", "1"))
    return [
        [
            *("--listen", " ".join([verbs[mode], *["__key__"] * channels])),
            *("--listeners", options.get("clients", "50")),
            *("--key-prefix", options.get("subscriber-prefix", "channel-")),
            *("--key-minimum", options.get("channel-minimum", "1")),
            *("--key-maximum", options.get("channel-maximum", "100")),
            *("--listen-only", "--test-time", options.get("test-time") or LISTENING_SECONDS),
        ]
    ]


def _broadcast_listeners(words: Sequence[str]) -> list[Words]:
    """bcast-listener: connections that are notified of every change below a prefix (CLIENT TRACKING, BCAST)."""
    known = frozenset({"listener-count", "tracking-prefix", "acl-user-patterns"})
    options = _options(words, known, "bcast-listener")
    line = [
        *("--listen", f"CLIENT TRACKING ON BCAST PREFIX {options.get('tracking-prefix', '')}"),
        *("--listeners", options.get("listener-count", "50")),
        *("--protocol", "resp3", "--listen-only", "--test-time", LISTENING_SECONDS),
    ]
    for index, _ in enumerate(acl_patterns(words)):
        line += ["--listen-authenticate", f"listener{index}:listener{index}"]
    return [line]


def acl_patterns(words: Sequence[str]) -> list[str]:
    """Return the key patterns that bcast-listener's users may read, one per user; empty if all may read all keys."""
    for name, value in pairwise(words):
        if name.lstrip("-") == "acl-user-patterns":
            return [pattern for pattern in value.split(";") if pattern]
    return []


def _jobs(enqueue: Words, work: Words, options: Mapping[str, str]) -> list[Words]:
    jobs, workers = options.get("jobs", "100000"), options.get("workers", "50")
    common = ["--key-minimum", "1", "--key-maximum", options.get("num-queues", "1"), "--threads", "1"]
    return [
        [*enqueue, *common, "--data-size", JOB_BYTES, "--clients", "1", "--requests", jobs],
        [*work, *common, "--clients", workers],
    ]


def _sidekiq(options: Mapping[str, str]) -> list[Words]:
    """Jobs are pushed to lists, workers wait in BRPOP (Sidekiq's BasicFetch)."""
    enqueue = ["--command", "LPUSH queue:__key__ __data__", "--key-prefix", "q"]
    return _jobs(enqueue, ["--command", "BRPOP queue:__key__ 2", "--key-prefix", "q"], options)


def _bullmq(options: Mapping[str, str]) -> list[Words]:
    """Workers wait in BZPOPMIN for a marker that each job adds; the job itself waits in a list."""
    enqueue = ["--command", "LPUSH bull:__key__:wait __data__", "--command", "ZADD bull:__key__:marker 0 0"]
    work = ["--command", "BZPOPMIN bull:__key__:marker 10", "--command", "RPOP bull:__key__:wait"]
    return _jobs([*enqueue, "--key-prefix", "q"], [*work, "--key-prefix", "q"], options)


def _celery(options: Mapping[str, str]) -> list[Words]:
    """A queue is a list for each of four priorities; workers wait in one BRPOP for all four, and acknowledge."""
    enqueue = ["--command", "LPUSH __key__ __data__", "--key-prefix", "celery"]
    work = [
        *("--command", f"BRPOP __key__ __key__:3 __key__:6 __key__:9 {options.get('brpop-timeout-secs', '1')}"),
        *("--command", "ZADD unacked_index 1 tag", "--command", "HSET unacked tag x"),
        *("--command", "ZREM unacked_index tag", "--command", "HDEL unacked tag"),
    ]
    return _jobs(enqueue, [*work, "--key-prefix", "celery"], options)


def _resque(options: Mapping[str, str]) -> list[Words]:
    """Workers do not wait: they poll with LPOP."""
    per_second = max(1, 1000 // max(1, int(options.get("poll-interval-ms", "10"))))
    work = ["--command", "LPOP resque:queue:__key__", "--rate-limiting", str(per_second), "--key-prefix", "q"]
    return _jobs(["--command", "RPUSH resque:queue:__key__ __data__", "--key-prefix", "q"], work, options)


_JOB_OPTIONS = frozenset(
    {
        *("workers", "jobs", "warmup-jobs", "num-queues", "quiet", "priorities", "brpop-timeout-secs"),
        *("poll-interval-ms", "idle-poll-duration-s"),
    }
)


def _job_queue(
    program: str, clients: Callable[[Mapping[str, str]], list[Words]]
) -> Callable[[Sequence[str]], list[Words]]:
    return lambda words: clients(_options(words, _JOB_OPTIONS, program))


HELPERS: dict[str, Callable[[Sequence[str]], list[Words]]] = {
    "pubsub-sub-bench": _subscribers,
    "bcast-listener": _broadcast_listeners,
    "sidekiq-bench": _job_queue("sidekiq-bench", _sidekiq),
    "bullmq-bench": _job_queue("bullmq-bench", _bullmq),
    "celery-bench": _job_queue("celery-bench", _celery),
    "resque-bench": _job_queue("resque-bench", _resque),
}
