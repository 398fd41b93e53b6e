"""The archive that an emulated machine boots from."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from zerolap.build.initial_ramdisk import RamdiskEntry, libraries_in, pack_ramdisk, program_entries
from zerolap.records import UsageError
from zerolap.sandbox import SandboxPolicy

LISTED = """\
\tlinux-vdso.so.1 (0x00007f52a2241000)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f52a213d000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f52a121e000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f52a2243000)
"""


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_reads_what_is_packed(tmp_path: Path) -> None:
    archive = pack_ramdisk(
        [
            RamdiskEntry.directory("/proc"),
            RamdiskEntry.file("/init", b"#!/bin/sh\n", executable=True),
            RamdiskEntry.file("/usr/lib/odd length", b"12345"),
            RamdiskEntry.file("/plan", b""),
        ]
    )
    command = ["cpio", "--extract", "--make-directories", "--quiet"]
    subprocess.run(command, input=archive, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "proc").is_dir()
    assert (tmp_path / "init").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((tmp_path / "init").stat().st_mode) == 0o755
    assert (tmp_path / "usr/lib/odd length").read_bytes() == b"12345"
    assert (tmp_path / "plan").read_bytes() == b""


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_a_device_needs_no_root_to_be_packed() -> None:
    archive = pack_ramdisk([RamdiskEntry.character_device("/dev/console", 5, 1)])
    command = ["cpio", "--list", "--verbose", "--quiet"]
    listed = subprocess.run(command, input=archive, check=True, capture_output=True).stdout.decode()
    assert "crw-------" in listed
    assert "5,   1" in listed


def test_equal_entries_give_equal_archives_whatever_their_order() -> None:
    entries = [RamdiskEntry.file("/b/a", b"1"), RamdiskEntry.file("/a", b"2"), RamdiskEntry.directory("/b")]
    assert pack_ramdisk(entries) == pack_ramdisk(entries[::-1])


def test_directories_come_before_what_lies_in_them() -> None:
    archive = pack_ramdisk([RamdiskEntry.file("/usr/lib/x", b"")])
    assert archive.index(b"usr\0") < archive.index(b"usr/lib\0") < archive.index(b"usr/lib/x\0")


def test_libraries_are_those_with_a_file_each_once() -> None:
    paths = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]
    assert libraries_in(LISTED + LISTED, "server") == [Path(path) for path in paths]


def test_a_static_program_has_no_libraries() -> None:
    assert libraries_in("\tstatically linked\n", "server") == []
    assert libraries_in("\tnot a dynamic executable\n", "server") == []


def test_a_missing_library_is_named() -> None:
    with pytest.raises(UsageError, match=r"`server` needs the library `libgone\.so\.1`"):
        libraries_in("\tlibgone.so.1 => not found\n", "server")


def test_a_program_is_packed_with_its_loader_and_libraries() -> None:
    program = Path(shutil.which("true") or "/bin/true")
    packed = {str(entry.path) for entry in program_entries(program, SandboxPolicy.UNSAFE)}
    assert str(program) in packed
    assert any("ld-linux" in path or "ld-musl" in path for path in packed)
    assert all(Path(path).is_file() for path in packed)
