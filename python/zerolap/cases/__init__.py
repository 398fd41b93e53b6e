"""Cases: what is asked of a server, on which data, and what is expected of its replies."""

from zerolap.cases._client import Client, ClientCommand
from zerolap.cases._commands import parse_command
from zerolap.cases._load import core_suite, known_topologies, load_cases, packaged_suites
from zerolap.cases._model import Case, Dataset, Expect, Generator, Keys
from zerolap.cases._public_topologies import PublicTopologies, load_topologies
from zerolap.cases._scale import QUICK_SCALE, quick_factor, scaled
from zerolap.cases._schema import json_schema
from zerolap.cases._select import select
from zerolap.cases._topology import Topology, Transport, standard_topologies, topology_named

__all__ = [
    "QUICK_SCALE",
    "Case",
    "Client",
    "ClientCommand",
    "Dataset",
    "Expect",
    "Generator",
    "Keys",
    "PublicTopologies",
    "Topology",
    "Transport",
    "core_suite",
    "json_schema",
    "known_topologies",
    "load_cases",
    "load_topologies",
    "packaged_suites",
    "parse_command",
    "quick_factor",
    "scaled",
    "select",
    "standard_topologies",
    "topology_named",
]
