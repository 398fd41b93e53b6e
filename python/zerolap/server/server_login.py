"""Logins of the lab and its load generators at servers that ask for a password."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zerolap.named_file import read_named
from zerolap.records import UsageError

DEFAULT_USER = "default"
LARGEST_PASSWORD_BYTES = 4096


@dataclass(frozen=True)
class ServerLogin:
    """A password, and the user that it is of; the default user has no name here."""

    password: str
    username: str = ""

    def __repr__(self) -> str:
        """Return a text without the password, which logs and tracebacks can show."""
        return f"ServerLogin(username={self.username!r})"

    @property
    def command(self) -> list[str]:
        """The command that logs a connection in."""
        return ["AUTH", *([self.username] if self.username else []), self.password]

    @property
    def load_arguments(self) -> list[str]:
        """Arguments of `zerolap-load` and memtier_benchmark."""
        return ["--authenticate", f"{self.username}:{self.password}"]


def own_login(settings: Mapping[str, str]) -> ServerLogin | None:
    """Return how the lab logs in to a server that is started with these settings; none where it need not."""
    words = _words(settings, "requirepass")
    if words and words[0]:
        return ServerLogin(words[0])
    user = _user(settings)
    return user if user is not None and not user.username else None


def load_login(settings: Mapping[str, str]) -> ServerLogin | None:
    """Return how load generators log in: as the user that the settings define, if they do."""
    return _user(settings) or own_login(settings)


def _user(settings: Mapping[str, str]) -> ServerLogin | None:
    name, *rules = _words(settings, "user") or [""]
    passwords = [rule.removeprefix(">") for rule in rules if rule.startswith(">")]
    if not passwords or "on" not in rules:
        return None
    return ServerLogin(passwords[0], "" if name == DEFAULT_USER else name)


def _words(settings: Mapping[str, str], wanted: str) -> list[str]:
    value = next((value for name, value in settings.items() if name.lower() == wanted), "")
    return shlex.split(value)


def read_login(password_file: Path | None, username: str | None) -> ServerLogin | None:
    """Return the login for a running server: the first line of a file is the password.

    Raises `UsageError` for a user without a password file, or a file that is empty or cannot be read.
    """
    if password_file is None:
        if username is not None:
            raise UsageError("`--username` needs a password", hint="add --password-file FILE")
        return None
    hint = "give --password-file a file with the password"
    content = read_named(password_file.expanduser(), LARGEST_PASSWORD_BYTES, hint=hint)
    password = content.decode(errors="surrogateescape").split("\n", 1)[0].removesuffix("\r")
    if not password:
        raise UsageError(f"`--password-file {password_file}`: its first line is empty", hint="write the password there")
    return ServerLogin(password, username or "")
