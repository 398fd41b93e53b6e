"""An amount that others may use at once, and that comes back as time goes by."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Allowance:
    """At most `most` at once, and `per_second` more with each second, in whatever unit the caller counts."""

    most: float
    per_second: float
    clock: Callable[[], float] = time.monotonic
    _left: float = field(init=False)
    _then: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._then = self.most, self.clock()

    def take(self, amount: float = 1.0, reserve: float = 0.0) -> bool:
        """Use an amount; returns false, and uses nothing, if there is not as much left beside a reserve."""
        if self.left < amount + reserve:
            return False
        self._left -= amount
        return True

    def take_in_advance(self, amount: float = 1.0) -> float:
        """Use an amount that may not be there yet; returns after how many seconds it will be."""
        self._left = self.left - amount
        return max(0.0, -self._left / self.per_second)

    def use_up(self) -> None:
        """Use all that is left."""
        self._left, self._then = 0.0, self.clock()

    @property
    def left(self) -> float:
        """What can be used now; negative after something was used in advance."""
        now = self.clock()
        self._left = min(self.most, self._left + (now - self._then) * self.per_second)
        self._then = now
        return self._left
