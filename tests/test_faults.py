"""What is concluded from what a case was seen to do in a moment."""

from typing import Any

import pytest

from zerolap.judge import faults_of
from zerolap.records import CaseFacts, CommandFacts, Held, HeldOverTime

MEBIBYTE = 1 << 20


def command(name: str = "LPOP", **seen: Any) -> CommandFacts:
    """What was seen of a command: all is well, unless something else is given."""
    shares = {"nothing_share_first": 0.0, "nothing_share": 0.0, "nothing_share_after": 0.0, "missing_share": 0.0}
    rest = {"errors": {}, "life_seconds": None, "example": "LPOP list"}
    return CommandFacts(**{"command": name, "writes": True, "requests": 600, **shares, **rest, **seen})


def over_time(*keys: int, data_bytes: tuple[int, ...] = (), all_bytes: tuple[int, ...] = ()) -> HeldOverTime:
    """What a server held: empty, loaded, before the burst, after it, in the end."""
    moments = [
        Held(
            keys=number,
            data_bytes=data_bytes[place] if data_bytes else None,
            all_bytes=all_bytes[place] if all_bytes else None,
        )
        for place, number in enumerate(keys)
    ]
    names = ("empty", "loaded", "before_burst", "after_burst", "left")
    return HeldOverTime(**dict(zip(names, moments, strict=True)))


STILL = over_time(0, 1000, 1000, 1000, 1000)


def facts(*commands: CommandFacts, held: HeldOverTime = STILL, **seen: Any) -> CaseFacts:
    """What was seen of a case of a minute, in a data set of a tenth of its size."""
    moment = {"sampled_requests": 300, "burst_requests": 10_000, "ops_per_sec": 50_000}
    busy = {"client_share": 0.5, "server_share": 0.5}
    case = {"factor": 0.1, "seconds": 60.0, "requests": None, "has_dataset": True}
    return CaseFacts(**{"commands": list(commands), "held": held, **moment, **busy, **case, **seen})


def kinds(seen: CaseFacts) -> list[str]:
    return [fault.kind for fault in faults_of(seen)]


def test_a_sound_case_has_none() -> None:
    assert kinds(facts(command())) == []


def test_nothing_sent_is_a_fault() -> None:
    assert kinds(facts()) == ["no requests"]


@pytest.mark.parametrize(
    ("first", "share", "after", "seen", "expected"),
    [
        (1.0, 1.0, 1.0, {}, ["misses"]),
        (0.0, 0.8, 1.0, {}, ["drained"]),
        (0.0, 0.0, 1.0, {}, ["drained"]),
        # At full size it would end before its data does.
        (0.0, 0.8, 1.0, {"requests": 500}, []),
        (0.0, 0.0, 1.0, {"requests": 90_000}, []),
        (0.0, 0.8, 1.0, {"requests": 4_000}, ["drained"]),
        # Of the burst, only what found something took something.
        (0.0, 0.0, 1.0, {"requests": 90_000, "burst_found": 2_000}, ["drained"]),
        # It sends slowly.
        (0.0, 0.0, 1.0, {"per_second": 100}, []),
    ],
)
def test_replies_that_find_nothing(
    first: float, share: float, after: float, seen: dict[str, Any], expected: list[str]
) -> None:
    popping = command(nothing_share_first=first, nothing_share=share, nothing_share_after=after, missing_share=share)
    assert kinds(facts(popping, **seen)) == expected


def test_data_that_others_bring() -> None:
    reading = command("XREADGROUP", nothing_share_after=1.0)
    sizes = (0, MEBIBYTE, MEBIBYTE, 2 * MEBIBYTE, 2 * MEBIBYTE)
    growing = over_time(0, 1, 1, 1, 1, data_bytes=sizes)
    assert kinds(facts(reading, command("XADD"), held=growing)) == []
    assert kinds(facts(reading, held=growing)) == ["drained"]


def test_data_that_goes_away_at_a_pace() -> None:
    shrinking = over_time(0, 10_000, 9_700, 7_700, 7_640)
    assert kinds(facts(command("GETDEL"), held=shrinking)) == ["drained"]
    # 10,600 requests took a quarter of a tenth of the data: all of it lasts for some 450,000.
    assert kinds(facts(command("GETDEL"), held=shrinking, requests=300_000)) == []
    settled = over_time(0, 10_000, 9_700, 7_700, 7_700)
    assert kinds(facts(command("GETDEL"), held=settled)) == []
    # Others may bring what one takes.
    assert kinds(facts(command("LPOP"), command("LPUSH"), held=shrinking)) == []
    expiring = shrinking.model_copy(update={"left": Held(keys=7_640, expiring_keys=7_000)})
    assert kinds(facts(command("PSETEX"), held=expiring)) == []


