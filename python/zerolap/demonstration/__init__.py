"""A demonstration: a store with made-up data, to look at every page without measuring anything."""

from zerolap.demonstration.made_up_fleet import keep_agents_reporting as keep_agents_reporting
from zerolap.demonstration.made_up_server import (
    ARM as ARM,
    MACHINES as MACHINES,
    NOT_MEASURED as NOT_MEASURED,
    X86 as X86,
    MadeUpServer as MadeUpServer,
)
from zerolap.demonstration.made_up_store import fill_with_made_up_data as fill_with_made_up_data
