"""Variants: how they are written, and that what they ask for is what the program was built with."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap, path_without
from eras import ERAS, tree_of_era
from sources import binary_source, revision_source, tree_source
from toy_server import CASES, ToySource

from zerolap.build import Builder, BuiltServer, Variant, parse_variant
from zerolap.build.variant import Effective, unmet
from zerolap.cli.option_values import variant
from zerolap.records import BuildFailed, EnvironmentMissing, MeasuredServer, UsageError

# Words


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("default", "default"),
        ("clang,-O2,-flto,libc,frame-pointers", "clang,-O2,-flto,libc,frame-pointers"),
        ("frame-pointers, libc ,-flto,-O2,clang", "clang,-O2,-flto,libc,frame-pointers"),
        ("-fno-omit-frame-pointer", "frame-pointers"),
        ("-fomit-frame-pointer,-O0", "-O0,no-frame-pointers"),
        ("-fno-lto,jemalloc,gcc", "gcc,-fno-lto,jemalloc"),
        ("libc,clang-19", "clang-19,libc"),
        ("-march=native,no-inlining,-O2", "-O2,no-inlining,-march=native"),
        ("-O3,-O3,-march=native,-funroll-loops,-DX=1,-march=native", "-O3,-march=native,-funroll-loops,-DX=1"),
    ],
)
def test_words_have_one_order(text: str, name: str) -> None:
    assert parse_variant(text).name == name
    assert parse_variant(parse_variant(text).name) == parse_variant(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["names nothing"]),
        (",", ["names nothing"]),
        ("clag", ["`clag` is not a word", "clang"]),
        ("o2", ["`o2`", "words: gcc"]),
        ("frame-pointer", ["frame-pointers"]),
        ("-flto=thin", ["`-flto=thin`", "-flto"]),
        ("-fuse-ld=gold", ["`-fuse-ld=gold`"]),
        ("-O2,-O3", ["`-O2` and `-O3` contradict"]),
        ("-flto,-fno-lto", ["contradict"]),
        ("gcc,clang", ["contradict"]),
        ("gcc,gcc-12", ["`gcc` and `gcc-12` contradict"]),
        ("gcc-new", ["`gcc-new` is not a word"]),
        ("frame-pointers,-fomit-frame-pointer", ["`frame-pointers` and `-fomit-frame-pointer` contradict"]),
        ("default,-O2", ["`default` stands alone"]),
        ("-mtune=$(shell touch /x)", ["is not a word"]),
        ("-fx=`touch`", ["is not a word"]),
        ("-Wl,-z", ["`-Wl`"]),
    ],
)
def test_words_that_are_none(text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        parse_variant(text)
    for part in parts:
        assert part in f"{raised.value.message} {raised.value.hint}"


def test_the_words_of_a_side_go_before_those_of_both() -> None:
    both = parse_variant("clang,-O2,-flto,-march=native")
    assert both.with_changes(parse_variant("-O3,-fno-lto")).name == "clang,-O3,-fno-lto,-march=native"
    assert both.with_changes(parse_variant("-funroll-loops")).name == "clang,-O2,-flto,-march=native,-funroll-loops"


def test_a_side_can_be_the_makefiles_own() -> None:
    assert variant("clang,-O2", "default").is_default
    assert variant("clang,-O2", "-O3").name == "clang,-O3"
    assert variant("clang,-O2").name == "clang,-O2"
    assert variant(None, "libc").name == "libc"
    assert variant(None).is_default


def test_what_did_not_take_effect() -> None:
    built = Effective("GNU C11 12.2.0", "-mtune=generic -O3 -g -O2 -fno-omit-frame-pointer -flto")
    assert (
        unmet(parse_variant("gcc,-O2,-flto,jemalloc,frame-pointers,-march=native,-DX"), built, "jemalloc-5.3.0") == []
    )
    asked = parse_variant("clang,-O3,-fno-lto,libc,no-frame-pointers,-funroll-loops")
    assert ",".join(unmet(asked, built, "jemalloc-5.3.0")) == asked.name
    assert unmet(parse_variant("gcc-12"), built, "") == []
    assert unmet(parse_variant("gcc-11"), built, "") == ["gcc-11"]
    assert unmet(parse_variant("clang-14"), Effective("Debian clang version 14.0.6", ""), "") == []
    assert unmet(parse_variant("clang-1"), Effective("Debian clang version 14.0.6", ""), "") == ["clang-1"]
    assert unmet(parse_variant("-O0,-fno-lto"), Effective("", ""), "") == []
    assert unmet(parse_variant("-O2,libc"), Effective("", ""), "") == ["-O2", "libc"]
    assert unmet(parse_variant("no-inlining"), built, "") == ["no-inlining"]
    assert unmet(parse_variant("no-inlining"), Effective("", "-O3 -finline-functions -fno-inline"), "") == []


# Builds


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("eras")


@pytest.fixture(scope="module")
def build(compiler: None, directory: Path) -> Any:
    """Builds the tree of an era in a variant."""
    builder = Builder(directory / "builds")

    def make(era: str, words: str) -> BuiltServer:
        path = directory / era
        tree = path if path.exists() else tree_of_era(era, path)
        return builder.build(tree_source(era, tree), parse_variant(words))

    return make


def described(era: str, built: BuiltServer) -> MeasuredServer:
    """Return how documents describe the build of an era's tree."""
    return MeasuredServer.of(built.record, tree_source(era, Path(era)), {})


