"""The reports show what a comparison holds, readably at 80 columns, and nothing that steers a reader's program."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from made_records import (
    BOTH_ASKED,
    CULPRIT,
    INVALID,
    a_case,
    a_comparison,
    a_run,
    a_run_case,
    a_time,
    a_verdict,
    a_work,
    an_invalid_case,
    changed,
)
from report_page import inflated
from rich.console import Console

from zerolap.records import Comparison, EnvironmentMissing, FunctionCost, Pictures, RunReport
from zerolap.report import html
from zerolap.report.document import comparison_json, comparison_markdown, document_json
from zerolap.report.html import comparison_html
from zerolap.report.terminal import show_sheet
from zerolap.sheets import comparison_sheet, format as written, in_order, run_sheet, with_reading
from zerolap.sheets.comparison_sheet import headline_of_comparison

REGRESSION = a_case(
    "xadd-auto-id",
    a_verdict("regression", head=13087.2, change=0.168, low=0.165, high=0.171, q=1e-09),
    a_verdict("improvement", metric="allocations_per_op", base=3, head=2, change=-1 / 3, low=-0.34, high=-0.33),
    a_verdict("same", metric="syscalls_per_op"),
    findings=[
        changed(CULPRIT, rank=2, function="second", text="Less."),
        CULPRIT,
        {"kind": "moved", "rank": 3, "text": "120 instructions moved."},
    ],
)


ALL = a_comparison(
    [
        a_case("get-10B"),
        a_case("lpush", a_verdict("unsure", change=0.004, high=0.009, q=0.31)),
        an_invalid_case("hget-misses"),
        an_invalid_case("fcall", failure="the server exited with 139"),
        REGRESSION,
        a_case("ping"),
    ],
    notes=["the host was noisy"],
)


def shown(comparison: Comparison, width: int = 80, **options: Any) -> str:
    file = io.StringIO()
    show_sheet(comparison_sheet(comparison), Console(file=file, width=width), **options)
    return file.getvalue()


def test_a_terminal_of_80_columns() -> None:
    assert (
        shown(ALL)
        == """\
XADD in xadd-auto-id does 17 % more work; 1 case failed; 1 case is invalid; 1
unsure; 2 cases unchanged
base      HEAD~1 1f3c5a7b9d0e 7.0.15
head      HEAD 1f3c5a7b9d0e 7.0.15
measured  6 cases, counted, 6 min 52 s of trials
sure      chance alone shows such a change less than once in a million
          comparisons

case          work: instructions per request  smallest visible change
xadd-auto-id  ! +16.8 %  [+16.5, +17.1]       work 0.2 %
lpush         ? +0.40 %  [-0.08, +0.90]       work 0.2 %
fcall         x failed
hget-misses   x invalid
2 others      = same

! xadd-auto-id
  XADD executes 16.8 % more instructions per request (16.5 to 17.1 %), partly
  because `createStreamIDString` is called twice per request instead of once.
  This is what the code does, counted exactly; whether its users notice it was
  not timed.
  moved cost: 120 instructions moved.
  figure                      base    head  change
  instructions per request  11,201  13,087  ! +16.8 %  [+16.5, +17.1]
  allocations per request        3       2  + -33.3 %  [-34.0, -33.0]
  because of            calls per request  instructions
  createStreamIDString              1 → 2          +790
  second                            1 → 2          +790

? lpush
  It is open whether XADD executes more or fewer instructions per request: the
  estimate is +0.40 % (-0.08 to +0.90 %).
  With 3 starts of each server, a change of 0.2 % or more would have been
  detected.
  figure                      base    head  change
  instructions per request  11,201  11,204  ? +0.40 %  [-0.08, +0.90]

x fcall
  XADD could not be measured: the server exited with 139

x hget-misses
  XADD was measured, but its figures cannot be used: hit_rate is 0.12, expected
  >= 0.99. It has no verdict.

note: the host was noisy

