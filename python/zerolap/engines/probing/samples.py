"""What single requests did, and their counts by command."""

from collections import Counter
from dataclasses import dataclass, field

from zerolap.resp_frames import Reply, ReplyError

FIRST_REQUESTS = 30
QUEUED = b"QUEUED"
"""The reply within a transaction: whether keys exist is decided at EXEC."""


@dataclass(frozen=True)
class KeySample:
    """The keys of a request as they were before it.

    `missing_at` are the positions of those that were missing, `seconds_left` is the shortest time to live, None if none
    of them expires, `encodings` are those of the others, where they are asked for.
    """

    names: list[bytes] = field(default_factory=list)
    missing_at: tuple[int, ...] = ()
    seconds_left: float | None = None
    encodings: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Sample:
    """One request with its reply, and its keys before it; `outcome` is what the load generator's rule makes of it."""

    words: list[bytes]
    reply: Reply
    outcome: str
    of_keys: KeySample

    @property
    def keys(self) -> list[bytes]:
        """The names of its keys."""
        return self.of_keys.names

    @property
    def missing_keys(self) -> int:
        """How many of its keys were missing."""
        return len(self.of_keys.missing_at)

    @property
    def found_nothing(self) -> bool:
        """Whether the reply is a miss, by the load generator's rule for the command.

        One that may be a value, or lack a member only, is a miss only if the keys did not exist.
        """
        if self.outcome in ("no_member", "empty_value"):
            return bool(self.keys) and self.missing_keys == len(self.keys)
        return self.outcome == "nothing"


@dataclass
class CommandSamples:
    """Counts of one command's samples; `writes` is whether the server's command table lists it as writing."""

    name: str
    writes: bool
    requests: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    nothing: int = 0
    with_keys: int = 0
    keys_missing: int = 0
    shortest_life_seconds: float | None = None
    example_of_nothing: str = ""
    first_requests: int = 0
    first_nothing: int = 0
    first_zeros: int = 0
    zeros: int = 0
    missing_at: Counter[int] = field(default_factory=Counter)
    example_of_missing: str = ""
    encodings: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample) -> None:
        """Count a sample."""
        self.requests += 1
        error = first_error(sample.reply)
        if error is not None:
            self.errors[error.text[:200]] += 1
            return
        is_early, is_zero = self.requests <= FIRST_REQUESTS, sample.reply == 0
        self.first_requests += is_early
        self.zeros += is_zero
        self.first_zeros += is_zero and is_early
        if sample.found_nothing:
            self.nothing += 1
            self.first_nothing += is_early
            self.example_of_nothing = self.example_of_nothing or shown(sample.words)
        if sample.keys and sample.reply != QUEUED:
            self.with_keys += 1
            self.keys_missing += sample.missing_keys == len(sample.keys)
            missing_at = sample.of_keys.missing_at
            self.missing_at.update(missing_at)
            if missing_at and not self.example_of_missing:
                self.example_of_missing = shown([sample.keys[missing_at[0]]])
        self.encodings.update(sample.of_keys.encodings)
        seconds_left = sample.of_keys.seconds_left
        if seconds_left is not None:
            shortest = self.shortest_life_seconds
            self.shortest_life_seconds = seconds_left if shortest is None else min(shortest, seconds_left)

    @property
    def error_share(self) -> float:
        """Of all requests."""
        return sum(self.errors.values()) / max(1, self.requests)

    @property
    def nothing_share(self) -> float:
        """Of the requests that got no error."""
        return self.nothing / max(1, self.requests - sum(self.errors.values()))

    @property
    def first_nothing_share(self) -> float:
        """Of the first requests, which meet the data as it was loaded."""
        return self.first_nothing / max(1, self.first_requests)

    @property
    def first_zero_share(self) -> float:
        """Of the first requests: those whose reply is 0."""
        return self.first_zeros / max(1, self.first_requests)

    @property
    def zero_share(self) -> float:
        """Of the requests that got no error: those whose reply is 0."""
        return self.zeros / max(1, self.requests - sum(self.errors.values()))

    @property
    def missing_share(self) -> float:
        """Of the requests with keys: those of which no key existed."""
        return self.keys_missing / max(1, self.with_keys)

    @property
    def place_missing_share(self) -> float:
        """Of the requests with keys: those that lack the key at the position that is most often missing."""
        return max(self.missing_at.values(), default=0) / max(1, self.with_keys)


def first_error(reply: Reply) -> ReplyError | None:
    """Return the error that a reply is, or the first error inside it, as in a reply to EXEC."""
    if isinstance(reply, list):
        return next((error for part in reply if (error := first_error(part)) is not None), None)
    return reply if isinstance(reply, ReplyError) else None


def shown(words: list[bytes]) -> str:
    """Return a request as one line of at most 80 characters."""
    line = " ".join(word.decode(errors="backslashreplace") for word in words)
    return line if len(line) <= 80 else line[:77] + "..."
