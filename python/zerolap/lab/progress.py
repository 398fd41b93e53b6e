"""How long work tells of itself."""

from typing import Protocol


class Progress(Protocol):
    """Receives what happens; the lab calls it from one thread."""

    def note(self, text: str) -> None:
        """Something that the user should know before the work begins."""

    def building(self, name: str) -> None:
        """A source is being built."""

    def measuring(self, cases: int) -> None:
        """Trials begin: of so many cases."""

    def timing(self, cases: int) -> None:
        """Timed trials begin: of so many cases."""

    def sampling(self, cases: int) -> None:
        """Sampled passes begin: of so many cases."""

    def trial_done(self, case: str, done: int, expected: int) -> None:
        """A trial ended, the `done`th of about `expected` in all."""

    def finished(self) -> None:
        """Nothing more will come."""


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Ignore it."""

    def building(self, name: str) -> None:
        """Ignore it."""

    def measuring(self, cases: int) -> None:
        """Ignore it."""

    def timing(self, cases: int) -> None:
        """Ignore it."""

    def sampling(self, cases: int) -> None:
        """Ignore it."""

    def trial_done(self, case: str, done: int, expected: int) -> None:
        """Ignore it."""

    def finished(self) -> None:
        """Ignore it."""
