"""The file format as pydantic models and as a JSON Schema; a case is validated after its placeholders are filled."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from zerolap.records import (
    DATA,
    DEFAULT_DATA_SIZE,
    KEY,
    Expect,
    Generator,
    KeyRange,
    LoadRange,
    Positive,
    Record,
    RegimeEntry,
    State,
    fault_of_command,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SCALARS: dict[str, Any] = {"type": ["string", "number", "boolean"]}


def fault(text: str) -> PydanticCustomError:
    """Return an error whose text is meant for the user."""
    return PydanticCustomError("zerolap", "{text}", {"text": text})


def _command_check(placeholders: bool) -> Callable[[str], str]:
    def check(line: str) -> str:
        text = fault_of_command(line, placeholders)
        if text is not None:
            raise fault(text)
        return line

    return check


def _name_check(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise fault(f'expected letters, digits, ".", "_" and "-"; found "{name}"')
    return name


def _channel_check(channel: str) -> str:
    if not channel:
        raise fault("the channel is empty")
    if DATA in channel:
        raise fault(f'{DATA} is no part of a channel; found "{channel}"')
    if channel.count(KEY) > 1:
        raise fault(f'a channel takes {KEY} once; found "{channel}"')
    return channel


def _command_entry(value: Any) -> Any:
    if isinstance(value, str):
        return {"command": value}
    if not isinstance(value, dict | CommandEntry):
        raise fault(f"expected a command or {{command: ..., ratio: ...}}; found {value}")
    return value


CommandLine: TypeAlias = Annotated[str, AfterValidator(_command_check(placeholders=True))]
SetupLine: TypeAlias = Annotated[str, AfterValidator(_command_check(placeholders=False))]
Scalar: TypeAlias = Annotated[str, Field(json_schema_extra=lambda schema: schema.update(_SCALARS))]
Name: TypeAlias = Annotated[str, AfterValidator(_name_check)]
UnknownCommands: TypeAlias = Literal["send", "skip"]
Channel: TypeAlias = Annotated[str, AfterValidator(_channel_check)]


class CommandEntry(Record):
    """A command with its share of the requests."""

    command: CommandLine
    ratio: Positive = 1


Command: TypeAlias = Annotated[CommandEntry, BeforeValidator(_command_entry, json_schema_input_type=str | CommandEntry)]


class CompanionEntry(Record):
    """A client beside the measured one: it sends commands, or listens to channels and patterns.

    Without keys or values of its own it uses those of the case.
    """

    commands: list[Command] = Field(default_factory=list)
    connections: Positive = 1
    pipeline: Positive = 1
    keys: KeyRange = KeyRange()
    data_size: Positive | None = None
    random_data: StrictBool | None = None
    listen: list[Channel] = Field(default_factory=list)
    listeners: Positive | None = None


class RegimeFields(RegimeEntry):
    """A regime in a file, whose commands and settings are checked."""

    load: list[CommandLine] = Field(default_factory=list)
    setup: list[SetupLine] = Field(default_factory=list)
    beside: list[CommandLine] = Field(default_factory=list)
    warm_with: list[CommandLine] = Field(default_factory=list)
    config: dict[str, Scalar] = Field(default_factory=dict)


class RegimeFile(Record):
    """A file of regimes alone, as the package has one."""

    regimes: dict[str, RegimeFields]


class DatasetEntry(Record):
    """A data set in a file."""

    setup: list[SetupLine] = Field(default_factory=list)
    load: list[CommandLine] = Field(default_factory=list)
    generator: Generator | None = None
    keys: LoadRange = LoadRange()
    data_size: Positive = DEFAULT_DATA_SIZE
    random_data: StrictBool = False
    expect: Expect = Expect()


class CaseEntry(Record):
    """A case in a file, for one value of each axis of its matrix."""

    name: Name
    description: str = ""
    group: Name | None = None
    commands: list[Command] = Field(min_length=1)
    companions: list[CompanionEntry] = Field(default_factory=list)
    keys: KeyRange = KeyRange()
    data_size: Positive | None = None
    random_data: StrictBool | None = None
    connections: Positive = 20
    pipeline: Positive = 16
    state: State = "stable"
    setup: list[SetupLine] = Field(default_factory=list)
    dataset: str | None = None
    expect: Expect = Expect()
    needs: list[str] = Field(default_factory=list)
    topology: Name = "standalone"
    config: dict[str, Scalar] = Field(default_factory=dict)
    regimes: list[str] | None = None
    without_regimes: list[str] = Field(default_factory=list)


class Matrix(Record):
    """The axes of a case's matrix; their values are text."""

    matrix: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = Field(default_factory=dict)


class CaseTemplate(CaseEntry, Matrix):
    """A case; `{name}` in it is filled from the matrix, over all combinations of its values."""

    model_config = ConfigDict(defer_build=True)

    matrix: dict[str, list[Scalar]] | list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=dict)  # type: ignore[assignment]


class CaseFile(Record):
    """Data sets, regimes, and the cases that use them."""

    model_config = ConfigDict(defer_build=True)

    group: Name | None = None
    unknown_commands: UnknownCommands = "send"
    datasets: dict[str, DatasetEntry] = Field(default_factory=dict)
    regimes: dict[str, RegimeFields] = Field(default_factory=dict)
    cases: list[CaseTemplate] = Field(min_length=1)


class Outline(Record):
    """A whole file before its cases and data sets are validated."""

    group: Name | None = None
    unknown_commands: UnknownCommands = "send"
    datasets: dict[str, dict[str, Any]] = Field(default_factory=dict)
    regimes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    cases: list[dict[str, Any]] = Field(min_length=1)


class _Schema(GenerateJsonSchema):
    """Leaves out null, which stands for "not given" in the models and is an error in a file, and empty defaults."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if not isinstance(described.get("default"), str | int):
            described.pop("default", None)
        return described


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a case file, for editors."""
    schema = CaseFile.model_json_schema(schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Zerolap case file"}
