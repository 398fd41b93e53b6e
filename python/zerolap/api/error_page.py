"""The page that states why there is no other, without a script.

It is not made of the bundle: it is sent where the bundle is missing, and to anybody without a token, so it is small.
"""

import base64
import hashlib
from html import escape
from http import HTTPStatus
from typing import Final

from zerolap.api.pages import Page

HTML: Final = "text/html; charset=utf-8"
STYLE: Final = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:0 auto;padding:1.5rem 1rem;overflow-wrap:anywhere}
"""
LED_TO: Final = ("reports", "series", "versions", "stacks", "opportunities", "fleet", "platforms", "triggers")
STYLE_DIGEST: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY: Final = f"default-src 'none'; base-uri 'none'; form-action 'self'; style-src 'sha256-{STYLE_DIGEST}'"


def error_page(detail: str, status: HTTPStatus) -> Page:
    """Return the page with the phrase of a status, the detail, the way to other pages and the field that searches."""
    pages = " ".join(f'<a href="/{name}">{name.capitalize()}</a>' for name in LED_TO)
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{status.phrase} · Zerolap</title>\n<style>{STYLE}</style>\n'
        f'</head>\n<body>\n<nav aria-label="Pages"><a href="/">Overview</a> {pages}</nav>\n'
        f"<h1>{status.phrase}</h1>\n<p>{escape(detail)}</p>\n"
        '<form action="/search" role="search"><input type="search" name="text" maxlength="200"'
        ' aria-label="Search for a commit, a request or a case" placeholder="commit, #123, case"></form>\n'
        "</body>\n</html>\n"
    )
    return Page(text.encode(), HTML, f"{POLICY}; img-src data:", status=status)
