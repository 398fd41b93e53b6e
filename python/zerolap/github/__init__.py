"""GitHub's REST API: comments, checks, statuses, pull requests and issues."""

from zerolap.github.answers import Comment, Issue, Permission, PullRequest
from zerolap.github.api_client import PUBLIC_API, REPOSITORY, GitHub, hidden_marker
from zerolap.github.app_credentials import AppKey, Credentials, GivenToken, TokenFile, token_in
from zerolap.github.checks import CheckContent, Conclusion, LineAnnotation, StatusContent
from zerolap.github.github_errors import (
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
from zerolap.github.person_sign_in import PersonSignIn
from zerolap.github.site import site_of

__all__ = [
    "PUBLIC_API",
    "REPOSITORY",
    "AppKey",
    "CheckContent",
    "ChecksForbidden",
    "Clock",
    "Comment",
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
    "LineAnnotation",
    "Patience",
    "Permission",
    "PersonSignIn",
    "PullRequest",
    "StatusContent",
    "TokenFile",
    "hidden_marker",
    "site_of",
    "token_in",
]
