"""What people and GitHub do in the demo `make zero-touch-demo`, and what the lab is expected to do about it.

`pull-request` and `watch` are its two parts; both write what they see to standard output, and fail where something
that was expected has not happened.
"""

import argparse
import difflib
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from webhook_payloads import LABEL, MAINTAINER, REPOSITORY, Payload, commented, delivery, pull_request

from zerolap.sheets import plain

NUMBER: Final = 12
PATIENCE_SECONDS: Final = 900
"""More than anything here takes, also on a slow machine: it bounds a hang."""
DIGITS: Final = 12
STREAM: Final = Path("src/t_stream.c")
WATCHED_COMMITS: Final = 10
CHANGES = REGRESSION, REPAIR = 5, 8
"""The numbers of the watched commits that change code; the others change documents."""


REPORT: Final = re.compile(r"^(a regression is (?:reported|gone)): ([0-9a-f]+) of ", re.MULTILINE)


class NotAsExpected(Exception):
    """Something that the demo shows has not happened."""


def expect(condition: object, what: str) -> None:
    """Fail unless a condition holds."""
    if not condition:
        raise NotAsExpected(what)


def tell(text: str = "") -> None:
    """Write a line of the transcript."""
    print(text, flush=True)


@dataclass(frozen=True)
class Repository:
    """The git repository that is pushed to."""

    path: Path

    def git(self, *arguments: str) -> str:
        """Return what a command of git prints."""
        identity = [
            "-c",
            "user.name=A Developer",
            "-c",
            "user.email=developer@example.com",
            "-c",
            "commit.gpgsign=false",
        ]
        command = ["git", "-C", str(self.path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, message: str) -> str:
        """Commit all changes, and return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        commit = self.git("rev-parse", "HEAD")
        tell(f"  pushed {commit[:DIGITS]} to {self.git('branch', '--show-current')}: {message}")
        return commit

    def append(self, file: Path, text: str) -> None:
        """Add a line at the end of a file."""
        with (self.path / file).open("a") as content:
            content.write(f"{text}\n")


class GitHub:
    """The played GitHub, and the lab that it tells what happens."""

    def __init__(self, address: str, webhook: str, certificate: Path) -> None:
        self._address = address
        self._webhook = webhook
        self._trust = ssl.create_default_context(cafile=str(certificate))

    def arrange(self, what: str, **arguments: Any) -> int | None:
        """Do something at GitHub; returns the number of what was made."""
        made: int | None = self._ask("/_arrange", {"do": what, **arguments})["id"]
        return made

    def repository(self) -> dict[str, Any]:
        """Return all that GitHub knows of the repository."""
        state = self._ask("/_state")
        expect(not state["violations"], f"requests are not as GitHub describes them: {state['violations']}")
        known: dict[str, Any] = state["repositories"][REPOSITORY]
        return known

    def comment_texts(self) -> list[str]:
        """Return all texts that the lab's comment has had, in order; there is one comment at most."""
        texts = [text for text in self.repository()["comment_texts"] if text["author"] != MAINTAINER]
        expect(len({text["comment"] for text in texts}) <= 1, "the lab has written a second comment")
        return [text["body"] for text in texts]

    def check(self, commit: str) -> dict[str, Any]:
        """Return the lab's check of a commit, with its annotations."""
        repository = self.repository()
        checks = [check for check in repository["checks"].values() if check["head_sha"] == commit]
        expect(len(checks) <= 1, f"{commit} has two checks")
        return (
            {} if not checks else checks[0] | {"annotations": repository["annotations"].get(str(checks[0]["id"]), [])}
        )

    def deliver(self, event: str, payload: Payload) -> None:
        """Send a webhook to the lab."""
        signed = delivery(event, payload)
        request = urllib.request.Request(self._webhook, signed.body, dict(signed.headers), method="POST")
        with urllib.request.urlopen(request, context=self._trust) as answer:
            tell(f"  GitHub sends the lab ({event}, {payload['action']}): {answer.status} {answer.reason}")

    def _ask(self, path: str, document: object = None) -> Any:
        content = None if document is None else json.dumps(document).encode()
        with urllib.request.urlopen(urllib.request.Request(self._address + path, content)) as answer:
            return json.load(answer)


@dataclass
class Story:
    """A pull request from its label to an accepted regression; `base` is the release that it is compared with."""

    github: GitHub
    repository: Repository
    base: str
    shown: str = ""
    texts_seen: int = 0

    def tell_it(self) -> None:
        """Have everything happen, and look at what the lab does."""
        first = self.repository.git("rev-parse", "xadd-reply")
        tell(f"  pushed {first[:DIGITS]} to xadd-reply: {self.repository.git('log', '-1', '--format=%s', first)}")
        self.github.arrange(
            "add_pull_request", repository=REPOSITORY, number=NUMBER, head_sha=first, base_sha=self.base
        )
        tell(f"  {MAINTAINER} sets the label `{LABEL}` on pull request #{NUMBER}")
        self.happens("labeled", first)
        self.wait_for("the comment names the first commit", lambda body: first[:DIGITS] in body)

        tell("\nA second push, while the first is worked on:\n")
        self.repository.git("checkout", "--quiet", "xadd-reply")
        self.repository.append(Path("src/networking.c"), "/* All replies end up here. */")
        second = self.repository.commit("A comment where replies are made")
        self.github.arrange("push", repository=REPOSITORY, number=NUMBER, head_sha=second)
        self.happens("synchronize", second)
        body = self.wait_for(
            "the second commit is measured on both platforms",
            lambda body: second[:DIGITS] in body and body.count(": done") == 2,
        )
        tell("\nThe comment, but for what is folded:\n")
        tell(_indented(body.partition("<details>")[0].rstrip()))
        expect(
            "XADD does" in body and "more work on both platforms" in body, "the comment does not name the regression"
        )
        expect("t_stream.c" in body, "the comment does not point to the changed lines")

        self.wait_for_check(second, "failure")
        # Where the push came after its end, the first commit has its own verdict.
        self.wait_for_check(first, "cancelled", "failure")
        tell("\nThe check runs:\n")
        self.show_check(first)
        self.show_check(second)
        expect(self.github.check(second)["annotations"], "the check has no annotation")

        tell("\nThe regression is accepted:\n")
        command = "/zerolap ack replies of all streams are alike now, which is worth it"
        tell(f"  {MAINTAINER} writes: {command}")
        payload = commented(command)
        number = self.github.arrange("comment", repository=REPOSITORY, number=NUMBER, author=MAINTAINER, body=command)
        payload["issue"]["number"], payload["comment"]["id"] = NUMBER, number
        self.github.deliver("issue_comment", payload)
        self.wait_for("the acknowledgement is in the comment", lambda body: "Acknowledged by" in body)
        # Nothing got better: GitHub lets a neutral check pass.
        self.wait_for_check(second, "neutral")
        tell("  the check:")
        self.show_check(second)
        expect(self.github.repository()["reactions"], "nothing shows that the command was carried out")

    def happens(self, action: str, head: str) -> None:
        """Have GitHub tell of something that happened to the pull request."""
        label = LABEL if action == "labeled" else None
        payload = pull_request(action, number=NUMBER, head=head, fork=False, labels=[LABEL], label=label)
        payload["pull_request"]["base"]["sha"] = self.base
        self.github.deliver("pull_request", payload)

    def wait_for(self, what: str, condition: Callable[[str], bool]) -> str:
        """Wait until the comment has had a text as expected since the last one that was waited for; returns it.

        GitHub has all texts: one that stayed for a moment only counts too. What changes from each to the next is told.
        """
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            for body in self.github.comment_texts()[self.texts_seen :]:
                self.texts_seen += 1
                self._show_changes(body)
                if condition(body):
                    return body
            time.sleep(0.5)
        raise NotAsExpected(f"waited in vain until {what}; the comment is:\n{self.shown}")

    def wait_for_check(self, commit: str, *conclusions: str) -> None:
        """Wait until a commit's check has one of the conclusions, which it keeps until something else happens."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.github.check(commit).get("conclusion") not in conclusions:
            expect(time.monotonic() < end, f"the check of {commit} is {self.github.check(commit)}")
            time.sleep(0.5)

    def show_check(self, commit: str) -> None:
        """Tell what the check of a commit says."""
        check = self.github.check(commit)
        tell(f"  {commit[:DIGITS]} {check['name']}: {check['status']}, {check['conclusion']}")
        tell(f"      {check['output']['title']}")
        for note in check["annotations"]:
            tell(
                f"      {note['annotation_level']} at {note['path']}:{note['start_line']}: {plain(note['message'], 90)}"
            )

    def _show_changes(self, body: str) -> None:
        """Tell the lines of the comment that are new, but for what is folded, which is long."""
        lines = [line for line in body.partition("<details>")[0].splitlines() if line and not line.startswith("<!--")]
        before = self.shown.splitlines()
        new = [_without_links(line[2:]) for line in difflib.ndiff(before, lines) if line.startswith("+ ")]
        if new:
            tell(f"  {'the comment' if not before else 'the comment changes'}:")
            for line in new:
                tell(f"      {line}")
        self.shown = "\n".join(lines)


def _without_links(line: str) -> str:
    return re.sub(r"\]\(https://[^)]*\)", "]", line)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def make_watched(repository: Repository) -> None:
    """Push ten commits to `main`, of which two change code: one brings a regression, which the other takes back."""
    repository.git("checkout", "--quiet", "main")
    for number in range(1, WATCHED_COMMITS + 1):
        if number == REGRESSION:
            repository.git("checkout", "xadd-reply", "--", str(STREAM))
            repository.commit(f"{number}: XADD replies like the other commands of streams")
        elif number == REPAIR:
            repository.git("checkout", "7.0.15", "--", str(STREAM))
            repository.commit(f"{number}: XADD formats the id once")
        else:
            repository.append(Path("README.md"), f"\nNote {number}.")
            repository.commit(f"{number}: a note in README.md")


def watch(repository: Repository, command: list[str]) -> None:
    """Follow the ten commits; the regression has to be reported once, and once that it is gone."""
    make_watched(repository)
    regression, repair = (repository.git("rev-parse", f"main~{WATCHED_COMMITS - number}") for number in CHANGES)
    tell(f"\n$ {' '.join(['zerolap', *command[1:]])}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, errors = process.communicate(timeout=PATIENCE_SECONDS)
    expect(process.returncode == 0, f"zerolap watch has failed:\n{errors}")
    for line in out.splitlines():
        tell(f"  {line}")
    reports = REPORT.findall(errors)
    tell("\nIn its log:\n")
    for event, commit in reports:
        tell(f"  {event}: {commit}")
    expected = [("a regression is reported", regression[:DIGITS]), ("a regression is gone", repair[:DIGITS])]
    expect(reports == expected, "it was not reported once")
    measured = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    expect(sorted(measured) == sorted([regression[:DIGITS], repair[:DIGITS]]), "other commits were measured")


def main() -> int:
    """Play a part; returns 1, with what has not happened, if something has not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parts = parser.add_subparsers(dest="part", required=True)
    of_pull_request = parts.add_parser("pull-request")
    for name in ("github", "webhook", "certificate"):
        of_pull_request.add_argument(f"--{name}", required=True)
    of_watch = parts.add_parser("watch")
    of_watch.add_argument("command", nargs=argparse.REMAINDER)
    for part in (of_pull_request, of_watch):
        part.add_argument("--repository", type=Path, required=True)
    arguments = parser.parse_args()
    repository = Repository(arguments.repository)
    try:
        if arguments.part == "watch":
            watch(repository, arguments.command)
        else:
            github = GitHub(arguments.github, arguments.webhook, Path(arguments.certificate))
            Story(github, repository, repository.git("rev-parse", "main")).tell_it()
    except NotAsExpected as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
