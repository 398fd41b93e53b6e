"""Reads cases: the commands that are sent to a server, the data they work on, and the expected replies."""

from zerolap.cases._excused import excused_commands as excused_commands
from zerolap.cases._format import json_schema as json_schema
from zerolap.cases._load import (
    ALL_SUITES as ALL_SUITES,
    core_suite as core_suite,
    known_topologies as known_topologies,
    load_cases as load_cases,
    packaged_cases as packaged_cases,
    packaged_suites as packaged_suites,
)
from zerolap.cases._public_topologies import PublicTopologies as PublicTopologies, load_topologies as load_topologies
from zerolap.cases._regimes import (
    cases_in_regimes_named as cases_in_regimes_named,
    in_regime as in_regime,
    packaged_regimes as packaged_regimes,
    regimes_of_case as regimes_of_case,
)
from zerolap.cases._scale import scaled as scaled
from zerolap.cases._select import select as select
from zerolap.cases._topology import (
    obstacle_of as obstacle_of,
    standard_topologies as standard_topologies,
    topology_named as topology_named,
)
from zerolap.cases._written import case_file_of as case_file_of
