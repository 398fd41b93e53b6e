"""How a fleet is set up: its directory, certificates and keys, the configuration of its bus, and how agents join."""

from zerolap.fleet.setup import directory
from zerolap.fleet.setup.certificates import CERTIFICATE, CERTIFICATE_KEY
from zerolap.fleet.setup.configuration import (
    CONDUCTOR,
    CONFIGURATION,
    AgentKind,
    FleetConfiguration,
    PlatformRequirement,
    new_configuration,
    read_configuration,
)
from zerolap.fleet.setup.credentials import read_agent_credentials, read_conductor_credentials
from zerolap.fleet.setup.directory import (
    SERVER_CONFIGURATION,
    add_agent,
    reload_bus,
    revoke_agent,
    rotate_key,
    rotate_password,
)
from zerolap.fleet.setup.join_messages import (
    AUTHORITY_PATH,
    JOIN_PATH,
    JoinAnswer,
    JoinRequest,
    JoinToken,
    join,
    secret_digest,
)
from zerolap.fleet.setup.units import UNITS

__all__ = [
    "AUTHORITY_PATH",
    "CERTIFICATE",
    "CERTIFICATE_KEY",
    "CONDUCTOR",
    "CONFIGURATION",
    "JOIN_PATH",
    "SERVER_CONFIGURATION",
    "UNITS",
    "AgentKind",
    "FleetConfiguration",
    "JoinAnswer",
    "JoinRequest",
    "JoinToken",
    "PlatformRequirement",
    "add_agent",
    "directory",
    "join",
    "new_configuration",
    "read_agent_credentials",
    "read_conductor_credentials",
    "read_configuration",
    "reload_bus",
    "revoke_agent",
    "rotate_key",
    "rotate_password",
    "secret_digest",
]
