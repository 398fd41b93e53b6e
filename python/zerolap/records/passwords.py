"""Passwords in the settings of servers, which the lab replaces by its own: it starts these servers itself.

So neither requests and documents nor command lines of processes hold a password of the user's.
"""

import re
from collections.abc import Mapping
from typing import Final

LAB_PASSWORD: Final = "zerolap"
OF_A_PASSWORD: Final = frozenset({"requirepass", "masterauth"})
USER: Final = "user"
ADDED, REMOVED = re.compile(r"[>#].+", re.DOTALL), re.compile(r"[<!].+", re.DOTALL)
"""Rules of access control lists that name a password or its digest."""


def with_lab_passwords(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with the lab's password in place of all that are not empty, also in the rules of a user."""
    return {name: _with_lab_password(name.lower(), value) for name, value in settings.items()}


def _with_lab_password(name: str, value: str) -> str:
    if name in OF_A_PASSWORD:
        return LAB_PASSWORD if value.strip("'\" ") else value
    if name != USER:
        return value
    rules = [f">{LAB_PASSWORD}" if ADDED.fullmatch(rule) else rule for rule in value.split()]
    return " ".join(dict.fromkeys(rule for rule in rules if not REMOVED.fullmatch(rule)))
