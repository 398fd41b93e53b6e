"""A client of the HTTP API of a lab."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from waiting import PATIENCE_SECONDS

ASKED = {"repository": "toy/server", "base": "v1", "head": "work"}


class Asking:
    """Asks a lab with a token."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = f"{url}/api/v1"
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **query: Any) -> httpx.Response:
        return request("GET", self._url + path, self.headers, params=query)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes | Iterator) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return request("POST", self._url + path, self.headers | given, content=content)

    def ask(self, **changes: Any) -> httpx.Response:
        return self.post("/comparisons", ASKED | changes)


def request(method: str, url: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    # There is no TLS: reading all authorities that it could be checked by takes long.
    return httpx.request(method, url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False, verify=False, **more)