all  zerolap explain c-20261120-4f1a --all; the same random choices: --seed 7
"""
    )


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", ["get", "1Mkeys-string-get-100B-pipeline-10", "memtier-" + "x" * 60])
def test_a_terminal_of_any_width_cuts_nothing(width: int, name: str) -> None:
    text = shown(a_comparison([*ALL.cases, a_case(name)]), width, all_sections=True)
    assert name in text.replace("\n", "")
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert len(re.findall(r"! \+16\.8 %", text)) >= 2
    assert len(re.findall(r"\? \+0\.40 %", text)) >= 2
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_unchanged_cases_have_one_row_and_each_its_own_where_all_is_asked_for() -> None:
    text = shown(ALL)
    assert "get-10B" not in text
    assert re.search(r"\n2 others +. same\n", text)
    everything = shown(ALL, 110, all_sections=True)
    assert re.search(r"get-10B +. \+0\.02 %  \[-0\.08, \+0\.11\]", everything)
    assert re.search(
        r"instructions per request +11,201 +13,087 +! \+16\.8 %  \[\+16\.5, \+17\.1\] +< 0\.001", everything
    )


def test_the_chance_of_all_changes_is_stated_once() -> None:
    text = shown(ALL, 120)
    assert "chance alone shows such a change less than once in a million comparisons\n" in text
    assert "q <" not in text


def test_a_pipe_gets_neither_colour_nor_characters_it_cannot_take() -> None:
    assert "\x1b" not in shown(ALL)
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    show_sheet(comparison_sheet(ALL), Console(file=file, width=80))
    file.flush()
    assert b"1 -> 2" in raw.getvalue()


def test_a_terminal_shows_colour() -> None:
    file = io.StringIO()
    show_sheet(comparison_sheet(ALL), Console(file=file, width=80, force_terminal=True, color_system="standard"))
    assert "\x1b[1;31m! +16.8 %  [+16.5, +17.1]\x1b[0m" in file.getvalue()
    assert "\x1b[1;31m! xadd-auto-id\x1b[0m" in file.getvalue()


def test_foreign_text_cannot_steer_a_terminal() -> None:
    hostile = "\x1b]0;owned\x07[red]boo[/red]\n\u202egnp.exe"
    case = an_invalid_case("x", failure=hostile)
    text = shown(a_comparison([case], notes=[hostile], command_line=hostile))
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "[red]boo[/red]" in text


def test_other_metrics_are_named_where_cases_differ_in_what_decided() -> None:
    allocations = a_verdict("regression", metric="allocations_per_op", change=1.0, low=0.9, high=1.1)
    case = a_case("set", a_verdict("same"), allocations)
    comparison = a_comparison([case, a_case("get"), a_case("hget")])
    text = shown(comparison, 120)
    assert "work: instructions per request" in text
    assert "! +100.0 %  allocations/request [+90.0, +110.0]" in text
    assert r"**regression** +100.0 % allocations/request \[+90.0, +110.0\]" in comparison_markdown(comparison)


BOTH = a_comparison(
    [
        a_case("get-10B", a_work("same", 0.0), a_time("same", -0.002)),
        a_case("identical-code", a_work("identical", 0.0)),
        a_case("cheap-work", a_work("regression", 0.1), a_time("same", 0.001), findings=[CULPRIT]),
        a_case("serves-less", a_work("same", 0.0), a_time("unsure", 0.01), a_time("regression", -0.12, "ops_per_sec")),
        a_case("not-timed", a_work("same", 0.0)),
        a_case("both", a_work("regression", 0.168), a_time("regression", 0.05)),
        an_invalid_case("fcall", failure="the server exited with 139"),
    ],
    settings=BOTH_ASKED,
)


def test_work_and_time_stand_beside_each_other_with_their_intervals_in_80_columns() -> None:
    text = shown(BOTH)
    assert (
        text[: text.index("! both\n")]
        == """\
XADD in both does 17 % more work and takes 5 % longer, and 2 further cases
regress; 1 case failed; 1 unsure; 2 cases unchanged, 1 of them identical
base      HEAD~1 1f3c5a7b9d0e 7.0.15
head      HEAD 1f3c5a7b9d0e 7.0.15
measured  7 cases, counted and timed, 6 min 52 s of trials

case         work                       time
both         ! +16.8 %  [+16.7, +16.9]  !  +5.0 %               [+4.0, +6.0]
serves-less  =   0.0 %  [-0.10, +0.10]  ! -12.0 %  requests/s [-13.0, -11.0]
cheap-work   ! +10.0 %   [+9.9, +10.1]  = +0.10 %               [-0.9, +1.1]
not-timed    =   0.0 %  [-0.10, +0.10]  not timed
fcall        x failed
2 others     = same  1 identical        = same  1 timed

