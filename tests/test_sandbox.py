"""Processes of the lab: confined where that can be had, known, and gone when they are to be gone."""

import contextlib
import errno
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.host import State
from zerolap.host.probes import isolation
from zerolap.records import EnvironmentMissing, Interrupted, TrialFailed
from zerolap.sandbox import (
    Cancellation,
    Confinement,
    LimitReached,
    Limits,
    Network,
    Process,
    SandboxPolicy,
    available,
    confinement,
    control_group,
    current_cancellation,
    launch,
    network_missing,
    private_network,
    process,
    remove_abandoned,
    scratch_directory,
    system_calls,
    usable_parents,
)
from zerolap.sandbox.confinement import tied_command

FIRST_UNKNOWN_CALL = 467
"""As in `crates/system-calls/src/refused.rs`."""
needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")


def output_of(script: str, directory: Path, **variables: str) -> str:
    """Return what a shell script prints in a sandbox that may write to a directory."""
    log = directory / "log"
    own = Confinement(writable=[directory], directory=directory)
    command = ["sh", "-c", script]
    with launch(command, environment={"PATH": "/usr/bin:/bin", **variables}, output=log, confinement=own) as child:
        child.wait(PATIENCE_SECONDS)
        return log.read_text()


@needs_sandbox
def test_what_is_seen_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "value")
    (tmp_path / "own").mkdir()
    (tmp_path / "other").write_text("")
    inside = output_of("ls -A / ; env; pwd; ls /proc | grep -c '^[0-9]'; ls -A /tmp", tmp_path / "own", GIVEN="this")
    assert "SECRET" not in inside
    assert "GIVEN=this" in inside
    assert "root" not in inside.splitlines()
    assert "home" not in inside.splitlines()
    assert str(tmp_path / "own") in inside.splitlines()
    assert not (set(inside.splitlines()) & {"other"})


@needs_sandbox
@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/ssh", "/root", "/home", "/var/log", "/sys"])
def test_what_is_not_seen_inside(tmp_path: Path, path: str) -> None:
    assert output_of(f"test -e {path} && echo there", tmp_path) == ""


@needs_sandbox
def test_no_network_and_nothing_else_to_write(tmp_path: Path) -> None:
    interfaces = output_of("cat /proc/net/dev", tmp_path).splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]
    (tmp_path / "log").unlink()
    assert "Read-only" in output_of("touch /usr/here", tmp_path)
    output_of("touch here", tmp_path)
    assert (tmp_path / "here").exists()


def network_of(log: Path, confinement: Confinement | None = None, network: Network | None = None) -> str:
    """Return the network namespace that a process is in."""
    command = ["readlink", "/proc/self/ns/net"]
    environment = {"PATH": "/usr/bin:/bin"}
    with launch(command, environment=environment, output=log, confinement=confinement, network=network) as child:
        assert child.wait(PATIENCE_SECONDS) == 0
    return log.read_text().strip()


@pytest.mark.skipif(network_missing() is not None, reason=f"no network: {network_missing()}")
def test_a_network_is_shared_by_those_who_are_given_it(tmp_path: Path) -> None:
    machine = os.readlink("/proc/self/ns/net")
    with private_network(SandboxPolicy.REQUIRED) as network, private_network(SandboxPolicy.REQUIRED) as another:
        inside = network_of(tmp_path / "inside", Confinement(network=network))
        assert network_of(tmp_path / "beside", network=network) == inside
        alone = network_of(tmp_path / "alone", Confinement())
        elsewhere = network_of(tmp_path / "elsewhere", Confinement(network=another))
        assert len({machine, inside, alone, elsewhere}) == 4
        up = subprocess.run(
            network.command(["cat", "/proc/net/dev", "/proc/net/fib_trie"]), capture_output=True, text=True, check=True
        )
        assert "127.0.0.1" in up.stdout
        assert "eth" not in up.stdout
        holder = network.holder
    wait_until(lambda: not Path(f"/proc/{holder}/exe").exists())


# The kernel

needs_setarch = pytest.mark.skipif(shutil.which("setarch") is None, reason="not installed: setarch")
ALLOWS_ALL = bytes([0x06, 0, 0, 0, 0, 0, 0xFF, 0x7F])
"""A filter of one instruction, on machines whose least byte goes first."""


