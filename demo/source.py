"""Makes a git repository of Redis 7.0.15 with a slowdown as its last commit.

The source comes from Debian's source package, by way of the machine's own apt entries but with a state of its own below
the working directory, so that the machine's settings stay as they are.
"""

import argparse
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from apt_sources import read_entries, source_list

VERSION = "7.0.15"
EDIT = Path(__file__).parent / "edits" / "xadd_formats_id_twice.py"


class DemoError(Exception):
    """What happened, and after a line break what to do."""


def run(command: list[str], directory: Path, environment: dict[str, str] | None = None) -> str:
    """Return what a program prints; raises `DemoError` with its last words where it fails or is missing."""
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env=None if environment is None else {**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as fault:
        raise DemoError(f"{command[0]} is not installed\nhint: the demo needs Debian's apt, git and tar") from fault
    if done.returncode != 0:
        words = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise DemoError(f"{' '.join(command[:2])} failed:\n{words}")
    return done.stdout


def prepare_apt(work: Path, settings: Path = Path("/etc/apt")) -> list[str]:
    """Write an apt configuration below `work` and return the option that selects it."""
    sources = source_list(read_entries(settings))
    if not sources:
        raise DemoError(f"no entry of {settings} serves the Debian main archive\nhint: add one, as Debian installs it")
    state = work / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "debian.sources").write_text(sources, encoding="utf-8")
    configuration = state / "apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{state}/debian.sources";\n'
        'Dir::Etc::sourceparts "-";\n'
        f'Dir::State::lists "{state}/lists";\n'
        f'Dir::Cache "{state}/cache";\n'
        'APT::Sandbox::User "root";\n'
        'Acquire::Languages "none";\n'
        # What the machine does after an update of its own lists is not for these.
        "#clear APT::Update::Pre-Invoke;\n"
        "#clear APT::Update::Post-Invoke;\n"
        "#clear APT::Update::Post-Invoke-Success;\n",
        encoding="utf-8",
    )
    return [f"--config-file={configuration}"]


def upstream_version(version: str) -> str:
    """Return a Debian version without epoch and revision."""
    return version.rpartition(":")[2].partition("-")[0].partition("+")[0]


def chosen_version(offered: list[str]) -> str:
    """Return the newest of the versions that package Redis 7.0.15; raises `DemoError` where there is none."""
    fitting = [version for version in offered if upstream_version(version) == VERSION]
    if not offered:
        raise DemoError("apt finds no source package of redis\nhint: is the archive reachable? run the demo again")
    if not fitting:
        there = ", ".join(sorted(set(offered)))
        raise DemoError(
            f"this distribution offers redis {there}, not {VERSION}\n"
            "hint: use Debian 12, or compare commits of a checkout of your own: zerolap compare BASE HEAD --repo DIR"
        )
    return max(fitting, key=functools.cmp_to_key(_compare_versions))


def checksums(description: str) -> dict[str, str]:
    """Return the SHA-256 of each file that a source package's description (.dsc) names."""
    section = re.search(r"^Checksums-Sha256:\n((?: .*\n)+)", description, re.MULTILINE)
    lines = section.group(1).splitlines() if section else []
    return {words[2]: words[0] for words in map(str.split, lines) if len(words) == 3}


def download(work: Path) -> Path:
    """Return the verified tarball of the release, which is downloaded unless it is there."""
    target = work / "download"
    tarball = _verified(target)
    if tarball is not None:
        return tarball
    option = prepare_apt(work)
    run(["apt-get", *option, "--quiet", "update"], work)
    stanzas = run(["apt-cache", *option, "showsrc", "--only-source", "redis"], work)
    version = chosen_version(re.findall(r"^Version: (\S+)", stanzas, re.MULTILINE))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    run(["apt-get", *option, "--quiet", "source", "--download-only", "--only-source", f"redis={version}"], target)
    tarball = _verified(target)
    if tarball is None:
        raise DemoError(f"what apt downloaded to {target} is not what the package describes\nhint: run the demo again")
    return tarball


def make_repository(work: Path) -> Path:
    """Return the repository: the release, then the edit; one that is complete and of this edit is kept."""
    repository, part = work / "redis", work / "redis.part"
    inputs = hashlib.sha256(Path(__file__).read_bytes() + EDIT.read_bytes()).hexdigest()
    mark = Path(".git/made-by-demo")
    if (repository / mark).is_file() and (repository / mark).read_text(encoding="utf-8") == inputs:
        return repository
    tarball = download(work)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    run(["tar", "--extract", "--no-same-owner", "--strip-components=1", f"--file={tarball}"], part)
    run(["git", "init", "--quiet", "--initial-branch=main"], part)
    commit(part, f"Redis {VERSION}, as released", "2024-01-09T12:45:00+00:00")
    run([sys.executable, str(EDIT), str(part)], part)
    commit(part, "XADD replies with addReplyStreamID like the other commands of streams", "2024-01-10T09:00:00+00:00")
    (part / mark).write_text(inputs, encoding="utf-8")
    shutil.rmtree(repository, ignore_errors=True)
    part.rename(repository)
    return repository


def commit(repository: Path, message: str, date: str) -> None:
    """Commit all files such that the same content gets the same id on every machine."""
    names = {"NAME": "Zerolap demo", "EMAIL": "demo@example.invalid", "DATE": date}
    environment = {f"GIT_{who}_{name}": value for who in ("AUTHOR", "COMMITTER") for name, value in names.items()}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    run(["git", "-c", "core.autocrlf=false", "add", "--all", "--force"], repository, environment)
    run(["git", "commit", "--quiet", "--no-gpg-sign", "--no-verify", f"--message={message}"], repository, environment)


def main() -> int:
    """Make the repository below the directory that the command line names, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where all goes")
    work = parser.parse_args().directory.resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        print(make_repository(work))
    except DemoError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 3
    return 0


def _verified(directory: Path) -> Path | None:
    for description in directory.glob("redis_*.dsc"):
        for name, digest in checksums(description.read_text(encoding="utf-8", errors="replace")).items():
            path = directory / name
            if ".orig.tar" in name and path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
                return path
    return None


def _compare_versions(one: str, other: str) -> int:
    done = subprocess.run(["dpkg", "--compare-versions", one, "gt", other], check=False)
    return 1 if done.returncode == 0 else -1


if __name__ == "__main__":
    sys.exit(main())
