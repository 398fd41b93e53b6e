"""Programs linked again in other orders of their functions, and what is reported where that fails."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from sources import binary_source, revision_source
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, SOURCE, ToySource

from zerolap.build import Builder, BuiltServer, LinkFailed, parse_variant, placement
from zerolap.cases import load_cases
from zerolap.engines import Place
from zerolap.host import read_processors
from zerolap.records import BASE, HEAD, Block, ServerSpec, TrialsJob
from zerolap.sandbox import Cancellation
from zerolap.store.blobs import open_blobs

LINK = "\t$(CC) -g -o $@ $(OBJECTS)"
UNUSED_FUNCTION = ("format.c", "void add_bytes(", "int unused(int x) { return 31 * x; }\n\nvoid add_bytes(")


def functions(program: Path) -> list[str]:
    """Return the toy server's own functions in the order of their addresses."""
    own = {path.stem for path in (SOURCE / "src").glob("*.c")}
    lines = subprocess.run(
        ["nm", "--numeric-sort", "--defined-only", str(program)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = [line.split()[-1] for line in lines if line.split()[-2] in "tT"]
    return [name for name in names if not name.startswith("_") and name not in own]


def built(toy: ToySource, directory: Path, commit: str, variant: str = "default") -> tuple[Builder, BuiltServer]:
    builder = Builder(directory)
    return builder, builder.build(revision_source(commit[:8], toy.path, commit), parse_variant(variant))


@pytest.mark.parametrize("variant", ["default", "-O2,-flto"])
def test_each_seed_is_an_order_of_its_own(toy: ToySource, tmp_path: Path, variant: str) -> None:
    builder, server = built(toy, tmp_path, toy.first, variant)
    digest = server.record.build
    first, second = (builder.builds.placed(digest, seed) for seed in (1, 2))
    assert functions(first.path) != functions(second.path) != functions(server.program.path)
    # Nothing but the order differs from the program that users would run.
    assert set(functions(first.path)) == set(functions(second.path)) == set(functions(server.program.path))
    assert builder.builds.placed(digest, 1).path.read_bytes() == first.path.read_bytes()
    printed = subprocess.run([str(first.path), "--version"], capture_output=True, text=True, check=True).stdout
    assert "1.0.0" in printed


@pytest.mark.skipif(shutil.which("clang") is None or shutil.which("ld.lld") is None, reason="no clang with its linker")
@pytest.mark.parametrize("optimization", ["-flto", "-flto=thin"])
def test_code_of_clangs_link_time_optimization_is_ordered(toy: ToySource, tmp_path: Path, optimization: str) -> None:
    flags = ("Makefile", "$(OPTIMIZATION) -g\n", f"$(OPTIMIZATION) -g {optimization}\n")
    link = ("Makefile", LINK, f"\t$(CC) -g -O2 {optimization} -fuse-ld=lld -o $@ $(OBJECTS)")
    builder, server = built(toy, tmp_path, toy.changed(flags, link), "clang")
    digest = server.record.build
    first, second = (builder.builds.placed(digest, seed).path for seed in (1, 2))
    assert functions(first) != functions(second)
    assert set(functions(first)) == set(functions(second)) == set(functions(server.program.path))
    printed = subprocess.run([str(first), "--version"], capture_output=True, text=True, check=True).stdout
    assert "1.0.0" in printed


@pytest.mark.parametrize("link", [LINK, "\t$(CC) -g -O2 -flto -o $@ $(OBJECTS)"])
def test_code_of_link_time_optimization_is_generated_once(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    commands: list[Sequence[str]] = []
    run = placement.Linker.run

    def recorded(linker: placement.Linker, command: Sequence[str]) -> str:
        commands.append(command)
        return run(linker, command)

    monkeypatch.setattr(placement.Linker, "run", recorded)
    builder, server = built(toy, tmp_path, toy.changed(("Makefile", LINK, link)), "-O2,-flto")
    assert builder.builds.relinking(server.record.build).failure == ""
    assert [command[:2] for command in commands if command[0] == "cc"] == [["cc", "-r"]]


def test_a_compiler_reads_a_program_from_its_input(toy: ToySource, tmp_path: Path) -> None:
    probe = "printf 'int main(void) { return 0; }' | $(CC) -x c - -o probe && ./probe"
    _, server = built(toy, tmp_path, toy.changed(("Makefile", LINK, f"\t{probe}\n{LINK}")))
    assert server.program.path.exists()


@pytest.mark.parametrize("left", ["ln -s /etc $$code", "touch $$code", "mkdir -p $$code/a.ltrans.o"])
def test_code_that_a_build_leaves_elsewhere_is_not_linked(toy: ToySource, tmp_path: Path, left: str) -> None:
    """Where a build puts something else in the place of the code that the compiler kept for its link."""
    replaced = f"for code in $(CURDIR)/../../compilers/links/*.code; do rm -r $$code; {left}; done"
    edit = ("Makefile", LINK, f"{LINK}\n\t{replaced}")
    builder, server = built(toy, tmp_path / "builds", toy.changed(edit), "-O2,-flto")
    with pytest.raises(LinkFailed, match="its link-time optimization keeps no code"):
        builder.builds.placed(server.record.build, 1)


def test_builds_of_nearly_the_same_source_get_nearly_the_same_order(toy: ToySource, tmp_path: Path) -> None:
    builder, base = built(toy, tmp_path, toy.first)
    _, head = built(toy, tmp_path, toy.changed(UNUSED_FUNCTION))
    for seed in range(3):
        base_order, head_order = (functions(builder.builds.placed(one.record.build, seed).path) for one in (base, head))
        assert "unused" in head_order
        assert [name for name in head_order if name != "unused"] == base_order


def test_builds_in_a_relative_directory_are_linked_again(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    builder, server = built(toy, Path("builds"), toy.first)
    assert builder.builds.placed(server.record.build, 1).path.exists()


def test_only_so_many_placements_are_kept(toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "KEPT_PLACEMENTS", 3)
    builder, first = built(toy, tmp_path, toy.first)
    _, second = built(toy, tmp_path, toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)))
    for seed in range(4):
        for build, used in ((first, 0), (second, seed)):
            assert builder.builds.placed(build.record.build, used).path.exists()
    kept = {
        name: sorted(path.name for path in tmp_path.glob(f"{name}/placed-*"))
        for name in (first.record.build, second.record.build)
    }
    placed = [f"placed-{seed:016x}" for seed in range(4)]
    assert kept == {first.record.build: placed[:1], second.record.build: placed[2:]}, "what was used last is kept"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("\t/usr/bin/cc -g -o $@ $(OBJECTS)", "its Makefile does not link it by a compiler of the usual name"),
        ("\techo $(OBJECTS) > list && $(CC) -g -o $@ @list", "its Makefile links by a file of arguments"),
        # A link of what was linked before cannot be done again.
        ("\t$(CC) -g -o $@ $(OBJECTS) && rm server.o", "server.o"),
    ],
)
def test_a_build_that_cannot_be_linked_again_is_measured_as_it_is(
    toy: ToySource, tmp_path: Path, link: str, reason: str
) -> None:
    builder, server = built(toy, tmp_path, toy.changed(("Makefile", LINK, link)))
    assert server.program.path.exists()
    with pytest.raises(LinkFailed, match=reason):
        builder.builds.placed(server.record.build, 1)


