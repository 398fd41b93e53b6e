"""A server that plays GitHub's REST API, with state, by GitHub's own description, and that misbehaves when told to.

As a program it prints its address to a file: `python tests/played_github.py --address-file FILE`. `GET /_state` returns
all that it knows as JSON, `POST /_misbehave` takes the fields of `Misbehaviour`, and `POST /_arrange` calls one of
`ARRANGEMENTS`: {"do": "add_pull_request", "repository": "octo/server", "number": 7, ...}.
"""

import argparse
import contextlib
import json
import math
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from github_description import Operation, description_of
from github_operations import OPERATIONS, PAGED, Asked
from github_state import ARRANGEMENTS, GitHubState, Refusal

Kind: TypeAlias = Literal[
    "forbidden",  # 403
    "retry_later",  # 403 with Retry-After
    "limit_used_up",  # 403 with X-RateLimit-Remaining: 0
    "too_many",  # 429 with Retry-After
    "too_many_unexplained",  # 429 without
    "invalid",  # 422
    "error",  # 500
    "error_afterwards",  # 500, but it was carried out
    "gateway_error",  # 502 with HTML
    "closes",  # no answer, and nothing was done
    "closes_afterwards",  # no answer, but it was carried out
    "hangs",  # no answer as long as the server runs, and nothing was done
    "hangs_afterwards",
    "truncated",  # carried out, and half of the answer
    "leads_elsewhere",  # a redirection to another host
    "repeats_token",  # 400, with the token in the message
]


OAUTH = "/login/oauth/"


@dataclass
class Misbehaviour:
    """What happens to the next `count` requests of a method whose path contains `path`; "" stands for all."""

    kind: Kind
    count: int = 1
    method: str = ""
    path: str = ""
    seconds: int = 60


@dataclass(frozen=True)
class Request:
    """A request; `identity` is whose token it had."""

    operation: str
    method: str
    path: str
    query: dict[str, str]
    body: Any
    identity: str


