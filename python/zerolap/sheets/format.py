"""How numbers and foreign text are written, everywhere the same."""

import math
from collections.abc import Iterable, Sequence

from zerolap import foreign_text
from zerolap.records import METRICS, PerSide, StatedWeights

NO_VALUE = "-"
NONE = "none"
ARROW = "→"
COMMIT_DIGITS = 12
ELLIPSIS = "…"
printable = foreign_text.printable
one_line = foreign_text.one_line


def change(fraction: float) -> str:
    """Write a relative change in percent: 0.168 as `+16.8 %`."""
    return f"{_signed_percent(fraction, _decimals(fraction))} %"


def interval(low: float, high: float) -> str:
    """Write the bounds of a relative change in percent: `[+16.5, +17.1]`."""
    decimals = _decimals(max(abs(low), abs(high)))
    return f"[{_signed_percent(low, decimals)}, {_signed_percent(high, decimals)}]"


def percent(fraction: float) -> str:
    """Write a fraction in percent without a sign for more: 0.005 as `0.5 %`."""
    return f"{_plain(fraction * 100, 2)} %"


def rough_percent(fraction: float) -> str:
    """Write the size of a change as a sentence says it, without a sign: 0.168 as `17 %`, 0.041 as `4.1 %`."""
    size = abs(fraction) * 100
    return f"{size:,.0f} %" if size >= 9.95 else f"{_plain(size, 1 if size >= 0.995 else 2)} %"


def share(fraction: float) -> str:
    """Write a part of a whole in percent, always with one decimal: 0.163 as `16.3 %`."""
    return f"{fraction * 100:.1f} %"


def count(value: float | None) -> str:
    """Write a count with thousands separators and no more digits than matter: `11,201`, `790.1`, `1.25`."""
    if value is None:
        return NO_VALUE
    if not math.isfinite(value):
        return _not_finite(value)
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return _plain(value, 1)
    if size >= 0.01 or size == 0:
        return _plain(value, 2)
    return f"{value:.1g}"


def signed_count(value: float) -> str:
    """Write a difference of counts with its sign: `+810`, `-28`, `+0.25`."""
    shown = f"{value:,.0f}" if abs(value) >= 10 else count(value)
    return f"+{shown}" if value > 0 else shown


def per_side(values: PerSide | None) -> str:
    """Write a value of each side: `1 → 2`, with `none` for a side that has none."""
    if values is None:
        return NO_VALUE
    base, head = (NONE if value is None else count(value) for value in (values.base, values.head))
    return f"{base} {ARROW} {head}"


def probability(q: float | None) -> str:
    """Write an adjusted p: `0.012`, `< 0.001`, `-` for none."""
    if q is None:
        return NO_VALUE
    return "< 0.001" if q < 0.001 else f"{q:.3f}"


def duration(seconds: float) -> str:
    """Write seconds as `3.2 s`, `6 min 52 s` or `2 h 5 min`."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(time: str) -> str:
    """Write a time of ISO 8601 to the minute: `2026-11-20 21:00 UTC`."""
    return f"{time[:16].replace('T', ' ')} UTC"


def rough_duration(seconds: float) -> str:
    """Write seconds as an estimate that is not to be read closely: `1 min`, `2 h 5 min`."""
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def by_author(subject: str, author: str) -> str:
    """Write the subject of a commit with its author, as far as they are known: `Fix a leak, by Ada`."""
    return f"{subject}, by {author}" if subject and author else subject


def metric_label(name: str) -> str:
    """Return how a metric is called in a sentence."""
    return METRICS[name].label if name in METRICS else name.replace("_per_op", "_per_request").replace("_", " ")


def metric_heading(name: str) -> str:
    """Return how a metric is called where there is little room."""
    return METRICS[name].heading if name in METRICS else metric_label(name)


def listing(parts: Iterable[str]) -> str:
    """Join parts by commas."""
    return ", ".join(parts)


def first_of(parts: Sequence[str], most: int) -> str:
    """Join the first parts, and how many more there are: `a, b, 3 more`."""
    further = len(parts) - most
    return listing([*parts[:most], *([f"{further:,} more"] if further > 0 else [])])


def counted(number: int, singular: str, plural: str) -> str:
    """Write a number of things: `1 regression`, `2 regressions`."""
    return f"{number:,} {singular if number == 1 else plural}"


def _decimals(fraction: float) -> int:
    """Return how many decimals of a percentage to show: small changes need more."""
    return 1 if fraction == 0 or abs(fraction) >= 0.00995 else 2


def _signed_percent(fraction: float, decimals: int) -> str:
    if not math.isfinite(fraction):
        return _not_finite(fraction)
    rounded = round(fraction * 100, decimals)
    return f"{abs(rounded):.{decimals}f}" if rounded == 0 else f"{rounded:+,.{decimals}f}"


def _plain(value: float, decimals: int) -> str:
    written = f"{value:,.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return NO_VALUE
    return "+∞" if value > 0 else "-∞"


def plain(text: str, longest: int | None = None) -> str:
    """Return foreign text on one line for a place that shows it as it is: a title, a description."""
    line = one_line(text)
    return line if longest is None else shortened(line, longest)


def shortened(line: str, longest: int) -> str:
    """Return a line in at most so many characters: its beginning and its end, which tell names apart."""
    if len(line) <= longest:
        return line
    end = (longest - 1) // 3
    return line[: longest - 1 - end] + ELLIPSIS + (line[-end:] if end else "")


def weighting(weights: StatedWeights) -> str:
    """Write how the cases are weighted."""
    if weights.kind == "usage":
        covered = "" if weights.covered is None else f", {share(weights.covered)} of whose time is in these commands"
        return f"weighted by {one_line(weights.source)}{covered}"
    words = {"command": "each command weighted equally", "equal": "each case weighted equally"}
    return words.get(weights.kind, "weighted by priority")
