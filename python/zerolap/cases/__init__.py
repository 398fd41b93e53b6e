"""Reads cases: the commands that are sent to a server, the data they work on, and the expected replies."""

from zerolap.cases._load import core_suite, known_topologies, load_cases, packaged_suites
from zerolap.cases._public_topologies import PublicTopologies, load_topologies
from zerolap.cases._scale import QUICK_SCALE, quick_factor, scaled
from zerolap.cases._schema import json_schema
from zerolap.cases._select import select
from zerolap.cases._topology import obstacle_of, standard_topologies, topology_named
from zerolap.cases._written import case_file_of

__all__ = [
    "QUICK_SCALE",
    "PublicTopologies",
    "case_file_of",
    "core_suite",
    "json_schema",
    "known_topologies",
    "load_cases",
    "load_topologies",
    "obstacle_of",
    "packaged_suites",
    "quick_factor",
    "scaled",
    "select",
    "standard_topologies",
    "topology_named",
]
