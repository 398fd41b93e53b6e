"""The toy server's source as a git repository that tests change and commit to."""

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "servers" / "toy"
CASES = SOURCE / "cases.yml"

CHECKSUM_ONCE = "last_checksum += checksum_value(value->data, value->length);"
CHECKSUM_TWICE = (
    "last_checksum += checksum_value(value->data, value->length)\n"
    "            + checksum_value(value->data + 1, value->length - 1);"
)
WORK_BEGINS = "uint64_t word = arguments[1].length;"
NOTED = """\
%.o: %.c
\techo $< >> made.log
\t$(CC) $(FINAL_CFLAGS) -MMD -c -o $@ $<

-include $(OBJECTS:.o=.d)
"""
"""A rule of make that notes what it makes, and what that depends on."""
RULE = "%.o: %.c server.h\n\t$(CC) $(FINAL_CFLAGS) -c -o $@ $<\n"


def git_environment() -> dict[str, str]:
    """Return the environment for git: neither settings of the machine or its user nor a hook's repository matter."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**others, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class ToySource:
    """A copy of the toy server's source in a git repository."""

    def __init__(self, path: Path) -> None:
        self.path = path
        shutil.copytree(SOURCE, path)
        self.git("init", "--quiet", "--initial-branch=trunk")
        self.first = self.commit("first")

    def copied_to(self, path: Path) -> "ToySource":
        """Return a copy with the same commits: what is built or left in it does not reach other tests."""
        copy = object.__new__(ToySource)
        copy.path, copy.first = path, self.first
        shutil.copytree(self.path, path, symlinks=True)
        return copy

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, "-C", str(self.path), *arguments]
        environment = git_environment()
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def replace(self, file: str, old: str, new: str, everywhere: bool = False) -> None:
        """Replace text that must be there, once unless `everywhere`."""
        path = self.path / "src" / file
        text = path.read_text()
        assert text.count(old) >= 1, f"{file} does not hold {old!r}"
        assert everywhere or text.count(old) == 1, f"{file} holds {old!r} more than once"
        path.write_text(text.replace(old, new))

    def changed(self, *edits: tuple[str, str, str]) -> str:
        """Return a commit on top of the first one with these replacements of (file, old, new)."""
        self.git("checkout", "--quiet", "--force", self.first)
        for file, old, new in edits:
            self.replace(file, old, new)
        return self.commit("change")

    def with_path(self, path: str) -> str:
        """Return a commit on top of the first one that adds a file of this path, which is never checked out."""
        blob = self.git("rev-parse", f"{self.first}:src/server.c")
        index = {**git_environment(), "GIT_INDEX_FILE": str(self.path / ".git" / "index of a path")}
        git = ["git", "-C", str(self.path)]
        subprocess.run([*git, "read-tree", self.first], env=index, check=True)
        subprocess.run([*git, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}"], env=index, check=True)
        written = subprocess.run([*git, "write-tree"], env=index, capture_output=True, text=True, check=True)
        return self.git("commit-tree", "-m", "a path", "-p", self.first, written.stdout.strip())

    def renamed(self, names: dict[str, str]) -> str:
        """Return a commit on top of the first one in which functions have other names."""
        self.git("checkout", "--quiet", "--force", self.first)
        for path in (self.path / "src").glob("*.[ch]"):
            text = path.read_text()
            for old, new in names.items():
                text = text.replace(old, new)
            path.write_text(text)
        return self.commit("rename")


def compile_toy(source: Path) -> Path:
    """Build a tree in place and return the program."""
    subprocess.run(["make", "-C", str(source / "src")], capture_output=True, check=True)
    return source / "src" / "toy-server"