@needs_sandbox
@needs_setarch
def test_system_calls_are_filtered(tmp_path: Path) -> None:
    calls = ["setarch --uname-2.6 true", "unshare --user true", "setarch --addr-no-randomize echo fine"]
    inside = output_of("; ".join([*calls, "cat /proc/self/status"]), tmp_path, LC_ALL="C")
    assert inside.count("Operation not permitted") == 2
    assert "fine" in inside.splitlines()
    assert {"Seccomp:\t2", "NoNewPrivs:\t1", "CapBnd:\t0000000000000000"} <= set(inside.splitlines())


NUMBERS = """
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(int count, char **words) {
    for (long number = atol(words[1]); number < atol(words[2]); number++)
        if (syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) != -1 || errno != ENOSYS)
            printf("%ld\\n", number);
    puts("end");
    return 0;
}
"""
"""Prints which system calls there are among some numbers: called with arguments that none of them takes."""


@needs_sandbox
@pytest.mark.usefixtures("compiler")
def test_system_calls_that_are_newer_than_the_filter_are_unknown(tmp_path: Path) -> None:
    """Whatever the running kernel has: each number from there on is tried."""
    source, program = tmp_path / "numbers.c", tmp_path / "numbers"
    source.write_text(NUMBERS)
    subprocess.run(["cc", "-o", program, source], check=True)
    assert output_of(f"{program} {FIRST_UNKNOWN_CALL} 4096", tmp_path) == "end\n"


@needs_sandbox
def test_code_under_test_is_the_first_that_a_full_memory_ends(tmp_path: Path) -> None:
    assert output_of("cat /proc/self/oom_score_adj", tmp_path).strip() == "1000"


def test_the_hint_is_about_what_keeps_the_sandbox_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, bwrap = tmp_path / "setting", tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setattr(confinement, "RESTRICTS_NAMESPACES", setting)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(confinement, "available", lambda: "bubblewrap is not permitted here")
    for content, hint in (("1\n", "apparmor_parser"), ("0\n", "apt-get install bubblewrap")):
        setting.write_text(content)
        with pytest.raises(EnvironmentMissing) as raised:
            confinement.require_sandbox(SandboxPolicy.REQUIRED, "building")
        assert hint in raised.value.hint
    setting.write_text("1")
    bwrap.unlink()
    assert confinement.namespaces_remedy() is None


@needs_sandbox
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="not installed: redis-server")
def test_a_server_starts_its_threads_under_the_filter(tmp_path: Path) -> None:
    start = f"redis-server --port 0 --unixsocket {tmp_path}/socket --save '' &"
    ready = "until grep -q 'ready to accept' log; do sleep 0.1; done"
    inside = output_of(f"{start} {ready}; grep Threads: /proc/$!/status; kill $!; wait", tmp_path)
    [threads] = [line.split()[1] for line in inside.splitlines() if line.startswith("Threads:")]
    assert int(threads) > 1


@needs_sandbox
def test_nothing_is_inherited(tmp_path: Path) -> None:
    """The filter comes by a descriptor, which is closed when it has been read."""
    assert output_of("exec ls /proc/self/fd", tmp_path).split() == ["0", "1", "2", "3"]  # 3 is that of `ls`


@needs_sandbox
@pytest.mark.parametrize("setting", ["kernel/core_pattern", "vm/overcommit_memory", "net/core/somaxconn"])
def test_settings_of_the_kernel_cannot_be_changed(tmp_path: Path, setting: str) -> None:
    """Root owns them: it needs no capability to write them."""
    assert output_of(f"if : >> /proc/sys/{setting}; then echo opened; fi", tmp_path).splitlines()[-1:] != ["opened"]


@needs_sandbox
@needs_setarch
def test_the_doctor_tries_the_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isolation.system_calls().state is State.OK
    monkeypatch.setattr(system_calls, "_program", lambda **_: ALLOWS_ALL)
    diagnosis = isolation.system_calls()
    assert diagnosis.state is State.WARNING
    assert "does not hold" in diagnosis.found
    monkeypatch.setattr(isolation, "available", lambda: "bubblewrap is not installed")
    diagnosis = isolation.system_calls()
    assert (diagnosis.state, diagnosis.found) == (State.MISSING, "bubblewrap is not installed")


