"""The base of all records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable value that is written to and read from JSON under its field names."""

    model_config = ConfigDict(frozen=True, extra="forbid")