"""
    )
    # Work that got dearer is explained, whatever it costs in time.
    assert "= cheap-work\n  XADD takes as much CPU time per request as before" in text
    assert text.count("createStreamIDString") == 1
    assert "requests per second        1,500   1,320  ! -12.0 %  [-13.0, -11.0]" in text
    assert "not confirm" not in text


def test_the_row_of_unchanged_cases_states_how_many_were_timed() -> None:
    identical = [a_case(f"set-{number}", a_work("identical", 0.0)) for number in range(2)]
    sample = a_case("get", a_work("identical", 0.0), a_time("same", 0.0))
    assert re.search(
        r"3 cases +. identical +. same  1 timed\n", shown(a_comparison([*identical, sample], settings=BOTH_ASKED))
    )
    assert re.search(r"2 cases +. identical\n", shown(a_comparison(identical, settings=BOTH_ASKED)))


def test_an_undecided_sample_of_identical_code_is_not_among_the_answers() -> None:
    slower = a_case("both", a_work("regression", 0.168), a_time("regression", 0.05))
    sample = a_case("identical-code", a_work("identical", 0.0), a_time("unsure", 0.01))
    reading = with_reading(a_comparison([slower, sample], settings=BOTH_ASKED)).reading
    assert reading is not None
    assert reading.answers == ["work: 1 regression, 1 identical", "time: 1 regression"]
    assert "1 case unchanged, identical" in shown(a_comparison([slower, sample], settings=BOTH_ASKED), 120)
    alone = with_reading(a_comparison([sample], settings=BOTH_ASKED)).reading
    assert alone is not None
    assert alone.answers == ["work: 1 identical", "time: 1 unsure"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_both_answers_are_shown_at_any_width(width: int) -> None:
    text = shown(BOTH, width, all_sections=True)
    assert max(map(len, text.splitlines())) <= width
    assert re.search(r"cheap-work +! \+10\.0 % .*= \+0\.10 %", text)
    assert re.search(r"identical-code .*= identical", text)


def test_cases_that_are_merely_undecided_are_shown_as_far_as_they_are_few() -> None:
    cases = [a_case(f"get-{number}", a_verdict("unsure", change=0.004)) for number in range(5)]
    assert shown(a_comparison(cases)).count("It is open whether") == 3
    assert shown(a_comparison(cases), all_sections=True).count("It is open whether") == 5


def test_figures_that_agree_are_counted_and_those_that_contradict_are_shown() -> None:
    metrics = ["whole_cpu_ns_per_op", "usec_per_call", "latency_p50_us", "elapsed_ns_per_op"]
    agreeing = [a_time("regression", 0.06, metric) for metric in metrics]
    case = a_case("get", a_time("regression", 0.05), *agreeing, a_time("improvement", -0.2, "latency_p99_us"))
    text = shown(a_comparison([case]))
    assert "  2 more figures agree\n" in text
    assert "latency p50 in µs" in text
    assert re.search(r"latency p99 in µs .*\+ -20\.0 %", text)
    assert "µs per call" not in text
    assert "µs per call" in shown(a_comparison([case]), all_sections=True)


@pytest.mark.parametrize(("sides", "text"), [(["head"], "on the head only"), (["base", "head"], "on both sides")])
def test_reports_state_the_side_that_makes_a_case_invalid(sides: list[str], text: str) -> None:
    comparison = a_comparison([an_invalid_case("get", failed_sides=sides)])
    assert f"as {text} hit_rate is 0.12, expected >= 0.99" in shown(comparison, 200)
    assert text in comparison_markdown(comparison)
    assert text not in shown(ALL) + comparison_markdown(ALL)


def test_a_change_of_time_in_one_layout_of_each_side_is_not_called_counted() -> None:
    slower = a_verdict("regression", metric="cpu_ns_per_op", engine="timed", change=0.2, low=0.15, high=0.25, q=1e-5)
    case = a_case("zadd", a_verdict(), slower)
    one_layout = a_comparison([changed(case, confirmed=False)])
    for text in (shown(one_layout, 200), comparison_markdown(one_layout)):
        assert "It is not confirmed: all starts had their code at the same place in memory" in text
        assert "counted" not in text.partition("How to repeat it")[0].replace("1 case, counted", "")
    confirmed = a_comparison([case])
    assert "not confirmed" not in shown(confirmed) + comparison_markdown(confirmed)


def test_what_stands_beside_a_verdict_is_in_the_reading() -> None:
    slower = a_time("regression", 0.2)
    cases = [
        a_case("counted", a_verdict("regression")),
        changed(a_case("undecided", a_work("regression", 0.1), a_time("unsure", 0.01)), confirmed=False),
        changed(a_case("one-layout", a_work("same", 0.0), slower), confirmed=False),
        a_case("confirmed", a_work("same", 0.0), slower),
        an_invalid_case("failing", failed_sides=["head"]),
    ]
    reading = with_reading(a_comparison(cases)).reading
    assert reading is not None
    assert reading.remarks == {
        "counted": "counted only",
        "undecided": "counted only",
        "one-layout": "one layout",
        "failing": "on the head only",
    }


def test_markdown_has_work_and_time_in_columns_of_their_own() -> None:
    text = comparison_markdown(BOTH)
    assert "| case | work: instructions per request | time: CPU ns per request | smallest visible change |\n" in text
    assert "| `cheap-work` | **regression** +10.0 % [+9.9, +10.1] | same +0.10 % [-0.9, +1.1] |" in text
    assert r"| same 0.0 % [-0.10, +0.10] | **regression** -12.0 % requests/s \[-13.0, -11.0\] |" in text
    assert "| `not-timed` | same 0.0 % [-0.10, +0.10] | not timed |" in text
    folded = text[text.index("<details><summary>2 unchanged cases</summary>") :]
    assert "| `identical-code` | identical |  |" in folded
    assert "`cheap-work`" not in folded


def test_reasons_are_limited_and_explained_in_full_on_demand() -> None:
    findings = [changed(CULPRIT, rank=rank, function=f"function_{rank}") for rank in range(1, 9)]
    comparison = a_comparison([a_case("x", a_verdict("regression"), findings=findings)])
    assert "5 more are not listed" in shown(comparison)
    assert "function_4" not in shown(comparison)
    everything = shown(comparison, all_sections=True)
    assert "function_8, t_stream.c:2210, in this change\n" in everything
    assert "called by `xaddCommand` none → 2 (in this change)" in everything


def test_the_parts_of_a_reason_are_rows_of_their_own() -> None:
    part = {
        "file": "networking.c",
        "instructions_changed_per_op": -450.0,
        "share_of_change": -0.9,
        "calls_per_op": None,
    }
    parts = [{**part, "function": place, "text": f"`{place}` is no longer called."} for place in ("reply", "write")]
    finding = changed(CULPRIT, text="`command` itself takes more instructions.", parts=parts)
    comparison = a_comparison([a_case("x", a_verdict("regression"), findings=[finding])])
    text = shown(comparison)
    assert re.search(r"\n  reply +-450 +-90 % +networking\.c\n  write +-450 .*\n  smaller parts are left out\n", text)
    lines = [line.strip() for line in shown(comparison, all_sections=True).splitlines()]
    at = lines.index("`command` itself takes more instructions.")
    assert lines[at + 1 : at + 3] == ["`reply` is no longer called.", "`write` is no longer called."]
    markdown = comparison_markdown(comparison)
    assert "1. `command` itself takes more instructions.\n" in markdown
    assert "| `reply` | -450 | -90 % | `networking.c` |" in markdown


def test_an_unfinished_comparison_is_marked() -> None:
    assert "not finished: interrupted" in shown(a_comparison([a_case("x")], state="running"))
    text = shown(a_comparison([], state="interrupted"))
    assert text.startswith("Nothing was measured\n")
    assert "interrupted: this is what was recorded until then" in text


RUN = a_run(
    [
        a_run_case(
            "get",
            {"instructions_per_op": 1234.5, "allocations_per_op": 2.0, "syscalls_per_op": 0.125},
            functions=[
                FunctionCost(
                    function="lookupKey", file="db.c", self_instructions_per_op=200.5, calls_per_op=1.0, share=0.163
                )
            ],
        ),
        a_run_case("fcall", {}, failure="it crashed", validity=INVALID),
    ],
    id="r-1",
    machine_seconds=4.25,
    notes=["a note"],
)


def test_a_run_on_a_terminal() -> None:
    file = io.StringIO()
    show_sheet(run_sheet(RUN), Console(file=file, width=80))
    assert (
        file.getvalue()
        == """\
