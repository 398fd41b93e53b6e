"""Cases: what is asked of a server, on which data, and what is expected of its replies."""

from zerolap.cases._commands import parse_command
from zerolap.cases._load import core_suite, load_cases
from zerolap.cases._model import Case, Dataset, Expect, Keys
from zerolap.cases._scale import scaled
from zerolap.cases._schema import json_schema
from zerolap.cases._select import select

__all__ = [
    "Case",
    "Dataset",
    "Expect",
    "Keys",
    "core_suite",
    "json_schema",
    "load_cases",
    "parse_command",
    "scaled",
    "select",
]
