"""Topologies: those that come with the package, those of a public file, and how faults are reported."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from zerolap.cases import PublicTopologies, load_topologies, obstacle_of, standard_topologies, topology_named
from zerolap.records import Topology, UsageError

SUITES = os.environ.get("ZEROLAP_PUBLIC_SUITES") or None
GIBIBYTE = 1024**3


def read(directory: Path, text: str) -> PublicTopologies:
    file = directory / "topologies.yml"
    file.write_text(text)
    return load_topologies(file)


def entry(name: str, *lines: str, kind: str = "oss-standalone") -> str:
    return "\n".join([f"  - name: {name}", f"    type: {kind}", *(f"    {line}" for line in lines), ""])


def test_what_comes_with_the_package() -> None:
    known = standard_topologies()
    assert {name: topology.busy_threads for name, topology in known.items()} == {
        "standalone": 1,
        "unix": 1,
        "tcp": 1,
        "tls": 1,
        "io-threads-2": 2,
        "io-threads-4": 4,
        "io-threads-8": 8,
        "replicas-1": 2,
        "replicas-2": 3,
        "cluster-3": 3,
        "cluster-3-replicas-1": 6,
        "aof": 1,
        "aof-always": 1,
        "rdb": 1,
    }
    plain = {name for name, topology in known.items() if not topology.needs_network}
    assert plain == {
        "standalone",
        "unix",
        "io-threads-2",
        "io-threads-4",
        "io-threads-8",
        "aof",
        "aof-always",
        "rdb",
    }
    ignored = {"name", "description"}
    assert known["unix"].model_dump(exclude=ignored) == known["standalone"].model_dump(exclude=ignored)
    assert all(topology.description for topology in known.values())


def test_a_name_that_is_nearly_right() -> None:
    assert topology_named("cluster-3").primaries == 3
    with pytest.raises(UsageError, match='no topology is called "cluster-4"') as caught:
        topology_named("cluster-4")
    assert 'did you mean "cluster-3"?' in caught.value.hint
    assert "standalone" in caught.value.hint


def test_snapshots_are_compared_by_a_verb_of_their_own() -> None:
    with pytest.raises(UsageError, match="snapshots are no topology") as caught:
        topology_named("snapshot")
    assert "zerolap snapshot HEAD --base BASE" in caught.value.hint


def test_parts_that_do_not_fit() -> None:
    with pytest.raises(ValidationError, match="2 primaries make a cluster"):
        Topology(name="two", primaries=2)
    with pytest.raises(ValidationError, match="reached over tcp; found unix"):
        Topology(name="cluster", primaries=3, is_cluster=True)


def test_why_one_cannot_run_here(tmp_path: Path) -> None:
    missing = Topology(name="search", settings={"loadmodule": "/nowhere/module.so option"})
    assert obstacle_of(missing) == "its setting `loadmodule` names /nowhere/module.so, which is not there"
    module = tmp_path / "module.so"
    module.touch()
    assert obstacle_of(Topology(name="search", settings={"loadmodule": f"{module} option"})) is None
    many = Topology(name="many", cpus=4096, settings={"io-threads": "4096"})
    assert obstacle_of(many) is None
    assert many.busy_threads == 4096


def test_an_entry_of_a_file(tmp_path: Path) -> None:
    arguments = "redis_arguments: --io-threads 2 --save 10 1000 --loadmodule '/a b.so'"
    shape = "redis_topology: {primaries: 1, replicas: 2, placement: sparse}"
    resources = 'resources: {requests: {cpus: "6", memory: "20g"}}'
    found = read(tmp_path, "spec:\n  setups:\n" + entry("both", arguments, shape, resources))
    assert found.warnings == []
    assert found.topologies["both"] == Topology(
        name="both",
        replicas=2,
        settings={"io-threads": "2", "save": "10 1000", "loadmodule": "'/a b.so'"},
        cpus=6,
        memory_bytes=20 * GIBIBYTE,
    )
    assert found.topologies["both"].busy_threads == 6


def test_faults_are_warnings_with_their_lines(tmp_path: Path) -> None:
    text = "spec:\n  setups:\n" + "".join(
        [
            entry("good"),
            entry("kind", kind="oss-clutser"),
            entry("several", "redis_topology: {primaries: 3, replicas: 0}"),
            entry("size", "resources: {requests: {memory: much}}"),
            entry("number", "redis_topology: {primaries: some}"),
            entry("word", "redis_arguments: io-threads 2"),
            entry("quotes", "redis_arguments: --save '10"),
            entry("twice", "redis_arguments: --save 1 1 --save 2 2"),
            entry("field", "redis_argument: --save 1 1"),
            entry("good"),
            "  - just text\n",
        ]
    )
    found = read(tmp_path, text)
    assert list(found.topologies) == ["good"]
    expected = {
        "kind": (6, 'field "spec.setups[1].type": expected one of oss-standalone, oss-cluster; found "oss-clutser"'),
        "several": (9, "3 primaries make a cluster; found one that is none"),
        "size": (12, 'memory": expected a size such as "10g"; found "much"'),
        "number": (15, 'primaries": expected a whole number; found "some"'),
        "word": (18, "expected arguments such as --io-threads 2"),
        "quotes": (21, "not a command line"),
        "twice": (24, "--save is given twice"),
        "field": (27, 'redis_argument": unknown field'),
    }
    lines = [number for number, _ in expected.values()] + [28, 30]
    assert [int(warning.split(":")[1]) for warning in found.warnings] == lines
    for (name, (number, fault)), warning in zip(expected.items(), found.warnings, strict=False):
        assert warning.startswith(f"{tmp_path / 'topologies.yml'}:{number}: ")
        assert fault in warning
        assert found.left_out[name] == warning
    assert 'topology "good" exists already' in found.warnings[-2]
    assert 'expected a topology with its fields; found "just text"' in found.warnings[-1]
    with pytest.raises(UsageError, match=r'"several" cannot be used: .*make a cluster'):
        topology_named("several", found.topologies, found.left_out)


@pytest.mark.parametrize("text", ["", "spec: 3", "spec:\n  setups: none", "- a", "spec: [", "\tspec: 1"])
def test_files_that_are_none(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.topologies == {}
    assert len(found.warnings) == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        load_topologies(tmp_path / "none.yml")
    (tmp_path / "bytes.yml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_topologies(tmp_path / "bytes.yml")


@pytest.mark.skipif(SUITES is None, reason="ZEROLAP_PUBLIC_SUITES is not set")
def test_the_public_file() -> None:
    found = load_topologies(Path(SUITES or "").parent / "topologies.yml")
    assert found.warnings == []
    assert len(found.topologies) == 22
    assert len(found.left_out) == 8
    assert all(name.startswith("dragonfly-") and "Dragonfly" in reason for name, reason in found.left_out.items())
    cluster = topology_named("oss-cluster-3-primaries", found.topologies, found.left_out)
    assert (cluster.nodes, cluster.is_cluster, cluster.transport) == (3, True, "tcp")
    threads = topology_named("oss-standalone-02-io-threads", found.topologies)
    assert threads.settings == {"io-threads": "2", "io-threads-do-reads": "yes"}
    assert threads.memory_bytes == 10 * GIBIBYTE
    assert found.topologies["oss-standalone-01-replicas-rdb"].settings == {"save": "10 1000"}
    assert "redisearch.so" in (obstacle_of(found.topologies["oss-standalone-with-redisearch"]) or "")
    with pytest.raises(UsageError, match="Dragonfly"):
        topology_named("dragonfly-02-proactor-threads", found.topologies, found.left_out)
