"""Counts of forks in emulated machines, for programs, a browser, a pull request and a terminal."""

import base64
import hashlib
from html import escape

from rich.console import Console

from zerolap.byte_counts import shown_bytes
from zerolap.records import EmulatedSnapshotReport, ReadingTable
from zerolap.report.emulated_snapshot_picture import STYLE, count_pictures
from zerolap.report.emulated_snapshot_reading import (
    NOT_TIME,
    emulated_figure,
    emulated_headline,
    emulated_sentences,
    emulated_subject,
    emulated_table,
    emulated_warnings,
    shown_columns,
)
from zerolap.report.lines import Lines, TextColumn
from zerolap.report.markdown import bullets, code, prose, table
from zerolap.sheets import duration, one_line

PAGE_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8886 }
th:first-child, td:first-child, th.text, td.text { text-align: left }
.wide { overflow-x: auto }
svg { width: 100%; max-width: 60rem; height: auto }
figure { margin: 1rem 0 }
td.text { white-space: nowrap }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style></head>
<body><main>
<h1>{title}</h1>
<p>{subject}</p>
{pictures}
<div class="wide" role="region" aria-label="Table of counts" tabindex="0">{table}</div>
<p>{not_time}</p>
<ul>{remarks}</ul>
</main></body></html>
"""


def _policy(*styles: str) -> str:
    """Return a policy by which a page loads nothing, and has these styles alone."""
    digests = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src {hashes}"


POLICY = _policy(PAGE_STYLE, STYLE)


def emulated_snapshot_markdown(report: EmulatedSnapshotReport) -> str:
    """Return the headline, the table of counts and what was noticed as Markdown."""
    counts = emulated_table(report)
    rows = [[row[0], *map(code, row[1 : counts.names]), *row[counts.names :]] for row in counts.rows]
    parts = [
        f"**{prose(emulated_headline(report))}**",
        prose(emulated_subject(report)),
        table(counts.columns, rows, numbers=range(counts.names, len(counts.columns))),
        prose(NOT_TIME),
        bullets(map(prose, [*emulated_sentences(report), *emulated_warnings(report)])),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def emulated_snapshot_html(report: EmulatedSnapshotReport) -> str:
    """Return the counts as a page that loads nothing: pictures, table, and what was noticed."""
    remarks = [*emulated_sentences(report), *emulated_warnings(report)]
    return PAGE.format(
        policy=POLICY,
        style=PAGE_STYLE,
        title=escape(emulated_headline(report)),
        subject=escape(emulated_subject(report)),
        pictures="\n".join(f"<figure>{drawn.svg}</figure>" for drawn in count_pictures(report)),
        table=_html_table(emulated_table(report)),
        not_time=escape(NOT_TIME),
        remarks="".join(f"<li>{escape(remark)}</li>" for remark in remarks),
    )


def show_emulated_snapshot(report: EmulatedSnapshotReport, console: Console) -> None:
    """Write the headline, the table of counts, and what was noticed."""
    lines = Lines(console)
    lines.line((emulated_headline(report), "bold"))
    lines.line((emulated_subject(report), "dim"))
    lines.blank()
    columns = [TextColumn("data", [shown_bytes(point.size_bytes) for point in report.points])]
    if len(report.sides) > 1:
        columns.append(TextColumn("side", [one_line(point.side) for point in report.points]))
    columns += [
        TextColumn(
            column.header,
            [emulated_figure(point, column) for point in report.points],
            right=True,
            dispensable=column.dispensable,
        )
        for column in shown_columns(report)
    ]
    lines.table(columns)
    lines.line((NOT_TIME, "dim"))
    lines.blank()
    for sentence in emulated_sentences(report):
        lines.line(sentence)
    lines.line((f"emulated in {duration(report.machine_seconds)}", "dim"))
    for warning in emulated_warnings(report):
        lines.line(("note: ", "yellow"), warning)
    if report.id:
        lines.blank()
        seed = f"  seed {report.settings.seed}"
        lines.line((report.id, "bold"), (f"  zerolap explain {report.id}{seed}", "dim"))


def _html_table(counts: ReadingTable) -> str:
    """Return a table, its first columns being text and the others numbers."""

    def cell(tag: str, number: int, text: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{' class=text' if number < counts.names else ''}>{escape(text)}</{tag}>"

    head = "".join(cell("th", number, text) for number, text in enumerate(counts.columns))
    body = "".join(
        f"<tr>{''.join(cell('td', number, text) for number, text in enumerate(row))}</tr>" for row in counts.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