1 of 2 cases measured
server    HEAD~1 1f3c5a7b9d0e 7.0.15
measured  counted, 4.2 s of trials

case   outcome   instructions/request
get                             1,234
fcall  x failed

x fcall
  it crashed
  invalid: hit_rate is 0.12, expected >= 0.99

get
   share  instructions  calls  function   file
  16.3 %         200.5      1  lookupKey  db.c

note: a note

all  zerolap explain r-1 --all; the same random choices: --seed 7
"""
    )


def test_markdown_says_what_changed_why_and_how_to_repeat_it() -> None:
    text = comparison_markdown(ALL)
    assert text.startswith(
        "**XADD in `xadd-auto-id` does 17 % more work**; 1 case failed; 1 case is invalid; 1 unsure; 2"
    )
    assert "| `xadd-auto-id` | **regression** +16.8 % [+16.5, +17.1] |" in text
    assert "1. It runs twice per request.\n2. Less.\n" in text
    assert "`createStreamIDString`, `t_stream.c:2210`, in this change" in text
    assert "| `hget-misses` | invalid: `hit_rate` is 0.12, expected \\>= 0.99 |" in text
    assert "| `fcall` | failed: `the server exited with 139` |" in text
    folded = text[text.index("<details><summary>2 unchanged cases</summary>") :]
    assert "`get-10B`" in folded
    assert "`get-10B`" not in text.removesuffix(folded)
    for fact in (
        "`zerolap compare HEAD~1 HEAD 'xadd*'`",
        "seed: `7`",
        "flags `-O2 -g`",
        "`a cpu`",
        "`c-20261120-4f1a`",
    ):
        assert fact in folded
    assert text.count("<details>") == text.count("</details>")


def test_markdown_shows_foreign_text_as_it_is() -> None:
    hostile = changed(CULPRIT, text="</details><script>", function="a`|b", file="x\n| y")
    text = comparison_markdown(a_comparison([a_case("n|`m", a_verdict("regression"), findings=[hostile])]))
    assert "\n1. `</details><script>`\n" in text
    row = next(line for line in text.splitlines() if line.startswith("| ``"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert "</details><script>" not in re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)


def test_markdown_of_any_size_fits_a_comment() -> None:
    findings = [changed(CULPRIT, rank=rank, text="x" * 200) for rank in range(9)]
    cases = [a_case(f"{'long-name-' * 7}{number}", a_verdict("regression"), findings=findings) for number in range(300)]
    cases += [a_case(f"{'other-name-' * 7}{number}") for number in range(300)]
    cases += [an_invalid_case("x", failure="log " * 10000)]
    assert len(comparison_markdown(a_comparison(cases))) < 65_536


def test_the_json_documents_are_the_records() -> None:
    document = json.loads(comparison_json(ALL))
    assert list(document)[:3] == ["schema", "id", "created"]
    assert Comparison.model_validate(document) == with_reading(ALL)
    assert document["reading"]["headline"] == headline_of_comparison(ALL).plain
    assert document["reading"]["order"] == [case.case for case in in_order(ALL.cases)]
    assert RunReport.model_validate_json(document_json(RUN)) == RUN


class Page(HTMLParser):
    """Collects a page's scripts, and whatever it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            name = self.elements[-1][1].get("id")
            self.scripts[name] = self.scripts.get(name, "") + data


