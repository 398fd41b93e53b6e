"""Sources copied out of where they live, without what an earlier build left there."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from zerolap.build.source import run_git
from zerolap.records import BuildFailed, RevisionSource, TreeSource

LEFT_OUT = {".git", ".zerolap"}
LEFT_BY_BUILDS = {".o", ".a", ".d", ".so", ".gcda", ".gcno"}


def content_digest(source: TreeSource | RevisionSource) -> str:
    """Return a digest of all files of the source."""
    if isinstance(source, RevisionSource):
        return run_git(source.repository, "rev-parse", f"{source.commit}^{{tree}}").stdout.strip()
    digest = hashlib.sha256()
    for file in _files(source.path):
        digest.update(f"{file}\0".encode())
        digest.update(_content(source.path / file))
    return digest.hexdigest()


def export(source: TreeSource | RevisionSource, directory: Path) -> None:
    """Copy the source into an empty directory."""
    if isinstance(source, RevisionSource):
        _export_revision(source, directory)
        # Settings of an earlier build that someone committed would go before those of this one.
        for settings in directory.rglob(".make-*"):
            settings.unlink()
        return
    for file in _files(source.path):
        target = directory / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source.path / file, target, follow_symlinks=False)


def _export_revision(source: RevisionSource, directory: Path) -> None:
    # Told where the repository is, git takes the whole tree also for one that was named by a directory inside of it.
    directory_of_git = run_git(source.repository, "rev-parse", "--absolute-git-dir").stdout.strip()
    command = ["git", f"--git-dir={directory_of_git}", "archive", "--format=tar", source.commit]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as archive:
        unpacked = subprocess.run(
            ["tar", "-x", "-C", str(directory)], stdin=archive.stdout, capture_output=True, check=False
        )
        if archive.stdout is not None:
            archive.stdout.close()
        fault = (archive.stderr.read() if archive.stderr else b"") + unpacked.stderr
    if archive.returncode != 0 or unpacked.returncode != 0:
        raise BuildFailed(f"`{source.name}` cannot be taken out of git", details=fault.decode(errors="replace"))


def _files(tree: Path) -> list[Path]:
    """Return the source's files, relative and sorted: what git knows or would add, or all but what builds leave."""
    listed = run_git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    top = run_git(tree, "rev-parse", "--show-toplevel")
    if listed.returncode == 0 and Path(top.stdout.strip()) == tree.resolve():
        found = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        found = [path.relative_to(tree) for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()]
    kept = (path for path in found if path.suffix not in LEFT_BY_BUILDS and not LEFT_OUT & set(path.parts))
    return sorted(path for path in kept if not path.name.startswith(".make-") and _is_inside(tree, path))


def _is_inside(tree: Path, path: Path) -> bool:
    """Whether it is a file or link of the tree itself and not of a directory that a link leads to."""
    return _is_file(tree / path) and not any((tree / parent).is_symlink() for parent in path.parents)


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _content(path: Path) -> bytes:
    return str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
