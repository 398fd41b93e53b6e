"""The load generator as a child process, driven slice by slice over its control channel."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import IO, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zerolap.records import Case, Client, EnvironmentMissing, FirstFault, Keys, TrialFailed
from zerolap.sandbox import Confinement, Process, descendants, is_readable, launch
from zerolap.server import Reach, read_total_ns

REPLY_SECONDS = 120
LOAD_PIPELINE = 50
WARM_UP_PIPELINE = 200


Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63)]
Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LoadReport(BaseModel):
    """What is read of the load generator's reports; further fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class LatencyResult(LoadReport):
    """Latencies of a slice's replies in microseconds."""

    p50: Amount
    p99: Amount
    p99_9: Amount
    max: Amount


class LookUpCounts(LoadReport):
    """What the replies to a command show of what it looked up.

    Of `answers`, `nothing` found nothing, `no_member` lacked the key or a member of it, `empty_value` may be a value,
    such as a bit that is 0, or lack the key, and `unclear` are scripts that replied nil. `role` is what the command
    does with what it finds: it `reads`, `takes` it away, `moves` it elsewhere, or `runs` a script.
    """

    role: Literal["reads", "takes", "moves", "runs"]
    answers: Count
    nothing: Count
    no_member: Count
    empty_value: Count
    unclear: Count

    def __add__(self, other: "LookUpCounts") -> "LookUpCounts":
        return LookUpCounts(
            role=self.role,
            answers=self.answers + other.answers,
            nothing=self.nothing + other.nothing,
            no_member=self.no_member + other.no_member,
            empty_value=self.empty_value + other.empty_value,
            unclear=self.unclear + other.unclear,
        )


class CommandResult(LoadReport):
    """The load generator's report on one command of a slice; no `look_ups` are of one that looks nothing up."""

    command: str
    look_ups: LookUpCounts | None = None
    errors: dict[str, Count]
    first_error: str | None = None


class SliceResult(LoadReport):
    """The load generator's report on a slice; counts are of requests and their replies."""

    requests: Count
    succeeded: Count
    elapsed_ns: Count
    client_cpu_ns: Count
    client_wait_ns: Count | None = None
    ops_per_sec: Amount
    latency_us: LatencyResult | None
    histogram_ns: list[tuple[Count, Count]]
    replies: dict[str, Count]
    misses: Count
    errors: dict[str, Count]
    commands: list[CommandResult] = []

    @property
    def first_error(self) -> str | None:
        """The text of the first error of any command."""
        return next((command.first_error for command in self.commands if command.first_error is not None), None)


def shown_errors(errors: Mapping[str, int], first_error: str | None) -> str:
    """Return the number of errors, their codes if there are several, and the text of the first error."""
    total, codes = sum(errors.values()), ", ".join(sorted(errors))
    if first_error is None:
        return f"{total} ({codes})"
    return f"{total} ({first_error})" if len(errors) == 1 else f"{total} ({codes}; the first: {first_error})"


def packaged(name: str) -> Path:
    """Return the path of a program or library of the package; raises `EnvironmentMissing` if it is not built."""
    path = Path(str(resources.files("zerolap") / "bin" / name))
    if not path.exists():
        raise EnvironmentMissing(f"`{path}` is missing", hint="make build")
    return path


