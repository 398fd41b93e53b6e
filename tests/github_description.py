"""GitHub's published OpenAPI description: what requests and answers have to be like, and answers that are like that."""

import functools
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema

SCRIPT = Path(__file__).parent.parent / "scripts" / "github-description"
CHECKED_FORMATS = jsonschema.FormatChecker()
# By the first part of a reference.
COMPONENT = "#/components/"
ALTERNATIVES = ("anyOf", "oneOf")


class NotInstalled(Exception):
    """The description cannot be had; the message says why."""


@CHECKED_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@CHECKED_FORMATS.checks("uri", raises=ValueError)
def _is_address(value: object) -> bool:
    # GitHub's own examples of `uri` have templates such as {/gist_id} in them.
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


@dataclass(frozen=True)
class Operation:
    """A method of a path; `document` is its part of the description."""

    name: str
    method: str
    path: re.Pattern[str]
    document: Mapping[str, Any]


class Description:
    """The operations that are used, by their `operationId`, with the schemas that they refer to."""

    def __init__(self, path: Path, operations: Iterable[str]) -> None:
        whole = json.loads(path.read_bytes())
        wanted = set(operations)
        self.operations: list[Operation] = []
        self._components: dict[str, Any] = {}
        for template, methods in whole["paths"].items():
            for method, document in methods.items():
                if isinstance(document, dict) and document.get("operationId") in wanted:
                    pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template)))
                    parts = self._keep(whole, document)
                    self.operations.append(Operation(document["operationId"], method.upper(), pattern, parts))
        missing = wanted - {operation.name for operation in self.operations}
        assert not missing, f"GitHub does not describe {missing}"

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """Return the operation of a request, and the parameters in its path."""
        for operation in self.operations:
            if operation.method == method and (match := operation.path.fullmatch(path)):
                return operation, {name: unquote(value) for name, value in match.groupdict().items()}
        return None

    def faults_of_request(
        self, operation: Operation, path: Mapping[str, str], query: Mapping[str, str], body: object
    ) -> list[str]:
        """Return what a request has that GitHub does not describe, or lacks; `body` is None for none."""
        faults = []
        parameters = [self._resolved(parameter) for parameter in operation.document.get("parameters", [])]
        for place, given in (("path", path), ("query", query)):
            described = {parameter["name"]: parameter for parameter in parameters if parameter["in"] == place}
            faults += [f"{place}: {name} is not described" for name in given.keys() - described.keys()]
            for name, parameter in described.items():
                if name in given:
                    faults += self._faults(parameter["schema"], _typed(given[name], parameter["schema"]), name)
                elif parameter.get("required"):
                    faults.append(f"{place}: {name} is missing")
        content = operation.document.get("requestBody")
        if body is None:
            return faults + (["the body is missing"] if content and content.get("required") else [])
        if content is None:
            return [*faults, "a body is not described"]
        schema = content["content"]["application/json"]["schema"]
        return faults + self._faults(schema, body, "body") + list(_undescribed(schema, body, "body"))

    def faults_of_answer(self, operation: Operation, status: int, body: object) -> list[str]:
        """Return what an answer has that GitHub does not describe; `body` is None for none."""
        described = operation.document["responses"].get(str(status))
        if described is None:
            # That a token does not permit something is described nowhere; all errors have the same form.
            return [] if status in {401, 403, 404} else [f"{operation.name}: {status} is not described"]
        content = self._resolved(described).get("content", {}).get("application/json")
        if content is None:
            return [] if body is None else [f"{operation.name}: {status} has no content"]
        return self._faults(content["schema"], body, f"{operation.name} {status}")

    def answer(self, operation: str, status: int, given: object) -> Any:
        """Return the content of an answer: what is given, and values for all else that GitHub says is there."""
        document = next(known.document for known in self.operations if known.name == operation)
        content = self._resolved(document["responses"][str(status)])["content"]["application/json"]
        return self._filled(content["schema"], given)

    def _keep(self, whole: Mapping[str, Any], part: Any) -> Any:
        """Return a part in the words of JSON Schema, and keep the components that it refers to."""
        if isinstance(part, list):
            return [self._keep(whole, element) for element in part]
        if not isinstance(part, dict):
            return part
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(COMPONENT) and reference not in self._components:
            self._components[reference] = {}
            kind, name = reference.removeprefix(COMPONENT).split("/")
            self._components[reference] = self._keep(whole, whole["components"][kind][name])
        kept = {name: self._keep(whole, value) for name, value in part.items() if name not in {"example", "examples"}}
        if kept.pop("nullable", None) is True:
            # GitHub writes it beside anyOf, allOf and oneOf too, and does not name null in an enum.
            return {"anyOf": [{"enum": [None]}, kept]}
        return kept

    def _resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in part:
            part = self._components[part["$ref"]]
        return part

    @functools.cached_property
    def _referred(self) -> dict[str, Any]:
        components: dict[str, dict[str, Any]] = {}
        for reference, part in self._components.items():
            kind, name = reference.removeprefix(COMPONENT).split("/")
            components.setdefault(kind, {})[name] = part
        return components

    def _faults(self, schema: Mapping[str, Any], value: object, where: str) -> list[str]:
        # OpenAPI 3.0 has the words of the draft before 5, which are those of 4.
        validator = jsonschema.Draft4Validator(
            {"allOf": [schema], "components": self._referred}, format_checker=CHECKED_FORMATS
        )
        return [f"{where}: {fault.json_path}: {fault.message[:300]}" for fault in validator.iter_errors(value)]

    def _filled(self, schema: Mapping[str, Any], given: Any) -> Any:
        schema = self._resolved(schema)
        for word in ALTERNATIVES:
            if word in schema:
                return self._first_valid(schema, schema[word], given)
        if "allOf" in schema:
            return functools.reduce(lambda value, part: self._filled(part, value), schema["allOf"], given)
        if isinstance(given, dict) or (given is None and schema.get("type") == "object"):
            properties = schema.get("properties", {})
            value = dict(given or {})
            for name in {*schema.get("required", ()), *value} & properties.keys():
                value[name] = self._filled(properties[name], value.get(name))
            return value
        if isinstance(given, list):
            return [self._filled(schema.get("items", {}), element) for element in given]
        return _plain(schema) if given is None else given

    def _first_valid(self, schema: Mapping[str, Any], alternatives: list[Any], given: Any) -> Any:
        candidates = [self._filled(alternative, given) for alternative in alternatives]
        return next((value for value in candidates if not self._faults(schema, value, "")), candidates[-1])


