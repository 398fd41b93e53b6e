"""The state of a GitHub that is played: repositories, comments, checks, issues, and whose token is whose."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

LAB: Final = "lab-bot"
"""The account of the personal token."""
APP: Final = "zerolap-lab"
WORKFLOW: Final = "github-actions[bot]"
"""Who writes with the token of a workflow run."""
TOKEN: Final = "github_pat_played0123456789"
SIGNED_TOKEN_SECONDS: Final = 600


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, message: str, *errors: dict[str, str]) -> None:
        super().__init__(message)
        self.status = status
        self.document: dict[str, Any] = {"message": message, "documentation_url": "https://docs.github.com/rest"}
        if errors:
            self.document["errors"] = list(errors)


@dataclass(frozen=True)
class CommentText:
    """A text that somebody has given a comment."""

    comment: int
    author: str
    body: str


@dataclass
class PlayedRepository:
    """A repository with what belongs to it, as GitHub's answers have it.

    `comment_texts` are all that was ever written as comments, in order: the text that a comment has now may stay for a
    moment only.
    """

    id: int
    name: str
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    comment_texts: list[CommentText] = field(default_factory=list)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    annotations: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    pull_requests: dict[int, dict[str, Any]] = field(default_factory=dict)
    roles: dict[str, dict[str, str]] = field(default_factory=dict)
    reactions: list[dict[str, Any]] = field(default_factory=list)


class GitHubState:
    """What GitHub knows: repositories with what belongs to them, and tokens.

    `url` is the address of its API, `now` gives the seconds since 1970. All is done under `lock`.
    """

    def __init__(self, url: str, now: Callable[[], float]) -> None:
        self.url = url
        self.now = now
        self.lock = threading.RLock()
        self.repositories: dict[str, PlayedRepository] = {}
        self.app_keys: dict[str, rsa.RSAPublicKey] = {}
        self.personal_tokens = {TOKEN: LAB}
        self.read_only_tokens: set[str] = set()
        self.installation_tokens: dict[str, tuple[str, float]] = {}
        self.clients: dict[str, str] = {}
        self.person = "octocat"
        """Who is signed in at GitHub in every browser."""
        self._codes: dict[str, dict[str, str]] = {}
        self._moved: dict[str, int] = {}
        self._last = 1000

    # ---- what others do at GitHub

    def add_repository(self, name: str) -> PlayedRepository:
        """Make a repository, on which the app is installed."""
        with self.lock:
            self.repositories[name] = PlayedRepository(self.next_id(), name)
            return self.repositories[name]

    def rename(self, name: str, new_name: str) -> None:
        """Give a repository another name; requests to the old one are redirected."""
        with self.lock:
            repository = self.repositories.pop(name)
            repository.name = new_name
            self.repositories[new_name] = repository
            self._moved[name] = repository.id

    def add_pull_request(self, repository: str, number: int, head_sha: str, base_sha: str, **other: Any) -> None:
        """Open a pull request: `base`, `branch`, `labels`, `user`, and `fork`, the name of the head's repository."""
        with self.lock:
            played = self.repositories[repository]
            fork = other.get("fork") or repository
            head = self.repositories.get(fork) or self.add_repository(fork)
            labels = [{"name": label} for label in other.get("labels", ())]
            played.pull_requests[number] = {
                "number": number,
                "state": "open",
                "user": {"login": other.get("user", "contributor")},
                "head": _tip(head, other.get("branch", "change"), head_sha),
                "base": _tip(played, other.get("base", "unstable"), base_sha),
                "labels": labels,
            }
            issue = {"number": number, "state": "open", "body": "", "user": {"login": "contributor"}, "labels": labels}
            played.issues[number] = {**issue, "pull_request": {}}

    def push(self, repository: str, number: int, head_sha: str) -> None:
        """Add a commit to a pull request."""
        with self.lock:
            self.repositories[repository].pull_requests[number]["head"]["sha"] = head_sha

    def permit(self, repository: str, user: str, role: str, name: str = "") -> None:
        """Give a person a role, or one that an organization has made of it, with another name."""
        with self.lock:
            permission = {"maintain": "write", "triage": "read"}.get(role, role)
            self.repositories[repository].roles[user] = {"permission": permission, "role_name": name or role}

    def comment(self, repository: str, number: int, author: str, body: str) -> int:
        """Write a comment as somebody and return its id."""
        with self.lock:
            identifier = self.next_id()
            path = f"/{repository}/issues/{number}"
            self.repositories[repository].comment_texts.append(CommentText(identifier, author, body))
            self.repositories[repository].comments[identifier] = {
                "id": identifier,
                "issue_url": f"{self.url}/repos{path}",
                "body": body,
                "user": {"login": author},
                "created_at": _moment(identifier),
                "updated_at": _moment(identifier),
                "html_url": f"{self.url}{path}#issuecomment-{identifier}",
            }
            return identifier

    def edit_comment(self, repository: str, comment_id: int, body: str) -> None:
        """Change the text of a comment, as a maintainer can."""
        with self.lock:
            played = self.repositories[repository]
            comment = played.comments[comment_id]
            comment["body"] = body
            played.comment_texts.append(CommentText(comment_id, comment["user"]["login"], body))

    def delete_comment(self, repository: str, comment_id: int) -> None:
        """Remove a comment, as a maintainer can."""
        with self.lock:
            del self.repositories[repository].comments[comment_id]

    def install_app(self, app_id: str, public_key: str) -> None:
        """Make a GitHub App known by its id and its key as PEM."""
        key = serialization.load_pem_public_key(public_key.encode())
        assert isinstance(key, rsa.RSAPublicKey)
        self.app_keys[app_id] = key

    def add_client(self, client_id: str, secret: str) -> None:
        """Make the client of an app known, by which people sign in elsewhere."""
        with self.lock:
            self.clients[client_id] = secret

    def give_workflow_token(self, token: str, *, is_read_only: bool = False) -> None:
        """Make a token of a workflow run known; that of a pull request from a fork can only read."""
        with self.lock:
            self.personal_tokens[token] = WORKFLOW
            if is_read_only:
                self.read_only_tokens.add(token)

    def revoke_tokens(self) -> None:
        """End the tokens of all installations."""
        with self.lock:
            self.installation_tokens.clear()

    # ---- what is looked at

    def bodies(self, repository: str, number: int, author: str | None = LAB) -> list[str]:
        """Return the texts of the comments of somebody, or of all, the oldest first."""
        with self.lock:
            comments = self.comments_on(repository, number)
            return [comment["body"] for comment in comments if author in {None, comment["user"]["login"]}]

    def comments_on(self, repository: str, number: int) -> list[dict[str, Any]]:
        """Return the comments on an issue or a pull request, the oldest first."""
        comments = self.repositories[repository].comments.values()
        return [comment for comment in comments if comment["issue_url"].endswith(f"/issues/{number}")]

    # ---- for the site

    def agreed(self, asked: dict[str, str]) -> str:
        """Return where GitHub leads a person who agrees to sign in elsewhere."""
        if asked["client_id"] not in self.clients or asked["code_challenge_method"] != "S256":
            return f"{asked['redirect_uri']}?{urlencode({'error': 'invalid_request', 'state': asked['state']})}"
        code = f"code{self.next_id()}"
        self._codes[code] = {**asked, "person": self.person}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchanged(self, form: dict[str, str]) -> dict[str, str]:
        """Return what a code is answered with: a token, or an error, which has the status 200 too."""
        if not form.get("client_secret") or self.clients.get(form["client_id"]) != form["client_secret"]:
            return {"error": "incorrect_client_credentials"}
        agreed = self._codes.pop(form["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if agreed is None or agreed["code_challenge"] != challenge.rstrip(b"=").decode():
            return {"error": "bad_verification_code"}
        if agreed["redirect_uri"] != form["redirect_uri"]:
            return {"error": "redirect_uri_mismatch"}
        token = f"ghu_played{self.next_id()}"
        self.personal_tokens[token] = agreed["person"]
        return {"access_token": token, "token_type": "bearer", "scope": ""}

    # ---- for the operations

    def next_id(self) -> int:
        """Return an id that nothing has."""
        self._last += 1
        return self._last

    def repository(self, parameters: dict[str, str]) -> PlayedRepository:
        """Return the repository that a request names."""
        repository = self.repositories.get(f"{parameters['owner']}/{parameters['repo']}")
        if repository is None:
            raise Refusal(404, "Not Found")
        return repository

    def current_path(self, path: str) -> tuple[str, str | None]:
        """Return a path with the name of the repository, and where to go instead if it has moved."""
        parts = path.split("/")
        if parts[1] == "repositories":
            names = {str(repository.id): name for name, repository in self.repositories.items()}
            return "/".join(["", "repos", names.get(parts[2], "no/repository"), *parts[3:]]), None
        moved = self._moved.get("/".join(parts[2:4])) if parts[1] == "repos" else None
        return path, None if moved is None else "/".join(["", "repositories", str(moved), *parts[4:]])

    def identity(self, authorization: str, method: str, path: str) -> str:
        """Return whose token a request has: a login, or `app:` and the id of an app."""
        kind, _, token = authorization.partition(" ")
        if token in self.read_only_tokens and method != "GET":
            raise Refusal(403, "Resource not accessible by integration")
        if kind == "Bearer" and token in self.personal_tokens:
            return self.personal_tokens[token]
        if kind == "Bearer" and token in self.installation_tokens:
            repository, end = self.installation_tokens[token]
            if self.now() < end:
                if path.startswith("/repos/") and not path.startswith(f"/repos/{repository}/"):
                    raise Refusal(403, "Resource not accessible by integration")
                return f"{APP}[bot]"
        if kind == "Bearer" and token.count(".") == 2:
            return f"app:{self._app(token)}"
        raise Refusal(401, "Bad credentials")

    def _app(self, token: str) -> str:
        """Return the id of the app that has signed a token."""
        signed, _, signature = token.rpartition(".")
        header, claims = (json.loads(_decoded(part)) for part in signed.split("."))
        key = self.app_keys.get(str(claims.get("iss")))
        is_in_time = claims["iat"] <= self.now() < claims["exp"] <= self.now() + SIGNED_TOKEN_SECONDS
        if header.get("alg") != "RS256" or key is None or not is_in_time:
            raise Refusal(401, "A JSON web token could not be decoded")
        try:
            key.verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            raise Refusal(401, "A JSON web token could not be decoded") from None
        return str(claims["iss"])


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(1_767_225_600 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _tip(repository: PlayedRepository, branch: str, sha: str) -> dict[str, Any]:
    return {"ref": branch, "sha": sha, "repo": {"id": repository.id, "full_name": repository.name}}


ARRANGEMENTS: Final = frozenset(
    {
        "add_repository",
        "rename",
        "add_pull_request",
        "push",
        "permit",
        "comment",
        "edit_comment",
        "delete_comment",
        "install_app",
        "give_workflow_token",
        "revoke_tokens",
    }
)
