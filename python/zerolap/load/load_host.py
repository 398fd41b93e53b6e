"""Machines that put load on a server of this one."""

from contextlib import AbstractContextManager
from typing import Protocol

from zerolap.load.generator import SliceResult
from zerolap.records import Case, Check


class LoadGenerator(Protocol):
    """A connected load generator that waits for slices, on this machine or on another one."""

    def slice(self, requests: int, per_second: int | None = None) -> SliceResult:
        """Send exactly this many requests, at the rate `per_second` if it is given, and wait for all replies.

        Times are of the clock of the machine that it runs on. Raises `TrialFailed` if the load generator fails,
        `EnvironmentMissing` if its machine is lost.
        """

    def used_ns(self) -> int:
        """Return the CPU time that it has used on this machine: 0 if it runs on another one."""


class MachineWatch(Protocol):
    """What a machine did beside a trial."""

    def checks(self) -> list[Check]:
        """Return the checks, once the watch has ended."""


class LoadHost(Protocol):
    """Another machine, whose load generators reach this one; used by one thread.

    `address` is that of this machine by which the load host reaches it: an IP address. `name` is that of the machines
    of which the load host is one.
    """

    @property
    def name(self) -> str:
        """The name of the platform that puts load, equal for machines that stand for each other."""

    @property
    def address(self) -> str:
        """The IP address of this machine by which the load host reaches it."""

    def start(self, case: Case, seed: int, port: int) -> AbstractContextManager[LoadGenerator]:
        """Start a load generator for the measured requests of a case, to the server at `port`; ends with the context.

        Raises `TrialFailed` if the load generator fails, `CaseRefused` for a case that the load host does not send,
        `EnvironmentMissing` if the load host is lost or does not reach the port.
        """

    def watch(self) -> AbstractContextManager[MachineWatch]:
        """Watch the load host for the length of the context; the checks' names begin with `load_host_`.

        Raises `EnvironmentMissing` if the load host is lost.
        """
