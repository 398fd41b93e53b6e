"""A fleet: the conductor, the bus, and the agents that build and measure."""

from zerolap.fleet.agent import Agent as Agent, AgentPlace as AgentPlace, FilesAreHere as FilesAreHere
from zerolap.fleet.conductor import Conductor as Conductor, Pace as Pace
from zerolap.fleet.delivery import AgentName as AgentName
from zerolap.fleet.in_process import InProcess as InProcess
from zerolap.fleet.known_platforms import machine_named as machine_named
from zerolap.fleet.membership import follow_configuration as follow_configuration
from zerolap.fleet.messages import Hello as Hello
from zerolap.fleet.remote_agent import AgentMachine as AgentMachine, work as work
from zerolap.fleet.roster import ServedPlatform as ServedPlatform, served_platforms as served_platforms
from zerolap.fleet.setup.attempt_tokens import Grant as Grant, Tokens as Tokens
