"""Rate limits: an allowance for each key, in memory."""

import functools
import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from zerolap.allowance import Allowance

MOST_KEYS: Final = 10_000
LONGEST_ADDRESS: Final = 64


class Rate:
    """Permits `most` events of a key in `seconds`, all of them at once if need be; may be used from any thread.

    After `wait_seconds`, one further event is permitted. Beyond `MOST_KEYS` keys, the least recently used are removed.
    """

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.wait_seconds = math.ceil(seconds / most)
        self._new = functools.partial(Allowance, most, most / seconds, clock)
        self._lock = threading.Lock()
        self._allowances: OrderedDict[str, Allowance] = OrderedDict()

    def permits(self, key: str) -> bool:
        """Count an event of a key; returns false, without counting it, if the event is not permitted."""
        with self._lock:
            allowance = self._allowances.pop(key, None) or self._new()
            self._allowances[key] = allowance
            if len(self._allowances) > MOST_KEYS:
                self._allowances.popitem(last=False)
            return allowance.take()


def network_of(address: str) -> str:
    """Return the part of an address that a sender cannot easily change: for IPv6 the network of 64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        # From a header of a proxy on this machine, it may have any length; keys are kept.
        return address[:LONGEST_ADDRESS]
    if parsed.version == 4:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_address(int(parsed) >> 64 << 64))