def test_a_filter_that_slows_programs_down_is_known() -> None:
    mitigated = "Seccomp:\t2\nSpeculation_Store_Bypass:\tthread force mitigated\n"
    assert isolation._mitigated(mitigated)
    assert not isolation._mitigated(mitigated.replace("force mitigated", "vulnerable"))
    assert not isolation._mitigated("Seccomp:\t0\n")


def test_no_sandbox_without_a_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(**_: bool) -> bytes:
        raise ValueError("Invalid target arch: s390x.")

    monkeypatch.setattr(system_calls, "_program", unsupported)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert available.__wrapped__() == "system calls cannot be filtered: Invalid target arch: s390x."


# Limits

MIB = 1 << 20
HOG_BYTES = 64 * MIB
"""Little enough to be had on any machine, and much more than a shell needs."""


def limited(script: str, directory: Path, limits: Limits) -> int:
    """Run a shell script within limits; raises `LimitReached`."""
    (directory / "own").mkdir()
    own = Confinement(writable=[directory / "own"], directory=directory / "own", limits=limits)
    environment = {"PATH": "/usr/bin:/bin"}
    with launch(["sh", "-c", script], environment=environment, output=directory / "log", confinement=own) as child:
        return child.wait_within_limits()


needs_groups = pytest.mark.skipif(usable_parents() is None, reason="no control group can be made and entered here")
needs_prlimit = pytest.mark.skipif(shutil.which("prlimit") is None, reason="not installed: prlimit")


@pytest.fixture(params=[pytest.param(True, marks=needs_groups), pytest.param(False, marks=needs_prlimit)])
def grouped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a control group limits, or the limits of each process and the lab that watches."""
    if not request.param:
        monkeypatch.setattr(process, "usable_parents", lambda: None)
    return bool(request.param)


@needs_sandbox
@pytest.mark.parametrize("hog", ["tail /dev/zero", "tail /dev/zero & tail /dev/zero & wait; exit 1"])
def test_memory_is_limited(tmp_path: Path, grouped: bool, hog: str) -> None:
    with pytest.raises(LimitReached, match="64 MiB of memory"):
        limited(hog, tmp_path, Limits(memory_bytes=HOG_BYTES))


@needs_sandbox
@needs_groups
def test_files_in_memory_count_as_memory(tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match="64 MiB of memory"):
        limited("head -c 256M /dev/zero > /tmp/file", tmp_path, Limits(memory_bytes=HOG_BYTES))


@needs_sandbox
def test_processes_are_limited(tmp_path: Path, grouped: bool) -> None:
    with pytest.raises(LimitReached, match="its limit of 40 processes"):
        limited("for n in $(seq 99); do sleep 60 & done; wait; exit 1", tmp_path, Limits(processes=40))


@needs_sandbox
@needs_groups
def test_a_fork_bomb_ends_by_itself(tmp_path: Path) -> None:
    # Without a control group it would run until the lab looks at it, and take the machine's other tests with it.
    with pytest.raises(LimitReached, match="its limit of 40 processes"):
        limited("bomb() { bomb | bomb & }; bomb; sleep 60", tmp_path, Limits(processes=40))


@needs_sandbox
@needs_prlimit
@pytest.mark.parametrize("fill", ["head -c 2M /dev/zero > file", "head -c 2M /dev/zero > /tmp/file"])
def test_files_are_limited(tmp_path: Path, fill: str) -> None:
    with pytest.raises(LimitReached, match="1 MiB of disk space"):
        limited(fill, tmp_path, Limits(disk_bytes=MIB))


@needs_sandbox
@pytest.mark.parametrize("content", ["x", ""])
def test_many_files_are_limited_together(tmp_path: Path, content: str) -> None:
    fill = f"n=0; while true; do n=$((n+1)); printf '%s' '{content}' > file-$n; done"
    with pytest.raises(LimitReached, match="1 MiB of disk space"):
        limited(fill, tmp_path, Limits(disk_bytes=MIB))


@needs_sandbox
@pytest.mark.parametrize("place", ["/", "/dev", "/proc", "/usr"])
def test_no_other_place_can_be_filled(tmp_path: Path, place: str) -> None:
    assert limited(f"echo > {place}/file", tmp_path, Limits()) != 0


@needs_sandbox
def test_time_is_limited(tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match=r"its limit of 0\.5 s"):
        limited("while true; do :; done", tmp_path, Limits(seconds=0.5))


def test_who_stays_within_limits_ends_as_ever(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=HOG_BYTES, processes=40, disk_bytes=MIB, seconds=600)
    assert limited("echo > file; exit 7", tmp_path, limits) == 7


@needs_groups
def test_a_daemon_does_not_outlive_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox, whose namespace ends all, nothing but the group knows of it."""
    monkeypatch.setattr(process, "available", lambda: "for this test")
    monkeypatch.setattr(confinement, "available", lambda: "for this test")
    marker = f"{100 + os.getpid()}.55"
    limited(f"setsid sleep {marker} & sleep 0.1", tmp_path, Limits(processes=40))
    assert not alive(f"sleep\0{marker}")


