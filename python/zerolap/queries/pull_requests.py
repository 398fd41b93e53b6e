"""Pull requests that triggers are about: their numbers, and where they are read."""

import re
from typing import Final

from zerolap.store import StoredTrigger

NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
LARGEST_PULL_REQUEST: Final = 9_999_999_999
REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


def pull_request_number(stored: StoredTrigger) -> int | None:
    """Return the number of the pull request that a trigger is about; None where it is about something else."""
    repository, _, number = stored.subject.partition("#")
    is_pull_request = repository == stored.repository.lower() and NUMBER.fullmatch(number)
    return int(number) if is_pull_request else None


def pull_request_address(stored: StoredTrigger, site: str | None) -> str | None:
    """Return where the pull request is read on GitHub; None where that is not known.

    `site` is the address of GitHub's pages. Only what a webhook was about is there: other triggers name their
    repository themselves.
    """
    number = pull_request_number(stored)
    if site is None or number is None or not stored.delivery or not REPOSITORY.fullmatch(stored.repository):
        return None
    return f"{site}/{stored.repository}/pull/{number}"
