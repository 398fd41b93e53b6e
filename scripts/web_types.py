"""Writes web/src/core/records.ts: the TypeScript types of what a page is made from, and the table of metrics.

With --check nothing is written, and the exit code is 1 if the file is not up to date.
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from zerolap.api.signing_in import SignedIn
from zerolap.queries import QUERIES
from zerolap.records import METRICS, RUN_TABLE, CheckReport, Comparison, Metric, Pictures, RunReport, SnapshotReport
from zerolap.sheets import WORDS, Sheet

Schema: TypeAlias = dict[str, Any]

FILE = Path(__file__).resolve().parent.parent / "web" / "src" / "core" / "records.ts"
GLOSSARY = Path(__file__).resolve().parent.parent / "docs" / "glossary.md"
EXPLAINED = (
    *("regression", "improvement", "same", "unsure", "identical", "estimate", "interval", "q", "work", "time"),
    *("case", "trial", "start", "block", "samples", "slice", "placement", "layout", "confirmed", "minimum effect"),
    *("margin", "detectable", "validity", "engine", "platform", "topology", "finding", "seed", "build"),
)
"""The words of the glossary that pages explain where they stand."""
COMMAND = "python scripts/web_types.py"
HEADER = f"// The records of python/zerolap/records and queries, written by `{COMMAND}`. Do not edit.\n"
MODELS: tuple[type[BaseModel], ...] = (
    Comparison,
    RunReport,
    SnapshotReport,
    CheckReport,
    Pictures,
    Sheet,
    Metric,
    SignedIn,
    *(query.result for query in QUERIES),
)
PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
AS_TEXT = frozenset({"seed"})
"""Integers of 64 bits, more than a number of JavaScript holds: the page reads them as text."""


def main() -> int:
    """Write or check the file; return the exit code."""
    text = typescript()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE.name} is not up to date with the records; run {COMMAND}", file=sys.stderr)
        return 1
    return 0


def typescript() -> str:
    """Return the content of the file."""
    _, schema = models_json_schema([(model, "serialization") for model in MODELS])
    interfaces = [_interface(name, record) for name, record in sorted(schema["$defs"].items())]
    metrics = {name: metric.model_dump() for name, metric in METRICS.items()}
    return "\n".join(
        [
            HEADER,
            *interfaces,
            f"/** The table of metrics. */\nexport const METRICS: Record<string, Metric> = {_json(metrics)};\n",
            "/** Outcomes of cases, in the order in which they are shown. */\n"
            f"export const OUTCOMES = {_json(WORDS)} as const;\n",
            f"/** Words of the glossary. */\nexport const WORDS: Record<string, string> = {_json(_explained())};\n",
            f"/** The metrics of a run's table. */\nexport const RUN_TABLE: readonly string[] = {_json(RUN_TABLE)};\n",
        ]
    )


def _explained() -> dict[str, str]:
    """Return the meanings of words; raises `KeyError` for one that the glossary does not have."""
    meanings: dict[str, str] = {}
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 2:
            meanings |= _meanings([word.strip() for word in cells[0].split(",")], cells[1].replace("`", ""))
    return {word: meanings[word] for word in EXPLAINED}


def _meanings(words: list[str], meaning: str) -> dict[str, str]:
    """Return the meaning of each word of a row: its own part, where there are as many parts as words."""
    parts = meaning.split("; ")
    if len(parts) == 1 or len(parts) != len(words):
        return dict.fromkeys(words, meaning)
    return dict(zip(words, [parts[0].rpartition(": ")[2], *parts[1:]], strict=True))


def _interface(name: str, record: Schema) -> str:
    lines = [f"export interface {name} {{"]
    lines += [f"  {field}: {_field(field, schema)};" for field, schema in record["properties"].items()]
    return "\n".join([*_comment(record.get("description", "")), *lines, "}", ""])


def _field(name: str, schema: Schema) -> str:
    if name == "schema":
        return json.dumps(schema["default"])
    return "string" if name in AS_TEXT else _type(schema)


def _type(schema: Schema) -> str:
    """Return a type; raises `KeyError` for a form of schema that no record has had yet."""
    match schema:
        case {"$ref": reference}:
            written = str(reference).rpartition("/")[2]
        case {"anyOf": parts} | {"oneOf": parts}:
            written = " | ".join(map(_type, parts))
        case {"const": value}:
            written = json.dumps(value)
        case {"enum": values}:
            written = " | ".join(map(json.dumps, values))
        case {"prefixItems": parts}:
            written = f"[{', '.join(map(_type, parts))}]"
        case {"type": "array", "items": items}:
            written = f"Array<{_type(items)}>"
        case {"type": "object", "additionalProperties": values, "propertyNames": names}:
            written = f"Partial<Record<{_type(names)}, {_type(values)}>>"
        case {"type": "object", "additionalProperties": values}:
            written = f"Record<string, {_type(values)}>"
        case _:
            written = PRIMITIVES[schema["type"]]
    return written


def _comment(text: str) -> list[str]:
    lines = [
        line for paragraph in text.split("\n\n") for line in ["", *textwrap.wrap(" ".join(paragraph.split()), 115)]
    ][1:]
    if len(lines) == 1:
        return [f"/** {lines[0]} */"]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"] if lines else []


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
