"""Foreign text is shown in GitHub's Markdown and never acts, by two parsers, one of which is GitHub's own."""

import random

import pytest
from hostile_texts import HOSTILE_TEXTS, HostileText
from markdown_page import READERS, Page

from zerolap.report.markdown import code, link, link_target, prose, sentence_with_names, table
from zerolap.report.pull_request.notices import slack, slack_code
from zerolap.sheets import one_line, plain, shortened
from zerolap.sheets.measured_change import path_part

WAYS = {"code": code, "prose": prose, "sentence": sentence_with_names}
PLACES = {
    "a paragraph": "{}",
    "a paragraph behind text": "some text {} and more",
    "bold": "**{} is slower**; more",
    "a list": "- {}\n- {}",
    "a numbered list": "1. {}",
    "a heading": "#### {}: same",
    "below a paragraph": "text\n{}\nmore text",
    "what is folded": "<details><summary>more</summary>\n\n- {}\n\n</details>",
}
PIECES = [
    *"`|\\<>&*_~[]()!#$@:/-+=.\"' \n\t{}^%x1",
    "``",
    "`" * 25,
    "\\`",
    "\\|",
    "www.",
    "http://a.b",
    "a@b.c",
    "<!--",
    "-->",
    "<b>",
    "&amp;",
    "GH-1",
    "a5c3785ed8d6a35868bc169f07e40e889087fd2e",
    "\u202e",
    "\u200b",
    "\r",
    "word",
    "é",
]
TEXT_PARAMETERS = [pytest.param(hostile, id=hostile.would) for hostile in HOSTILE_TEXTS]
BOTH_READERS = pytest.mark.parametrize("reader", READERS)


def seen(page: Page) -> str:
    """Return all that a page shows, without the spaces that Markdown does not keep."""
    return "".join(page.everything.split())


def expected(text: str) -> str:
    return "".join(one_line(text).split())


@BOTH_READERS
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hostile", TEXT_PARAMETERS)
def test_no_hostile_text_acts_anywhere(hostile: HostileText, way: str, reader: str) -> None:
    shown = WAYS[way](hostile.text)
    for place, around in PLACES.items():
        page, harmless = READERS[reader](around.replace("{}", shown)), READERS[reader](around.replace("{}", "word"))
        assert [tag for tag in page.tags if tag != "code"] == harmless.tags, place
        assert page.comments == []
        assert page.acts == [], place


@BOTH_READERS
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hostile", TEXT_PARAMETERS)
def test_no_hostile_text_breaks_a_table(hostile: HostileText, way: str, reader: str) -> None:
    shown = WAYS[way](hostile.text)
    page = READERS[reader](table(["a", "b", "c"], [[shown, shown, "last"], ["first", shown, shown]], numbers=(1,)))
    cells = [tag for tag in page.tags if tag not in ("code", "thead", "tbody")]
    assert cells == ["table", "tr", "th", "th", "th", "tr", "td", "td", "td", "tr", "td", "td", "td"]
    assert page.acts == []
    if way != "sentence" and "`" * 21 not in hostile.text:
        text = expected(hostile.text)
        assert seen(page) == f"abc{text}{text}lastfirst{text}{text}"


@BOTH_READERS
def test_text_of_random_pieces_is_shown_as_it_is_and_does_not_act(reader: str) -> None:
    generator = random.Random(16)
    for _ in range(3000):
        text = "".join(generator.choices(PIECES, k=generator.randint(1, 12)))
        for way in (code, prose):
            page = READERS[reader](f"**a** {way(text)} **b**\n\n" + table([way(text)], []))
            assert [tag for tag in page.tags if tag != "code"] == [
                "p",
                "strong",
                "strong",
                "table",
                "thead",
                "tr",
                "th",
            ]
            assert page.acts == [], text
            shown = expected(text)
            if "`" * 20 not in shown:
                assert seen(page) == f"a{shown}b{shown}", text


@BOTH_READERS
@pytest.mark.parametrize("hostile", TEXT_PARAMETERS)
def test_a_link_goes_where_it_should(hostile: HostileText, reader: str) -> None:
    page = READERS[reader](f"see {link(code(hostile.text), f'https://a.example/{path_part(hostile.text)}#L1')} there")
    assert [tag for tag in page.tags if tag != "code"] == ["p", "a"]
    assert page.links == [f"https://a.example/{path_part(hostile.text)}#L1"]
    assert page.acts == []


def test_a_link_cannot_be_ended_by_its_target() -> None:
    assert link_target("https://a.b/c) d<e>|`?f=1&g=%20") == "https://a.b/c%29%20d%3Ce%3E%7C%60?f=1&amp;g=%20"


def test_sentences_stay_readable() -> None:
    assert prose("the server exited with 139") == "the server exited with 139"
    assert prose("work same: instructions per request 11,201 → 13,087, +16.8 % [+16.5, +17.1], q < 0.001") == (
        "work same: instructions per request 11,201 → 13,087, +16.8 % \\[+16.5, +17.1\\], q \\< 0.001"
    )
    assert prose("hit_rate is 0.12, expected >= 0.99") == "`hit_rate` is 0.12, expected \\>= 0.99"
    assert prose("latency p99.9 in us (non-zero I/O)") == "latency p99.9 in us (non-zero I/O)"
    assert prose("see (t_stream.c, changed) @octocat: f(x).") == "see (`t_stream.c`, changed) `@octocat`: `f(x)`."


def test_a_sentence_with_names_shows_them_as_code() -> None:
    assert sentence_with_names("`a_b` calls `c` (1 -> 2)") == "`a_b` calls `c` (1 -\\> 2)"
    assert sentence_with_names("`*a*` @me") == "`*a*` `@me`"
    assert sentence_with_names("one ` alone *") == "one `` ` `` alone `*`"
    assert sentence_with_names("`a`b.c") == "`a` `b.c`"


def test_code_has_a_fence_that_is_not_in_it() -> None:
    assert code("a|b") == "`a|b`"
    assert code("a`b``c") == "``` a`b``c ```"
    assert code(" \n ") == ""
    assert table(["`a|b`", "c"], []) == "| `a\\|b` | c |\n|---|---|"


def test_a_table_says_how_many_rows_it_leaves_out() -> None:
    rows = [["a", "1"], ["b", "2"], ["c", "3"]]
    shown = table(["name", "number"], rows, numbers=[1], most_rows=1)
    assert shown == "| name | number |\n|---|--:|\n| a | 1 |\n\n2 more are not listed."


def test_what_begins_a_block_does_not_at_the_start_of_a_line() -> None:
    assert [prose(text) for text in ("- a", "+ b", "1. c", "2) d", "=", "1.5 is more")] == [
        "\\- a",
        "\\+ b",
        "1\\. c",
        "2\\) d",
        "\\=",
        "1.5 is more",
    ]


def test_a_long_name_keeps_its_ends() -> None:
    assert shortened("memtier_benchmark-1Mkeys-string-get-100B", 20) == "memtier_bench…t-100B"
    assert len(shortened("x" * 100, 20)) == 20
    assert shortened("short", 20) == "short"


def test_plain_text_and_slack_have_no_control_characters_and_no_links() -> None:
    assert plain("a\u202eb\nc\x1b") == "a\ufffdb c\ufffd"
    assert slack("<!channel> & <https://evil.example|report>") == (
        "&lt;!channel&gt; &amp; &lt;https://evil.example|report&gt;"
    )
    assert slack_code("a`b`<@U1>") == "`a'b'&lt;@U1&gt;`"
