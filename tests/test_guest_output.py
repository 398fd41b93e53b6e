"""What a guest reports is read with bounds: it runs foreign code."""

import pytest

from zerolap.engines.guest_output import LONGEST_LINE_BYTES, MOST_BYTES, MOST_NAMES, GuestOutput, GuestRefused


def taken(*received: bytes) -> GuestOutput:
    output = GuestOutput()
    for part in received:
        output.take(part)
    return output


def test_values_are_taken_as_they_come_whole_or_in_parts() -> None:
    output = GuestOutput()
    output.take(b"started 1\r\nfilled_k")
    assert output.values == {"started": 1}
    output.take(b"eys 500\n")
    assert output.values == {"started": 1, "filled_keys": 500}
    output.take(b"filled_keys 1000\n")
    assert output.values == {"started": 1, "filled_keys": 1000}
    assert not output.has_ended


def test_a_guest_has_ended_by_its_own_word_alone() -> None:
    assert taken(b"requests 7\nend 1\n").has_ended
    assert not taken(b"requests 7\nend").has_ended


def test_the_first_error_of_a_guest_is_kept() -> None:
    output = taken(b"error the server could not save\nerror \xff\nrequests 7\n")
    assert output.error == "the server could not save"
    assert output.values == {"requests": 7}


@pytest.mark.parametrize(
    "line",
    [b"requests\n", b"requests -1\n", b"requests 1.5\n", b"Requests 1\n", b"requests 1 2\n", b"\x1b[2J 1\n", b"\n"],
)
def test_what_is_no_name_and_number_is_refused(line: bytes) -> None:
    with pytest.raises(GuestRefused, match="not a name and a number"):
        taken(line)


def test_a_number_beyond_64_bits_is_refused() -> None:
    assert taken(b"requests 18446744073709551615\n").values["requests"] == (1 << 64) - 1
    with pytest.raises(GuestRefused):
        taken(b"requests 18446744073709551616\n")


def test_a_line_without_an_end_is_refused() -> None:
    with pytest.raises(GuestRefused, match="lines of more than"):
        taken(b"a" * LONGEST_LINE_BYTES, b"aa")


def test_a_flood_is_refused_however_short_its_lines_are() -> None:
    line = b"filled_keys 1\n"
    with pytest.raises(GuestRefused, match="more than 1 MiB"):
        taken(*[line * 100] * (MOST_BYTES // len(line) // 100 + 1))


def test_ever_new_names_are_refused() -> None:
    with pytest.raises(GuestRefused, match="names"):
        taken("".join(f"name_{number} 1\n" for number in range(MOST_NAMES + 1)).encode())
