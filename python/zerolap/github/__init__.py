"""GitHub's REST API: comments, checks, statuses, pull requests and issues."""

from zerolap.github.api_client import REPOSITORY as REPOSITORY, GitHub as GitHub, hidden_marker as hidden_marker
from zerolap.github.app_credentials import (
    AppKey as AppKey,
    Credentials as Credentials,
    GivenToken as GivenToken,
    TokenFile as TokenFile,
    token_in as token_in,
)
from zerolap.github.checks import (
    CheckContent as CheckContent,
    LineAnnotation as LineAnnotation,
    StatusContent as StatusContent,
)
from zerolap.github.github_errors import (
    ChecksForbidden as ChecksForbidden,
    GitHubFault as GitHubFault,
    GitHubForbidden as GitHubForbidden,
    GitHubInvalid as GitHubInvalid,
    GitHubMissing as GitHubMissing,
    GitHubRefused as GitHubRefused,
    GitHubResponseUnusable as GitHubResponseUnusable,
    GitHubUnauthorised as GitHubUnauthorised,
    GitHubUnavailable as GitHubUnavailable,
)
from zerolap.github.pace import Clock as Clock, Patience as Patience
from zerolap.github.person_sign_in import PersonSignIn as PersonSignIn
from zerolap.github.site import site_of as site_of
