"""Commands in comments are lines by themselves, and nothing that is quoted or shown as code."""

import pytest

from zerolap.triggers.comment_commands import (
    LONGEST_PATTERN,
    LONGEST_REASON,
    MOST_PATTERNS,
    Acknowledge,
    Cancel,
    Command,
    InvalidCommand,
    Run,
    command_in,
)

CANCEL = "/zerolap cancel"


@pytest.mark.parametrize(
    ("comment", "command"),
    [
        ("/zerolap ack it is worth it", Acknowledge(reason="it is worth it")),
        ("/zerolap  ack   two  blanks ", Acknowledge(reason="two  blanks")),
        ("Looks good.\r\n\r\n/zerolap run geo*\r\n", Run(patterns=("geo*",))),
        ("/zerolap run get-{a}B x?y [a-z]_.z", Run(patterns=("get-{a}B", "x?y", "[a-z]_.z"))),
        ("  /zerolap cancel  ", Cancel()),
        ("/zerolap\tcancel", Cancel()),
        ("/zerolap ack a\u202eb\x00c\x1b[31m\u200bd", Acknowledge(reason="abc[31md")),
        ("/zerolap ack Größe 🚀 `$(reboot)` @everyone", Acknowledge(reason="Größe 🚀 `$(reboot)` @everyone")),
        ("/zerolap run geo* geo* set", Run(patterns=("geo*", "set"))),
        ("/zerolap cancel\n/zerolap run a", Cancel()),
    ],
)
def test_commands_are_read(comment: str, command: Command) -> None:
    assert command_in(comment) == command


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "no command",
        "see /zerolap cancel",
        "/zerolapcancel",
        "//zerolap cancel",
        "/ZEROLAP cancel",
        "- /zerolap cancel",
        f"> {CANCEL}",
        f">{CANCEL}",
        f"> > {CANCEL}",
        f"   > {CANCEL}",
        f"> quoted\n{CANCEL}",
        f"> quoted \u2028{CANCEL}",
        f"> quoted \x0b{CANCEL}\x85{CANCEL}",
        f"`{CANCEL}`",
        f"    {CANCEL}",
        f"\t{CANCEL}",
        f"```\n{CANCEL}\n```",
        f"```sh\n{CANCEL}\n```",
        f"~~~\n{CANCEL}\n~~~",
        f"````\n```\n{CANCEL}\n```\n````",
        f"```\n~~~\n{CANCEL}",
        f"```\n``` x\n{CANCEL}\n```",
        f"<!-- {CANCEL} -->",
        f"<!--\n{CANCEL}\n-->",
        f"x <!--\n{CANCEL}\n-->",
        f"<!-- a --> <!--\n{CANCEL}",
        f"<!--\n```\n-->\n```\n{CANCEL}\n```",
        f"<!--\n--> {CANCEL}",
        f"<!-- zerolap report -->\n\n{CANCEL}",
        f"\n <!-- zerolap -->\n{CANCEL}",
    ],
)
def test_what_is_no_line_of_its_own_is_no_command(comment: str) -> None:
    assert command_in(comment) is None


@pytest.mark.parametrize(
    "comment",
    [
        f"> quoted\n\n{CANCEL}",
        f"```\ncode\n```\n{CANCEL}",
        f"```a`b```\n{CANCEL}",
        f"<!-- hidden -->\n{CANCEL}",
        f"<!--\nhidden\n-->\n{CANCEL}",
        f"`<!--`\n{CANCEL}",
        f"   {CANCEL}",
        f"a paragraph\n{CANCEL}\nanother line",
    ],
)
def test_what_stands_before_a_command_does_not_hide_it(comment: str) -> None:
    assert command_in(comment) == Cancel()


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("/zerolap", "/zerolap ack REASON"),
        ("/zerolap dance", "/zerolap run CASE..."),
        ("/zerolap ACK x", "/zerolap cancel"),
        ("/zerolap ack", "needs a reason"),
        ("/zerolap ack \u200b", "needs a reason"),
        ("/zerolap ack " + "x" * (LONGEST_REASON + 1), str(LONGEST_REASON)),
        ("/zerolap run", "Name the cases"),
        ("/zerolap run " + "x" * (LONGEST_PATTERN + 1), str(LONGEST_PATTERN)),
        ("/zerolap run " + " ".join(f"c{number}" for number in range(MOST_PATTERNS + 1)), "use globs"),
        ("/zerolap run $(reboot)", "letters, digits"),
        ("/zerolap run ../../etc", "letters, digits"),
        ("/zerolap run a,b", "letters, digits"),
        ("/zerolap run geo;x", "letters, digits"),
        ("/zerolap run größe", "letters, digits"),
        ("/zerolap cancel now", "stands alone"),
    ],
)
def test_who_writes_something_else_is_told_what_there_is(comment: str, said: str) -> None:
    command = command_in(comment)
    assert isinstance(command, InvalidCommand)
    assert said in command.reply
    # What they have written is not repeated: it could be markup.
    assert "dance" not in command.reply
    assert "reboot" not in command.reply


@pytest.mark.parametrize("length", [LONGEST_REASON, 1])
def test_reasons_of_any_permitted_length_are_kept(length: int) -> None:
    assert command_in("/zerolap ack " + "x" * length) == Acknowledge(reason="x" * length)
