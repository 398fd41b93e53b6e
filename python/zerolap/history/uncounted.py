"""What of a range has no count, as notes of its document: invalid cases, and neighbours that cannot be compared."""

from collections.abc import Iterator, Mapping

from zerolap.history.asked import WORK, Asked
from zerolap.history.commit_work import CaseWork


def notes_of_uncounted(asked: Asked, work: Mapping[str, CaseWork]) -> tuple[str, ...]:
    """Return a note for each reason why a case is not counted, and for each change that is not known."""
    return tuple(note for of_case in work.values() for note in (*_invalid(asked, of_case), *_gaps(asked, of_case)))


def _invalid(asked: Asked, work: CaseWork) -> Iterator[str]:
    counted = set(work.positions(WORK[0]))
    by_reason: dict[str, list[int]] = {}
    for position, node in enumerate(work.nodes.of_commits):
        if node is not None and node in work.invalid and position not in counted:
            by_reason.setdefault(work.invalid[node], []).append(position)
    for reason, positions in by_reason.items():
        name = asked.commits[positions[0]].source.name
        where = f"at {name}" if len(positions) == 1 else f"at {len(positions):,} commits, {name} the first of them"
        yield f"`{work.case.name}` has no valid count {where}: {reason}"


def _gaps(asked: Asked, work: CaseWork) -> Iterator[str]:
    for after, position in work.gaps(WORK[0]):
        ends = (asked.commits[of].source.name for of in (after, position))
        yield (
            f"`{work.case.name}`: the change {' to '.join(ends)} is not known, as they were counted by other tools or "
            "windows; `--measure` counts one of them again"
        )
