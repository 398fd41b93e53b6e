"""Reads topologies from a file of the public suites' format."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from zerolap.cases import _document
from zerolap.cases._format import fault
from zerolap.cases._messages import validated
from zerolap.cases._values import near, shown
from zerolap.named_file import read_named_text
from zerolap.records import Topology

ARGUMENTS_OF_OTHERS = {"proactor_threads": "Dragonfly"}
"""Arguments of other programs, which Redis and its relatives do not support."""

_SIZE = re.compile(r"([0-9]+)([kmgt]?)b?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class PublicTopologies:
    """The topologies of a file by name, those left out with the reason, and warnings with file and line."""

    topologies: dict[str, Topology] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]+", str(value)):
        raise fault(f"expected a whole number; found {shown(value)}")
    return int(value)


def _bytes(value: Any) -> int:
    match = _SIZE.fullmatch(str(value).lower())
    if match is None:
        raise fault(f'expected a size such as "10g"; found {shown(value)}')
    return int(match[1]) * int(1024 ** _POWERS[match[2]])


def _settings(value: Any) -> dict[str, str]:
    """Split a command line into settings; a value may have several words, as that of `save`."""
    try:
        words = shlex.split(str(value))
    except ValueError as error:
        raise fault(f"not a command line: {error}") from error
    values: dict[str, list[str]] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word.removeprefix("--")
            if name in values:
                raise fault(f"--{name} is given twice")
            values[name] = []
        elif not name:
            raise fault(f"expected arguments such as --io-threads 2; found {shown(value)}")
        else:
            values[name].append(word)
    return {name: shlex.join(given) for name, given in values.items()}


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Shape(_Part):
    primaries: Annotated[int, BeforeValidator(_count), Field(ge=1)] = 1
    replicas: Annotated[int, BeforeValidator(_count)] = 0
    placement: str = ""


class _Requests(_Part):
    cpus: Annotated[int | None, BeforeValidator(_count)] = None
    memory: Annotated[int | None, BeforeValidator(_bytes)] = None


class _Resources(_Part):
    requests: _Requests = _Requests()


class _Entry(_Part):
    name: str
    type: Literal["oss-standalone", "oss-cluster"]
    redis_topology: _Shape = _Shape()
    redis_arguments: Annotated[dict[str, str], BeforeValidator(_settings)] = Field(default_factory=dict)
    resources: _Resources = _Resources()


def load_topologies(path: Path) -> PublicTopologies:
    """Read a file of the public format, `topologies.yml`.

    Entries with faults, which are warnings, and entries for other programs are left out. Raises `UsageError` if the
    file cannot be read.
    """
    document = _document.read_document(read_named_text(path), str(path))
    result = PublicTopologies()
    for index, raw in enumerate(_setups(document)):
        _take(raw, ("spec", "setups", index), document, result)
    result.warnings.extend(map(str, document.sorted_problems))
    return result


def _setups(document: _document.Document) -> list[Any]:
    spec = document.data.get("spec") if isinstance(document.data, dict) else None
    setups = spec.get("setups") if isinstance(spec, dict) else None
    if isinstance(setups, list):
        return setups
    if not document.problems:
        document.add((), "expected topologies in a list spec.setups")
    return []


def _take(raw: Any, at: _document.Path, document: _document.Document, result: PublicTopologies) -> None:
    if not isinstance(raw, dict):
        document.add(at, f"expected a topology with its fields; found {shown(raw)}")
        return
    before = len(document.problems)
    _note_unknown(raw, _Entry, at, document)
    if isinstance(raw.get("redis_topology"), dict):
        _note_unknown(raw["redis_topology"], _Shape, (*at, "redis_topology"), document)
    entry = validated(_Entry, raw, document, at)
    topology = _topology(entry, at, document) if entry else None
    name = entry.name if entry else raw.get("name")
    if not isinstance(name, str):
        return
    if name in result.topologies or name in result.left_out:
        document.add((*at, "name"), f'topology "{name}" exists already; the first one holds')
        return
    if len(document.problems) > before:
        result.left_out[name] = str(document.problems[before])
    elif topology is not None and (foreign := ARGUMENTS_OF_OTHERS.keys() & topology.settings.keys()):
        result.left_out[name] = f"it is one of {ARGUMENTS_OF_OTHERS[foreign.pop()]}, which the lab does not deploy"
    elif topology is not None:
        result.topologies[name] = topology


def _note_unknown(
    raw: Mapping[str, Any], model: type[BaseModel], at: _document.Path, document: _document.Document
) -> None:
    """Report unknown fields: without them the topology would differ from what its name stands for."""
    for name in raw:
        if name not in model.model_fields:
            document.add((*at, name), "unknown field", near(name, model.model_fields))


def _topology(entry: _Entry, at: _document.Path, document: _document.Document) -> Topology | None:
    is_cluster = entry.type == "oss-cluster"
    fields = {
        "name": entry.name,
        "primaries": entry.redis_topology.primaries,
        "replicas": entry.redis_topology.replicas,
        "is_cluster": is_cluster,
        "settings": entry.redis_arguments,
        "cpus": entry.resources.requests.cpus,
        "memory_bytes": entry.resources.requests.memory,
        "transport": "tcp" if is_cluster else "unix",
    }
    return validated(Topology, fields, document, (*at, "redis_topology"))
