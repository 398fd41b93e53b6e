"""Records survive their JSON form, and digests follow what they stand for and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from zerolap.cases import core_suite, load_cases
from zerolap.records import (
    STANDALONE,
    Amounts,
    ArchiveSource,
    BinarySource,
    Block,
    Build,
    BuildDone,
    BuildJob,
    BuildSpec,
    Case,
    Check,
    Dataset,
    EndpointSource,
    Event,
    Expect,
    Generator,
    Job,
    JobFailed,
    JobFinished,
    JobStarted,
    Keys,
    Measurement,
    Note,
    Platform,
    Progress,
    Record,
    Request,
    RequestedServer,
    Resolved,
    ResolvedServer,
    Revision,
    RevisionSource,
    SeriesKey,
    ServerSpec,
    Settings,
    Skipped,
    Source,
    Topology,
    TreeSource,
    TrialDone,
    TrialsJob,
    Validity,
    Windows,
    WrittenClient,
    event_json,
    job_json,
    read_event,
    read_job,
)

SPEC = BuildSpec(content="4b825dc6", variant="clang,-O2", recipe=3, tools=("clang 14", "lld 14"), arguments=("-x",))
SOURCES: list[Source] = [
    EndpointSource(name="tcp://localhost:6379"),
    BinarySource(name="redis-server", path=Path("/usr/bin/redis-server"), arguments=("--hz", "10")),
    TreeSource(name=".", path=Path("/src")),
    RevisionSource(
        name="HEAD",
        repository=Path("/src"),
        revision=Revision(
            repository="/src", commit="c" * 40, parents=("a" * 40, "b" * 40), time="2026-11-20T21:00:00Z", subject="é"
        ),
    ),
]
ARCHIVE = ArchiveSource(name="HEAD", form="tree", content="d" * 40, archive="e" * 64)
BUILD = Build(
    build=SPEC.digest,
    version="7.2.4",
    build_id="ff",
    flags="-O2 -g",
    compiler="clang 14",
    stripped=True,
    variant="clang,-O2",
    allocator="jemalloc-5.3.0",
    architecture="x86_64",
    libc="glibc 2.36",
    source_root="/build",
    arguments=("-x",),
    path="/usr/bin/redis-server",
)
PLATFORM = Platform(
    name="laptop", fingerprint="p-1", cpu="a cpu", cores=2, kernel="6.1", facts={"microcode": "0x1", "turbo": ""}
)
CLUSTER = Topology(
    name="cluster", primaries=3, replicas=1, is_cluster=True, settings={"save": ""}, cpus=6, transport="tcp"
)
DATASET = Dataset(
    name="strings",
    setup=["SET a 1"],
    load=["SET __key__ __data__"],
    keys=Keys(prefix="k:", minimum=1, maximum=1000, pattern="parallel"),
    data_size=100,
    generator=Generator(kind="geo", key="places", count=10),
    after_load=["DEL a"],
    expect=Expect(keys=1000),
)
WRITTEN = WrittenClient(
    commands=["GET __key__", "SET __key__ __data__"], ratios=[9, 1], keys=Keys(minimum=1, maximum=1000)
)
CASE = Case(
    name="mixed",
    description="reads and writes",
    group="string",
    client=WRITTEN.client,
    setup=["SET b 1"],
    dataset=DATASET,
    expect=Expect(hit_rate=">= 0.99"),
    topology=CLUSTER,
    config={"maxmemory": "1gb"},
    warnings=["own.yml:3: odd"],
    limits=["without `save`"],
    cannot_run=("memory", "too large"),
    file="own.yml",
    line=3,
)
SETTINGS = Settings(engines=["counted"], min_effect={"counted": 0.005}, q=0.01, budget_seconds=None, seed=2**64 - 1)
SERVER = ServerSpec(build=SPEC.digest, topology=CLUSTER, config={"hz": "50"})
BUILD_JOB = BuildJob(request="c-1", source=ARCHIVE, variant="clang,-O2", spec=SPEC)
TRIALS_JOB = TrialsJob(
    request="c-1",
    case=CASE,
    servers={"head": SERVER, "base": SERVER, "third": SERVER},
    engine="counted",
    blocks=(Block(number=0, seed=2**64 - 1), Block(number=1, seed=0)),
    amounts=Amounts(
        windows=Windows(small=100, large=300), scale=0.1, pairs=4, slice_requests=7, per_second=9, alone=True
    ),
    load_tool="memtier_benchmark",
    seconds_left=0.1 + 0.2,
)
MEASUREMENT = Measurement(
    metrics={"instructions_per_op": 0.1 + 0.2},
    validity=Validity.of([Check(check="hit_rate", ok=False, value=0.5, limit=">= 0.99")]),
    amounts=TRIALS_JOB.amounts,
    graph="a" * 64,
    timeline="b" * 64,
    stacks="c" * 64,
    executed="d" * 64,
    executed_code="e" * 64,
    seconds=1.5,
    method=3,
    zerolap="0.1",
    began="2026-11-20T21:00:00Z",
    facts="f" * 32,
    instrument="valgrind 3.19.0",
    load_host="load",
)
EVENTS: list[Event] = [
    JobStarted(job="j-1"),
    Progress(activity="timing", subject="mixed", cases=3, done=1, expected=18),
    BuildDone(job="j-1", build=BUILD),
    TrialDone(job="j-1", block=2, measurements={"head": MEASUREMENT, "base": MEASUREMENT}),
    JobFailed(job="j-1", reason="died", hint="look", details="log\n\x1b", side="head", block=0, refused=True),
    Note(text="the host was noisy"),
    JobFinished(job="j-1", cut_short=True),
]
REQUEST = Request(
    id="c-1",
    kind="compare",
    created="2026-11-20T21:00:00Z",
    command_line="zerolap compare",
    servers={
        "base": RequestedServer(source=SOURCES[2], variant="default", config={"hz": "10"}),
        "head": RequestedServer(source=SOURCES[3], variant="clang,-O2"),
    },
    cases=(CASE,),
    settings=SETTINGS,
    platform="laptop",
    priority="backfill",
    topic="unstable",
    trigger="nightly",
    all_stacks=True,
    notes=("a note",),
)
RESOLVED = Resolved(
    request=REQUEST,
    platform=PLATFORM,
    servers={
        side: ResolvedServer(source=server.source, variant=server.variant, spec=SPEC, config=server.config)
        for side, server in REQUEST.servers.items()
    },
    cases=REQUEST.cases,
    skipped=(Skipped(case="large", reason="memory", text="64 GiB"),),
    notes=("a note", "another"),
)
SERIES = SeriesKey(
    case="mixed",
    case_digest=CASE.digest,
    metric="cpu_ns_per_op",
    engine="timed",
    topology="cluster",
    config=(("hz", "50"), ("maxmemory", "1gb")),
    variant="default",
    platform="p-1",
    method=3,
    placed=True,
    resident=2,
    load_host="load",
    compiler="GNU C11 12.2.0",
    libc="glibc 2.36",
)


# JSON


def again(record: Record) -> Record:
    """Return a record after it was written and read."""
    return type(record).model_validate_json(record.model_dump_json(by_alias=True))


@pytest.mark.parametrize(
    "record",
    [
        BUILD,
        PLATFORM,
        REQUEST,
        SERIES,
        ARCHIVE,
        SPEC,
        SERVER,
        MEASUREMENT,
        CASE,
        BUILD_JOB,
        TRIALS_JOB,
        *SOURCES,
        *EVENTS,
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_survives_json(record: Record) -> None:
    read = again(record)
    assert read == record
    assert type(read) is type(record)
    for name in ("digest", "id"):
        assert getattr(read, name, None) == getattr(record, name, None)
    # The order of sides is that of the request, whatever JSON they went through.
    assert list(getattr(read, "servers", ())) == list(getattr(record, "servers", ()))
    assert read.model_dump_json() == record.model_dump_json()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.kind)
def test_a_source_is_read_as_what_it_is(source: Source) -> None:
    adapter: TypeAdapter[Source] = TypeAdapter(Source)
    assert adapter.validate_json(adapter.dump_json(source)) == source


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.event)
def test_an_event_is_read_as_what_it_is(event: Event) -> None:
    line = event_json(event)
    assert "\n" not in line
    assert '"schema":"zerolap.event/1"' in line
    assert read_event(line) == event


@pytest.mark.parametrize("job", [BUILD_JOB, TRIALS_JOB], ids=lambda job: job.kind)
def test_a_job_is_read_as_what_it_is(job: Job) -> None:
    text = job_json(job)
    assert '"schema":"zerolap.job/1"' in text
    assert read_job(text) == job
    assert read_job(text).id == job.id


def test_a_case_is_written_in_the_words_of_case_files() -> None:
    document = CASE.model_dump(mode="json")
    assert [*document][:8] == ["name", "description", "group", "commands", "ratios", "keys", "data_size", "random_data"]
    assert document["commands"] == ["GET __key__", "SET __key__ __data__"]
    assert (document["ratios"], document["connections"], document["pipeline"]) == ([9, 1], 20, 16)
    assert document["keys"] == {"prefix": "key:", "minimum": 1, "maximum": 1000, "pattern": "random"}
    assert document["client"] is None


def test_a_client_of_which_case_files_cannot_say_all_is_written_too(tmp_path: Path) -> None:
    ended = CASE.client.model_copy(update={"requests": 1000})
    for case in (client_case(tmp_path), CASE.model_copy(update={"client": ended})):
        document = case.model_dump(mode="json")
        assert document["commands"] == [command.line for command in case.client.sent]
        assert document["client"] == case.client.model_dump(mode="json")
        assert again(case) == case


def test_all_cases_of_the_package_survive_json() -> None:
    cases = [*core_suite(), *load_cases(Path("geo"))]
    assert [again(case) for case in cases] == cases
    assert len({case.digest for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_event, '{"schema": "zerolap.event/2", "event": "note", "text": "later"}'),
        (read_event, '{"schema": "zerolap.event/1", "event": "unheard", "text": "of"}'),
        (read_event, '{"schema": "zerolap.event/1", "event": "note", "text": "of", "more": 1}'),
        (read_job, '{"schema": "zerolap.job/1", "kind": "trials"}'),
        (Case.model_validate_json, '{"name": "a", "group": "g"}'),
        (Case.model_validate_json, '{"name": "a", "group": "g", "commands": 1}'),
        (Case.model_validate_json, '{"name": "a", "group": "g", "commands": []}'),
        (Case.model_validate_json, '{"name": "a", "group": "g", "commands": ["GET k"], "ratios": [1, 2]}'),
        (Case.model_validate_json, '{"name": "a", "group": "g", "commands": ["GET k"], "keys": {"minimum": 2}}'),
        (Case.model_validate_json, '{"name": "a", "group": "g", "commands": ["GET k"], "more": 1}'),
        (read_job, "[]"),
    ],
)
def test_another_form_is_refused(read: Any, text: str) -> None:
    with pytest.raises(ValidationError):
        read(text)


# Digests


CLIENT_SUITE = """\
version: 0.4
name: {name}
description: reads
dbconfig:
  preload_tool:
    tool: memtier_benchmark
    arguments: --key-maximum 1000 --key-pattern P:P --ratio 1:0 -n allkeys -c 1 -t 1{preload}