@needs_groups
def test_groups_are_removed(tmp_path: Path) -> None:
    parents = usable_parents()
    assert parents is not None
    limited("true", tmp_path, Limits(memory_bytes=HOG_BYTES, processes=40))
    left = [*parents.memory.glob(f"zerolap-{os.getpid()}-*"), *parents.processes.glob(f"zerolap-{os.getpid()}-*")]
    assert left == []


def test_code_is_refused_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "available", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(process, "available", lambda: "bubblewrap is not installed")
    environment = {"PATH": "/usr/bin:/bin"}
    with pytest.raises(EnvironmentMissing, match="`true` needs a sandbox: bubblewrap is not installed") as caught:
        launch(["true"], environment=environment, confinement=Confinement(policy=SandboxPolicy.REQUIRED))
    assert "--unsafe-no-sandbox" in caught.value.hint
    with launch(["true"], environment=environment, confinement=Confinement(policy=SandboxPolicy.UNSAFE)) as child:
        assert child.wait(PATIENCE_SECONDS) == 0


def test_output_and_exit_code(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "for n in 1 2 3 4 5; do echo line $n; done; echo problem >&2; exit 7"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, output=log) as child:
        assert child.wait(PATIENCE_SECONDS) == 7
        assert child.returncode == 7
        assert child.output_tail(2) == "line 5\nproblem"


def test_a_program_that_does_not_exist() -> None:
    with pytest.raises(EnvironmentMissing, match="no-such-program"):
        launch(["no-such-program"], environment={})


def alive(marker: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker in path.read_bytes().decode(errors="replace"):
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize("confined", [True, False])
def test_grandchildren_are_stopped_too(tmp_path: Path, confined: bool) -> None:
    marker = f"{100 + os.getpid()}.{int(confined)}77"
    confinement = Confinement(writable=[tmp_path], directory=tmp_path) if confined else None
    script = f"sleep {marker} & sleep {marker}"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, confinement=confinement):
        wait_until(lambda: alive(f"sleep\0{marker}"))
    wait_until(lambda: not alive(marker))


def launched_sleep(marker: str) -> Process:
    return launch(["sleep", marker], environment={"PATH": "/usr/bin:/bin"})


def test_a_cancellation_ends_its_own_processes_and_lets_none_start() -> None:
    marker, other_marker = f"{100 + os.getpid()}.99", f"{100 + os.getpid()}.98"
    cancelled, other = Cancellation(), Cancellation()
    with other.current():
        untouched = launched_sleep(other_marker)
    with cancelled.current():
        running = [launched_sleep(marker) for _ in range(3)]
        canceller = threading.Thread(target=cancelled.cancel)
        canceller.start()
        with pytest.raises(Interrupted):
            running[0].wait(PATIENCE_SECONDS)
        canceller.join()
        assert all(process.returncode is not None for process in running)
        with pytest.raises(Interrupted):
            launched_sleep(marker)
        cancelled.cancel()
    assert cancelled.is_cancelled
    assert not alive(marker)
    with other.current(), untouched, launched_sleep(other_marker) as another:
        assert (untouched.returncode, another.returncode) == (None, None)


