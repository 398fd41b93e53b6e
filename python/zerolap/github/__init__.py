"""GitHub's REST API: comments, checks, statuses, pull requests and issues."""

from zerolap.github.answers import Comment, Issue, Permission, PullRequest
from zerolap.github.checks import Annotation, Check, CommitStatus, Conclusion
from zerolap.github.client import PUBLIC_API, REPOSITORY, GitHub, hidden_marker
from zerolap.github.credentials import AppKey, Credentials, GivenToken, TokenFile, token_in
from zerolap.github.faults import (
    ChecksForbidden,
    GitHubAnswerUnusable,
    GitHubFault,
    GitHubForbidden,
    GitHubInvalid,
    GitHubMissing,
    GitHubRefused,
    GitHubUnauthorised,
    GitHubUnavailable,
)
from zerolap.github.pace import Clock, Patience

__all__ = [
    "PUBLIC_API",
    "REPOSITORY",
    "Annotation",
    "AppKey",
    "Check",
    "ChecksForbidden",
    "Clock",
    "Comment",
    "CommitStatus",
    "Conclusion",
    "Credentials",
    "GitHub",
    "GitHubAnswerUnusable",
    "GitHubFault",
    "GitHubForbidden",
    "GitHubInvalid",
    "GitHubMissing",
    "GitHubRefused",
    "GitHubUnauthorised",
    "GitHubUnavailable",
    "GivenToken",
    "Issue",
    "Patience",
    "Permission",
    "PullRequest",
    "TokenFile",
    "hidden_marker",
    "token_in",
]
