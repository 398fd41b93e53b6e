"""Kernels as variants: what names them, what is refused, and builds of a toy that has a kernel's Makefile."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from zerolap.build import KERNELS, Builds, kernel_build
from zerolap.build.kernel_build import KernelBuilder, KernelSource, settings_of
from zerolap.records import BuildFailed, EnvironmentMissing, UsageError
from zerolap.sandbox import SandboxPolicy

MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
allnoconfig: ; echo '# CONFIG_A is not set' > .config
olddefconfig: ; grep -v CONFIG_UNKNOWN .config > .made; mv .made .config
bzImage: ; mkdir -p arch/x86/boot; cat version .config > arch/x86/boot/bzImage
"""
MERGE = '#!/bin/sh\nshift 2\ncat "$@" >> .config\n'
PATCH = """\
--- a/version
+++ b/version
@@ -1 +1 @@
-one
+two
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A tree with the targets and the script of a kernel that a build makes use of."""
    tree = tmp_path / "linux-6.1"
    (tree / "arch/x86").mkdir(parents=True)
    (tree / "scripts/kconfig").mkdir(parents=True)
    (tree / "Kconfig").touch()
    (tree / "arch/x86/Kconfig").touch()
    (tree / "version").write_text("one\n")
    (tree / "Makefile").write_text(MAKEFILE)
    merge = tree / "scripts/kconfig/merge_config.sh"
    merge.write_text(MERGE)
    merge.chmod(0o755)
    return tree


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelBuilder:
    """A builder that needs make and patch, and no other tools of kernels."""
    missing = [program for program in ("make", "patch") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    monkeypatch.setattr(kernel_build, "TOOLS", {"make": "make", "patch": "patch"})
    monkeypatch.setattr(kernel_build, "HEADERS", {})
    return KernelBuilder(tmp_path / "kernels", policy=SandboxPolicy.UNSAFE)


def test_a_kernel_is_built_with_patch_and_configuration_and_kept(
    source: Path, builder: KernelBuilder, tmp_path: Path
) -> None:
    patch, configuration = tmp_path / "two.patch", tmp_path / "own.config"
    patch.write_text(PATCH)
    configuration.write_text("CONFIG_OWN=y\nCONFIG_UNKNOWN=y\n")
    built = builder.build(KernelSource(source, [patch], [configuration]))
    assert built.image.read_text().startswith("two\n")
    assert "CONFIG_OWN=y" in built.image.read_text()
    assert (built.record.version, [one.name for one in built.record.patches]) == ("6.1.7", ["two.patch"])
    assert built.record.without_effect == ["CONFIG_UNKNOWN=y"]
    assert (source / "version").read_text() == "one\n"


def test_the_same_is_built_once(source: Path, tmp_path: Path, builder: KernelBuilder) -> None:
    builds: list[str] = []
    counting = KernelBuilder(builder.directory, builds.append, SandboxPolicy.UNSAFE)
    first = counting.build(KernelSource(source))
    assert counting.build(KernelSource(source)).image == first.image
    assert builds == ["linux-6.1"]
    assert not list(builder.directory.glob("work-*"))


def test_source_patches_and_configuration_name_a_kernel(source: Path, tmp_path: Path, builder: KernelBuilder) -> None:
    patch, configuration = tmp_path / "two.patch", tmp_path / "own.config"
    patch.write_text(PATCH)
    configuration.write_text("CONFIG_OWN=y\n")
    digests = {
        builder.build(kernel).record.digest
        for kernel in (
            KernelSource(source),
            KernelSource(source, [patch]),
            KernelSource(source, [], [configuration]),
            KernelSource(source, [patch], [configuration]),
        )
    }
    (source / "version").write_text("other\n")
    digests.add(builder.build(KernelSource(source)).record.digest)
    assert len(digests) == 5


def test_a_tarball_is_unpacked_without_its_directory(source: Path, tmp_path: Path, builder: KernelBuilder) -> None:
    tarball = tmp_path / "linux-source-6.1.tar.gz"
    with tarfile.open(tarball, "w:gz") as tar:
        tar.add(source, "linux-source-6.1")
    assert builder.build(KernelSource(tarball)).image.read_text().startswith("one\n")


def test_a_patch_that_does_not_apply_is_named_with_the_end_of_the_output(
    source: Path, tmp_path: Path, builder: KernelBuilder
) -> None:
    patch = tmp_path / "other.patch"
    patch.write_text(PATCH.replace("-one", "-three"))
    with pytest.raises(BuildFailed, match=r"`other.patch` does not apply to `linux-6.1`") as failed:
        builder.build(KernelSource(source, [patch]))
    assert "FAILED" in failed.value.details
    assert failed.value.exit_code == 4


def test_a_kernel_that_does_not_build_is_an_error_with_the_end_of_the_output(
    source: Path, builder: KernelBuilder
) -> None:
    (source / "Makefile").write_text(MAKEFILE.replace("bzImage: ;", "bzImage: ; echo no such thing; false &&"))
    with pytest.raises(BuildFailed, match=r"does not build: `make .*bzImage` ended with 2") as failed:
        builder.build(KernelSource(source))
    assert "no such thing" in failed.value.details
    assert not list(builder.directory.glob("*/kernel.json"))
    assert not list(builder.directory.glob("work-*"))


def test_an_image_that_is_a_link_is_no_kernel(source: Path, builder: KernelBuilder) -> None:
    linked = MAKEFILE.replace("cat version .config > ", "ln -s /etc/passwd ")
    (source / "Makefile").write_text(linked)
    with pytest.raises(BuildFailed, match="is a symbolic link"):
        builder.build(KernelSource(source))


def test_missing_tools_are_named_with_the_command_that_installs_them(
    source: Path, builder: KernelBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_build, "TOOLS", {"make": "make", "no-such-flex": "flex", "no-such-bc": "bc"})
    with pytest.raises(EnvironmentMissing, match="flex, bc are missing") as missing:
        builder.build(KernelSource(source))
    assert missing.value.hint == "apt-get install flex bc"
    assert missing.value.exit_code == 3


@pytest.mark.parametrize("name", ["gone.tar.xz", "file.txt", "directory"])
def test_what_is_no_source_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "directory").mkdir()
    with pytest.raises(UsageError):
        KernelSource(tmp_path / name)


