"""Requests of a case that are sent long before any is measured: what depends on how many there were has happened."""

from pathlib import Path
from typing import Final

from zerolap.load.generator import load_program, shown_errors, warm_up_arguments
from zerolap.load.target import Target
from zerolap.records import Case, ClientCommand, InRegime, TrialFailed

WARM_UP_SLICE: Final = 100_000
WARM_UP_SEED: Final = 1 << 40
"""Other requests than the measured ones, whose seeds are far below."""


def warm_up(target: Target, case: Case, regime: InRegime, seed: int, log: Path) -> None:
    """Send the requests that come before in a regime, in long pipelines.

    Raises `TrialFailed` where more of them fail than the case allows.
    """
    requests, client = regime.warm_requests, case.client
    if requests <= 0:
        return
    if regime.warm_with:
        commands = [ClientCommand.of(line, 1, client.keys.pattern) for line in regime.warm_with]
        client = client.model_copy(update={"commands": commands, "given": None})
    arguments = warm_up_arguments(client, WARM_UP_SEED + seed)
    left, errors, first_error = requests, dict[str, int](), None
    with target.closed_connections(), load_program(target.reach, log, arguments) as program:
        while left > 0:
            result = program.slice(min(WARM_UP_SLICE, left))
            errors = {code: errors.get(code, 0) + result.errors.get(code, 0) for code in errors | result.errors}
            first_error = first_error or result.first_error
            left -= WARM_UP_SLICE
    if sum(errors.values()) > case.expect.errors:
        raise TrialFailed(f"warming up got error replies: {shown_errors(errors, first_error)}")
