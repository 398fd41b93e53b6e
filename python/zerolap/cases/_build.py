"""Builds cases from the values of a file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from zerolap.cases._companions import companion_of, limits_of
from zerolap.cases._document import Document, Path
from zerolap.cases._expand import (
    combinations,
    filled,
    named_dataset,
    placeholders_of,
    stand_in,
    without_lone_placeholders,
)
from zerolap.cases._format import CaseEntry, DatasetEntry, Outline, RegimeFields
from zerolap.cases._messages import validated
from zerolap.cases._regimes import packaged_regimes, regimes_of
from zerolap.cases._topology import standard_topologies
from zerolap.cases._values import near
from zerolap.records import (
    DEFAULT_DATA_SIZE,
    STANDALONE,
    Case,
    CaseRegimes,
    Client,
    Dataset,
    KeyRange,
    Keys,
    Regime,
    Topology,
    WrittenClient,
)

REGIME_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]*")


def cases_of(document: Document) -> list[Case]:
    """Return the expanded cases of a file; errors are added to the document's problems."""
    if document.data is None:
        if not document.problems:
            document.add((), "the file is empty; expected cases")
        return []
    if not isinstance(document.data, dict):
        document.add((), "expected the fields group, datasets and cases")
        return []
    outline = validated(Outline, document.data, document) or _sound_parts(document.data)
    own = _regimes(outline, document)
    cases = [case for index, raw in enumerate(outline.cases) for case in _expanded(raw, index, outline, own, document)]
    used = {raw.get("dataset") for raw in outline.cases if isinstance(raw.get("dataset"), str)}
    for name, raw in outline.datasets.items():
        if name not in used or document.problems:
            fixed = without_lone_placeholders(raw)
            _dataset(name, fixed, stand_in([name, fixed]), document)
    return cases


def _sound_parts(data: Mapping[str, Any]) -> Outline:
    """Return the parts of a faulty file that can still be checked."""
    group, datasets, cases = data.get("group"), data.get("datasets"), data.get("cases")
    regimes = data.get("regimes")
    return Outline.model_construct(
        group=group if isinstance(group, str) else "unknown",
        unknown_commands="send",
        datasets={n: d for n, d in datasets.items() if isinstance(d, dict)} if isinstance(datasets, dict) else {},
        regimes={n: r for n, r in regimes.items() if isinstance(r, dict)} if isinstance(regimes, dict) else {},
        cases=[case if isinstance(case, dict) else {} for case in cases] if isinstance(cases, list) else [],
    )


def _regimes(outline: Outline, document: Document) -> Sequence[Regime]:
    """Return the regimes that a file states; errors are added to the document's problems."""
    entries = {}
    for name, raw in outline.regimes.items():
        at: Path = ("regimes", name)
        entry = validated(RegimeFields, raw, document, at)
        if not REGIME_NAME.fullmatch(name):
            document.add(at, f'a name of letters, digits, ".", "-", "_" and spaces is expected; found "{name}"')
        elif entry is not None:
            entries[name] = entry
    return regimes_of(entries)


def _case_regimes(entry: CaseEntry, own: Sequence[Regime], document: Document, at: Path) -> CaseRegimes | None:
    known = [*(regime.name for regime in own), *(regime.name for regime in packaged_regimes())]
    for field, patterns in (("regimes", entry.regimes or []), ("without_regimes", entry.without_regimes)):
        for index, pattern in enumerate(patterns):
            if not any(fnmatchcase(name, pattern) for name in known):
                text = f'no regime is called "{pattern}"; there are {", ".join(known)}'
                document.add((*at, field, index), text, near(pattern, known))
    if not own and entry.regimes is None and not entry.without_regimes:
        return None
    return CaseRegimes(own=list(own), only=entry.regimes, without=entry.without_regimes)


def _expanded(
    raw: Mapping[str, Any], index: int, outline: Outline, own: Sequence[Regime], document: Document
) -> Iterator[Case]:
    at: Path = ("cases", index)
    if not raw:
        document.add(at, "expected a case with its fields")
        return
    fields = {name: value for name, value in raw.items() if name != "matrix"}
    for values in combinations(raw, document, at):
        entry = validated(CaseEntry, filled(fields, values, document, at), document, at)
        dataset = _dataset_of_case(raw.get("dataset"), values, outline, document, at)
        case = _case(entry, dataset, outline, document, at) if entry else None
        if case is not None and entry is not None:
            yield case.model_copy(update={"regimes": _case_regimes(entry, own, document, at)})