def test_settings_are_read_set_or_not() -> None:
    text = '# a remark\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=12\nCONFIG_D="x y"\n'
    assert settings_of(text) == {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": "12", "CONFIG_D": '"x y"'}


def test_a_second_process_that_builds_the_same_waits(source: Path, builder: KernelBuilder, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from zerolap.build import kernel_build; kernel_build.TOOLS, kernel_build.HEADERS = {}, {}\n"
        "from zerolap.sandbox import SandboxPolicy\n"
        "from zerolap.build.kernel_build import KernelBuilder, KernelSource\n"
        "KernelBuilder(Path(sys.argv[1]), print, SandboxPolicy.UNSAFE).build(KernelSource(Path(sys.argv[2])))\n"
    )
    (source / "Makefile").write_text(MAKEFILE.replace("bzImage: ;", "bzImage: ; sleep 1;"))
    command = [sys.executable, "-c", code, str(builder.directory), str(source)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    builds = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert sorted(builds) == ["", "linux-6.1\n"]


def test_a_kernel_that_is_not_used_any_more_is_removed_with_old_builds(
    source: Path, builder: KernelBuilder, tmp_path: Path
) -> None:
    kernels = KernelBuilder(tmp_path / KERNELS, policy=SandboxPolicy.UNSAFE)
    kept = kernels.build(KernelSource(source)).image.parent
    long_ago = 1_000_000
    os.utime(kept, (long_ago, long_ago))
    assert Builds(tmp_path).unused(before=long_ago + 1, needed=()) == [kept]
    kernels.build(KernelSource(source))
    assert Builds(tmp_path).unused(before=long_ago + 1, needed=()) == []