def own_flags(built: BuiltServer) -> set[str]:
    """Return the flags that variants are about."""
    about = ("-O", "-flto", "-fno-omit", "-fomit", "-funroll")
    return {flag for flag in built.record.flags.split() if flag.startswith(about)}


@pytest.mark.parametrize(
    ("era", "flags"),
    [
        ("redis-7.0", {"-O2"}),
        ("redis-7.2", {"-O3", "-flto"}),
        ("valkey-7.2", {"-O3", "-flto"}),
        ("redis-7.4", {"-O3", "-flto", "-fno-omit-frame-pointer"}),
        ("valkey-8.0", {"-O3", "-flto", "-fno-omit-frame-pointer"}),
    ],
)
def test_the_makefiles_own(build: Any, era: str, flags: set[str]) -> None:
    built = build(era, "default")
    assert own_flags(built) == flags
    assert (built.record.variant, built.record.allocator) == ("default", "jemalloc-5.3.0")
    assert described(era, built).name == era


@pytest.mark.parametrize("era", ERAS)
def test_all_that_is_asked_takes_effect(build: Any, era: str) -> None:
    much = build(era, "gcc,-O3,-flto,libc,frame-pointers,-funroll-loops")
    assert own_flags(much) == {"-O3", "-flto", "-fno-omit-frame-pointer", "-funroll-loops"}
    assert much.record.allocator == "libc"
    assert described(era, much).name == f"{era} (gcc,-O3,-flto,libc,frame-pointers,-funroll-loops)"
    # What the tree bundles has the compiler and frame pointers, and keeps its own optimization.
    assert b"made with gcc -fno-omit-frame-pointer -O3 ." in much.program.path.read_bytes()
    little = build(era, "-O1,-fno-lto,no-frame-pointers,jemalloc")
    assert own_flags(little) - {"-fno-lto"} == {"-O1", "-fomit-frame-pointer"}
    assert little.record.allocator == "jemalloc-5.3.0"
    assert b"made with cc -fomit-frame-pointer -O3 ." in little.program.path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_word_changes_one_thing(build: Any, era: str) -> None:
    own = own_flags(build(era, "default"))
    levels = {"-O2", "-O3"}
    assert own_flags(build(era, "-O0")) == own - levels | {"-O0"}
    assert own_flags(build(era, "libc")) == own
    assert own_flags(build(era, "frame-pointers")) == own | {"-fno-omit-frame-pointer"}
    assert own_flags(build(era, "-flto")) == own | {"-flto"}
    assert own_flags(build(era, "-fno-lto")) - {"-fno-lto"} == own - {"-flto"}


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_count_build_differs_in_inlining_alone(build: Any, era: str) -> None:
    counting = build(era, Variant().of_count_build.name)
    assert "-fno-inline" in counting.record.flags.split()
    assert own_flags(counting) - {"-fno-lto"} == own_flags(build(era, "default")) - {"-flto"}


