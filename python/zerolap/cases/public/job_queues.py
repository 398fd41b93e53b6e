"""Job queues of the public suites, translated to the load generator's arguments: a producer and its workers.

Each sends the commands that the queue's own client sends for a job, without the queue's bookkeeping.
"""

from collections.abc import Mapping

Words = list[str]
JOB_BYTES = "256"
"""The approximate size of a job's JSON."""


def _clients(enqueue: Words, work: Words, options: Mapping[str, str]) -> list[Words]:
    jobs, workers = options.get("jobs", "100000"), options.get("workers", "50")
    common = ["--key-minimum", "1", "--key-maximum", options.get("num-queues", "1"), "--threads", "1"]
    return [
        [*enqueue, *common, "--data-size", JOB_BYTES, "--clients", "1", "--requests", jobs],
        [*work, *common, "--clients", workers],
    ]


def sidekiq(options: Mapping[str, str]) -> list[Words]:
    """Jobs are pushed to lists, workers wait in BRPOP (Sidekiq's BasicFetch)."""
    enqueue = ["--command", "LPUSH queue:__key__ __data__", "--key-prefix", "q"]
    return _clients(enqueue, ["--command", "BRPOP queue:__key__ 2", "--key-prefix", "q"], options)


def bullmq(options: Mapping[str, str]) -> list[Words]:
    """Workers wait in BZPOPMIN for a marker that each job adds; the job itself waits in a list."""
    enqueue = ["--command", "LPUSH bull:__key__:wait __data__", "--command", "ZADD bull:__key__:marker 0 0"]
    work = ["--command", "BZPOPMIN bull:__key__:marker 10", "--command", "RPOP bull:__key__:wait"]
    return _clients([*enqueue, "--key-prefix", "q"], [*work, "--key-prefix", "q"], options)


def celery(options: Mapping[str, str]) -> list[Words]:
    """A queue is a list for each of four priorities; workers wait in one BRPOP for all four, and acknowledge."""
    enqueue = ["--command", "LPUSH __key__ __data__", "--key-prefix", "celery"]
    work = [
        *("--command", f"BRPOP __key__ __key__:3 __key__:6 __key__:9 {options.get('brpop-timeout-secs', '1')}"),
        *("--command", "ZADD unacked_index 1 tag", "--command", "HSET unacked tag x"),
        *("--command", "ZREM unacked_index tag", "--command", "HDEL unacked tag"),
    ]
    return _clients(enqueue, [*work, "--key-prefix", "celery"], options)


def resque(options: Mapping[str, str]) -> list[Words]:
    """Workers do not wait: they poll with LPOP."""
    per_second = max(1, 1000 // max(1, int(options.get("poll-interval-ms", "10"))))
    work = ["--command", "LPOP resque:queue:__key__", "--rate-limiting", str(per_second), "--key-prefix", "q"]
    return _clients(["--command", "RPUSH resque:queue:__key__ __data__", "--key-prefix", "q"], work, options)
