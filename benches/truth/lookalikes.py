"""Edits to Redis 7.0.15 that leave the instructions of usual requests as they are, and change something else.

None of them may be called identical. They change what threads do, or requests over TCP, timers, requests that come
alone, later parts of a load, the allocator's settings, where variables lie, and how the program is linked.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import zerolap
from benches.figures import DIRECTORY, Figure
from benches.truth.edited import Edited, directory_name
from benches.truth.harmless import Edit, append, replace
from zerolap import Options
from zerolap.records import Case

CASES = """
group: lookalikes
datasets:
  strings:
    load: ["SET __key__ __data__"]
    keys: {prefix: "key:", minimum: 1, maximum: 8000}
    data_size: 100
    expect: {reply: status, keys: 8000}
  strings-and-lists:
    load: ["SET __key__ __data__", "RPUSH list:__key__ __data__"]
    keys: {prefix: "key:", minimum: 1, maximum: 3000}
    data_size: 100
    setup: ["SADD names one two three"]
    expect: {keys: 6001}
cases:
  - {name: unix, dataset: strings, commands: ["GET __key__"]}
  - {name: tcp, dataset: strings, commands: ["GET __key__"], topology: tcp}
  - {name: threads, dataset: strings, commands: ["GET __key__"], topology: io-threads-2}
  - {name: loads, dataset: strings-and-lists, commands: ["GET __key__"], setup: ["ZADD ranks 1 one"]}
