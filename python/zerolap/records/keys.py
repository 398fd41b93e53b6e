"""Ranges of keys, and the order in which requests use them."""

from typing import Literal, Self, TypeAlias

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from zerolap.records.base import Record
from zerolap.records.fields import Number

Pattern: TypeAlias = Literal["random", "sequential", "parallel"]

LETTER_OF_PATTERN: dict[Pattern, str] = {"random": "R", "sequential": "S", "parallel": "P"}
"""The load generator's letters for the patterns of case files."""
PATTERN_OF_LETTER = {letter: pattern for pattern, letter in LETTER_OF_PATTERN.items()}


class KeyRange(Record):
    """The fields of `keys` in a file; missing ones may come from the data set."""

    prefix: str = "key:"
    minimum: Number = 1
    maximum: Number = 1
    pattern: Pattern = "random"


class LoadRange(KeyRange):
    """The fields of a data set's `keys`."""

    pattern: Pattern = "parallel"


class Keys(KeyRange):
    """The values of `__key__`: the prefix and a number of the range, chosen by the pattern.

    `parallel` splits the range over the connections, each of which uses its part in order.
    """

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.minimum > self.maximum:
            text = f"minimum {self.minimum} is above maximum {self.maximum}"
            raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return self

    @property
    def count(self) -> int:
        """The number of keys in the range."""
        return self.maximum - self.minimum + 1
