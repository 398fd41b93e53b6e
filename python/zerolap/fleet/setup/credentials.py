"""What agents and the conductor identify themselves to the bus with, in files that only their owner can read."""

import contextlib
import os
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, model_validator

from zerolap.errors import UsageError
from zerolap.fleet.setup import toml_files
from zerolap.fleet.setup.agent_keys import AgentKey
from zerolap.fleet.setup.configuration import CONDUCTOR, AgentKind, BusAddress, Name
from zerolap.fleet.setup.toml_files import FilePart

FOR_OTHERS: Final = 0o077
CREDENTIALS_DIRECTORY: Final = "CREDENTIALS_DIRECTORY"


def _checked_seed(text: str) -> str:
    if text:
        AgentKey.read(text)
    return text


class BusCredentials(FilePart):
    """What is needed to connect to the bus: a password, or a private key of an agent that has joined.

    `certificate_authority` is the PEM text of a certificate.
    """

    bus: BusAddress
    user: str
    password: str = Field(default="", repr=False)
    key: Annotated[str, AfterValidator(_checked_seed)] = Field(default="", repr=False)
    certificate_authority: str = Field(repr=False)

    @model_validator(mode="after")
    def _check(self) -> "BusCredentials":
        if bool(self.password) == bool(self.key):
            raise ValueError("either `password` or `key` has to be set")
        return self


class ConductorCredentials(BusCredentials):
    """What the conductor needs to connect."""


class AgentCredentials(BusCredentials):
    """What an agent needs to connect, and who it is to the bus; `artifacts` is a URL."""

    artifacts: str
    lab: Name
    platform: Name
    agent: Name
    kind: AgentKind


def read_agent_credentials(path: Path) -> AgentCredentials:
    """Return the credentials in an agent's file; raises `UsageError`, also if others can read it."""
    _require_private(path)
    return toml_files.read(path, AgentCredentials, "zerolap agent join makes it")


def read_conductor_credentials(directory: Path) -> ConductorCredentials:
    """Return the credentials of the conductor from the directory of a fleet.

    Raises `UsageError`, also if others can read them.
    """
    hint = f"zerolap fleet init {directory} makes it"
    _require_private(directory / f"{CONDUCTOR}.toml")
    return toml_files.read(directory / f"{CONDUCTOR}.toml", ConductorCredentials, hint)


def write_credentials(path: Path, credentials: BusCredentials) -> None:
    """Write a file that only its owner can read."""
    content = {key: value for key, value in credentials.model_dump().items() if value}
    toml_files.write(path, toml_files.table(content))


def _require_private(path: Path) -> None:
    """Raise `UsageError` if others than its owner can read a file with secrets.

    In the directory of a unit's credentials systemd itself keeps others from them, and the mode shows more.
    """
    credentials = os.environ.get(CREDENTIALS_DIRECTORY)
    if credentials and path.resolve().is_relative_to(Path(credentials).resolve()):
        return
    with contextlib.suppress(OSError):
        # What cannot be read is reported by the reading.
        if path.is_file() and path.stat().st_mode & FOR_OTHERS:
            raise UsageError(f"{path} can be read or changed by others than its owner", hint=f"chmod 600 {path}")
