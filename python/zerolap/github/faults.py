"""What can go wrong between the lab and GitHub; no message contains a token."""

from zerolap.errors import ZerolapError


class GitHubFault(ZerolapError):
    """GitHub did not do what it was asked to do."""


class GitHubUnavailable(GitHubFault):
    """GitHub cannot be reached, fails, or limits the lab, for longer than the patience.

    The request can be repeated after `retry_after_seconds`. A comment, a check or an issue that was to be created may
    exist: look for it first.
    """

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message, hint=f"try again in {retry_after_seconds:.0f} s")
        self.retry_after_seconds = retry_after_seconds


class GitHubAnswerUnusable(GitHubFault):
    """An answer is too large, has another form than GitHub describes, or leads to another host."""


class GitHubRefused(GitHubFault):
    """GitHub refuses a request, with an HTTP `status` of 400 to 499; repeating it does not help."""

    def __init__(self, message: str, status: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


class GitHubUnauthorised(GitHubRefused):
    """The token is not valid, or no longer."""


class GitHubForbidden(GitHubRefused):
    """The token does not permit this, or the conversation is locked."""


class ChecksForbidden(GitHubForbidden):
    """The token may not write checks, which only GitHub Apps may; commit statuses are left."""


class GitHubMissing(GitHubRefused):
    """What the request names is not there, is no longer there, or is not visible to the token."""


class GitHubInvalid(GitHubRefused):
    """GitHub does not accept the content of a request."""
