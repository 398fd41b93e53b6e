"""The kinds of values in the settings of triggers: secrets in files, paths, URLs, git remotes, durations."""

import os
import re
import stat
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo

from zerolap.durations import seconds_in

LARGEST_SECRET_BYTES: Final = 64 << 10
FORBIDDEN_MODE: Final = stat.S_IRWXO | stat.S_IWGRP
"""Permissions that a file with a secret must not have: any for others, and writing for its group."""
SECRET_HINT: Final = "it is a file with only the secret in it"
REMOTE_SCHEMES: Final = ("https", "http", "ssh", "git", "file")

_SCP_FORM: Final = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[^\s]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class SettingFault(ValueError):
    """A wrong value: `message` states the fault, without secrets, and `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def _in_directory(text: Any, info: ValidationInfo) -> Path:
    """Return a path relative to the directory of the settings."""
    if not isinstance(text, str) or not text or "\0" in text:
        raise SettingFault("expected the path of a file")
    directory = (info.context or {}).get("directory", Path())
    return Path(directory, Path(text).expanduser())


def _read_secret(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, SecretStr):
        return value
    path = _in_directory(value, info)
    try:
        # Opening a pipe without a writer would block.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(LARGEST_SECRET_BYTES + 1) if stat.S_ISREG(mode) else b""
    except OSError as fault:
        raise SettingFault(f"{path} cannot be read: {fault.strerror}", SECRET_HINT) from fault
    if mode & FORBIDDEN_MODE:
        raise SettingFault(f"{path} can be read or changed by others", hint=f"chmod 600 {path}")
    faults = {
        "is no regular file": not stat.S_ISREG(mode),
        "is too large for a secret": len(content) > LARGEST_SECRET_BYTES,
        "is not text": not _is_text(content),
        "is empty": not content.strip(),
    }
    for what, holds in faults.items():
        if holds:
            raise SettingFault(f"{path} {what}", SECRET_HINT)
    return SecretStr(content.decode().strip())


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _checked_secret_path(value: Any, info: ValidationInfo) -> Path:
    if isinstance(value, Path):
        return value
    _read_secret(value, info)
    return _in_directory(value, info)


def _seconds(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9:
        return float(value)
    duration = seconds_in(value) if isinstance(value, str) else None
    if duration is None:
        raise SettingFault("not a duration", hint="write 90s, 8m or 1h")
    return duration


def _checked_url(text: str) -> str:
    parts = urlsplit(text)
    if _CONTROL.search(text) or not parts.scheme or not (parts.hostname or parts.path):
        raise SettingFault("not a URL", hint="write one like https://lab.example.org")
    if parts.password is not None:
        raise SettingFault("a URL with a password in it", hint="put it in a file: redis_url_file, slack_url_file")
    return text.rstrip("/")


def _checked_web_url(text: str) -> str:
    if not text.lower().startswith(("https://", "http://")) or not urlsplit(text).hostname:
        raise SettingFault("not a URL of the web", hint="write one like https://lab.example.org")
    return text


def _checked_secret_url(secret: SecretStr) -> SecretStr:
    _checked_web_url(secret.get_secret_value())
    return secret


def _location_of_cases(text: str, info: ValidationInfo) -> str:
    path = _in_directory(text, info)
    return str(path) if path.exists() else text


def _checked_remote(text: str, info: ValidationInfo) -> str:
    """Return a git remote that `git fetch` can be given; a path is made absolute."""
    if not text:
        return text
    if text.startswith("-") or "::" in text or _CONTROL.search(text):
        # A transport such as ext:: can start any program.
        raise SettingFault("not a git remote", hint="write a URL or the path of a repository")
    scheme, colon, _ = text.partition("://")
    if colon:
        if scheme.lower() not in REMOTE_SCHEMES:
            raise SettingFault(
                f"git remotes of {scheme!r} are not followed", hint=f"one of {', '.join(REMOTE_SCHEMES)}"
            )
        if urlsplit(text).password is not None:
            raise SettingFault("a URL with a password in it", hint="use a credential helper of git")
        return text
    if _SCP_FORM.fullmatch(text):
        return text
    return str(_in_directory(text, info))


Glob: TypeAlias = Annotated[str, Field(min_length=1, max_length=255)]
Engine: TypeAlias = Literal["counted", "timed", "sampled", "traced"]
SecretFile = Annotated[SecretStr, BeforeValidator(_read_secret)]
"""The content of a file, relative to the settings, that only its owner can read."""
SecretPath = Annotated[Path, BeforeValidator(_checked_secret_path)]
"""The path of such a file, for a secret that can change while the lab runs."""
SecretUrl = Annotated[SecretFile, AfterValidator(_checked_secret_url)]
"""A URL in such a file: whoever knows the URL can use it."""
SettingPath = Annotated[Path, BeforeValidator(_in_directory)]
Budget = Annotated[float, BeforeValidator(_seconds)]
Url = Annotated[str, AfterValidator(_checked_url)]
WebUrl = Annotated[Url, AfterValidator(_checked_web_url)]
CasesLocation = Annotated[str, AfterValidator(_location_of_cases)]
"""A directory or file of cases, relative to the settings, or the name of a suite."""
Remote = Annotated[str, AfterValidator(_checked_remote)]
"""A URL that git can fetch from, or the path of a repository, relative to the settings; empty for none."""
