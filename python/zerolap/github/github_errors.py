"""Errors of requests to GitHub; no message contains a token."""

from zerolap.errors import ZerolapError


class GitHubFault(ZerolapError):
    """A request to GitHub failed."""


class GitHubUnavailable(GitHubFault):
    """GitHub could not be reached, failed, or limited the lab for longer than the patience.

    The request can be repeated after `retry_after_seconds`. A comment, check or issue that was to be created may exist:
    search for it before the request is repeated.
    """

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message, hint=f"try again in {retry_after_seconds:.0f} s")
        self.retry_after_seconds = retry_after_seconds


class GitHubResponseUnusable(GitHubFault):
    """An answer is too large, does not have the documented form, or redirects to another host."""


class GitHubRefused(GitHubFault):
    """GitHub refuses a request, with an HTTP `status` of 400 to 499; repeating it does not help."""

    def __init__(self, message: str, status: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


class GitHubUnauthorised(GitHubRefused):
    """The token is not valid or has expired."""


class GitHubForbidden(GitHubRefused):
    """The token does not permit this, or the conversation is locked."""


class ChecksForbidden(GitHubForbidden):
    """The token cannot write checks, which only GitHub Apps can; it can set commit statuses."""


class GitHubMissing(GitHubRefused):
    """What the request names does not exist, was removed, or is not visible to the token."""


class GitHubInvalid(GitHubRefused):
    """GitHub does not accept the content of a request."""