def _plain(schema: Mapping[str, Any]) -> Any:
    """Return a value that a schema without parts allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "string":
        texts = {"uri": "https://github.example/", "date-time": "2026-01-01T00:00:00Z", "email": "a@github.example"}
        return texts.get(schema.get("format", ""), "")
    return {"integer": schema.get("minimum", 1), "number": 1, "boolean": False, "array": []}.get(schema.get("type", ""))


def _typed(text: str, schema: Mapping[str, Any]) -> object:
    """Return a parameter as its schema means it."""
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if schema.get("type") == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def _undescribed(schema: Mapping[str, Any], value: object, where: str) -> Iterable[str]:
    """Yield the names in a body that GitHub does not describe, which it would ignore."""
    if isinstance(value, list):
        for element in value:
            yield from _undescribed(schema.get("items", {}), element, where)
    properties = schema.get("properties")
    if isinstance(value, dict) and properties is not None:
        for name, part in value.items():
            if name in properties:
                yield from _undescribed(properties[name], part, f"{where}.{name}")
            else:
                yield f"{where}.{name} is not described"


@functools.cache
def description_path() -> Path:
    """Return the path of the description; raises `NotInstalled`."""
    called = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    if called.returncode != 0:
        raise NotInstalled(f"no description of GitHub's API: {called.stderr.strip()}")
    return Path(called.stdout.strip())


@functools.cache
def description_of(operations: frozenset[str]) -> Description:
    """Return the description of operations, which is read once in a process; raises `NotInstalled`."""
    return Description(description_path(), operations)