class PlayedGitHub(GitHubState):
    """The server.

    `violations` are requests and answers that are not as GitHub describes them. `requests` are all that came in, in
    order.
    """

    def __init__(self, now: Callable[[], float] = time.time, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"github": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        super().__init__(f"http://127.0.0.1:{self.server.server_address[1]}", now)
        self.violations: list[str] = []
        self.requests: list[Request] = []
        self.misbehaviours: list[Misbehaviour] = []
        self.description = description_of(frozenset(OPERATIONS))
        self.is_closing = threading.Event()

    @classmethod
    @contextlib.contextmanager
    def started(cls, now: Callable[[], float] = time.time, port: int = 0) -> Iterator["PlayedGitHub"]:
        """Answer requests in threads of this process, until the end of the block."""
        github = cls(now, port)
        serving = threading.Thread(target=github.server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        try:
            yield github
        finally:
            github.is_closing.set()
            github.server.shutdown()
            serving.join()
            github.server.server_close()

    def misbehave(self, kind: Kind, **other: Any) -> None:
        """Misbehave from the next request on that it applies to."""
        with self.lock:
            self.misbehaviours.append(Misbehaviour(kind, **other))

    def asked(self, operation: str) -> list[Request]:
        """Return the requests for an operation, by GitHub's name for it."""
        with self.lock:
            return [request for request in self.requests if request.operation == operation]

    def state(self) -> dict[str, Any]:
        """Return all that it knows, without tokens."""
        with self.lock:
            return {
                "repositories": {name: asdict(repository) for name, repository in self.repositories.items()},
                "requests": [asdict(request) for request in self.requests],
                "misbehaviours": [asdict(misbehaviour) for misbehaviour in self.misbehaviours],
                "violations": self.violations,
            }

    def misbehaviour(self, method: str, path: str) -> Misbehaviour | None:
        """Return what happens to a request."""
        for misbehaviour in self.misbehaviours:
            if misbehaviour.method in {"", method} and misbehaviour.path in path:
                misbehaviour.count -= 1
                if misbehaviour.count == 0:
                    self.misbehaviours.remove(misbehaviour)
                return misbehaviour
        return None


@dataclass(frozen=True)
class Reply:
    """An answer; `content` None means that the connection is closed, `hangs` that nothing comes."""

    status: int
    content: bytes | None = b""
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


def _json_reply(status: int, document: Any, **headers: str) -> Reply:
    content = b"" if document is None else json.dumps(document).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, content, {"Content-Type": "application/json; charset=utf-8", **names})


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    github: PlayedGitHub
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Requests are in `requests`."""

    def _answer(self) -> None:
        address = urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        content = self.rfile.read(length)
        if address.path.startswith(OAUTH):
            self._write(self._site(address.path, address.query, content.decode()))
            return
        try:
            body = json.loads(content) if content else None
        except ValueError:
            self._write(_json_reply(400, {"message": "Problems parsing JSON"}))
            return
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        if address.path.startswith("/_"):
            self._write(self._controlled(address.path, body))
            return
        self._write(self._played(address.path, query, body))

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815

    def _write(self, reply: Reply) -> None:
        if reply.hangs:
            self.github.is_closing.wait()
        if reply.hangs or reply.content is None:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)
        self.wfile.flush()

    def _site(self, path: str, query: str, form: str) -> Reply:
        """Play the site, of which GitHub has no OpenAPI description: the person agrees at once."""
        github = self.github
        with github.lock:
            if path == f"{OAUTH}authorize" and self.command == "GET":
                return Reply(302, b"", {"Location": github.agreed(dict(parse_qsl(query)))})
            if path == f"{OAUTH}access_token" and self.command == "POST":
                misbehaviour = github.misbehaviour("POST", path)
                refusal = None if misbehaviour is None else self._misbehaved(misbehaviour)
                return refusal or _json_reply(200, github.exchanged(dict(parse_qsl(form))))
        return _json_reply(404, {"message": f"no {self.command} {path}"})

    def _controlled(self, path: str, body: Any) -> Reply:
        github = self.github
        if path == "/_state" and self.command == "GET":
            return _json_reply(200, github.state())
        if path == "/_misbehave" and self.command == "POST":
            github.misbehave(**body)
            return _json_reply(200, {})
        if path == "/_arrange" and self.command == "POST" and body.get("do") in ARRANGEMENTS:
            arrangement = getattr(github, body.pop("do"))
            made = arrangement(**body)
            return _json_reply(200, {"id": made if isinstance(made, int) else None})
        return _json_reply(404, {"message": f"no {self.command} {path}"})

    def _played(self, path: str, query: dict[str, str], body: Any) -> Reply:
        github = self.github
        with github.lock:
            path, elsewhere = github.current_path(path)
            known = github.description.find(self.command, path)
            operation = known[0].name if known else ""
            try:
                identity = github.identity(self.headers.get("Authorization", ""), self.command, path)
                refusal = None
            except Refusal as refused:
                identity, refusal = "", refused
            github.requests.append(Request(operation, self.command, path, query, body, identity))
            misbehaviour = github.misbehaviour(self.command, path)
            reply = None if misbehaviour is None else self._misbehaved(misbehaviour)
            if reply is not None:
                return reply
            if known is None:
                github.violations.append(f"{self.command} {path} is not described, or not played")
                return _json_reply(404, {"message": "Not Found"})
            if refusal is not None:
                return _json_reply(refusal.status, refusal.document)
            if elsewhere is not None:
                status = 301 if self.command == "GET" else 307
                location = github.url + elsewhere + (f"?{urlencode(query)}" if query else "")
                return _json_reply(status, {"message": "Moved Permanently", "url": location}, Location=location)
            reply = self._carried_out(known[0], Asked(github, known[1], query, body, identity))
        return reply if misbehaviour is None else _misbehaved_afterwards(misbehaviour, reply)

    def _carried_out(self, operation: Operation, asked: Asked) -> Reply:
        github = self.github
        headers: dict[str, str] = {}
        faults = github.description.faults_of_request(operation, asked.parameters, asked.query, asked.body)
        faults += [f"{operation.name}: no User-Agent"] if "User-Agent" not in self.headers else []
        if faults:
            github.violations += faults
            return _json_reply(422, {"message": "Invalid request.", "errors": faults})
        try:
            status, document = OPERATIONS[operation.name](asked)
            if operation.name in PAGED:
                document, headers = self._page(asked, document, PAGED[operation.name])
            document = None if document is None else github.description.answer(operation.name, status, document)
        except Refusal as refusal:
            status, document = refusal.status, refusal.document
        github.violations += github.description.faults_of_answer(operation, status, document)
        return _json_reply(status, document, **headers)

    def _page(self, asked: Asked, document: Any, name: str) -> tuple[Any, dict[str, str]]:
        """Return a page of a listing, and the header that leads to the others."""
        rows = document[name] if name else document
        size = min(int(asked.query.get("per_page", 30)), 100)
        page, pages = int(asked.query.get("page", 1)), max(1, math.ceil(len(rows) / size))
        rows = rows[(page - 1) * size : page * size]
        parts = urlsplit(self.path).path.split("/")
        # GitHub leads to further pages by the number of the repository.
        path = "/".join(
            ["", "repositories", str(asked.repository.id), *parts[3 if parts[1] == "repositories" else 4 :]]
        )
        links = {"next": page + 1, "last": pages} if page < pages else {}
        link = ", ".join(
            f'<{self.github.url}{path}?{urlencode({**asked.query, "page": number})}>; rel="{relation}"'
            for relation, number in links.items()
        )
        return ({**document, name: rows} if name else rows), ({"Link": link} if link else {})

    def _misbehaved(self, misbehaviour: Misbehaviour) -> Reply | None:
        """Return the answer to a request that is not carried out, None if it is carried out."""
        seconds = str(misbehaviour.seconds)
        reset = str(int(self.github.now()) + misbehaviour.seconds)
        limited = {"message": "You have exceeded a secondary rate limit."}
        html = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
        invalid = {"message": "Validation Failed", "errors": [{"resource": "Issue", "code": "custom", "field": "body"}]}
        replies = {
            "forbidden": _json_reply(403, {"message": "Resource not accessible by personal access token"}),
            "retry_later": _json_reply(403, limited, Retry_After=seconds),
            "limit_used_up": _json_reply(
                403,
                {"message": "API rate limit exceeded"},
                X_RateLimit_Remaining="0",
                X_RateLimit_Reset=reset,
            ),
            "too_many": _json_reply(429, limited, Retry_After=seconds),
            "too_many_unexplained": _json_reply(429, limited),
            "invalid": _json_reply(422, invalid),
            "error": _json_reply(500, {"message": "Server Error"}),
            "gateway_error": Reply(502, html, {"Content-Type": "text/html"}),
            "closes": Reply(0, None),
            "hangs": Reply(0, None, hangs=True),
            "repeats_token": _json_reply(400, {"message": f"cannot use {self.headers['Authorization']}"}),
            "leads_elsewhere": _json_reply(301, None, Location=f"http://localhost:1{self.path}"),
        }
        return replies.get(misbehaviour.kind)


def _misbehaved_afterwards(misbehaviour: Misbehaviour, reply: Reply) -> Reply:
    """Return the answer to a request that was carried out."""
    content = reply.content or b""
    replies = {
        "error_afterwards": _json_reply(500, {"message": "Server Error"}),
        "closes_afterwards": Reply(0, None),
        "hangs_afterwards": Reply(0, None, hangs=True),
        "truncated": Reply(reply.status, content[: len(content) // 2], reply.headers),
    }
    return replies[misbehaviour.kind]


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=0, help="the port to listen at; by default any free one")
    parser.add_argument("--address-file", type=Path, required=True, help="where the address of the API is written")
    arguments = parser.parse_args()
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    with PlayedGitHub.started(port=arguments.port) as github:
        written = arguments.address_file.with_suffix(".part")
        written.write_text(f"{github.url}\n")
        written.rename(arguments.address_file)
        stopping.wait()


if __name__ == "__main__":
    main()
