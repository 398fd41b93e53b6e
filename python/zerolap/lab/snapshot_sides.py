"""The servers and settings that a sweep of snapshots measures beside each other."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar, get_args

from zerolap.build import parse_variant
from zerolap.records import BASE, HEAD, ForkKind, HugePages, RequestedServer, UsageError, with_lab_passwords

T = TypeVar("T")

HUGE_PAGES: Final = "transparent-huge-pages"
VARIANT: Final = "variant"
FORK: Final = "fork"
MOST_SIDES: Final = 16


@dataclass(frozen=True)
class Factor:
    """What is varied: `variant`, `transparent-huge-pages`, `fork`, or else a setting of the server, with its values."""

    key: str
    values: Sequence[str]


@dataclass(frozen=True)
class SweepSide:
    """A server as it is measured; its name is empty where it is the only one, and nothing is varied."""

    name: str
    server: RequestedServer
    huge_pages: HugePages | None = None
    fork: ForkKind | None = None

    def with_value(self, key: str, value: str) -> "SweepSide":
        """Return the side with a value of a factor; raises `UsageError` for a value that there is not."""
        side = replace(self, name=", ".join(filter(None, [self.name, f"{key}={value}"])))
        server = self.server
        if key == HUGE_PAGES:
            return replace(side, huge_pages=_known(key, value, get_args(HugePages)))
        if key == FORK:
            return replace(side, fork=_known(key, value, get_args(ForkKind)))
        if key == VARIANT:
            variant = parse_variant(server.variant).with_changes(parse_variant(value)).name
            return replace(side, server=server.model_copy(update={"variant": variant}))
        config = with_lab_passwords({**server.config, key: value})
        return replace(side, server=server.model_copy(update={"config": config}))


def sides_of(server: RequestedServer, base: RequestedServer | None, factors: Sequence[Factor]) -> list[SweepSide]:
    """Return the sides of a sweep, the base of verdicts first: two servers, or each combination of values.

    Raises `UsageError` for factors that contradict, or where there would be too many sides.
    """
    if base is not None and factors:
        raise UsageError("`--base` and `--vary` both name what is measured beside each other", hint="give one of them")
    if base is not None:
        return [SweepSide(BASE, base), SweepSide(HEAD, server)]
    keys = [factor.key for factor in factors]
    for key in keys:
        if keys.count(key) > 1:
            raise UsageError(f"`{key}` is varied twice", hint=f"write --vary {key}=A,B,C")
    sides = [
        _combined(SweepSide("", server), keys, values)
        for values in itertools.product(*(dict.fromkeys(factor.values) for factor in factors))
    ]
    if len(sides) > MOST_SIDES:
        raise UsageError(f"{len(sides):,} combinations are too many", hint=f"vary less: {MOST_SIDES} are the most")
    return sides


def _combined(side: SweepSide, keys: Sequence[str], values: Sequence[str]) -> SweepSide:
    for key, value in zip(keys, values, strict=True):
        side = side.with_value(key, value)
    return side


def _known(key: str, value: str, values: Sequence[T]) -> T:
    for known in values:
        if value == known:
            return known
    raise UsageError(f"`--vary {key}={value}` is not valid", hint=f"write --vary {key}={','.join(map(str, values))}")
