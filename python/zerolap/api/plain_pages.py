"""Pages without a script: the newest comparisons and runs, how it stands with a request, and what there is not."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from http import HTTPStatus
from typing import Final

from zerolap.api.pages import NOTHING_LOADED, Page
from zerolap.store import RequestInShort, StoredRow

HTML: Final = "text/html; charset=utf-8"
STYLE: Final = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:0 auto;padding:1.5rem 1rem}
table{border-collapse:collapse}
th,td{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
"""
POLICY: Final = (
    f"{NOTHING_LOADED}; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
PATHS: Final = {"compare": "comparisons", "run": "runs"}
LOOK_AGAIN_SECONDS: Final = 10


def index_page(rows: Sequence[StoredRow]) -> Page:
    """Return the list of comparisons and runs."""
    if not rows:
        return _page("Comparisons and runs", "<p>Nothing was measured yet.</p>")
    headings = "".join(f"<th>{heading}</th>" for heading in ("created", "report", "servers", "outcome"))
    lines = "\n".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return _page("Comparisons and runs", f"<table>\n<tr>{headings}</tr>\n{lines}\n</table>")


def submission_page(work: RequestInShort) -> Page:
    """Return how it stands with a request of which nothing was measured yet; a browser looks again by itself."""
    has_ended = work.ended is not None
    again = "" if has_ended else f'<meta http-equiv="refresh" content="{LOOK_AGAIN_SECONDS}">'
    sides = " .. ".join(side.name for side in work.sides.values())
    reason = "".join(f"<pre>{escape(text)}</pre>" for text in (work.reason, work.unreadable) if text)
    nothing = "Nothing was measured." if has_ended else "Nothing was measured yet."
    body = (
        f"<p>{escape(sides)} on the platform {escape(work.platform)}: <b>{work.state}</b></p>\n"
        f"{reason}\n<p>{nothing}</p>"
    )
    return _page(work.id, body, again)


def missing_page(detail: str, status: HTTPStatus = HTTPStatus.NOT_FOUND) -> Page:
    """Return the page that states why there is no other."""
    return _page(status.phrase, f"<p>{escape(detail)}</p>", status=status)


def _cells(row: StoredRow) -> str:
    servers = row.head if row.base is None else f"{row.base} .. {row.head}"
    outcome: str = row.unreadable or row.state
    if row.summary is not None and row.state == "done":
        counts = row.summary.model_dump(exclude={"machine_seconds"})
        outcome = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or row.state
    link = f'<a href="{PATHS[row.kind]}/{escape(row.id)}">{escape(row.id)}</a>'
    return f"<td>{escape(row.created)}</td><td>{link}</td><td>{escape(servers)}</td><td>{escape(outcome)}</td>"


def _page(title: str, body: str, head: str = "", status: HTTPStatus = HTTPStatus.OK) -> Page:
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{head}<link rel="icon" href="data:,">\n<title>{escape(title)} · Zerolap</title>\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )
    return Page(text.encode(), HTML, f"{POLICY}; img-src data:", status=status)
