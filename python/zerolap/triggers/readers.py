"""Who of GitHub may read the pages: those who may write commands to the lab in one of its repositories."""

import structlog

from zerolap.github import GitHub, GitHubRefused
from zerolap.triggers.settings import RepositorySettings, TriggerSettings
from zerolap.triggers.work import PERMISSIONS

log = structlog.get_logger("zerolap.triggers")


class Readers:
    """Decides by the settings of repositories, and by the permissions that GitHub reports."""

    def __init__(self, settings: TriggerSettings, github: GitHub) -> None:
        self._repositories = settings.repositories
        self._github = github

    async def permits(self, login: str) -> bool:
        """Return whether a person may read; raises `GitHubUnavailable` and `GitHubResponseUnusable`."""
        if any(repository.is_actor(login) for repository in self._repositories):
            return True
        for repository in self._repositories:
            if await self._has_permission(repository, login):
                return True
        return False

    async def _has_permission(self, repository: RepositorySettings, login: str) -> bool:
        needed = repository.permission
        if needed is None:
            return False
        try:
            has = await self._github.permission(repository.name, login)
        except GitHubRefused as refused:
            # One of several repositories, of which the App may have been taken off.
            log.warning("GitHub does not report a permission", repository=repository.name, reason=refused.message)
            return False
        return has in PERMISSIONS[: PERMISSIONS.index(needed) + 1]
