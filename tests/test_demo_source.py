"""The demo's source: apt entries of both formats, versions, checksums, and edits that do not fit. No network."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

import busy_loop_in_hset
import copy_per_list_element
import pad_dict_entries
import rename_functions
import wait_in_hset
import xadd_formats_id_twice
from anchors import AnchorError, rename_words, replace_once
from apt_sources import line_entries, read_entries, serves_debian, source_list, stanza_entries
from source import DemoError, checksums, chosen_version, prepare_apt, upstream_version

KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"
EDITS = (
    busy_loop_in_hset,
    copy_per_list_element,
    pad_dict_entries,
    rename_functions,
    wait_in_hset,
    xadd_formats_id_twice,
)

LINES = f"""\
# deb http://deb.debian.org/debian bookworm main
deb http://deb.debian.org/debian bookworm main contrib # the archive
deb [arch=amd64 signed-by={KEY}] http://mirror.example/pub/debian/ bookworm-updates main
deb-src http://deb.debian.org/debian bookworm main
deb [signed-by=/etc/apt/keyrings/vendor.gpg] https://vendor.example/debian stable main
deb https://vendor.example/apt bookworm main
deb http://deb.debian.org/debian bookworm contrib
deb cdrom:[Debian 12]/debian bookworm main
deb http://vendor.example/flat/
"""

STANZAS = f"""\
Types: deb
# a comment between fields
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: {KEY}

Types: deb
URIs: http://deb.debian.org/debian-security http://vendor.example/other
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://switched-off.example/debian
Suites: bookworm
Components: main
"""


def test_one_line_entries() -> None:
    served = [entry for entry in line_entries(LINES) if serves_debian(entry)]
    assert [(entry.addresses, entry.suites) for entry in served] == [
        (("http://deb.debian.org/debian",), ("bookworm",)),
        (("http://mirror.example/pub/debian/",), ("bookworm-updates",)),
        (("http://deb.debian.org/debian",), ("bookworm",)),
    ]
    assert served[1].options == {"Signed-By": KEY}


def test_stanzas() -> None:
    entries = list(stanza_entries(STANZAS))
    assert [entry.addresses[0] for entry in entries] == [
        "http://deb.debian.org/debian",
        "http://deb.debian.org/debian-security",
    ]
    assert entries[0].suites == ("bookworm", "bookworm-updates")
    assert "BEGIN PGP" in entries[1].options["Signed-By"]


def test_source_list_of_both_formats() -> None:
    text = source_list([*line_entries(LINES), *stanza_entries(STANZAS)])
    assert text.count("Types: deb-src\n") == 4
    assert "vendor" not in text
    assert f"Suites: bookworm bookworm-updates\nComponents: main\nSigned-By: {KEY}\n" in text
    assert "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n" in text
    again = list(stanza_entries(text))
    assert source_list(again) == text


@pytest.mark.parametrize(
    ("address", "serves"),
    [
        ("http://deb.debian.org/debian", True),
        ("https://snapshot.debian.org/archive/debian/20250520T000000Z/", True),
        ("mirror+file:///etc/apt/mirrors/debian.list", True),
        ("https://download.vendor.example/linux/debian/product", False),
        ("https://vendor.example/", False),
    ],
)
def test_addresses(address: str, serves: bool) -> None:
    (entry,) = line_entries(f"deb {address} bookworm main")
    assert serves_debian(entry) == serves


def test_disabled_files_are_left_out(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "debian.sources").write_text(STANZAS)
    (parts / "old.list.save").write_text(LINES)
    assert len(read_entries(tmp_path)) == 2
    (tmp_path / "sources.list").write_text(LINES)
    assert len(read_entries(tmp_path)) > 2


def test_apt_gets_a_state_of_its_own(tmp_path: Path) -> None:
    settings, work = tmp_path / "settings", tmp_path / "work"
    settings.mkdir()
    with pytest.raises(DemoError, match="no entry"):
        prepare_apt(work, settings)
    (settings / "sources.list").write_text(LINES)
    (option,) = prepare_apt(work, settings)
    configuration = Path(option.partition("=")[2]).read_text()
    assert 'Dir::Etc::sourceparts "-";' in configuration
    assert f'Dir::State::lists "{work}/apt/lists";' in configuration


def test_versions() -> None:
    assert upstream_version("5:7.0.15-1~deb12u10") == "7.0.15"
    assert chosen_version(["5:7.0.15-1~deb12u1", "5:7.0.15-1~deb12u10", "5:8.0.2-1"]) == "5:7.0.15-1~deb12u10"
    with pytest.raises(DemoError, match=r"offers redis 5:8\.0\.2-1, not 7\.0\.15"):
        chosen_version(["5:8.0.2-1"])
    with pytest.raises(DemoError, match="no source package"):
        chosen_version([])


def test_checksums() -> None:
    digest = hashlib.sha256(b"").hexdigest()
    text = f"Checksums-Sha1:\n aa 1 x.tar.gz\nChecksums-Sha256:\n {digest} 12 x.tar.gz\n {digest} 3 y.tar.xz\nFiles:\n"
    assert checksums(text) == {"x.tar.gz": digest, "y.tar.xz": digest}
    assert checksums("Format: 3.0\n") == {}


def test_an_anchor_fits_exactly_once(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"one two two \xe9\n")
    with pytest.raises(AnchorError, match="expected once, but found 2 times: two"):
        replace_once(path, {"one": "1", "two": "2"})
    with pytest.raises(AnchorError, match="found 0 times: three"):
        replace_once(path, {"three": "3"})
    assert path.read_bytes() == b"one two two \xe9\n"
    replace_once(path, {"one": "1"})
    assert path.read_bytes() == b"1 two two \xe9\n"


def test_names_are_renamed_as_whole_words(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("old(older); new_old; old")
    with pytest.raises(AnchorError, match="already in use: older"):
        rename_words([path], {"old": "older"})
    with pytest.raises(AnchorError, match="found in none of 1 files: absent"):
        rename_words([path], {"absent": "present"})
    rename_words([path], {"old": "fresh"})
    assert path.read_text() == "fresh(older); new_old; fresh"


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_says_that_a_tree_is_another(edit: object, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("t_stream.c", "t_hash.c", "t_list.c", "dict.h"):
        (tmp_path / "src" / name).write_text("int main(void) { return 0; }\n")
    path = Path(str(getattr(edit, "__file__", "")))
    done = subprocess.run([sys.executable, str(path), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "Redis 7.0.15" in done.stderr
