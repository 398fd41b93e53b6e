"""A demonstration: a store with made-up data, to look at every page without measuring anything."""

from zerolap.demonstration.made_up_fleet import keep_agents_reporting
from zerolap.demonstration.made_up_server import ARM, MACHINES, NOT_MEASURED, X86, MadeUpServer
from zerolap.demonstration.made_up_store import fill_with_made_up_data

__all__ = [
    "ARM",
    "MACHINES",
    "NOT_MEASURED",
    "X86",
    "MadeUpServer",
    "fill_with_made_up_data",
    "keep_agents_reporting",
]
