"""How a fleet is set up: its directory, certificates and keys, the configuration of its bus, and how agents join."""

from zerolap.fleet.setup import directory as directory
from zerolap.fleet.setup.certificates import CERTIFICATE as CERTIFICATE, CERTIFICATE_KEY as CERTIFICATE_KEY
from zerolap.fleet.setup.configuration import (
    CONDUCTOR as CONDUCTOR,
    CONFIGURATION as CONFIGURATION,
    AgentKind as AgentKind,
    FleetConfiguration as FleetConfiguration,
    PlatformRequirement as PlatformRequirement,
    new_configuration as new_configuration,
    read_configuration as read_configuration,
)
from zerolap.fleet.setup.credentials import (
    read_agent_credentials as read_agent_credentials,
    read_conductor_credentials as read_conductor_credentials,
)
from zerolap.fleet.setup.directory import (
    SERVER_CONFIGURATION as SERVER_CONFIGURATION,
    add_agent as add_agent,
    reload_bus as reload_bus,
    revoke_agent as revoke_agent,
    rotate_key as rotate_key,
    rotate_password as rotate_password,
)
from zerolap.fleet.setup.join_messages import (
    AUTHORITY_PATH as AUTHORITY_PATH,
    JOIN_PATH as JOIN_PATH,
    JoinReply as JoinReply,
    JoinRequest as JoinRequest,
    JoinToken as JoinToken,
    join as join,
    secret_digest as secret_digest,
)
from zerolap.fleet.setup.units import UNITS as UNITS
