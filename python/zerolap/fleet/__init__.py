"""A fleet: the conductor, the bus, and the agents that build and measure."""

from zerolap.fleet.conductor import Conductor, Pace
from zerolap.fleet.roster import ServedPlatform
from zerolap.fleet.setup.tokens import Grant, Tokens

__all__ = ["Conductor", "Grant", "Pace", "ServedPlatform", "Tokens"]
