"""A fleet: the conductor, the bus, and the agents that build and measure."""

from zerolap.fleet.agent import Agent, AgentPlace, FilesAreHere
from zerolap.fleet.conductor import Conductor, Pace
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.known_platforms import KnownMachine, machine_named
from zerolap.fleet.membership import follow_configuration
from zerolap.fleet.messages import Hello
from zerolap.fleet.remote_agent import AgentMachine, work
from zerolap.fleet.roster import ServedPlatform, served_platforms
from zerolap.fleet.setup.attempt_tokens import Grant, Tokens

__all__ = [
    "Agent",
    "AgentMachine",
    "AgentName",
    "AgentPlace",
    "Conductor",
    "FilesAreHere",
    "Grant",
    "Hello",
    "InProcess",
    "KnownMachine",
    "Pace",
    "ServedPlatform",
    "Tokens",
    "follow_configuration",
    "machine_named",
    "served_platforms",
    "work",
]
