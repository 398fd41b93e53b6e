"""Spreads: how much starts of the same build differ."""

from zerolap.records.base import Record


class Spread(Record):
    """A sample variance of log ratios of starts, with its degrees of freedom."""

    variance: float
    degrees: float
