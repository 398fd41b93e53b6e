"""Counts of forks in emulated machines, for programs, a browser, a pull request and a terminal."""

from collections.abc import Sequence
from html import escape

from rich.console import Console

from zerolap.byte_counts import shown_bytes
from zerolap.records import EmulatedPoint, EmulatedSnapshotReport
from zerolap.report.emulated_snapshot_picture import fork_picture, wait_picture
from zerolap.report.emulated_snapshot_reading import (
    emulated_figure,
    emulated_headline,
    emulated_sentences,
    emulated_subject,
    emulated_warnings,
    shown_columns,
    with_emulated_reading,
)
from zerolap.report.format import duration, one_line
from zerolap.report.lines import Column, Lines
from zerolap.report.markdown import bullets, code, prose, table

NOT_TIME = "M instr. are millions of instructions; an emulated machine measures no time"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8886 }}
th:first-child, td:first-child, th.text, td.text {{ text-align: left }}
.wide {{ overflow-x: auto }}
svg {{ width: 100%; max-width: 60rem; height: auto }}
figure {{ margin: 1rem 0 }}
td.text {{ white-space: nowrap }}
</style></head>
<body><main>
<h1>{title}</h1>
<p>{subject}</p>
{pictures}
<div class="wide" role="region" aria-label="Table of counts" tabindex="0">{table}</div>
<p>{not_time}</p>
<ul>{remarks}</ul>
</main></body></html>
"""


def emulated_snapshot_json(report: EmulatedSnapshotReport) -> str:
    """Return the document as JSON with its reading, its keys in the records' order."""
    return with_emulated_reading(report).model_dump_json(by_alias=True, indent=2) + "\n"


def emulated_snapshot_markdown(report: EmulatedSnapshotReport) -> str:
    """Return the headline, the table of counts and what was noticed as Markdown."""
    columns, names = shown_columns(report), _side_names(report)
    rows = [
        [shown_bytes(point.size_bytes), *([code(point.side)] if names else []), *_figures(report, point)]
        for point in report.points
    ]
    headings = ["data", *names, *(column.header for column in columns)]
    parts = [
        f"**{prose(emulated_headline(report))}**",
        prose(emulated_subject(report)),
        table(headings, rows, numbers=range(1 + len(names), len(headings))),
        prose(NOT_TIME),
        bullets(map(prose, [*emulated_sentences(report), *emulated_warnings(report)])),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def emulated_snapshot_html(report: EmulatedSnapshotReport) -> str:
    """Return the counts as a page that loads nothing: pictures, table, and what was noticed."""
    names = _side_names(report)
    headings = ["data", *names, *(column.header for column in shown_columns(report))]
    rows = [
        [shown_bytes(point.size_bytes), *([one_line(point.side)] if names else []), *_figures(report, point)]
        for point in report.points
    ]
    remarks = [*emulated_sentences(report), *emulated_warnings(report)]
    return PAGE.format(
        title=escape(emulated_headline(report)),
        subject=escape(emulated_subject(report)),
        pictures="\n".join(
            f"<figure>{drawn}</figure>" for drawn in (fork_picture(report), wait_picture(report)) if drawn
        ),
        table=_html_table(headings, rows, text_columns=1 + len(names)),
        not_time=escape(NOT_TIME),
        remarks="".join(f"<li>{escape(remark)}</li>" for remark in remarks),
    )


def show_emulated_snapshot(report: EmulatedSnapshotReport, console: Console) -> None:
    """Write the headline, the table of counts, and what was noticed."""
    lines = Lines(console)
    lines.line((emulated_headline(report), "bold"))
    lines.line((emulated_subject(report), "dim"))
    lines.blank()
    columns = [Column("data", [shown_bytes(point.size_bytes) for point in report.points])]
    if _side_names(report):
        columns.append(Column("side", [one_line(point.side) for point in report.points]))
    columns += [
        Column(
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


def _side_names(report: EmulatedSnapshotReport) -> list[str]:
    """Return the heading of the column of sides; none where there is one side alone."""
    return ["side"] if len(report.sides) > 1 else []


def _figures(report: EmulatedSnapshotReport, point: EmulatedPoint) -> list[str]:
    return [emulated_figure(point, column) for column in shown_columns(report)]


def _html_table(headings: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    """Return a table, its first columns being text and the others numbers."""

    def cell(tag: str, number: int, text: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{' class=text' if number < text_columns else ''}>{escape(text)}</{tag}>"

    head = "".join(cell("th", number, text) for number, text in enumerate(headings))
    body = "".join(f"<tr>{''.join(cell('td', number, text) for number, text in enumerate(row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
