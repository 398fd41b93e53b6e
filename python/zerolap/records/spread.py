"""How much samples of the same differ."""

from zerolap.records.base import Record


class Spread(Record):
    """A sample variance of log ratios of starts, with its degrees of freedom."""

    variance: float
    degrees: float
