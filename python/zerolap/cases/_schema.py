"""The file format as a JSON Schema."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from zerolap.cases._format import CaseFile


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