def test_data_that_becomes_less_without_a_key_that_goes() -> None:
    at_first, later = 8 * MEBIBYTE, MEBIBYTE
    emptied = over_time(0, 1, 1, 1, 1, data_bytes=(0, at_first, at_first, later, later))
    taking = command("HDEL", zero_share_first=0.1, zero_share_after=1.0)
    assert kinds(facts(taking, held=emptied)) == ["drained"]
    # It is trimmed to a size, and stays there.
    assert kinds(facts(command("LTRIM"), held=emptied)) == []


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([command("GET", writes=False, life_seconds=20.0)], ["expires"]),
        ([command("GET", writes=False, life_seconds=59.9)], []),
        ([command("GET", writes=False, life_seconds=60.0)], []),
        # 3 million requests, half of them to one of 10,000 keys: each is there again at once.
        ([command("GET", writes=False, life_seconds=20.0), command("SET")], []),
        (
            [command("GET", writes=False, life_seconds=20.0, requests=100_000), command("SET", requests=100)],
            ["expires"],
        ),
    ],
)
def test_keys_that_expire(commands: list[CommandFacts], expected: list[str]) -> None:
    assert kinds(facts(*commands)) == expected


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"memory_limit_bytes": 100 * MEBIBYTE}, []),
        # One mebibyte for a tenth of the data set.
        ({"memory_limit_bytes": 10 * MEBIBYTE}, ["out of memory"]),
        ({"memory_limit_bytes": 10 * MEBIBYTE, "factor": 1.0}, []),
        ({}, []),
    ],
)
def test_a_data_set_that_does_not_fit(seen: dict[str, Any], expected: list[str]) -> None:
    loaded = 2 * MEBIBYTE
    held = over_time(0, 1000, 1000, 1000, 1000, all_bytes=(MEBIBYTE, loaded, loaded, loaded, loaded))
    assert kinds(facts(command("SET"), held=held, **seen)) == expected


def test_requests_that_fill_the_memory() -> None:
    sizes = (MEBIBYTE, MEBIBYTE, MEBIBYTE, 2 * MEBIBYTE, 2 * MEBIBYTE)
    held = over_time(0, 0, 0, 10_000, 10_000, all_bytes=sizes)
    limit = {"memory_limit_bytes": 50 * MEBIBYTE, "factor": 1.0}
    # 3 million requests would need some 290 MiB, but not where they go to 20,000 keys.
    assert kinds(facts(command("SET"), held=held, **limit)) == ["out of memory"]
    assert kinds(facts(command("SET"), held=held, key_range=20_000, **limit)) == []


def test_errors_at_full_speed_and_those_that_scripts_catch() -> None:
    assert kinds(facts(command(burst_errors=1, first_burst_error="OOM"))) == ["errors"]
    assert kinds(facts(command("EVAL"), hidden_errors=5_000)) == ["errors"]
    assert kinds(facts(command("EVAL"), hidden_errors=5)) == []


def test_keys_that_a_script_names() -> None:
    script = command("EVAL", place_missing_share=0.9, missing_share=0.9)
    assert kinds(facts(script)) == ["misses"]
    assert kinds(facts(script, held=over_time(0, 1000, 1200, 1900, 1950))) == []


@pytest.mark.parametrize(
    ("client", "server", "expected"), [(0.95, 0.6, ["client saturated"]), (0.95, 0.95, []), (0.7, 0.6, [])]
)
def test_a_client_without_time_to_spare(client: float, server: float, expected: list[str]) -> None:
    assert kinds(facts(command(), client_share=client, server_share=server)) == expected


def test_elements_and_not_memory_show_what_is_left() -> None:
    """A hash of 5,000 fields, of which 1,500 are left; its table keeps its memory."""
    sizes = (0, 5_000, 4_700, 1_800, 1_500)
    held = over_time(0, 1, 1, 1, 1, data_bytes=(50_000, 450_000, 445_000, 320_000, 310_000))
    names = HeldOverTime.model_fields
    held = HeldOverTime(
        **{
            name: getattr(held, name).model_copy(update={"elements": size})
            for name, size in zip(names, sizes, strict=True)
        }
    )
    seen = facts(command("HDEL"), held=held, factor=1.0, burst_requests=2_900)
    [fault] = faults_of(seen)
    assert (fault.kind, fault.command) == ("drained", "HDEL")
    assert fault.text.startswith("30% of the data is left after")