def test_a_cancellation_is_left_with_its_context() -> None:
    inner = Cancellation()
    outer = current_cancellation()
    with inner.current():
        assert current_cancellation() is inner
    assert current_cancellation() is outer


def test_what_fails_because_its_process_was_killed_was_interrupted() -> None:
    cancellation = Cancellation()

    def lose_the_server() -> None:
        with cancellation.current(), launched_sleep("100"):
            cancellation.cancel()
            raise TrialFailed("the server was lost")

    with pytest.raises(Interrupted) as caught:
        lose_the_server()
    assert isinstance(caught.value.__cause__, TrialFailed)


def test_a_sleep_ends_when_it_is_cancelled() -> None:
    cancellation = Cancellation()
    assert not cancellation.wait(0)
    cancellation.require_going_on()
    canceller = threading.Timer(0.05, cancellation.cancel)
    canceller.start()
    assert cancellation.wait(3600)
    canceller.join()
    with pytest.raises(Interrupted):
        cancellation.require_going_on()


# Directories of work that was killed


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a directory as another living process would."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left, held = tmp_path / "work-left", tmp_path / "work-held"
    for directory in (left, held):
        directory.mkdir()
        os.utime(directory, (0, 0))
    # The name of the directory stands in the command line, as those of servers do.
    orphan = subprocess.Popen(["sh", "-c", "sleep 1000; :", str(left)])
    with scratch_directory("work-", tmp_path) as own, locked(held):
        os.utime(own, (0, 0))
        remove_abandoned("work-", tmp_path)
        assert orphan.wait() == -signal.SIGKILL
        assert sorted(tmp_path.iterdir()) == sorted([held, own])
    assert list(tmp_path.iterdir()) == [held]


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="not installed: setpriv")
def test_a_process_whose_lab_is_gone_before_it_starts_ends_itself(tmp_path: Path) -> None:
    """The parent that the command line names is another one than the process has."""
    command = tied_command(["touch", str(tmp_path / "ran")])
    subprocess.run(command, check=True)
    assert (tmp_path / "ran").exists()
    (tmp_path / "ran").unlink()
    orphan = shlex.join(command)
    ended = subprocess.run(["sh", "-c", f"{orphan}; exit $?"], check=False)
    assert ended.returncode == 1
    assert not (tmp_path / "ran").exists()


def test_an_empty_group_is_removed_only_once_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be about to be entered by a process in a container, which has another number there."""
    parents = control_group.usable_parents()
    if parents is None:
        pytest.skip("no control groups can be created here")
    group = parents.processes / f"{control_group.NAME}-{2**22 + 1}-{os.getpid():08x}"
    group.mkdir()
    try:
        control_group._remove_left_behind(parents)
        assert group.exists()
        monkeypatch.setattr(control_group, "YOUNG_SECONDS", -1)
        control_group._remove_left_behind(parents)
        assert not group.exists()
    finally:
        with contextlib.suppress(FileNotFoundError):
            group.rmdir()


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_the_end_of_a_process_is_awaited(monkeypatch: pytest.MonkeyPatch, has_descriptors: bool) -> None:
    def missing(_process: int) -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    if not has_descriptors:
        monkeypatch.setattr(os, "pidfd_open", missing)
    environment = {"PATH": "/usr/bin:/bin"}
    with launch(["sh", "-c", "sleep 0.2; exit 3"], environment=environment) as child:
        assert child.wait(PATIENCE_SECONDS) == 3
        assert child.wait(PATIENCE_SECONDS) == 3
    with launch(["sleep", "1000"], environment=environment) as child, pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)


def test_an_end_that_two_threads_await_is_no_timeout() -> None:
    with launch(["sh", "-c", "exit 3"], environment={"PATH": "/usr/bin:/bin"}) as child:
        # The standard library's own, which one thread has while it reads the exit code.
        reading = vars(child._child)["_waitpid_lock"]
        with ThreadPoolExecutor(1) as threads:
            with reading:
                other = threads.submit(child.wait, PATIENCE_SECONDS)
                with pytest.raises(TimeoutError):
                    other.result(0.5)
            assert other.result(PATIENCE_SECONDS) == 3
