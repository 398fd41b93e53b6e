"""A trial's outcome."""

from zerolap.records.base import Record


class Check(Record):
    """One condition of validity: the value seen and the limit it is held against."""

    check: str
    ok: bool
    value: float | str | None
    limit: str


class Validity(Record):
    """Whether a measurement may be used, and why not."""

    valid: bool
    checks: list[Check]

    @classmethod
    def of(cls, checks: list[Check]) -> "Validity":
        """Return the validity that these checks add up to."""
        return cls(valid=all(check.ok for check in checks), checks=checks)

    @property
    def failed(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]


class Measurement(Record):
    """Metrics by name, their validity, and the digest of the blob with its details: a call graph, or a timeline."""

    metrics: dict[str, float]
    validity: Validity
    profile: str | None = None
    seconds: float = 0.0