HOSTILE = a_comparison(
    [a_case("</script><script>alert(1)</script><!--", a_verdict("regression"))], notes=["a\u2028b & <b>"]
)


def test_html_holds_the_document_and_nothing_else_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "report.html"
    places = dict(zip(("document", "pictures"), html.PLACEHOLDERS, strict=False))
    scripts = [f'<script type="application/json" id="{name}">{place}</script>' for name, place in places.items()]
    template.write_text("<p>ü</p>" + "".join(scripts) + html.PLACEHOLDERS[2], encoding="utf-8")
    monkeypatch.setattr(html, "TEMPLATE", template)
    text = comparison_html(HOSTILE)
    assert "\u2028" not in text
    page = Page(text)
    assert Comparison.model_validate_json(page.scripts["document"]) == with_reading(HOSTILE)
    assert Pictures.model_validate_json(inflated(page.scripts["pictures"])) == Pictures()
    assert inflated(page.scripts["frames"]) == "[]"
    assert json.loads(inflated(page.scripts["lines"])) == {"sources": [], "cases": {}}
    listed, details = (json.loads(inflated(page.scripts[name])) for name in ("sheet", "details"))
    names = {case.case for case in HOSTILE.cases}
    assert {case["case"] for case in listed["cases"]} == set(details) == names
    assert [tag for tag, _ in page.elements] == ["p", *["script"] * 6]


