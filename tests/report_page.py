"""What the one-file report of a comparison or a run holds."""

import base64
import re
import zlib


def inflated(data: str) -> str:
    """Return what a page holds compressed."""
    return zlib.decompress(base64.b64decode(data), -zlib.MAX_WBITS).decode()


def embedded(page: str, name: str) -> str:
    """Return the data of an element of a page, by its id or by the case whose stacks it holds."""
    attributes = rf'id="{name}"|class="stacks" data-case="{name}"'
    found = re.search(rf'<script type="(.*?)" (?:{attributes})>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[2] if found[1] == "application/json" else inflated(found[2])