tested-commands: [get]
tested-groups: [string]
redis-topologies: [oss-standalone]
clientconfig:
  run_image: image
  tool: memtier_benchmark
  arguments: --key-maximum 1000 --ratio 0:1 -c 5 -t 2 --test-time 60{client}
"""


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"description": "other"},
        {"group": "hash", "groups": ["hash", "list"]},
        {"topology": STANDALONE, "topologies": ["standalone"]},
        {"config": {}},
        {"expect": Expect(reply="bulk", errors=3)},
        {"warnings": []},
        {"limits": []},
        {"cannot_run": None},
        {"memory_bytes": 1 << 30},
        {"priority": 1},
        {"file": "other.yml", "line": 99},
        {"dataset": DATASET.model_copy(update={"name": "other"})},
        {"dataset": DATASET.model_copy(update={"expect": Expect()})},
    ],
    ids=",".join,
)
def test_what_a_case_is_called_and_how_it_is_deployed_is_not_in_its_digest(change: dict[str, Any]) -> None:
    changed = CASE.model_copy(update=change)
    assert changed != CASE
    assert changed.digest == CASE.digest


def of_client(**changes: Any) -> dict[str, Any]:
    return {"client": WRITTEN.model_copy(update=changes).client}


def of_dataset(**changes: Any) -> dict[str, Any]:
    return {"dataset": DATASET.model_copy(update=changes)}


@pytest.mark.parametrize(
    "change",
    [
        of_client(commands=["GET __key__", "SET __key__ value"]),
        of_client(commands=["SET __key__ __data__", "GET __key__"]),
        of_client(ratios=[1, 9]),
        of_client(keys=Keys(minimum=1, maximum=1001)),
        of_client(keys=Keys(prefix="other:", minimum=1, maximum=1000)),
        of_client(keys=Keys(minimum=1, maximum=1000, pattern="sequential")),
        of_client(data_size=33),
        of_client(random_data=True),
        of_client(connections=21),
        of_client(pipeline=17),
        {"client": CASE.client.model_copy(update={"requests": 1000})},
        {"client": CASE.client.model_copy(update={"given": []})},
        {"setup": []},
        {"dataset": None},
        of_dataset(setup=[]),
        of_dataset(load=["SET __key__ other"]),
        of_dataset(keys=Keys(prefix="k:", minimum=1, maximum=999, pattern="parallel")),
        of_dataset(data_size=101),
        of_dataset(random_data=True),
        of_dataset(generator=None),
        of_dataset(generator=Generator(kind="geo", key="places", count=11)),
        of_dataset(after_load=[]),
    ],
)
def test_what_a_case_sends_and_stores_is_in_its_digest(change: dict[str, Any]) -> None:
    assert CASE.model_copy(update=change).digest != CASE.digest


def client_case(directory: Path, name: str = "one", preload: str = "", client: str = "") -> Case:
    file = directory / "suite.yml"
    file.write_text(CLIENT_SUITE.format(name=name, preload=preload, client=client))
    [case] = load_cases(file)
    assert case.is_public
    return case


def test_the_digest_of_a_suite_of_the_public_format(tmp_path: Path) -> None:
    case = client_case(tmp_path)
    assert client_case(tmp_path, name="two").digest == case.digest
    odd = case.model_copy(update={"client": case.client.model_copy(update={"warnings": ["odd"]})})
    assert odd.digest == case.digest
    others = [
        client_case(tmp_path, client=" --pipeline 2"),
        client_case(tmp_path, client=" -d 64"),
        client_case(tmp_path, client=" --key-prefix other"),
        client_case(tmp_path, preload=" -d 64"),
        case.model_copy(update={"companions": [case.client]}),
    ]
    assert len({other.digest for other in [case, *others]}) == len(others) + 1


def test_the_digest_of_a_build_is_of_its_content() -> None:
    changes: list[dict[str, Any]] = [
        {"content": "other"},
        {"variant": "gcc"},
        {"recipe": 4},
        {"tools": ("clang 15", "lld 14")},
        {"tools": ("clang 14",), "arguments": ("lld 14", "-x")},
        {"arguments": ()},
    ]
    assert len({SPEC.model_copy(update=change).digest for change in [{}, *changes]}) == len(changes) + 1


def test_the_id_of_a_build_job_is_of_what_is_built() -> None:
    renamed = BUILD_JOB.model_copy(update={"source": ARCHIVE.model_copy(update={"name": "another"})})
    assert renamed.id == BUILD_JOB.id
    assert BUILD_JOB.model_copy(update={"request": "c-2"}).id != BUILD_JOB.id
    other = SPEC.model_copy(update={"content": "other"})
    assert BUILD_JOB.model_copy(update={"spec": other}).id != BUILD_JOB.id


def test_the_id_of_a_job_of_trials() -> None:
    """What is left of the budget is another each time that a request goes on."""
    assert TRIALS_JOB.model_copy(update={"seconds_left": None}).id == TRIALS_JOB.id
    changes: list[dict[str, Any]] = [
        {"request": "c-2"},
        {"case": CASE.model_copy(update=of_client(pipeline=1))},
        {"case": CASE.model_copy(update={"name": "other"})},
        {"engine": "timed"},
        {"blocks": TRIALS_JOB.blocks[:1]},
        {"amounts": Amounts()},
        {"load_tool": None},
        {"servers": {"head": SERVER}},
        {"servers": {**TRIALS_JOB.servers, "head": SERVER.model_copy(update={"config": {}})}},
    ]
    assert len({TRIALS_JOB.model_copy(update=change).id for change in [{}, *changes]}) == len(changes) + 1


def test_the_digest_of_what_a_request_means_is_of_what_is_measured() -> None:
    def of(**changes: Any) -> str:
        asked = {name: changes.pop(name) for name in list(changes) if name in Request.model_fields.keys() - {"cases"}}
        changes.pop("request", None)
        if "servers" in asked:
            changes["servers"] = asked.pop("servers")
        if "platform" in asked:
            changes["platform"] = asked.pop("platform")
        request = REQUEST.model_copy(update=asked)
        return RESOLVED.model_copy(update={**changes, "request": request}).digest

    same: list[dict[str, Any]] = [
        {"id": "c-2"},
        {"created": "2027-01-01T00:00:00Z"},
        {"command_line": "zerolap compare a b"},
        {"notes": ()},
        {"priority": "pull", "trigger": "command line"},
        # A kernel's patch is no reason to begin again.
        {"platform": PLATFORM.model_copy(update={"kernel": "6.2", "facts": {}})},
        {"cases": (CASE.model_copy(update={"description": "other", "file": "other.yml", "line": 9}),)},
    ]
    for change in same:
        assert of(**change) == RESOLVED.digest, change
    base, head = RESOLVED.servers["base"], RESOLVED.servers["head"]
    other = SPEC.model_copy(update={"content": "other"})
    different: list[dict[str, Any]] = [
        {"kind": "run"},
        {"servers": {"base": head, "head": base}},
        {"servers": {"base": base, "head": head.model_copy(update={"spec": other})}},
        {"servers": {"base": base, "head": head.model_copy(update={"config": {"hz": "1"}})}},
        {"cases": (CASE.model_copy(update=of_client(pipeline=1)),)},
        {"cases": (CASE.model_copy(update={"topology": STANDALONE}),)},
        {"cases": (CASE.model_copy(update={"config": {}}),)},
        {"cases": (CASE.model_copy(update={"expect": Expect()}),)},
        {"cases": (CASE.model_copy(update={"dataset": DATASET.model_copy(update={"expect": Expect()})}),)},
        {"cases": (CASE.model_copy(update={"topology": CLUSTER.model_copy(update={"settings": {}})}),)},
        {"cases": ()},
        {"settings": SETTINGS.model_copy(update={"quick": True})},
        {"platform": PLATFORM.model_copy(update={"fingerprint": "p-2"})},
        {"all_stacks": False},
    ]
    digests = {of(**change) for change in [{}, *different]}
    assert len(digests) == len(different) + 1
    # A seed is another one each time: the same command goes on with what was measured by the recorded one.
    assert of(settings=SETTINGS.model_copy(update={"seed": 1})) == of()


def test_points_that_differ_in_anything_are_of_other_series() -> None:
    others: dict[str, Any] = {"method": 4, "config": (("hz", "1"),), "placed": False, "resident": 1}
    changes = [{name: others.get(name, "other")} for name in SeriesKey.model_fields]
    assert len({SERIES.model_copy(update=change).digest for change in [{}, *changes]}) == len(changes) + 1
