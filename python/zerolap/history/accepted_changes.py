"""The changes of a range that its team accepts: after one of a series, its ledger and its drifts begin anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.history.asked import Asked
from zerolap.store import AcceptedChange, Store


@dataclass(frozen=True)
class AcceptedChanges:
    """The accepted changes of the commits of a range, in the order in which they were accepted."""

    asked: Asked
    changes: Sequence[AcceptedChange]

    def reason(self, commit: str, case: str, metric: str) -> str | None:
        """Return why a change is accepted; none where it is not."""
        reasons = [
            change.reason
            for change in self.changes
            if change.commit == commit and change.case in ("", case) and change.metric in ("", metric)
        ]
        return reasons[-1] if reasons else None

    def positions(self, case: str, metric: str) -> frozenset[int]:
        """Return the positions of the commits at which a change of a series is accepted."""
        commits = {
            change.commit for change in self.changes if change.case in ("", case) and change.metric in ("", metric)
        }
        return frozenset(
            position for position, commit in enumerate(self.asked.commits) if commit.revision.commit in commits
        )


def read_accepted(asked: Asked, store: Store) -> AcceptedChanges:
    """Return the accepted changes of a range."""
    return AcceptedChanges(asked, store.history.accepted([commit.revision.commit for commit in asked.commits]))