@pytest.mark.parametrize("era", ["redis-7.0", "valkey-8.0"])
@pytest.mark.parametrize("words", ["clang,-O2,-fno-lto,frame-pointers", "clang,-O3,-flto"])
def test_clang(build: Any, era: str, words: str) -> None:
    if shutil.which("clang") is None or shutil.which("ld.lld") is None:
        pytest.skip("not installed: clang, lld")
    built = build(era, words)
    assert "clang version" in built.record.compiler
    assert ("-flto=full" in own_flags(built)) == ("-flto" in words)
    assert not [flag for flag in built.record.flags.split() if flag.endswith((".c", ".o")) or "record" in flag]
    assert b"made with clang " in built.program.path.read_bytes()


def test_a_version_of_a_compiler(build: Any) -> None:
    printed = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout
    version = printed.strip().partition(".")[0]
    if shutil.which(f"gcc-{version}") is None:
        pytest.skip(f"not installed: gcc-{version}")
    built = build("redis-7.0", f"gcc-{version}")
    assert f" {version}." in built.record.compiler
    assert f"made with gcc-{version} ".encode() in built.program.path.read_bytes()


def test_variants_are_builds_of_their_own(build: Any, directory: Path) -> None:
    default, fast = build("redis-7.0", "default"), build("redis-7.0", "-O3,libc")
    again = build("redis-7.0", "libc,-O3")
    assert default.record.build != fast.record.build == again.record.build
    assert fast.record.build_id == again.record.build_id
    record = directory / "builds" / fast.record.build / "build.json"
    assert '"-O3,libc"' in record.read_text()


@pytest.mark.slow
def test_settings_of_an_earlier_build_are_not_read(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "source")
    shutil.rmtree(source.path / "src")
    era = tree_of_era("redis-7.0", tmp_path / "era")
    shutil.copytree(era, source.path, dirs_exist_ok=True)
    (source.path / "src" / ".make-settings").write_text("OPT=-O0\nMALLOC=libc\n")
    commit = source.commit("settings too")
    builder = Builder(tmp_path / "builds")
    for one in (tree_source("tree", source.path), revision_source("revision", source.path, commit)):
        record = builder.build(one).record
        assert ("-O2" in record.flags.split(), record.allocator) == (True, "jemalloc-5.3.0")
        assert builder.build(one, Variant(allocator="libc")).record.allocator == "libc"


@pytest.mark.slow
def test_a_makefile_without_settings(toy: ToySource, tmp_path: Path) -> None:
    builder = Builder(tmp_path / "builds")
    source = revision_source("first", toy.path, toy.first)
    assert own_flags(builder.build(source, parse_variant("-O3"))) == {"-O3"}
    assert own_flags(builder.build(source, parse_variant("frame-pointers"))) == {"-O2", "-fno-omit-frame-pointer"}
    with pytest.raises(BuildFailed, match="was built, but libc did not take effect") as raised:
        builder.build(source, parse_variant("-O3,libc"))
    assert "-O3" in raised.value.details


def test_a_makefile_that_takes_no_flags(toy: ToySource, tmp_path: Path) -> None:
    head = toy.changed(("Makefile", "$(OPTIMIZATION) -g", "-O1 -g"))
    builder = Builder(tmp_path / "builds")
    with pytest.raises(BuildFailed, match="-O2, -flto did not take effect"):
        builder.build(revision_source("head", toy.path, head), parse_variant("-O2,-flto"))
    assert list((tmp_path / "builds").iterdir()) == []


def test_an_old_tree_gets_what_it_needs(build: Any, compiler: None, tmp_path: Path) -> None:
    """Redis 5.0.0: a variable defined in a header, which gcc takes since version 10 only with `-fcommon`."""
    tree = tree_of_era("redis-7.0", tmp_path / "old")
    (tree / "src" / "sds.h").write_text("const char *SDS_NOINIT;\n")
    for file in ("server.c", "table.c"):
        source = tree / "src" / file
        source.write_text('#include "sds.h"\n' + source.read_text())
    record = Builder(tmp_path / "builds").build(tree_source("old", tree)).record
    assert "-fcommon" in record.flags.split()
    assert "-fcommon" not in build("redis-7.0", "default").record.flags.split()