def test_a_recorded_link_that_leads_elsewhere_is_not_read(toy: ToySource, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\0".join([str(tmp_path).encode(), b"cc", b"-o", b"x", b""]))
    edit = ("Makefile", LINK, f"{LINK}\n\tfor i in 1 2 3; do ln -s {secret} $(CURDIR)/../../compilers/links/a$$i; done")
    builder, server = built(toy, tmp_path / "builds", toy.changed(edit))
    assert builder.builds.placed(server.record.build, 1).path.exists()


@pytest.mark.parametrize("record", ["", "no words", "/tmp\\0/bin/true\\0-o\\0x\\0"])
def test_a_record_that_is_none_is_not_read(toy: ToySource, tmp_path: Path, record: str) -> None:
    edit = ("Makefile", LINK, f"{LINK}\n\tprintf '{record}' > $(CURDIR)/../../compilers/links/zz")
    builder, server = built(toy, tmp_path, toy.changed(edit))
    assert builder.builds.placed(server.record.build, 1).path.exists()


def test_a_link_that_leaves_a_symbolic_link_is_refused(toy: ToySource, tmp_path: Path) -> None:
    """gcc runs what `-wrapper` names, also when the lab links again: what comes out may lead to the lab's files."""
    wrapped = '-wrapper \'sh,-c,case "$$*" in *order.ld*) ln -sf /etc/passwd program;; *) exec "$$@";; esac,sh\''
    edit = ("Makefile", LINK, f"\t$(CC) -g {wrapped} -o $@ $(OBJECTS)")
    builder, server = built(toy, tmp_path, toy.changed(edit))
    with pytest.raises(LinkFailed, match="its link leaves no file"):
        builder.builds.placed(server.record.build, 1)


def test_a_program_beside_a_source_takes_the_order_from_both(toy: ToySource, tmp_path: Path) -> None:
    builder, server = built(toy, tmp_path / "builds", toy.first)
    given = builder.build(binary_source("given", server.program.path))
    place = Place(
        builder.builds, open_blobs(None, tmp_path / "blobs"), read_processors(), Cancellation(), directory=tmp_path
    )
    case = load_cases(SOURCE / "cases.yml")[0]

    def job(base: str, head: str) -> TrialsJob:
        servers = {
            side: ServerSpec(build=build, topology=case.topology, config={})
            for side, build in ((BASE, base), (HEAD, head))
        }
        block = Block(number=0, seed=7)
        return TrialsJob(request="r-1", case=case, servers=servers, engine="timed", blocks=(block,))

    source, program = server.record.build, given.record.build
    programs, placed = place.placed_programs(job(source, program), Block(number=0, seed=7))
    assert {side: one.path for side, one in programs.items()} == {
        BASE: server.program.path,
        HEAD: given.program.path,
    }
    assert placed.seed is None
    assert placed.failure == "it was given as a program, without the objects that it was linked from"
    programs, placed = place.placed_programs(job(source, source), Block(number=0, seed=7))
    assert placed.seed == 7
    assert {one.path.name for one in programs.values()} == {"placed-0000000000000007"}


def symbols(program: Path, kinds: str) -> list[str]:
    """Return the names of the symbols of some kinds, as nm states them, in the order of their addresses."""
    command = ["nm", "--numeric-sort", "--defined-only", str(program)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [words[2] for words in map(str.split, printed.splitlines()) if words[1] in kinds]


VARIABLES = "#define KEPT __attribute__((used))\n" + "".join(
    f"KEPT int initialized{number} = {number + 1};\nKEPT int uninitialized{number}[{number + 1}];\n"
    f"extern const int constant{number}; KEPT const int constant{number} = {number};\n"
    f"KEPT int *const pointer{number} = &initialized{number};\n"
    f"__attribute__((hot, used)) int hot{number}(void) {{ static int calls = 7; return calls += {number}; }}\n"
    f"KEPT int plain{number}(void) {{ return {number}; }}\n"
    for number in range(12)
)
ITERATED = """
__attribute__((section("listed"), used)) static int items[3] = {1, 2, 3};
extern int __start_listed[], __stop_listed[];
__thread int of_each_thread = 5;
const char *text(int which) { return which ? "some text that is the same" : "another text"; }
const char *same(void) { return "some text that is the same"; }
__attribute__((constructor)) static void check(void) {
    if (__stop_listed - __start_listed != 3 || text(1) != same() || of_each_thread != 5) __builtin_trap();
}
"""


@pytest.mark.parametrize("variant", ["default", "-O2,-flto"])
def test_variables_constants_and_hot_functions_are_in_the_order_of_the_seed(
    toy: ToySource, tmp_path: Path, variant: str
) -> None:
    head = "/* Replies. */\n"
    commit = toy.changed(("format.c", head, f"{head}{VARIABLES}{ITERATED}"))
    builder, server = built(toy, tmp_path, commit, variant)
    orders = [symbols(builder.builds.placed(server.record.build, seed).path, "dDbBrRtT") for seed in (1, 2)]
    for kind in ("initialized", "uninitialized", "constant", "pointer", "hot", "plain"):
        first, second = ([name for name in order if re.fullmatch(rf"{kind}\d+", name)] for order in orders)
        assert first != second, kind
        assert sorted(first) == sorted(second) == sorted(f"{kind}{number}" for number in range(12))
    for order in orders:
        places = [index for index, name in enumerate(order) if re.fullmatch(r"hot\d+", name)]
        assert places == list(range(places[0], places[0] + 12)), "hot functions stay together"
    for seed in (1, 2):
        # It ends by a trap where sections that it iterates over, or equal strings, are not as its own link made them.
        program = builder.builds.placed(server.record.build, seed).path
        assert subprocess.run([str(program), "--version"], capture_output=True, check=False).returncode == 0


def test_a_new_variable_moves_no_other_to_another_place_in_the_order(toy: ToySource, tmp_path: Path) -> None:
    head = "/* Replies. */\n"
    statics = "".join(f"int *counted{n}(void) {{ static int calls{n}; return &calls{n}; }}\n" for n in range(12))
    # The compiler numbers the static variables of functions: a new one changes the numbers of those after it.
    new = "int *new_one(void) { static int fresh; return &fresh; }\n"
    builder, base = built(toy, tmp_path, toy.changed(("format.c", head, head + statics)))
    _, other = built(toy, tmp_path, toy.changed(("format.c", head, head + new + statics)))
    for seed in range(3):
        base_order, other_order = (
            [name.partition(".")[0] for name in symbols(builder.builds.placed(one.record.build, seed).path, "bB")]
            for one in (base, other)
        )
        assert "fresh" in other_order
        assert [name for name in other_order if name.startswith("calls")] == [
            name for name in base_order if name.startswith("calls")
        ]


def test_functions_of_a_file_stay_together(toy: ToySource, tmp_path: Path) -> None:
    builder, server = built(toy, tmp_path, toy.first)
    file_of = {
        name: path.stem
        for path in (SOURCE / "src").glob("*.c")
        for name in re.findall(r"^[a-z][\w *]*?\b(\w+)\([^;]*\) \{$", path.read_text(), re.MULTILINE)
    }
    orders = set()
    for seed in range(8):
        placed = builder.builds.placed(server.record.build, seed).path
        files = [file_of[name] for name in functions(placed) if name in file_of and name != "main"]
        runs = [file for file, before in zip(files, [None, *files], strict=False) if file != before]
        assert len(runs) == len(set(runs)) > 1
        orders.add(tuple(runs))
    assert len(orders) > 1
