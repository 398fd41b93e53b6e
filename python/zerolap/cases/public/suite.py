"""Builds a case from a file of the public format."""

import re
from pathlib import Path as FilePath
from typing import Any

from zerolap.cases._companions import limits_of
from zerolap.cases._document import Document
from zerolap.cases._public_topologies import PublicTopologies
from zerolap.cases._values import near
from zerolap.cases.public.clients import UnsupportedTool, client_of
from zerolap.cases.public.field_values import (
    CHECK_FIELDS,
    DATABASE_FIELDS,
    DECISIVE_TOP_FIELDS,
    DESCRIPTIVE_FIELDS,
    TOP_FIELDS,
    Fields,
)
from zerolap.cases.public.helpers import acl_patterns
from zerolap.cases.public.setup import settings_of, setup_lines
from zerolap.records import (
    STANDALONE,
    Case,
    Client,
    Dataset,
    Expect,
    Generator,
    Keys,
    SkipReason,
    Topology,
    UsageError,
    WrittenClient,
)

_MARKS = ("clientconfig", "clientconfigs", "dbconfig")
SCRIPTS = frozenset({"eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"})
"""Commands that execute other commands, named in their script."""
OSS_STANDALONE = "oss-standalone"
GEO_POINTS = 1_000_000
NO_CLIENT = WrittenClient(commands=["PING"], data_size=1, connections=1, pipeline=1).client
"""The client of a suite that cannot run."""


def is_public(data: Any) -> bool:
    """Whether the values of a file are a suite of the public format."""
    return isinstance(data, dict) and "cases" not in data and any(mark in data for mark in _MARKS)


def case_of(document: Document, topologies: PublicTopologies) -> Case:
    """Return the case of a suite; faults of the file are in the document's problems and in the case's warnings.

    The case gets the simplest of the suite's topologies. A suite that cannot run has the reason in `cannot_run`.
    """
    suite = Fields(document, document.data)
    suite.lose_misspelt(DECISIVE_TOP_FIELDS)
    suite.warn_of_unknown(TOP_FIELDS)
    name = _name(suite, document)
    database = suite.fields("dbconfig")
    database.lose_unknown(DATABASE_FIELDS, DESCRIPTIVE_FIELDS)
    reason, clients = _clients(suite)
    dataset = _dataset(database, name)
    groups = suite.words("tested-groups")
    if clients:
        _check_tags(suite, clients)
    topology, lacking = _topology(suite.words("redis-topologies"), topologies)
    settings = settings_of(database)
    reason = reason or lacking or (("file", "; ".join(suite.lost)) if suite.lost else None)
    case = Case(
        name=name,
        description=" ".join(suite.text("description").split()),
        group=groups[0] if groups else "other",
        groups=groups,
        # Suites do not declare what requests do to the data.
        state="grows",
        client=clients[0] if clients else NO_CLIENT,
        companions=clients[1:],
        setup=_acl_users(suite),
        dataset=dataset,
        config=settings,
        topology=topology if topology is not None else STANDALONE,
        topologies=suite.words("redis-topologies"),
        memory_bytes=database.fields("resources").fields("requests").bytes("memory"),
        priority=suite.number("priority"),
        cannot_run=reason,
        limits=limits_of(clients[1:]),
        file=document.file,
        line=1,
    )
    return case.model_copy(update={"warnings": [str(problem) for problem in document.sorted_problems]})


def _name(suite: Fields, document: Document) -> str:
    stem = FilePath(document.file).stem
    name = suite.text("name") or stem
    if name != stem:
        suite.warn(("name",), f"the file is called `{stem}`")
    return name


def _clients(suite: Fields) -> tuple[tuple[SkipReason, str] | None, list[Client]]:
    """Return the clients, those that send requests first, or the reason why there are none."""
    entries = suite.each("clientconfigs") if "clientconfigs" in suite else [suite.fields("clientconfig")]
    clients: list[Client] = []
    for entry in entries:
        try:
            clients += client_of(entry)
        except UnsupportedTool as unsupported:
            entry.warn(("tool",), unsupported.message, unsupported.hint)
            return ("unsupported tool", unsupported.message), []
        except UsageError as wrong:
            entry.warn(("arguments",) if "arguments" in entry else (), wrong.message, wrong.hint)
            return ("arguments", wrong.message), []
    if not any(client.sent for client in clients):
        text = "no client sends requests"
        suite.warn(("clientconfigs",), text)
        return ("arguments", text), []
    # Clients that only listen are companions.
    return None, sorted(clients, key=lambda client: not client.sent)


def _topology(names: list[str], known: PublicTopologies) -> tuple[Topology | None, tuple[SkipReason, str] | None]:
    """Return the topology with the fewest busy threads, None for a standalone server, or why there is none."""
    if OSS_STANDALONE in names or not names:
        return None, None
    candidates = [known.topologies[name] for name in names if name in known.topologies]
    if not candidates:
        return None, ("topology", f"no file defines {', '.join(names)}")
    return min(candidates, key=lambda topology: topology.busy_threads), None


def _dataset(database: Fields, name: str) -> Dataset | None:
    clients: list[Client] = []
    if "preload_tool" in database:
        entry = database.fields("preload_tool")
        try:
            clients = [client for client in client_of(entry) if client.sent]
        except UnsupportedTool as unsupported:
            entry.lose(("tool",), f"{unsupported.message}; nothing is loaded", unsupported.hint)
        except UsageError as wrong:
            entry.lose(("arguments",) if "arguments" in entry else (), wrong.message, wrong.hint)
    generator = None
    if "dataset" in database:
        url = database.text("dataset")
        generator = Generator(kind="geo", key="key", count=GEO_POINTS)
        database.warn(
            ("dataset",), f"`{url}` is not fetched: {GEO_POINTS} points of the lab's own generator take its place"
        )
    after_load = setup_lines(database)
    check = database.fields("check")
    check.lose_unknown(CHECK_FIELDS)
    expected = check.number("keyspacelen")
    if not clients and generator is None and not after_load and expected is None:
        return None
    return Dataset(
        name=database.text("dataset_name") or name,
        clients=clients,
        generator=generator,
        keys=clients[0].keys if clients else Keys(pattern="parallel"),
        after_load=after_load,
        expect=Expect(keys=expected),
    )


def _acl_users(suite: Fields) -> list[str]:
    """Return the commands that create the users of broadcast listeners."""
    patterns = [
        pattern
        for entry in suite.each("clientconfigs")
        if entry.text("tool") == "bcast-listener"
        for pattern in acl_patterns(entry.text("arguments").split())
    ]
    return [
        f"ACL SETUSER listener{index} on >listener{index} +@all ~{pattern}" for index, pattern in enumerate(patterns)
    ]


def _check_tags(suite: Fields, clients: list[Client]) -> None:
    """Warn of commands that the file claims to test but no client sends."""
    sent = {command.name.lower() for client in clients for command in client.sent}
    sent |= {line.split()[0].lower() for client in clients for line in client.listening}
    if not sent.isdisjoint(SCRIPTS):
        return
    for index, tag in enumerate(suite.words("tested-commands")):
        verb = re.split(r"[-| ]", tag.lower().strip())[0]
        if verb not in sent and tag.lower() not in sent:
            suite.warn(("tested-commands", index), f"no client sends `{tag}`", near(tag, sent))
