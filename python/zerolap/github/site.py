"""Where the pages of a GitHub are, whose API has an address."""

from typing import Final
from urllib.parse import urlsplit

from zerolap.github.api_client import PUBLIC_API

PUBLIC_SITE: Final = "https://github.com"
ENTERPRISE_API: Final = "/api/v3"
ENTERPRISE_CLOUD: Final = ".ghe.com"


def site_of(api_url: str) -> str | None:
    """Return the address of the pages of a GitHub by that of its API; None where it does not follow from that.

    GitHub Enterprise Server has its API at /api/v3 of its pages, GitHub Enterprise Cloud at api.NAME.ghe.com:
    https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
    """
    address = api_url.rstrip("/")
    if address == PUBLIC_API:
        return PUBLIC_SITE
    if address.endswith(ENTERPRISE_API):
        return address.removesuffix(ENTERPRISE_API)
    host = urlsplit(address).netloc
    if address == f"https://{host}" and host.startswith("api.") and host.endswith(ENTERPRISE_CLOUD):
        return f"https://{host.removeprefix('api.')}"
    return None