def test_a_program_is_as_it_was_built(toy_program: Path, tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    assert builder.build(binary_source("toy", toy_program)).record.variant == ""
    with pytest.raises(UsageError, match="is as it was built, and cannot be `-O2`"):
        builder.build(binary_source("toy", toy_program), parse_variant("-O2"))


def test_a_compiler_that_is_missing(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zerolap.build.variant import compiler_version

    compiler_version.cache_clear()
    monkeypatch.setenv("PATH", path_without(tmp_path / "path", "clang")["PATH"])
    with pytest.raises(EnvironmentMissing, match="`clang` is not installed") as raised:
        Builder(tmp_path / "builds").build(revision_source("first", toy.path, toy.first), parse_variant("clang"))
    assert raised.value.hint == "apt-get install clang"


# The command line


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_one_revision_in_two_variants(zerolap: Zerolap, toy: ToySource, shared_store: Path) -> None:
    common = ["--repo", toy.path, "--cases", CASES, "--store", shared_store, "--quick", "--markdown", "out.md"]
    sides = ["--base-variant=-O0", "--head-variant", "-O3", "--variant", "-O2,frame-pointers"]
    ended = zerolap("compare", toy.first, toy.first, "toy-get", *common, *sides, "--json", "-")
    assert ended.code == 0, ended.err
    document = ended.document()
    names = [f"{toy.first} (-O0,frame-pointers)", f"{toy.first} (-O3,frame-pointers)"]
    assert [document[side]["name"] for side in ("base", "head")] == names
    assert [document[side]["variant"] for side in ("base", "head")] == ["-O0,frame-pointers", "-O3,frame-pointers"]
    assert document["cases"][0]["verdict"] == "improvement"
    assert all(name in (zerolap.directory / "out.md").read_text() for name in names)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_variants_that_cannot_be(zerolap: Zerolap, toy: ToySource, toy_program: Path) -> None:
    common = ["--cases", CASES, "--repo", toy.path]
    zerolap("run", "--server", toy_program, "--variant=-O2", *common).fails_with(2, "it is as it was built")
    head = zerolap("compare", toy.first, toy_program, "--head-variant=-O2", *common)
    head.fails_with(2, "it is as it was built", "hint: ")
    assert not (zerolap.directory / ".zerolap" / "builds").exists()
    zerolap("run", "--server", toy.first, "--variant", "clagn", *common).fails_with(2, "`clagn`", "clang")


@pytest.mark.usefixtures("valgrind")
def test_what_clang_builds_can_be_counted(zerolap: Zerolap, toy: ToySource) -> None:
    if shutil.which("clang") is None:
        pytest.skip("not installed: clang")
    sides = ["--base-variant", "gcc", "--head-variant", "clang"]
    common = ["--repo", toy.path, "--cases", CASES, "--store", zerolap.store, "--quick", "--json", "-"]
    ended = zerolap("compare", toy.first, toy.first, "toy-get", *sides, *common)
    assert ended.code == 0, ended.err
    assert ended.document()["cases"][0]["validity"]["valid"], ended.out
    assert "clang" in ended.document()["head"]["compiler"]


@pytest.mark.usefixtures("valgrind")
def test_debug_information_that_valgrind_cannot_read(zerolap: Zerolap, toy: ToySource) -> None:
    if shutil.which("clang") is None:
        pytest.skip("not installed: clang")
    make = ["make", "-C", str(toy.path / "src"), "CC=clang -gdwarf-5"]
    subprocess.run(make, capture_output=True, check=True)
    common = ["--cases", CASES, "--store", zerolap.store, "--quick"]
    ended = zerolap("run", "toy-get", "--server", toy.path / "src" / "toy-server", *common)
    if ended.code == 0:
        pytest.skip("this valgrind reads clang's DWARF 5")
    assert ended.code == 4
    assert "valgrind cannot read the program's debug information" in ended.out
