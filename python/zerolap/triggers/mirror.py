"""Mirrors of remote repositories: bare clones from which sources are taken. Their content may be hostile."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from zerolap.build import GitEnded, GitStopped, commit_of, read_git, revision_source, run_git
from zerolap.records import EnvironmentMissing, RevisionSource, UsageError
from zerolap.triggers.names import BRANCHES, COMMIT, TAGS, ref_fault

FETCH_SECONDS: Final = 600.0
LIST_SECONDS: Final = 60.0
SHOWN_DIGITS: Final = 12
MOST_REFS: Final = 100_000
KEPT_COMMITS: Final = 200
MOST_LISTED_BYTES: Final = 32 << 20
ORIGIN: Final = "remote.origin.url"
SETTINGS: Final = (
    # No program of a remote may run: neither helpers that it names nor other transports.
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.git.allow=always",
    "fetch.fsckObjects=true",
    # Old histories have such entries; they are harmless where they are not checked out.
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    # Loose objects are written one by one: after a kill, a commit could be there without its files.
    "fetch.unpackLimit=1",
)
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class RemoteUnreachable(EnvironmentMissing):
    """A remote does not answer, or does not have the commit or ref; it may have it later."""


class CommitAbsent(RemoteUnreachable):
    """A remote answers and does not have the commit: its branch may have been rewritten."""


@dataclass(frozen=True)
class Mirror:
    """A bare repository with what was fetched of `remote`, a URL or path; its methods block."""

    remote: str
    directory: Path

    @classmethod
    def below(cls, directory: Path, remote: str) -> "Mirror":
        """Return the mirror of a remote in a directory of mirrors."""
        return cls(remote, directory / f"{sha256(remote.encode()).hexdigest()[:24]}.git")

    def refs(self) -> dict[str, str]:
        """Return the commits of the remote's branches and tags now, by their full names.

        An annotated tag has the commit that it points to. Raises `RemoteUnreachable`.
        """
        if self._is_made():
            self._name_origin()
        listed = self._run(["ls-remote", "--heads", "--tags", "--", self.remote], LIST_SECONDS)
        commits: dict[str, str] = {}
        for line in listed.splitlines()[:MOST_REFS]:
            commit, _, name = line.partition("\t")
            is_peeled = name.endswith("^{}")
            name = name.removesuffix("^{}")
            short = name.removeprefix(BRANCHES).removeprefix(TAGS)
            if COMMIT.fullmatch(commit) and short != name and ref_fault(short) is None:
                # The line of the commit comes after that of the tag object.
                commits[name] = commit if is_peeled or name not in commits else commits[name]
        return commits

    def fetch(self, commits: Sequence[str], refs: Sequence[str] = ()) -> None:
        """Fetch commits with all their history; if the remote serves only refs, the branches and `refs` are fetched.

        Raises `RemoteUnreachable` if a commit cannot be fetched, `CommitAbsent` if the remote does not have it.
        """
        self._make()
        missing = [commit for commit in dict.fromkeys(commits) if not self.has(commit)]
        if not missing:
            return
        try:
            self._fetch([f"+{commit}:refs/zerolap/{commit}" for commit in missing])
        except RemoteUnreachable:
            # The remote serves only the commits that its refs point to.
            self._fetch([f"+{ref}:refs/zerolap/{ref.removeprefix('refs/')}" for ref in [f"{BRANCHES}*", *refs]])
        absent = next((commit for commit in missing if not self.has(commit)), None)
        if absent is not None:
            raise CommitAbsent(f"{self.shown} does not have the commit {absent[:SHOWN_DIGITS]}")

    def can_have(self, commit: str) -> bool:
        """Fetch a commit; returns false if the remote no longer has it, as after a branch was rewritten.

        Raises `RemoteUnreachable`.
        """
        try:
            self.fetch([commit])
        except CommitAbsent:
            return False
        return True

    def has(self, commit: str) -> bool:
        """Whether the mirror has a commit."""
        return self.directory.is_dir() and commit_of(self.directory, commit) is not None

    def merge_base(self, head: str, branch: str) -> str | None:
        """Return the merge base of two commits in the mirror; None if they have no common history."""
        done = self._asked("merge-base", head, branch)
        return done.text if done.code == 0 else None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether a commit is in the history of another; both are in the mirror."""
        return self._asked("merge-base", "--is-ancestor", older, newer).code == 0

    def commits_between(self, older: str, newer: str) -> list[str]:
        """Return the commits after `older` up to `newer`, following first parents, the oldest first."""
        done = self._asked("rev-list", "--first-parent", "--reverse", f"{older}..{newer}")
        return done.text.split()

    def revision(self, text: str) -> str | None:
        """Return the commit in the mirror that a text names for git, such as the beginning of its hash."""
        return commit_of(self.directory, text)

    def parent(self, commit: str) -> str | None:
        """Return the first parent of a commit."""
        return commit_of(self.directory, f"{commit}^")

    def source(self, commit: str) -> RevisionSource:
        """Return a commit of the mirror as a source; raises `UsageError` if the mirror does not have it."""
        full = commit_of(self.directory, commit)
        if full is None:
            raise UsageError(f"{self.shown} has no commit {commit}")
        return revision_source(commit[:SHOWN_DIGITS], self.directory, full)

    def tidy(self) -> None:
        """Remove all but the newest of the commits that were fetched by hash, and repack the mirror.

        Sources that were measured are in the blobs; a commit that is needed again is fetched again. Raises
        `RemoteUnreachable`.
        """
        listed = self._asked("for-each-ref", "--sort=-creatordate", "--format=%(refname)", "refs/zerolap")
        fetched = [ref for ref in listed.text.split() if COMMIT.fullmatch(ref.rpartition("/")[2])]
        for ref in fetched[KEPT_COMMITS:]:
            self._run(["-C", str(self.directory), "update-ref", "-d", ref], LIST_SECONDS)
        self._run(["-C", str(self.directory), "gc", "--quiet", "--prune=2.days.ago"], FETCH_SECONDS)

    @property
    def shown(self) -> str:
        """The remote for messages: without user and password."""
        return _CREDENTIALS.sub("", self.remote)

    def _asked(self, *arguments: str) -> GitEnded:
        """Run git in the mirror; raises `RemoteUnreachable` if it takes too long."""
        try:
            return run_git(self.directory, *arguments)
        except GitStopped as reason:
            raise RemoteUnreachable(f"{self.shown} cannot be read: {reason.message}") from reason

    def _make(self) -> None:
        """Make the mirror, or what is missing of one whose making was interrupted; one that is there stays as it is."""
        if not self._is_made():
            self.directory.mkdir(parents=True, exist_ok=True)
            self._run(["init", "--quiet", "--bare", "--", str(self.directory)], LIST_SECONDS)
        self._name_origin()

    def _is_made(self) -> bool:
        """Whether the mirror is whole: one whose making was interrupted may have files, and be no repository."""
        return self.directory.is_dir() and self._asked("rev-parse", "--is-bare-repository").text == "true"

    def _name_origin(self) -> None:
        """Have pages lead to the host of the remote, also from a mirror that an earlier version made.

        What is fetched names the remote itself.
        """
        if self._asked("config", "--local", "--get", ORIGIN).text != self.shown:
            self._run(["-C", str(self.directory), "config", "--local", ORIGIN, self.shown], LIST_SECONDS)

    def _fetch(self, refspecs: Sequence[str]) -> None:
        options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force"]
        self._run(["-C", str(self.directory), "fetch", *options, "--", self.remote, *refspecs], FETCH_SECONDS)

    def _run(self, arguments: Sequence[str], seconds: float) -> str:
        settings = (word for setting in SETTINGS for word in ("-c", setting))
        try:
            done = read_git([*settings, *arguments], MOST_LISTED_BYTES, seconds)
        except GitStopped as reason:
            raise RemoteUnreachable(f"{self.shown} cannot be read: {reason.message}") from reason
        if done.code != 0:
            errors = _CREDENTIALS.sub("", done.errors.strip()).splitlines() or ["git failed"]
            # The lines after the first are advice.
            raise RemoteUnreachable(f"{self.shown} cannot be read: {errors[0].removeprefix('fatal: ')}")
        return done.output.decode(errors="replace")