def test_html_without_its_template_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "TEMPLATE", tmp_path / "none.html")
    with pytest.raises(EnvironmentMissing) as fault:
        comparison_html(ALL)
    assert fault.value.hint == "make web"


@pytest.mark.skipif(not html.TEMPLATE.exists(), reason="the page is not built: make web")
def test_the_built_page_loads_nothing() -> None:
    text = comparison_html(HOSTILE)
    page = Page(text)
    assert Comparison.model_validate_json(page.scripts["document"]) == with_reading(HOSTILE)
    assert "alert(1)</script>" not in text
    for tag, attributes in page.elements:
        loaded = attributes.get("src") or (attributes.get("href") if tag != "a" else None)
        assert loaded is None or loaded.startswith("data:"), (tag, attributes)
    assert not re.search(r"url\(\s*['\"]?(https?:|//)|@import|import\s*\(|fetch\(|XMLHttpRequest", text)
    policy = next(attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [
        (0.168, "+16.8 %"),
        (-0.1, "-10.0 %"),
        (0.0, "0.0 %"),
        (-0.00001, "0.00 %"),
        (0.0002, "+0.02 %"),
        (12.5, "+1,250.0 %"),
        (float("inf"), "+∞ %"),
    ],
)
def test_changes(fraction: float, expected: str) -> None:
    assert written.change(fraction) == expected


def test_intervals_share_their_decimals() -> None:
    assert written.interval(0.165, 0.171) == "[+16.5, +17.1]"
    assert written.interval(-0.0008, 0.0011) == "[-0.08, +0.11]"
    assert written.interval(-0.001, 0.5) == "[-0.1, +50.0]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (11201.4, "11,201"),
        (790.1, "790.1"),
        (2.0, "2"),
        (0.125, "0.12"),
        (0.00123, "0.001"),
        (0.0, "0"),
        (None, "-"),
        (1234567.8, "1,234,568"),
    ],
)
def test_counts(value: float | None, expected: str) -> None:
    assert written.count(value) == expected


def test_probabilities_and_durations() -> None:
    assert [written.probability(q) for q in (None, 1e-9, 0.0124)] == ["-", "< 0.001", "0.012"]
    assert [written.duration(seconds) for seconds in (3.21, 59.99, 412.4, 7500)] == [
        "3.2 s",
        "1 min 0 s",
        "6 min 52 s",
        "2 h 5 min",
    ]


def test_figures_that_contradict_each_other_are_not_called_too_few_samples() -> None:
    costs_less = a_verdict("improvement", change=-0.1, low=-0.12, high=-0.08, q=0.001)
    # So many system calls are worth as much as the instructions.
    figures = {"base": 3.7, "head": 4.07, "change": 0.1, "low": 0.08, "high": 0.12}
    asks_more = a_verdict("regression", metric="syscalls_per_op", q=0.001, **figures)
    comparison = a_comparison([a_case("batches", costs_less, asks_more)])
    for text in (shown(comparison, width=200), comparison_markdown(comparison)):
        assert "would have been detected" not in text
        assert "other figures speak against it" in text


def test_the_finding_on_slow_starts_and_the_level_of_intervals_are_in_all_reports() -> None:
    slow = {"base": 0, "head": 3, "largest": 2.1, "mean_change": 0.065, "reason": "mean"}
    time: dict[str, Any] = {"metric": "cpu_ns_per_op", "engine": "timed", "samples": 36, "wild_starts": slow}
    verdicts = [a_verdict("same"), a_verdict("unsure", **time)]
    findings = [{"kind": "cause", "rank": 1, "text": "in 3 of 36 starts the head took far longer"}]
    comparison = a_comparison(
        [a_case("slow", *verdicts, findings=findings)],
        settings=changed(BOTH_ASKED, level=0.99),
    )
    for text in (shown(comparison, width=200), comparison_markdown(comparison)):
        assert "in 3 of 36 starts the head took far longer" in text
        assert "In 3 of 36 starts the head took far longer than in the others: its average is open" in text
    assert "intervals of 99 %" in shown(comparison, width=200)
    assert comparison_json(comparison).count('"wild_starts": {') == 1
