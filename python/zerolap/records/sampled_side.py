"""What functions cost in time: sampled stacks scaled by the CPU time of a request.

Samples are counts, but passes of one program differ by more than counts do by chance: placement differs between starts,
and the speed of a machine varies. The variance of counts is therefore multiplied by the dispersion that the passes
show, Pearson's chi-squared by its degrees of freedom (McCullagh and Nelder, Generalized Linear Models, 4.5).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

NamedFunction: TypeAlias = tuple[str, str | None]
"""The name and file of a function; without a file where debug information has none."""
FEWEST_EXPECTED: Final = 5.0
"""Samples a pass of a function; with fewer, chi-squared is not distributed as it should be."""


@dataclass(frozen=True)
class SampledFunction:
    """Samples in the function itself, and in it or what it calls."""

    own: int
    inclusive: int

    def plus(self, other: "SampledFunction") -> "SampledFunction":
        """Return the samples of both."""
        return SampledFunction(self.own + other.own, self.inclusive + other.inclusive)


_NONE = SampledFunction(0, 0)


@dataclass(frozen=True)
class SampledPass:
    """The samples of one pass, in all and by function."""

    samples: int
    functions: Mapping[NamedFunction, SampledFunction]


@dataclass(frozen=True)
class SampledSide:
    """A side's samples by function, and the CPU time of a request that all of them together stand for."""

    samples: int
    cpu_ns_per_op: float
    functions: Mapping[NamedFunction, SampledFunction]
    passes: Sequence[SampledPass] = ()

    @classmethod
    def of(cls, passes: Sequence[SampledPass], cpu_ns_per_op: float) -> "SampledSide":
        """Return the side that these passes are of."""
        functions: dict[NamedFunction, SampledFunction] = {}
        for of_pass in passes:
            for name, samples in of_pass.functions.items():
                functions[name] = functions.get(name, _NONE).plus(samples)
        return cls(sum(of_pass.samples for of_pass in passes), cpu_ns_per_op, functions, passes)

    def own_ns(self, function: NamedFunction) -> float:
        """Return the function's own time per request."""
        return self._ns(self.functions.get(function, _NONE).own)

    def inclusive_ns(self, function: NamedFunction) -> float:
        """Return the time per request of the function and all it calls."""
        return self._ns(self.functions.get(function, _NONE).inclusive)

    def deviation_ns(self, function: NamedFunction) -> float:
        """Return the standard deviation of the function's own time: that of counts, by the dispersion of passes."""
        own = max(self.functions.get(function, _NONE).own, 1)
        return self._ns(1) * math.sqrt(own * self.dispersion(function))

    def dispersion(self, function: NamedFunction) -> float:
        """Return by how much passes vary more than counts: the function's own figure or that of all, at least 1."""
        own = self._chi_squared(function)
        return max(1.0, self._common_dispersion, 0.0 if own is None else own / (len(self.passes) - 1))

    @cached_property
    def _common_dispersion(self) -> float:
        found = [self._chi_squared(function) for function in self.functions]
        known = [chi_squared for chi_squared in found if chi_squared is not None]
        return sum(known) / (len(known) * (len(self.passes) - 1)) if known else 1.0

    def _chi_squared(self, function: NamedFunction) -> float | None:
        """Return Pearson's statistic of the function's own samples by pass; none where there are too few."""
        own = self.functions.get(function, _NONE).own
        if len(self.passes) < 2 or own < FEWEST_EXPECTED * len(self.passes):
            return None
        expected = [own * of_pass.samples / self.samples for of_pass in self.passes]
        seen = [of_pass.functions.get(function, _NONE).own for of_pass in self.passes]
        return sum((count - mean) ** 2 / mean for count, mean in zip(seen, expected, strict=True))

    def _ns(self, samples: int) -> float:
        return samples / self.samples * self.cpu_ns_per_op
