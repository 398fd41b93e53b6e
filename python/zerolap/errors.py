"""Errors with their exit codes; the command line shows each once."""

from typing import ClassVar


class ZerolapError(Exception):
    """An error for the user: `message` is what happened, `hint` what to do.

    `details` holds lines that help to find the cause, such as the end of a log.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, hint: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(ZerolapError):
    """The command, an option or a name in it is wrong."""

    exit_code: ClassVar[int] = 2


class CaseFileError(UsageError):
    """A case file does not follow the format; the message names file, line, field and what was expected."""


class EnvironmentMissing(ZerolapError):
    """This machine lacks something that the work needs."""

    exit_code: ClassVar[int] = 3


class BuildFailed(ZerolapError):
    """A source does not build; `details` holds the end of the compiler's output."""


class TrialFailed(ZerolapError):
    """A trial could not be carried out; `details` holds the end of the server's log.

    `side` is the one that failed, None if it is unknown or the only one; `block` is the number of the trial's block,
    None if no trial had begun.
    """

    def __init__(
        self, message: str, hint: str = "", details: str = "", side: str | None = None, block: int | None = None
    ) -> None:
        super().__init__(message, hint, details)
        self.side = side
        self.block = block

    def of(self, node: str) -> "TrialFailed":
        """Return the error with the name of the server on which it occurred."""
        return TrialFailed(f"{node}: {self.message}", self.hint, self.details, self.side, self.block)

    def at(self, side: str | None = None, block: int | None = None) -> "TrialFailed":
        """Return the error with the side and the block in which it occurred, as far as it has none yet."""
        return TrialFailed(
            self.message,
            self.hint,
            self.details,
            side if self.side is None else self.side,
            block if self.block is None else self.block,
        )


class CaseRefused(TrialFailed):
    """A case that an engine or a load tool cannot measure, which is skipped."""

    def at(self, side: str | None = None, block: int | None = None) -> "CaseRefused":
        """Return the error as it is: the case is refused as a whole."""
        return self


class UnreadableRecord(ZerolapError):
    """What the store holds of one thing cannot be read: another version has written it, or it is damaged."""


class Interrupted(ZerolapError):
    """The user stopped the work; completed measurements are kept."""

    exit_code: ClassVar[int] = 130
