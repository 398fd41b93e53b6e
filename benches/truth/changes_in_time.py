"""Edits to Redis 7.0.15 that change the time of requests and hardly what they execute."""

from collections.abc import Mapping
from pathlib import Path

from benches.truth.harmless import Edit

CALL = "void call(client *c, int flags) {\n"
BEFORE_SLEEP = "void beforeSleep(struct aeEventLoop *eventLoop) {\n"
CRON = "int serverCron(struct aeEventLoop *eventLoop, long long id, void *clientData) {\n"
WAIT = """
#include <time.h>
/* The loop is short, its instructions are slow ones. */
static void waitNanoseconds(long nanoseconds) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += nanoseconds;
    if (end.tv_nsec >= 1000000000) { end.tv_nsec -= 1000000000; end.tv_sec++; }
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

"""
BUSY_THREAD = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_long sharedCounter;
static void *incrementForEver(void *unused) {
    for (;;) { atomic_fetch_add(&sharedCounter, 1); for (volatile int i = 0; i < 200; i++); }
    return unused;
}
static void shareACounter(void) {
    static int started;
    pthread_t thread;
    if (!started) { started = 1; pthread_create(&thread, NULL, incrementForEver, NULL); }
    atomic_fetch_add(&sharedCounter, 1);
}

"""
BACKGROUND = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_long pending;
/* Uses the processor for 500 ns for each command, a millisecond's commands at a time. */
static void *workForEver(void *unused) {
    for (;;) {
        struct timespec now, pause = {0, 1000000};
        long commands = atomic_exchange(&pending, 0);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        long long end = now.tv_sec * 1000000000LL + now.tv_nsec + commands * 500;
        while (commands && now.tv_sec * 1000000000LL + now.tv_nsec < end) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        nanosleep(&pause, NULL);
    }
    return unused;
}
static void workInTheBackground(void) {
    static int started;
    pthread_t thread;
    if (!started) { started = 1; pthread_create(&thread, NULL, workForEver, NULL); }
    atomic_fetch_add(&pending, 1);
}

"""
FORKED = """
#include <sys/wait.h>
/* Called ten times a second. */
static void useTheProcessorInAChild(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0);
    if (fork() == 0) { waitNanoseconds(5000000); _exit(0); }
}

"""
SLEEP = """
#include <sys/prctl.h>
#include <time.h>
static long long nanosecondsOn(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
/* Returns how long it took. Without slack the kernel wakes the thread within microseconds of the time. */
static long long sleepNanoseconds(long long nanoseconds) {
    static int exact;
    long long began = nanosecondsOn(CLOCK_MONOTONIC);
    struct timespec pause = {0, nanoseconds};
    if (!exact) { exact = 1; prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }
    nanosleep(&pause, NULL);
    return nanosecondsOn(CLOCK_MONOTONIC) - began;
}
"""
TWENTIETH = """
/* Sleeps for one twentieth of all time but for idle time, 250 microseconds at once. What a sleep took is subtracted, so
 * that late wakes change nothing in the long run. A cycle of the event loop that took longer than 2 ms was idle. */
static void sleepForATwentieth(void) {
    static long long before, due;
    long long now = nanosecondsOn(CLOCK_MONOTONIC);
    if (before && now - before < 2000000) due += (now - before) / 19;
    if (due >= 250000) {
        due -= sleepNanoseconds(due);
        now = nanosecondsOn(CLOCK_MONOTONIC);
    }
    before = now;
}

"""


NOW_AND_THEN = frozenset({"3 ms in serverCron", "5 ms in a child each 100 ms"})
"""Edits that a typical slice does not show: the CPU time of all slices does."""


def changes_in_time() -> Mapping[str, Edit]:
    """Return the edits by name."""
    return {
        "padded dictionary entries": _pad_entries,
        "500 ns in each command": lambda source: insert(source, WAIT, CALL, "    waitNanoseconds(500);\n"),
        "3 ms in serverCron": lambda source: insert(source, WAIT, CRON, "    waitNanoseconds(3000000);\n"),
        "5 ms in a child each 100 ms": lambda source: insert(
            source, WAIT + FORKED, CRON, "    useTheProcessorInAChild();\n"
        ),
        "500 ns in a background thread": lambda source: insert(
            source, WAIT + BACKGROUND, CALL, "    workInTheBackground();\n"
        ),
        "an atomic shared with a thread": lambda source: insert(source, BUSY_THREAD, CALL, "    shareACounter();\n"),
    }


def changes_in_throughput() -> Mapping[str, Edit]:
    """Return edits by name that take throughput and hardly any CPU time: the server sleeps while requests wait."""
    return {
        "asleep for a twentieth of the time": lambda source: insert(
            source, SLEEP + TWENTIETH, BEFORE_SLEEP, "    sleepForATwentieth();\n"
        ),
        "asleep for 3 ms in each 100 ms": lambda source: insert(
            source, SLEEP, CRON, "    sleepNanoseconds(3000000);\n"
        ),
    }


def _pad_entries(source: Path) -> None:
    header = source / "dict.h"
    text = header.read_text("latin-1")
    padded = text.replace("    struct dictEntry *next;", "    char padding[200];\n    struct dictEntry *next;", 1)
    if padded == text:
        raise ValueError("dict.h has no dictionary entry of the known form")
    header.write_text(padded, "latin-1")


def insert(source: Path, before: str, head: str, first_line: str, name: str = "server.c") -> None:
    """Add definitions before a function of a file, and a line at its beginning."""
    file = source / name
    text = file.read_text("latin-1")
    if text.count(head) != 1:
        raise ValueError(f"{name} does not hold {head!r} once")
    file.write_text(text.replace(head, before + head + first_line), "latin-1")