class LoadProgram:
    """A running load generator: connected, and waiting for slices."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._buffer = b""

    @property
    def number(self) -> int:
        """The process id."""
        return self._process.number

    def used_ns(self) -> int:
        """Return the CPU time that it has used, with the processes around it."""
        return sum(_used_ns(process) for process in descendants(self.number))

    def slice(self, requests: int, per_second: int | None = None) -> SliceResult:
        """Send exactly this many requests, at the rate `per_second` if it is given, and wait for all replies.

        Raises `TrialFailed` if the load generator fails.
        """
        order: dict[str, object] = {"do": "slice", "requests": requests}
        self._send(order if per_second is None else order | {"per_second": per_second})
        try:
            return SliceResult.model_validate(self.next_event("slice"))
        except ValidationError as wrong:
            raise TrialFailed(f"the load generator's answer is not valid: {FirstFault.of(wrong).what}") from wrong

    def next_event(self, expected: str) -> dict[str, object]:
        """Return the next event; raises `TrialFailed` if it is not the expected one or does not arrive in time."""
        line = self._read_line(time.monotonic() + REPLY_SECONDS + 10)
        event: dict[str, object] = json.loads(line) if line else {}
        if event.get("event") != expected:
            reason = event.get("message") or self._process.output_tail(5) or "it ended"
            raise TrialFailed(f"the load generator failed: {reason}")
        return event

    def _send(self, order: dict[str, object]) -> None:
        stream = self._stream(self._process.stdin)
        try:
            stream.write(json.dumps(order).encode() + b"\n")
            stream.flush()
        except BrokenPipeError as gone:
            raise TrialFailed(f"the load generator is gone: {self._process.output_tail(5)}") from gone

    def _read_line(self, end: float) -> bytes:
        stream = self._stream(self._process.stdout)
        while b"\n" not in self._buffer:
            if not is_readable(stream, end - time.monotonic()):
                raise TrialFailed("the load generator does not answer")
            data = stream.read1(65536) if hasattr(stream, "read1") else stream.read(65536)
            if not data:
                return b""
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        if stream is None:
            raise TrialFailed("the load generator has no control channel")
        return stream


def _used_ns(process: int) -> int:
    # One that ends in between is in its parent's time next.
    with contextlib.suppress(TrialFailed):
        return read_total_ns(process)
    return 0


@contextlib.contextmanager
def load_program(
    reach: Reach, log: Path, arguments: Sequence[str], confinement: Confinement | None = None
) -> Iterator[LoadProgram]:
    """Start the load generator, which reaches the server by `reach`; it ends with the context.

    With a `confinement` it runs in the network of the confinement instead of that of `reach`.
    """
    command = [str(packaged("zerolap-load")), *reach.arguments, "--control"]
    command += ["--reply-timeout", str(REPLY_SECONDS), *arguments]
    with launch(
        command, environment={}, output=log, confinement=confinement, network=reach.network, piped=True
    ) as process:
        program = LoadProgram(process)
        program.next_event("ready")
        yield program


def key_arguments(keys: Keys, data_size: int, random_data: bool) -> list[str]:
    """Return the arguments for keys and values."""
    arguments = ["--key-prefix", keys.prefix, "--key-minimum", str(keys.minimum), "--key-maximum", str(keys.maximum)]
    arguments += ["--data-size", str(data_size)]
    return [*arguments, "--random-data"] if random_data else arguments


def warm_up_arguments(client: Client, seed: int) -> list[str]:
    """Return the arguments for sending a client's requests over one connection, as many at once as are soon sent."""
    pipeline = str(max(WARM_UP_PIPELINE, client.pipeline))
    return ["--clients", "1", "--lockstep", *_client_arguments(client, seed), "--pipeline", pipeline]


def counted_arguments(case: Case, seed: int) -> list[str]:
    """Return the arguments for a case's measured requests, all sent over one connection in whole pipelines."""
    return ["--clients", "1", "--lockstep", *_client_arguments(case.client, seed)]


def timed_arguments(client: Client, seed: int, processors: Sequence[int]) -> list[str]:
    """Return the arguments for a client's measured requests over all its connections, sent from `processors`."""
    cpus = ",".join(str(processor) for processor in processors)
    return ["--clients", str(client.connections), "--cpus", cpus, *_client_arguments(client, seed)]


def loading_arguments(client: Client, seed: int) -> list[str]:
    """Return the arguments for filling a server as a client of the public format would.

    One connection is used unless the written keys depend on the number of connections.
    """
    # In lockstep the server wakes up equally often in each trial, so its timers see the same state.
    pipeline = str(max(LOAD_PIPELINE, client.pipeline))
    connections = str(client.connections if client.leaves_gaps else 1)
    sending = ["--threads", "1", "--clients", connections, "--pipeline", pipeline, "--lockstep", "--seed", str(seed)]
    return [*client.slice_arguments(), *sending]


def _client_arguments(client: Client, seed: int) -> list[str]:
    """Return the arguments for a client's requests: its command line, if it has one, else those for its fields."""
    asked = ["--protocol", client.protocol] if client.protocol else []
    if client.given is not None:
        return [*client.slice_arguments(), *asked, "--threads", "1", "--seed", str(seed)]
    arguments = [*asked, "--threads", "1", "--pipeline", str(client.pipeline), "--seed", str(seed)]
    arguments += key_arguments(client.keys, client.data_size, client.random_data)
    for command in client.sent:
        arguments += ["--command", command.line, "--command-ratio", str(command.ratio)]
        arguments += ["--command-key-pattern", command.key_pattern]
    return arguments
