"""A lab that nobody touches: `zerolap serve --triggers` with a played GitHub and a local git repository."""

import json
import socket
import subprocess
import textwrap
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from command_line import PROGRAM, Zerolap
from free_ports import free_port
from github_state import TOKEN
from played_github import PlayedGitHub
from toy_server import CASES, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until
from webhook_payloads import LABEL, MAINTAINER, REPOSITORY, SECRET, Payload, commented, delivery, pull_request

from zerolap.store import Store

NUMBER = 12
WITHOUT_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PUBLIC_URL = "https://lab.example.org"


@dataclass
class Scene:
    """The lab, its GitHub, and the repository of the server that is measured."""

    github: PlayedGitHub
    source: ToySource
    zerolap: Zerolap
    settings: Path
    port: int
    process: "subprocess.Popen[str] | None" = None

    @property
    def log(self) -> str:
        """What the lab has logged."""
        return (self.zerolap.directory / "serve.log").read_text()

    def start(self) -> None:
        """Start the lab; returns when it takes webhooks."""
        with (self.zerolap.directory / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [
                    *PROGRAM,
                    *("serve", "--triggers", str(self.settings), "--listen", f"127.0.0.1:{self.port}"),
                    *("--store", str(self.zerolap.store)),
                ],
                cwd=self.zerolap.directory,
                stdout=log,
                stderr=log,
                text=True,
            )
        self.wait_until(self._is_listening)

    def check(self) -> None:
        """Assert that the lab runs."""
        assert self.process is not None
        assert self.process.poll() is None, self.log

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds; what the lab has logged is shown if it does not come to hold."""
        try:
            wait_until(condition, self.check, BUILD_PATIENCE_SECONDS)
        except AssertionError as fault:
            raise AssertionError(self.log) from fault

    def stop(self) -> None:
        """End the lab."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def kill(self) -> None:
        """End the lab as a loss of power does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def send(self, event: str, payload: Payload) -> int:
        """Send a webhook as GitHub does, and return the status of the answer."""
        signed = delivery(event, payload)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/webhooks/github", signed.body, dict(signed.headers), method="POST"
        )
        try:
            with WITHOUT_PROXY.open(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code

    def open_pull_request(self, head: str) -> None:
        """Open the pull request at GitHub."""
        self.github.add_pull_request(REPOSITORY, NUMBER, head, self.source.first)

    def label(self, head: str, action: str = "labeled", *, fork: bool = False, actor: str = MAINTAINER) -> int:
        """Have GitHub tell of the label on the pull request, or of a push to it."""
        label = LABEL if action in ("labeled", "unlabeled") else None
        labels = [] if action == "unlabeled" else [LABEL]
        payload = pull_request(action, number=NUMBER, actor=actor, head=head, fork=fork, labels=labels, label=label)
        payload["pull_request"]["base"]["sha"] = self.source.first
        return self.send("pull_request", payload)

    def write(self, text: str, actor: str = MAINTAINER) -> int:
        """Write a comment on the pull request, and have GitHub tell of it; returns its number."""
        payload = commented(text, actor=actor)
        number = self.github.comment(REPOSITORY, NUMBER, actor, text)
        payload["issue"]["number"], payload["comment"]["id"] = NUMBER, number
        assert self.send("issue_comment", payload) == HTTPStatus.ACCEPTED
        return number

    def comments(self) -> list[str]:
        """Return the texts of the lab's comments on the pull request."""
        return self.github.bodies(REPOSITORY, NUMBER)

    def wait_for_comment(self, part: str) -> str:
        """Wait until the lab's comment has a text in it, and return it."""
        seen: list[str] = []

        def is_there() -> bool:
            # The lab may write it again at any moment.
            seen[:] = [body for body in self.comments() if part in body]
            return seen != []

        self.wait_until(is_there)
        return seen[0]

    def statuses(self, sha: str) -> list[dict[str, Any]]:
        """Return the statuses that the lab has set on a commit, the newest last."""
        with self.github.lock:
            return [status for status in self.github.repositories[REPOSITORY].statuses if status["sha"] == sha]

    def wait_for_status(self, sha: str, state: str) -> None:
        """Wait until a commit's last status is this one."""
        self.wait_until(lambda: [status["state"] for status in self.statuses(sha)][-1:] == [state])

    def checks(self, sha: str) -> list[dict[str, Any]]:
        """Return the lab's check runs on a commit."""
        with self.github.lock:
            checks = self.github.repositories[REPOSITORY].checks.values()
            return [dict(check) for check in checks if check["head_sha"] == sha]

    def reactions(self) -> int:
        """Return the number of reactions to comments."""
        with self.github.lock:
            return len(self.github.repositories[REPOSITORY].reactions)

    def stored_triggers(self, condition: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the kinds of the triggers that have ended fulfil a condition, and return them sorted."""
        with Store.open(str(self.zerolap.store)) as store:

            def kinds() -> list[str]:
                return sorted(stored.kind for stored in store.triggers.in_state("done"))

            self.wait_until(lambda: condition(kinds()))
            return kinds()

    def stored(self, *arguments: str) -> Any:
        """Return a document that the command line prints of the store."""
        return json.loads(self.zerolap(*arguments, "--store", self.zerolap.store, "--json", "-").out)

    def _is_listening(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def zero_touch(directory: Path, source: ToySource, identity: str = 'token_file = "github-token"') -> Iterator[Scene]:
    """Set the scene up in a directory; the lab is not running yet. `identity` is how it talks with GitHub."""
    secret, token = directory / "webhook-secret", directory / "github-token"
    for path, content in ((secret, SECRET), (token, TOKEN)):
        path.write_text(content)
        path.chmod(0o600)
    with PlayedGitHub.started() as github:
        github.add_repository(REPOSITORY)
        github.permit(REPOSITORY, MAINTAINER, "write")
        settings = directory / "triggers.toml"
        settings.write_text(
            textwrap.dedent(f"""\
            [github]
            api_url = "{github.url}"
            webhook_secret_file = "{secret.name}"
            {identity}

            [lab]
            public_url = "{PUBLIC_URL}"

            [[repository]]
            name = "{REPOSITORY}"
            clone_url = "{source.path}"
            actors = ["{MAINTAINER}"]
            branches = ["unstable"]
            tags = ["v*"]
            cases_directory = "{CASES}"
            cases = ["toy-get", "toy-set"]
            engines = ["counted"]
            regimes = "none"
            """)
        )
        scene = Scene(github, source, Zerolap(directory), settings, free_port())
        try:
            yield scene
        finally:
            scene.stop()
        assert github.violations == []