def _dataset_of_case(
    name: Any, values: Mapping[str, str], outline: Outline, document: Document, at: Path
) -> Dataset | None:
    at = (*at, "dataset")
    if not isinstance(name, str):
        return None
    named = named_dataset(name, values, outline.datasets)
    if named is None:
        known = ", ".join(outline.datasets) or "none"
        document.add(at, f'no data set "{name}" in this file; it has {known}', near(name, outline.datasets))
        return None
    name, values = named
    raw = outline.datasets[name]
    lacking = [axis for axis in placeholders_of([name, raw]) if axis not in values]
    if lacking:
        document.add(at, f"the data set needs {{{lacking[0]}}}, for which the case's matrix has no values")
        return None
    return _dataset(name, raw, values, document)


def _dataset(name: str, raw: Mapping[str, Any], values: Mapping[str, str], document: Document) -> Dataset | None:
    at: Path = ("datasets", name)
    entry = validated(DatasetEntry, filled(raw, values, document, at), document, at)
    if entry is None:
        return None
    if not entry.setup and not entry.load and entry.generator is None:
        document.add(at, "expected setup, load or generator; found none of them")
    if entry.expect.hit_rate is not None:
        document.add((*at, "expect", "hit_rate"), "only a case expects a hit rate")
    if entry.expect.encoding:
        document.add((*at, "expect", "encoding"), "only a case expects an encoding")
    loaded = Keys(pattern="parallel")
    if entry.generator is not None and not entry.load:
        loaded = Keys(prefix="", maximum=entry.generator.count, pattern="parallel")
    keys = _keys(loaded, entry.keys, document, at)
    return Dataset(
        name=filled(name, values, document, at),
        setup=entry.setup,
        load=entry.load,
        keys=keys,
        data_size=entry.data_size,
        random_data=entry.random_data,
        generator=entry.generator,
        expect=entry.expect,
    )


def _case(entry: CaseEntry, dataset: Dataset | None, outline: Outline, document: Document, at: Path) -> Case | None:
    group = entry.group or outline.group
    if group is None:
        document.add((*at, "group"), "missing", "give it in the case, or at the top for all cases of the file")
        return None
    if entry.expect.keys is not None:
        document.add((*at, "expect", "keys"), "only a data set expects a number of keys")
    inherited = dataset.keys.model_copy(update={"pattern": "random"}) if dataset else Keys()
    size = dataset.data_size if dataset else DEFAULT_DATA_SIZE
    client = WrittenClient(
        commands=[command.command for command in entry.commands],
        ratios=[command.ratio for command in entry.commands],
        keys=_keys(inherited, entry.keys, document, at),
        data_size=size if entry.data_size is None else entry.data_size,
        random_data=(dataset is not None and dataset.random_data) if entry.random_data is None else entry.random_data,
        connections=entry.connections,
        pipeline=entry.pipeline,
    )
    copied_fields = {"description", "state", "setup", "expect", "config", "needs"}
    case = Case(
        name=entry.name,
        group=group,
        client=client.client,
        dataset=dataset,
        topology=_topology(entry.topology, document, at),
        memory_bytes=dataset.generator.memory_bytes if dataset and dataset.generator else None,
        skips_unknown=outline.unknown_commands == "skip",
        file=document.file,
        line=document.line_of(at),
        **{name: getattr(entry, name) for name in copied_fields},
    )
    companions = _companions(entry, case, document, at)
    return case.model_copy(update={"companions": companions, "limits": limits_of(companions)})


def _companions(entry: CaseEntry, case: Case, document: Document, at: Path) -> list[Client]:
    clients = []
    for index, companion in enumerate(entry.companions):
        path: Path = (*at, "companions", index)
        if companion.commands and case.topology.primaries > 1:
            text = f"a companion sends to one server; the topology has {case.topology.primaries} primaries"
            document.add((*path, "commands"), text)
        size = case.client.data_size if companion.data_size is None else companion.data_size
        is_random = case.client.random_data if companion.random_data is None else companion.random_data
        values = ["--data-size", str(size), *(["--random-data"] if is_random else [])]
        keys = _keys(case.client.keys, companion.keys, document, path)
        client = companion_of(companion, keys, values, document, path)
        clients += [] if client is None else [client]
    return clients


def _topology(name: str, document: Document, at: Path) -> Topology:
    """Return the package's topology of that name; an unknown name is a problem of the document."""
    known = standard_topologies()
    if name not in known:
        document.add(
            (*at, "topology"), f'no topology is called "{name}"; there are {", ".join(known)}', near(name, known)
        )
    return known.get(name, STANDALONE)


def _keys(inherited: Keys, given: KeyRange, document: Document, at: Path) -> Keys:
    """Return the inherited keys with the given fields replaced."""
    fields = inherited.model_dump() | given.model_dump(include=given.model_fields_set)
    if fields["minimum"] > fields["maximum"]:
        side = "minimum" if "minimum" in given.model_fields_set else "maximum"
        text = f"minimum {fields['minimum']} is above maximum {fields['maximum']}"
        document.add((*at, "keys", side), text)
        return inherited
    return Keys(**fields)