"""
SPIN = "for (volatile int spin = 0; spin < %d; spin++);"
SHARED = "struct sharedObjectsStruct shared;"
SERVER = "struct redisServer server; /* Server global state */"
IO_THREAD = "        serverAssert(getIOPendingCount(id) != 0);\n"
ACCEPT_TCP = "    int cport, cfd, max = MAX_ACCEPTS_PER_CALL;\n"
DATABASES_CRON = "void databasesCron(void) {\n"
CLIENTS_CRON = "int clientsCronResizeQueryBuffer(client *c) {\n"
PROCESS_INPUT = "int processInputBuffer(client *c) {\n"
MALLOC_SETTINGS = 'const char *je_malloc_conf = "%s";\n'
CONFIGURED = "--with-lg-quantum=3"
WIDE = """
#include <immintrin.h>
#include <stddef.h>
__attribute__((target("avx512f"), noinline)) int sumOfWide(const int *numbers) {
    __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(numbers), _mm512_set1_epi32(%d));
    return _mm512_reduce_add_epi32(sum);
}
int (*chosenSum)(const int *) = NULL;
__attribute__((constructor)) static void chooseSum(void) {
    if (__builtin_cpu_supports("avx512f")) chosenSum = sumOfWide;
}
"""


@dataclass(frozen=True)
class Lookalike:
    """An edit, the case that it matters to, and an edit of the base where the release has nothing to change."""

    case: str
    edit: Edit
    of_base: Edit | None = None


def _first(*edits: Edit) -> Edit:
    def all_of(source: Path) -> None:
        for edit in edits:
            edit(source)

    return all_of


def _before(file: str, line: str, statement: str) -> Edit:
    return partial(replace, file, line, f"    {statement}\n{line}")


def _within(file: str, head: str, statement: str) -> Edit:
    return partial(replace, file, head, f"{head}    {statement}\n")


def _make(old: str, new: str) -> Edit:
    return partial(replace, "Makefile", old, new)


def lookalikes() -> Mapping[str, Lookalike]:
    """Return the edits by name."""
    flags, link = "FINAL_CFLAGS=$(STD)", "FINAL_LDFLAGS=$(LDFLAGS)"
    decay = partial(append, "zmalloc.c", MALLOC_SETTINGS % "dirty_decay_ms:10000")
    wide = partial(append, "util.c", WIDE % 3)
    configured = f"{CONFIGURED} --with-malloc-conf=dirty_decay_ms:10000"
    in_jemalloc = "../deps/Makefile"
    return {
        "I/O threads spin": Lookalike("threads", _before("networking.c", IO_THREAD, SPIN % 100)),
        "I/O threads read less often": Lookalike("threads", partial(replace, "networking.c", "j < 1000000", "j < 10")),
        "one connection is accepted at a time": Lookalike("tcp", _within("networking.c", ACCEPT_TCP, "max = 1;")),
        "no TCP_NODELAY": Lookalike(
            "tcp", partial(replace, "anet.c", "return anetSetTcpNoDelay(err, fd, 1);", "return 0;")
        ),
        "TCP_NODELAY is off": Lookalike(
            "unix",
            partial(
                replace, "anet.c", "return anetSetTcpNoDelay(err, fd, 1);", "return anetSetTcpNoDelay(err, fd, 0);"
            ),
        ),
        "shorter queue of connections": Lookalike(
            "unix", partial(replace, "config.c", "server.tcp_backlog, 511", "server.tcp_backlog, 16")
        ),
        "a variable of a cache line of its own": Lookalike(
            "unix",
            partial(replace, "server.c", SHARED, SHARED.replace("shared;", "shared __attribute__((aligned(64)));")),
        ),
        "a variable at a page": Lookalike(
            "unix", partial(replace, "server.c", SERVER, "struct redisServer server __attribute__((aligned(4096)));")
        ),
        "variables in another order": Lookalike(
            "unix",
            _first(
                partial(replace, "server.c", SERVER, ""), partial(replace, "server.c", SHARED, f"{SERVER}\n{SHARED}")
            ),
        ),
        "a variable between others": Lookalike(
            "unix", partial(replace, "server.c", SHARED, f"char between[24] = {{1}};\n{SHARED}")
        ),
        "allocator's settings": Lookalike(
            "unix", partial(replace, "zmalloc.c", "dirty_decay_ms:10000", "dirty_decay_ms:5000"), decay
        ),
        "allocator's settings at configuration": Lookalike(
            "unix",
            partial(replace, in_jemalloc, configured, configured.replace("10000", "5000")),
            partial(replace, in_jemalloc, CONFIGURED, configured),
        ),
        "more in each tick": Lookalike("unix", _within("server.c", DATABASES_CRON, SPIN % 2000)),
        "more for each client in each tick": Lookalike("unix", _within("server.c", CLIENTS_CRON, SPIN % 500)),
        "a call of the system in each tick": Lookalike("unix", _within("server.c", DATABASES_CRON, "getppid();")),
        "more for requests that come alone": Lookalike(
            "unix", _within("networking.c", PROCESS_INPUT, f"if (sdslen(c->querybuf) < 60) {SPIN % 50}")
        ),
        "a call of the system for requests that come alone": Lookalike(
            "unix", _within("networking.c", PROCESS_INPUT, "if (sdslen(c->querybuf) < 60) getppid();")
        ),
        "the second load": Lookalike("loads", _within("t_list.c", "void rpushCommand(client *c) {\n", SPIN % 20)),
        "before the load": Lookalike("loads", _within("t_set.c", "void saddCommand(client *c) {\n", SPIN % 20)),
        "the case's setup": Lookalike("loads", _within("t_zset.c", "void zaddCommand(client *c) {\n", SPIN % 20)),
        "bodies for wide vectors": Lookalike(
            "unix", partial(replace, "util.c", "_mm512_set1_epi32(3)", "_mm512_set1_epi32(4)"), wide
        ),
        "larger pages of the file": Lookalike("unix", _make(link, f"{link} -Wl,-z,max-page-size=2097152")),
        "functions at cache lines": Lookalike("unix", _make(flags, f"{flags} -falign-functions=64")),
        "loops at cache lines": Lookalike("unix", _make(flags, f"{flags} -falign-loops=64")),
    }


def identical_wrong() -> Figure:
    """Return how many of the edits are called identical in the case that they matter to."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(CASES)
        file.flush()
        cases = {case.name: case for case in zerolap.load_cases(file.name)}
    samples = [
        {"edit": name, "case": lookalike.case, "work": _work(name, lookalike, cases[lookalike.case])}
        for name, lookalike in lookalikes().items()
    ]
    wrong = [sample["edit"] for sample in samples if sample["work"] == "identical"]
    return Figure(
        float(len(wrong)),
        "edits called identical",
        samples,
        len(samples),
        notes=[f"identical: {name}" for name in wrong],
    )


def _work(name: str, lookalike: Lookalike, case: Case) -> str | None:
    """Return the verdict on the work of the case."""
    edits = [lookalike.edit] if lookalike.of_base is None else [lookalike.of_base, lookalike.edit]
    directory = DIRECTORY / "lookalikes"
    edited = Edited.make(directory / "edited" / directory_name(name), *edits)
    document = zerolap.compare(
        edited.base,
        edited.head,
        [case],
        repo=edited.repository,
        options=Options(engines=["counted"], seed=1),
        store=directory / "store",
    )
    return document.cases[0].work
