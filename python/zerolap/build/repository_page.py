"""Where a repository is read by browsers: the page of its remote at a host."""

import contextlib
import functools
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from zerolap.build.git import GitStopped, run_git
from zerolap.records import EnvironmentMissing

SECURE_SHELL: Final = re.compile(r"[\w.-]+@(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^/].*)")
"""A remote as `git@github.com:owner/name.git`."""
KEPT_PAGES: Final = 256


def repository_page(repository: str) -> str | None:
    """Return the page of the remote `origin` of a repository of this machine; None where there is none."""
    for configuration in (Path(repository, "config"), Path(repository, ".git", "config"), Path(repository)):
        with contextlib.suppress(OSError):
            return _page(repository, configuration.stat().st_mtime_ns)
    return None


@functools.lru_cache(KEPT_PAGES)
def _page(repository: str, _changed: int) -> str | None:
    """Return the page as the repository's configuration states it, which was changed at that time."""
    try:
        asked = run_git(Path(repository), "config", "--local", "--get", "remote.origin.url")
    except (GitStopped, EnvironmentMissing):
        return None
    return page_of_remote(asked.text.strip()) if asked.code == 0 else None


def page_of_remote(remote: str) -> str | None:
    """Return the page of a remote, without user and password; None for what is at no host, such as a directory."""
    secure_shell = SECURE_SHELL.fullmatch(remote)
    if secure_shell is not None:
        scheme, place, path = "https", secure_shell["host"], secure_shell["path"]
    else:
        try:
            address = urlsplit(remote)
            host, port = address.hostname or "", address.port
        except ValueError:
            return None
        if address.scheme not in ("http", "https", "ssh") or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", host):
            return None
        is_shell = address.scheme == "ssh"
        scheme, path = ("https" if is_shell else address.scheme), address.path
        place = host if is_shell or port is None else f"{host}:{port}"
    path = path.strip("/").removesuffix(".git")
    return f"{scheme}://{place}/{quote(path)}" if path else None
