"""The conditions under which a counted measurement may be used."""

from collections.abc import Sequence

from zerolap.engines.look_up_checks import look_up_checks
from zerolap.load import SliceResult, shown_errors
from zerolap.records import Case, Check, container_of
from zerolap.server import KeyLookUps

NIL = "nil"
"""How replies that are null are counted, by each version of the protocol."""


def reply_checks(case: Case, slices: Sequence[SliceResult], keys: KeyLookUps | None) -> list[Check]:
    """Return the checks of the replies of all measured slices: errors, hits, kinds; `keys` is the server's count."""
    errors: dict[str, int] = {}
    for part in slices:
        for code, count in part.errors.items():
            errors[code] = errors.get(code, 0) + count
    first_error = next((part.first_error for part in slices if part.first_error is not None), None)
    total, allowed = sum(errors.values()), case.expect.errors
    shown = shown_errors(errors, first_error) if total else float(total)
    checks = [Check(check="errors", ok=total <= allowed, value=shown, limit=f"<= {allowed}")]
    checks += look_up_checks(case, [part.commands for part in slices], keys)
    if case.expect.reply is not None:
        checks.append(_kind_check(case.expect.reply, slices))
    return checks


def _kind_check(kind: str, slices: Sequence[SliceResult]) -> Check:
    """The share of replies of the declared kind; nil replies are the hit rate's business."""
    counted = NIL if kind == "null" else kind
    expected = sum(part.replies.get(counted, 0) for part in slices)
    others: dict[str, int] = {}
    for part in slices:
        for name, count in part.replies.items():
            if name not in (counted, NIL) and count:
                others[name] = others.get(name, 0) + count
    total = expected + sum(others.values())
    share = expected / total if total else 0.0
    value = f"{share:.3g} (also {', '.join(sorted(others))})" if others else share
    return Check(check="reply", ok=total > 0 and not others, value=value, limit=f"all {kind}")


def executed_check(case: Case, requests: int, executed: int) -> Check:
    """Whether the server counted that it executed exactly the requests that were sent.

    Where other clients send the same commands it executed more; servers before Redis 7 do not distinguish the
    subcommands of a container.
    """
    others = {container_of(command.verb) for client in case.companions for command in client.sent}
    if not others.isdisjoint(map(container_of, case.verbs)):
        limit = f">= {requests}"
        return Check(check="executed", ok=executed >= requests, value=float(max(0, executed)), limit=limit)
    return Check(check="executed", ok=requests == executed, value=float(max(0, executed)), limit=f"= {requests}")


def pinned_checks(clock_readings: int, random_readings: int) -> list[Check]:
    """Whether the server took clock and randomness from the trial and not from the machine."""
    return [
        Check(check="clock_pinned", ok=clock_readings > 0, value=float(clock_readings), limit="> 0 readings"),
        Check(check="randomness_pinned", ok=random_readings > 0, value=float(random_readings), limit="> 0 readings"),
    ]


WINDOWS_AGREE_LIMIT = 0.25
WINDOWS_AGREE_REQUESTS = 100
"""With fewer requests than this, the windows may differ because their requests do."""


def windows_check(case: Case, requests: int, small_per_op: float, per_op: float) -> Check | None:
    """Whether the small window alone gives about the same cost a request, for cases whose state is stable."""
    if case.state != "stable" or per_op <= 0 or requests < WINDOWS_AGREE_REQUESTS:
        return None
    return Check.at_most("windows_agree", abs(small_per_op - per_op) / per_op, WINDOWS_AGREE_LIMIT)
