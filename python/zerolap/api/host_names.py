"""Which names of the lab a request may have in its header Host: a page of another site cannot read it under its own."""

import ipaddress
import socket
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from zerolap.api.refusals import Refusals

REFUSAL = b"this lab has another name; name it by zerolap serve --host NAME\n"


def names_of_machine() -> set[str]:
    """Return the names under which this machine is known to itself."""
    return {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}


def is_permitted(host: str, names: Iterable[str]) -> bool:
    """Whether a Host is one of the names, or an address: no site can point a name of its own at the lab then."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and not host.endswith("]") else host
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower().rstrip(".") in names
    return True


class KnownHosts:
    """Refuses requests under other names with 421."""

    def __init__(self, app: ASGIApp, names: frozenset[str], refusals: Refusals) -> None:
        self._app = app
        self._names = names
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            hosts = [value for name, value in scope["headers"] if name == b"host"]
            if len(hosts) != 1 or not is_permitted(hosts[0].decode("latin-1"), self._names):
                self._refusals.count("hosts")
                headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(REFUSAL)).encode())]
                await send({"type": "http.response.start", "status": 421, "headers": headers})
                await send({"type": "http.response.body", "body": REFUSAL})
                return
        await self._app(scope, receive, send)
