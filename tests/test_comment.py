"""Comments, checks and notices say what came of a change, in bounded size, and nothing foreign acts in them."""

import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hostile_texts import HOSTILE_TEXTS, HostileText
from made_records import (
    BOTH_ASKED,
    CULPRIT,
    PLATFORM,
    SERVER,
    a_case,
    a_comparison,
    a_time,
    a_verdict,
    a_work,
    an_invalid_case,
    changed,
)
from markdown_page import READERS, read_by_markdown_it
from test_report import ALL, BOTH

from zerolap.build.source_changes import parse_diff
from zerolap.fail_on import FailOn
from zerolap.github import hidden_marker
from zerolap.records import CaseResult, Comparison, FalseAlarms
from zerolap.report.document import MOST_COMMENT_BYTES, body_markdown, comparison_markdown
from zerolap.report.junit import comparison_junit
from zerolap.report.pull_request.check_run import Conclusion, check_output, commit_status, conclusion_of
from zerolap.report.pull_request.notices import (
    closed_notice,
    closing_text,
    issue_body,
    issue_title,
    opened_notice,
    slack_closed,
    slack_opened,
)
from zerolap.sheets import (
    Acknowledgement,
    BranchRegression,
    Building,
    Cancelled,
    ChangedLines,
    CommitRange,
    Done,
    Failed,
    PlatformOutcome,
    PlatformState,
    PullRequestState,
    Running,
    Superseded,
    Waiting,
    changed_lines,
)

BASE_COMMIT, HEAD_COMMIT = "1f3c5a7b9d0e" + "0" * 28, "9e8d7c6b5a49" + "1" * 28
CHANGED = (
    ChangedLines("src/t_stream.c", 1790, 1810, "int streamAppendItem(stream *s, robj **argv) {"),
    ChangedLines("src/t_stream.c", 2200, 2215, "void xaddCommand(client *c) {"),
    ChangedLines("src/t_stream.c", 2300, 2299, "void xlenCommand(client *c) {"),
    ChangedLines("README.md", 1, 5),
)
COMMITS = CommitRange("valkey-io/valkey", BASE_COMMIT, HEAD_COMMIT, CHANGED)
LAB = "https://lab.example.org/comparisons"


MARKER = hidden_marker("pull-request")


def comment_markdown(state: PullRequestState) -> str:
    """Return a comment as it is posted."""
    return f"{MARKER}\n{body_markdown(state, MOST_COMMENT_BYTES - len(MARKER) - 1)}"


def a_platform(
    name: str, comparison: Comparison | None, state: PlatformState | None = None, **changes: Any
) -> PlatformOutcome:
    addresses = {} if comparison is None else {"report_url": f"{LAB}/{name}", "json_url": f"{LAB}/{name}.json"}
    return PlatformOutcome(name, state or Done(), comparison, **{**addresses, **changes})


def a_state(*platforms: PlatformOutcome, **changes: Any) -> PullRequestState:
    fields: dict[str, Any] = {
        "commits": COMMITS,
        "number": 17,
        "label": "action run:benchmarks",
        "command": "zerolap compare --repo valkey 1f3c5a7b9d0e 9e8d7c6b5a49",
        "platforms": platforms,
    }
    return PullRequestState(**{**fields, **changes})


def headline(*platforms: PlatformOutcome, **changes: Any) -> str:
    marker, line, *_ = comment_markdown(a_state(*platforms, **changes)).splitlines()
    assert marker == MARKER
    return line


XADD = a_case("xadd-auto-id", a_work("regression", 0.101), a_time("regression", 0.041), findings=[CULPRIT])
XADD_SAME = a_case("xadd-auto-id", a_work("same", 0.0), a_time("same", 0.001))
GET = a_case("get-10B", a_work("improvement", -0.2), a_time("improvement", -0.05), commands=["GET"])
IDENTICAL = [a_case(f"set-{size}B", a_work("identical", 0.0), commands=["SET"]) for size in range(9)]
SAME = [a_case(f"hset-{size}B", a_work("same", 0.0), a_time("same", 0.001), commands=["HSET"]) for size in range(2)]
ISSUE = a_comparison([XADD, *IDENTICAL, *SAME])
UNCHANGED = a_comparison([XADD_SAME, *IDENTICAL])


def test_the_headline_says_it_all() -> None:
    assert headline(a_platform("x86", ISSUE)) == (
        "**XADD does 10 % more work and takes 4.1 % longer**; 11 cases unchanged, 9 of them identical"
    )


SEEN, UNSEEN, PARTLY = (
    {"compiled": ["src/sort.c", "src/geo.c"], "unexecuted": unexecuted}
    for unexecuted in ([], ["src/sort.c", "src/geo.c"], ["src/geo.c"])
)


def test_what_no_case_executes_does_not_count_as_unchanged() -> None:
    same, changed = [*IDENTICAL], [XADD, *IDENTICAL]
    unseen = a_platform("x86", a_comparison(same, changed_files=UNSEEN))
    lead = "No change in 9 cases, all of them identical"
    assert headline(unseen) == f"**{lead}, but no measured case executes a changed file**"
    line = "Not measured: `src/sort.c`, `src/geo.c`: no measured case executes a function of them"
    assert line in comment_markdown(a_state(unseen))
    assert "no measured case executes a changed file" in headline(
        a_platform("x86", a_comparison(changed, changed_files=UNSEEN))
    )
    partly = a_platform("arm", a_comparison(same, changed_files=PARTLY))
    assert headline(partly) == f"**{lead}**"
    assert "Not measured: `src/geo.c`: no measured case executes a function of it" in comment_markdown(a_state(partly))
    # Where one platform has executed a file, or does not know, nothing is claimed.
    for other in (a_comparison(same, changed_files=SEEN), a_comparison(same)):
        on_both = a_state(unseen, a_platform("arm", other))
        assert "Not measured" not in comment_markdown(on_both)
        assert "executes" not in headline(*on_both.platforms)
    both = a_state(unseen, partly)
    assert headline(*both.platforms) == f"**{lead}**"
    assert "Not measured: `src/geo.c`" in comment_markdown(both)


def a_function(name: str, line: int, lines: int = 2, executed_lines: int = 0) -> dict[str, object]:
    counts = {"lines": lines, "executed_lines": executed_lines}
    return {"function": name, "file": "db.c", "line": line, "in_diff": True, **counts}


def functions_of(executed: list[dict[str, object]], unmeasured: list[dict[str, object]]) -> dict[str, object]:
    number = len(executed) + len(unmeasured)
    changed = {"number": number, "executed": len(executed), "functions": executed, "proposed_cases": ["zadd"]}
    return {"changed_functions": changed, "unmeasured": unmeasured}


LOOK_UP, EXPIRE, SCAN_KEYS = a_function("getKey", 10, 3, 2), a_function("tryExpire", 120), a_function("scanKeys", 400)


def test_changed_functions_that_no_case_executes_are_named() -> None:
    platform = a_platform("x86", a_comparison([*IDENTICAL], **functions_of([LOOK_UP], [EXPIRE, SCAN_KEYS])))
    text = "2 of 3 changed functions: `tryExpire` (`db.c:120`), `scanKeys` (`db.c:400`); `zadd` may execute them"
    assert f"Not measured: {text}" in comment_markdown(a_state(platform))
    assert "executes" not in headline(platform)
    # What one platform executes was measured.
    arm = a_platform("arm", a_comparison([*IDENTICAL], **functions_of([LOOK_UP, SCAN_KEYS], [EXPIRE])))
    both = comment_markdown(a_state(platform, arm))
    assert "Not measured: 1 of 3 changed functions: `tryExpire` (`db.c:120`)" in both
    assert "scanKeys" not in both
    # Where one platform does not know it, nothing is claimed.
    assert "Not measured" not in comment_markdown(a_state(platform, a_platform("arm", a_comparison([*IDENTICAL]))))


def test_commands_that_the_tests_of_a_change_send_are_named() -> None:
    functions = functions_of([LOOK_UP], [EXPIRE])
    functions["changed_functions"] = {**a_dictionary(functions["changed_functions"]), "tested_commands": ["TTL", "SET"]}
    text = comment_markdown(a_state(a_platform("x86", a_comparison([*IDENTICAL], **functions))))
    assert "`tryExpire` (`db.c:120`); `zadd` may execute them; the tests of the change send `TTL`, `SET`" in text


def a_dictionary(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def test_a_change_of_which_nothing_is_executed_is_no_unchanged_one() -> None:
    unseen = a_platform("x86", a_comparison([*IDENTICAL], **functions_of([], [EXPIRE])))
    assert headline(unseen).endswith("but no measured case executes a changed function**")
    other_lines = a_platform("x86", a_comparison([*IDENTICAL], **functions_of([EXPIRE], [])))
    text = "Not measured: the changed lines of `tryExpire` (`db.c:120`), of which only other lines are executed"
    assert text in comment_markdown(a_state(other_lines))


@pytest.mark.parametrize(("unmeasured", "conclusion"), [([], "success"), ([EXPIRE], "failure")])
def test_a_check_can_demand_that_all_changed_functions_are_executed(
    unmeasured: list[dict[str, object]], conclusion: str
) -> None:
    platform = a_platform("x86", a_comparison([*IDENTICAL], **functions_of([LOOK_UP], unmeasured)))
    assert conclusion_of(a_state(platform), "unmeasured") == conclusion
    assert conclusion_of(a_state(platform), "regression") == "success"
    assert conclusion_of(a_state(a_platform("x86", a_comparison([*IDENTICAL]))), "unmeasured") == "failure"


def together(word: str, share: str = "suite", name: str = "") -> dict[str, object]:
    counts = {"cases": 9, "change": 0.0075, "low": 0.005, "high": 0.01, "q": 0.0001, "min_effect": 0.0025}
    return {"answer": "time", "metric": "cpu_ns_per_op", "scope": share, "name": name, "verdict": word, **counts}


def test_what_cases_pay_together_is_in_the_headline_and_in_a_line() -> None:
    platform = a_platform("x86", a_comparison([*IDENTICAL], suite=[together("regression")]))
    assert headline(platform) == (
        "**No change in 9 cases, all of them identical, but all 9 cases together take 0.75 % longer**"
    )
    line = r"Together: 9 cases: CPU ns per request +0.75 % \[+0.5, +1.0\], q \< 0.001"
    assert line in comment_markdown(a_state(platform))
    assert conclusion_of(a_state(platform), "regression") == "failure"
    junit = comparison_junit(a_comparison([*IDENTICAL], suite=[together("regression")]), "regression")
    assert 'name="cases together"' in junit
    assert "regression of 9 cases together (+0.75 %)" in junit
    assert "cases together" not in comparison_junit(a_comparison([*IDENTICAL]), "regression")
    group = a_platform("x86", a_comparison([*IDENTICAL], suite=[together("regression", "function", "lookupKey")]))
    assert "9 cases that execute `lookupKey` together take 0.75 % longer" in comment_markdown(a_state(group))
    unsure = a_platform("x86", a_comparison([*IDENTICAL], suite=[together("unsure")]))
    assert headline(unsure) == "**No change in 9 cases, all of them identical**"
    assert "Together" not in comment_markdown(a_state(unsure))


def test_names_of_cases_are_code_whatever_they_consist_of() -> None:
    cases = [a_case(name, a_work("identical", 0.0), commands=["HSET"]) for name in ("hset", "get-100B")]
    note = "not timed, as both sides execute the same instructions: get-100B, hset"
    comparison = a_comparison(cases, notes=[note])
    shown = "not timed, as both sides execute the same instructions: `get-100B`, `hset`"
    assert shown in comment_markdown(a_state(a_platform("x86", comparison)))
    assert shown in comparison_markdown(comparison)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([*IDENTICAL], "**No change in 9 cases, all of them identical**"),
        ([*IDENTICAL, *SAME], "**No change in 11 cases, 9 of them identical**"),
        ([GET, *SAME], "**GET does 20 % less work and takes 5 % less time**; 2 cases unchanged"),
        ([XADD, GET], "**XADD does 10 % more work and takes 4.1 % longer**; 1 case improves"),
        (
            [XADD, changed(XADD, case="xadd-maxlen"), *SAME],
            "**XADD in `xadd-auto-id` does 10 % more work and takes 4.1 % longer, and 1 further case regresses**; "
            "2 cases unchanged",
        ),
        (
            [a_case("a", a_work("regression", 0.1), a_time("same", 0.0))],
            "**XADD does 10 % more work but takes as long as before**",
        ),
        (
            [a_case("a", a_work("regression", 0.1), a_time("improvement", -0.04))],
            "**XADD does 10 % more work but takes 4 % less time**",
        ),
        (
            [a_case("rpush-lpop", a_work("regression", 0.1), commands=["RPUSH", "LPOP"])],
            "**`rpush-lpop` does 10 % more work, its time was not measured**",
        ),
        (
            [a_case("a", a_work("same", 0.0), a_time("same", 0), a_time("regression", -0.12, "ops_per_sec"))],
            "**XADD serves 12 % fewer requests per second**",
        ),
        (
            [a_case("a", a_verdict("regression", metric="syscalls_per_op", base=0.0, head=2.0, change=float("inf")))],
            "**XADD has 2 instead of 0 system calls per request, its time was not measured**",
        ),
        ([an_invalid_case("a")], "**Nothing was decided: 1 case is invalid**"),
        ([*SAME, an_invalid_case("a")], "**No change in 2 cases, but 1 case is invalid**"),
        ([*SAME, an_invalid_case("a", failure="it crashed")], "**No change in 2 cases, but 1 case failed**"),
        ([*SAME, a_case("a", a_work("same", 0.0))], "**No change in 2 cases**; 1 unsure"),
        ([], "**Nothing was measured**"),
    ],
)
def test_headlines_of_one_platform(cases: list[CaseResult], expected: str) -> None:
    assert headline(a_platform("x86", a_comparison(cases, settings=BOTH_ASKED))) == expected


SLOWER = a_comparison([a_case("xadd-auto-id", a_work("regression", 0.101), a_time("regression", 0.09)), *IDENTICAL])


@pytest.mark.parametrize(
    ("platforms", "expected"),
    [
        (
            [a_platform("x86", ISSUE), a_platform("arm", ISSUE)],
            "**XADD does 10 % more work and takes 4.1 % longer on both platforms**; "
            "11 cases unchanged, 9 of them identical",
        ),
        (
            [a_platform("x86", UNCHANGED), a_platform("arm", SLOWER)],
            "**XADD does 10 % more work and takes 9 % longer on `arm`, not on `x86`**; "
            "9 cases unchanged, all of them identical",
        ),
        (
            [a_platform("x86", ISSUE), a_platform("arm", SLOWER), a_platform("s390x", ISSUE)],
            "**XADD does 10 % more work and takes up to 9 % longer on all 3 platforms**; "
            "11 cases unchanged, 9 of them identical",
        ),
        (
            [a_platform("x86", UNCHANGED), a_platform("arm", None, Failed("no such compiler", "install it"))],
            "**No change in 10 cases, 9 of them identical, but `arm` failed**",
        ),
        (
            [a_platform("x86", ISSUE), a_platform("arm", None, Running(12, 36, 320))],
            "**XADD does 10 % more work and takes 4.1 % longer on `x86`**; running: 12 of 36 jobs, about 5 min left; "
            "11 cases unchanged, 9 of them identical",
        ),
        ([a_platform("arm", None, Failed("no agent"))], "**Nothing was measured: `arm` failed**"),
        ([a_platform("arm", None, Cancelled("alice"))], "**Nothing was measured: `arm` was cancelled**"),
        ([a_platform("arm", None, Waiting("no agent"))], "**Waiting**"),
        ([a_platform("arm", None, Building()), a_platform("x86", None, Waiting("no agent"))], "**Building**"),
        (
            [a_platform("arm", None, Running(1, 4, 90)), a_platform("x86", None, Running(2, 4, 7000))],
            "**Running: 3 of 8 jobs, about 1 h 57 min left**",
        ),
    ],
)
def test_headlines_of_platforms(platforms: list[PlatformOutcome], expected: str) -> None:
    assert headline(*platforms) == expected


def test_what_is_unsure_while_cases_are_measured_is_not_reported_yet() -> None:
    comparison = a_comparison([a_case("a", a_work("same", 0.0)), *SAME], state="running", settings=BOTH_ASKED)
    text = comment_markdown(a_state(a_platform("x86", comparison, Running(3, 9))))
    assert "**Running: 3 of 9 jobs**; 2 cases unchanged\n" in text
    assert "unsure" not in text


def test_a_comment_names_its_commits_before_an_agent_has_come() -> None:
    assert f"{BASE_COMMIT[:12]}...{HEAD_COMMIT[:12]}" in comment_markdown(a_state())


def test_a_push_after_the_label_waits_for_a_permitted_person() -> None:
    reason = "a permitted person has to set the label again, for this commit"
    assert headline(needs_approval=reason) == f"**Not measured: {reason}**"
    output = check_output(a_state(needs_approval=reason), "never")
    assert (output.status, output.conclusion) == ("completed", "action_required")
    assert commit_status(a_state(needs_approval=reason), "never").state == "pending"


def test_the_comment_has_a_table_of_what_changed_its_reasons_and_all_else_folded() -> None:
    alarms = FalseAlarms(0, 360, "since 2026-08-01")
    text = comment_markdown(a_state(a_platform("x86", ISSUE, false_alarms=alarms)))
    seen, folded = text.split("<details>")
    assert (
        "| case | work: instructions per request | time: CPU ns per request | smallest visible change |\n"
        "|---|---|---|---|\n"
        "| `xadd-auto-id` | **regression** +10.1 % [+10.0, +10.2] | **regression** +4.1 % [+3.1, +5.1] "
        "| work 0.2 %, time 0.2 % |\n\n"
    ) in seen
    lines = f"https://github.com/valkey-io/valkey/blob/{HEAD_COMMIT}/src/t_stream.c#L2210"
    assert f"1. It runs twice per request. → [`src/t_stream.c:2210`]({lines})\n" in seen
    assert (
        "- `x86`: done; false alarms: 0 of 360 timed cases of identical work since `2026-08-01` → "
        f"[report]({LAB}/x86), [JSON]({LAB}/x86.json)"
    ) in seen
    assert "set-1B" not in text
    assert "| `stream` | 11 | 9 | [0.0, 0.0] % | [+0.10, +0.10] % |" in folded
    for fact in ("`zerolap compare --repo valkey", "`a cpu`", "flags `-O2 -g`", "q 0.01"):
        assert fact in folded
    assert "flags that differ" not in folded


def test_nothing_is_claimed_of_false_alarms_that_are_not_known() -> None:
    assert "false alarms" not in comment_markdown(a_state(a_platform("x86", ISSUE)))


def test_flags_that_only_one_side_was_built_with_are_named() -> None:
    comparison = a_comparison([XADD], head=changed(SERVER, flags="-O3 -g"))
    assert "flags that differ: base `-O2`, head `-O3`" in comment_markdown(a_state(a_platform("x86", comparison)))


def test_the_comment_is_the_same_whichever_platform_reports_first() -> None:
    platforms = [a_platform("x86", ISSUE), a_platform("arm", SLOWER), a_platform("s390x", None, Waiting("no agent"))]
    text = comment_markdown(a_state(*platforms))
    assert comment_markdown(a_state(*reversed(platforms))) == text
    assert "| case | platform |" in text
    assert text.index("- `arm`: done") < text.index("- `s390x`: waiting: no agent") < text.index("- `x86`: done")


def test_an_acknowledged_regression_names_the_person_and_the_reason() -> None:
    accepted = Acknowledgement("alice", "replication needs the id", "2026-11-20T21:00:00Z")
    text = comment_markdown(a_state(a_platform("x86", ISSUE), acknowledgements=(accepted,)))
    assert "**XADD does 10 % more work and takes 4.1 % longer: acknowledged**" in text
    assert "| `xadd-auto-id` (acknowledged) |" in text
    assert "Acknowledged by `alice` on `2026-11-20`: `replication needs the id`" in text


def test_a_regression_that_was_not_acknowledged_leads() -> None:
    accepted = Acknowledgement("alice", "fine", "2026-11-20T21:00:00Z", frozenset({"xadd-auto-id"}))
    other = a_case("lpush", a_work("regression", 0.02), a_time("regression", 0.03), commands=["LPUSH"])
    state = a_state(a_platform("x86", a_comparison([XADD, other])), acknowledgements=(accepted,))
    assert "**LPUSH does 2 % more work and takes 3 % longer**; 1 acknowledged regression" in comment_markdown(state)
    assert check_output(state, "regression").conclusion == "failure"


def test_a_reason_of_several_cases_is_listed_once() -> None:
    text = comment_markdown(a_state(a_platform("x86", a_comparison([XADD, changed(XADD, case="xadd-maxlen")]))))
    assert "1. `xadd-auto-id`: It runs twice per request. Also in 1 further case. →" in text
    assert "\n2. " not in text


@pytest.mark.parametrize(
    ("finding", "place"),
    [
        ({"lines": [2201, 2210, 2212]}, "src/t_stream.c#L2201-L2212"),
        ({"lines": [2299]}, "src/t_stream.c#L2299"),
        ({"lines": None, "function": "xaddCommand"}, "src/t_stream.c#L2200-L2215"),
        (
            {
                "lines": None,
                "file": "networking.c",
                "callers": [
                    {
                        "function": "streamAppendItem",
                        "file": "t_stream.c",
                        "calls_per_op": {"base": 1.0, "head": 2.0},
                        "in_diff": True,
                    }
                ],
            },
            "src/t_stream.c#L1790-L1810",
        ),
        ({"lines": None, "callers": []}, "src/t_stream.c"),
        ({"lines": None, "callers": [], "in_diff": False}, None),
    ],
)
def test_a_reason_points_to_the_changed_lines_that_are_known(finding: dict[str, Any], place: str | None) -> None:
    comparison = a_comparison([changed(XADD, findings=[changed(CULPRIT, **finding)])])
    state = a_state(a_platform("x86", comparison))
    links = re.findall(r"blob/\w{40}/([^)]+)\)", comment_markdown(state))
    assert links == ([] if place is None else [place])
    annotated = [(one.path, one.start_line, one.end_line) for one in check_output(state, "never").annotations]
    numbers = re.search(r"#L(\d+)-L(\d+)", place or "")
    assert annotated == ([] if numbers is None else [("src/t_stream.c", int(numbers[1]), int(numbers[2]))])


DIFF = """\
diff --git a/src/t_stream.c b/src/t_stream.c
--- a/src/t_stream.c
+++ b/src/t_stream.c
@@ -5,0 +6,2 @@ void xaddCommand(client *c) {
+    first();
+    second();
@@ -20,2 +22,0 @@
-    gone();
-    too();
diff --git a/src/gone.c b/src/gone.c
--- a/src/gone.c
+++ /dev/null
@@ -1 +0,0 @@
-all
"""


def test_changed_lines_are_those_of_the_diff() -> None:
    assert changed_lines(parse_diff(io.BytesIO(DIFF.encode()))) == (
        ChangedLines("src/t_stream.c", 6, 7, "void xaddCommand(client *c) {"),
        ChangedLines("src/t_stream.c", 23, 22),
    )


@pytest.mark.parametrize(
    ("cases", "fail_on", "conclusion", "status"),
    [
        ([XADD, *SAME], "never", "neutral", "success"),
        ([XADD, *SAME], "work", "failure", "failure"),
        ([XADD, *SAME], "time", "failure", "failure"),
        ([a_case("a", a_work("regression", 0.1), a_time("same", 0.0))], "time", "neutral", "success"),
        ([GET, *SAME], "regression", "success", "success"),
        ([a_case("a", a_work("same", 0.0), a_time("unsure", 0.01)), *SAME], "regression", "neutral", "success"),
        ([a_case("a", a_work("same", 0.0), a_time("unsure", 0.01)), *SAME], "unsure", "failure", "failure"),
        ([a_case("a", a_work("same", 0.0), a_time("unsure", 0.01))], "regression", "neutral", "success"),
        ([an_invalid_case("a"), *SAME], "regression", "neutral", "success"),
        ([an_invalid_case("a"), *SAME], "unsure", "failure", "failure"),
        ([an_invalid_case("a")], "regression", "failure", "failure"),
        ([an_invalid_case("a")], "never", "neutral", "success"),
        ([an_invalid_case("a", failed_sides=["head"]), *SAME], "regression", "failure", "failure"),
        ([an_invalid_case("a", failure="it died", failed_sides=["head"]), *SAME], "work", "failure", "failure"),
        ([an_invalid_case("a", failed_sides=["head"]), *SAME], "never", "neutral", "success"),
        ([an_invalid_case("a", failed_sides=["base"]), *SAME], "regression", "neutral", "success"),
        ([], "regression", "neutral", "success"),
        ([], "unsure", "failure", "failure"),
    ],
)
def test_conclusions(cases: list[CaseResult], fail_on: FailOn, conclusion: Conclusion, status: str) -> None:
    words = [case.verdict for case in cases]
    counts = {word: words.count(word) for word in ("regression", "improvement", "same", "unsure", "invalid")}
    comparison = a_comparison(cases, summary={**counts, "machine_seconds": 1.0}, settings=BOTH_ASKED)
    state = a_state(a_platform("x86", comparison))
    assert check_output(state, fail_on).conclusion == conclusion
    assert commit_status(state, fail_on).state == status
    accepted = replace(state, acknowledgements=(Acknowledgement("alice", "fine", "2026-11-20T21:00:00Z"),))
    if conclusion == "failure" and fail_on != "unsure" and comparison.has_answer_for(fail_on):
        assert check_output(accepted, fail_on).conclusion == "neutral"


UNDECIDED = [a_case(f"zadd-{number}", a_work("same", 0.0), a_time("unsure", 0.01)) for number in range(11)]


@pytest.mark.parametrize(
    ("cases", "title"),
    [
        ([SAME[0], *UNDECIDED], "1 same, 11 undecided"),
        (UNDECIDED, "11 undecided"),
        ([GET, *UNDECIDED], "GET"),
        ([XADD, *UNDECIDED], "XADD"),
        ([an_invalid_case("a"), *SAME], "No change in 2 cases, but 1 case is invalid"),
        (
            [an_invalid_case("a", failed_sides=["head"]), *SAME],
            "1 case fails on the head only; No change in 2 cases, but 1 case is invalid",
        ),
    ],
)
def test_the_title_of_a_check_names_what_its_conclusion_rests_on(cases: list[CaseResult], title: str) -> None:
    state = a_state(a_platform("x86", a_comparison(cases)))
    assert check_output(state, "regression").title.startswith(title)
    assert commit_status(state, "regression").description.startswith(title)


def test_a_comment_states_the_side_that_makes_a_case_invalid() -> None:
    case = an_invalid_case("get", failed_sides=["head"])
    text = comment_markdown(a_state(a_platform("x86", a_comparison([case, *SAME]))))
    assert "invalid: on the head only, `hit_rate` is 0.12, expected" in text


def test_a_case_that_could_not_be_timed_is_not_decided() -> None:
    untimed = a_case("zadd", a_work("same", 0.0))
    comparison = a_comparison([*IDENTICAL, untimed])
    timed = comparison.model_copy(
        update={"settings": comparison.settings.model_copy(update={"engines": ["counted", "timed"]})}
    )
    assert check_output(a_state(a_platform("x86", comparison)), "regression").conclusion == "success"
    output = check_output(a_state(a_platform("x86", timed)), "regression")
    assert (output.conclusion, output.title) == ("neutral", "9 same, 1 undecided")


@pytest.mark.parametrize(
    ("states", "expected", "status"),
    [
        ([Waiting("no agent"), Building()], ("queued", None), "pending"),
        ([Done(), Running(1, 2)], ("in_progress", None), "pending"),
        ([Cancelled("alice"), Superseded("abc")], ("completed", "cancelled"), "error"),
        ([Done(), Cancelled("alice")], ("completed", "neutral"), "success"),
        ([Done(), Failed("no agent")], ("completed", "neutral"), "success"),
        ([Failed("no agent")], ("completed", "neutral"), "error"),
    ],
)
def test_a_check_of_platforms_in_other_states(
    states: list[PlatformState], expected: tuple[str, str | None], status: str
) -> None:
    platforms = [
        a_platform(f"p{number}", UNCHANGED if isinstance(state, Done) else None, state)
        for number, state in enumerate(states)
    ]
    output = check_output(a_state(*platforms), "regression")
    assert (output.status, output.conclusion) == expected
    assert commit_status(a_state(*platforms), "regression").state == status


def test_a_check_annotates_the_most_important_changed_lines() -> None:
    hunks = tuple(ChangedLines("src/t_stream.c", 10 * number, 10 * number + 5) for number in range(1, 100))
    commits = replace(COMMITS, changed=hunks)
    cases = [
        changed(XADD, case=f"case-{number}", findings=[changed(CULPRIT, function=f"f{number}", lines=[10 * number])])
        for number in range(1, 100)
    ]
    output = check_output(a_state(a_platform("x86", a_comparison(cases)), commits=commits), "regression")
    assert len(output.annotations) == 50
    first = output.annotations[0]
    assert (first.path, first.start_line, first.end_line) == ("src/t_stream.c", 10, 10)
    assert (first.annotation_level, first.title) == ("warning", "regression of case-1")
    assert first.message.startswith("It runs twice per request.\nwork regression: instructions per request 11,201 →")
    assert output.title == "XADD in case-1 does 10 % more work and takes 4.1 % longer, and 98 further cases regress"


def test_an_acknowledged_regression_is_annotated_as_a_notice() -> None:
    accepted = Acknowledgement("alice", "fine", "2026-11-20T21:00:00Z")
    output = check_output(a_state(a_platform("x86", ISSUE), acknowledgements=(accepted,)), "regression")
    assert [one.annotation_level for one in output.annotations] == ["notice"]


def test_annotations_come_with_the_conclusion() -> None:
    ongoing = a_state(a_platform("arm", ISSUE), a_platform("x86", None, Running(1, 2)))
    assert check_output(ongoing, "regression").annotations == ()
    ended = a_state(a_platform("arm", ISSUE), a_platform("x86", UNCHANGED))
    assert [one.title for one in check_output(ended, "regression").annotations] == ["regression of xadd-auto-id on arm"]


def test_reasons_that_point_to_the_same_lines_are_one_annotation() -> None:
    hunks = tuple(ChangedLines("src/t_stream.c", line, line, "void xaddCommand(client *c) {") for line in (2042, 2067))
    findings = [
        changed(CULPRIT, rank=rank, function=name, text=f"It calls {name} more often.", lines=[2042, 2067])
        for rank, name in enumerate(("createStreamIDString", "sdsfree", "addReplyBulkSds"))
    ]
    comparison = a_comparison([changed(XADD, findings=findings)])
    state = a_state(a_platform("x86", comparison), commits=replace(COMMITS, changed=hunks))
    [annotation] = check_output(state, "regression").annotations
    assert (annotation.start_line, annotation.end_line) == (2042, 2042)
    lines = annotation.message.splitlines()
    assert lines[:3] == [f"It calls {finding.function} more often." for finding in findings]
    assert lines[-1] == "also at src/t_stream.c:2067"
    assert sum(line.startswith("work regression") for line in lines) == 1


def test_cases_on_request_leave_the_annotations_as_they_are() -> None:
    measured, asked = a_platform("arm", ISSUE), a_platform("arm: xlen*", UNCHANGED, on_request=True)
    before, after = (check_output(a_state(*platforms), "regression") for platforms in ([measured], [measured, asked]))
    assert before.annotations == after.annotations != ()


def test_a_status_has_room_for_140_characters() -> None:
    platforms = [a_platform(f"a-platform-with-a-long-name-{number}", ALL) for number in range(4)]
    assert len(commit_status(a_state(*platforms), "never").description) <= 140


def hostile_comparison(text: str) -> Comparison:
    """Return a comparison with a text wherever a stranger can put one."""
    finding = changed(CULPRIT, function=text, file=text, text=f"`{text}` ({text}) calls {text}", lines=None)
    caller = {"function": text, "file": text, "calls_per_op": {"base": 1.0, "head": 2.0}, "in_diff": True}
    build = changed(SERVER, name=text, version=text, build=text, compiler=text, allocator=text, config={text: text})
    check = {"check": text, "ok": False, "value": text, "limit": text}
    named: dict[str, Any] = {"commands": [text], "group": text}
    return a_comparison(
        [
            a_case(
                text,
                a_work("regression", 0.1),
                a_time("regression", 0.05),
                findings=[changed(finding, callers=[caller])],
                **named,
            ),
            an_invalid_case(f"{text} failed", failure=text, **named),
            an_invalid_case(f"{text} invalid", validity={"valid": False, "checks": [check]}, **named),
            a_case(f"{text} same", a_work("same", 0.0), a_time("same", 0.0), **named),
        ],
        id="c-1",
        command_line=text,
        base=changed(build, commit=text, flags=f"-O2 {text}"),
        head=changed(build, flags="-O3"),
        platform=changed(PLATFORM, name=text, cpu=text, kernel=text),
        notes=[text],
    )


def hostile_state(text: str) -> PullRequestState:
    comparison = hostile_comparison(text)
    commits = CommitRange(text, HEAD_COMMIT, HEAD_COMMIT, (ChangedLines(f"src/{text}", 1, 9, f"{text}("),))
    return PullRequestState(
        commits=commits,
        number=1,
        label=text,
        command=text,
        platforms=(
            a_platform(text, comparison, report_url=f"{LAB}/1", json_url=f"{LAB}/1.json"),
            a_platform(f"{text} failed", None, Failed(text, text)),
            a_platform(f"{text} waits", None, Waiting(text)),
            a_platform(f"{text} stopped", None, Cancelled(text)),
        ),
        acknowledgements=(Acknowledgement(text, text, text, frozenset({"another"})),),
    )


OURS = frozenset(
    ["p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ol", "ul", "li", "a", "code", "details", "summary"]
)
HOSTILE = pytest.mark.parametrize("hostile", [pytest.param(hostile, id=hostile.would) for hostile in HOSTILE_TEXTS])


@HOSTILE
@pytest.mark.parametrize("reader", READERS)
def test_no_hostile_text_acts_in_a_comment(hostile: HostileText, reader: str) -> None:
    text = comment_markdown(hostile_state(hostile.text))
    page, harmless = READERS[reader](text), READERS[reader](comment_markdown(hostile_state("word")))
    assert set(page.tags) <= OURS
    assert page.comments == [MARKER.removeprefix("<!--").removesuffix("-->")]
    assert page.acts == []
    assert all(target.startswith(("https://lab.example.org/", "https://github.com/")) for target in page.links)
    for tag in ("table", "tr", "th", "td", "details", "a"):
        assert page.tags.count(tag) <= harmless.tags.count(tag), tag
    assert not any(line.lstrip().startswith("/") for line in text.splitlines())
    assert text.count(MARKER) == 1 or hostile.text == MARKER
    assert text.startswith(MARKER)


@HOSTILE
@pytest.mark.parametrize("reader", READERS)
def test_no_hostile_text_acts_in_the_markdown_of_a_comparison(hostile: HostileText, reader: str) -> None:
    text = comparison_markdown(hostile_comparison(hostile.text))
    page, harmless = READERS[reader](text), READERS[reader](comparison_markdown(hostile_comparison("word")))
    assert set(page.tags) <= OURS | {"h6"}
    assert (page.acts, page.links, page.comments) == ([], [], [])
    for tag in ("table", "tr", "th", "td", "details", "summary"):
        assert page.tags.count(tag) == harmless.tags.count(tag), tag
    assert not any(line.lstrip().startswith("/") for line in text.splitlines())


@HOSTILE
@pytest.mark.parametrize("reader", READERS)
def test_no_hostile_text_acts_in_an_issue(hostile: HostileText, reader: str) -> None:
    regression = BranchRegression(
        replace(COMMITS, repository=hostile.text),
        hostile.text,
        hostile.text,
        (a_platform(hostile.text, hostile_comparison(hostile.text), report_url=f"{LAB}/1"),),
    )
    for text in (issue_title(regression), issue_body(regression), closing_text(regression.commits, hostile.text)):
        page = READERS[reader](text)
        assert set(page.tags) <= OURS
        assert page.acts == []
        assert all(target.startswith(("https://lab.example.org/", "https://github.com/")) for target in page.links)
    assert len(issue_title(regression)) <= 256


@HOSTILE
def test_no_hostile_text_acts_in_plain_texts_and_slack(hostile: HostileText) -> None:
    state = hostile_state(hostile.text)
    output = check_output(state, "never")
    plain = [output.title, commit_status(state, "never").description]
    plain += [part for one in output.annotations for part in (one.title, one.message.replace("\n", ""))]
    controls = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
    assert not any(controls.search(text) for text in plain)
    comparison = hostile_comparison(hostile.text)
    regression = BranchRegression(COMMITS, hostile.text, hostile.text, (a_platform(hostile.text, comparison),))
    for message in (slack_opened(regression), slack_closed(COMMITS, hostile.text, hostile.text)):
        written = [message["text"], *(block["text"]["text"] for block in message["blocks"])]
        links = [link for text in written for link in re.findall(r"<([^>]*)>", text)]
        assert all(link.startswith(("https://github.com/", LAB)) for link in links)
        assert not any(controls.search(text.replace("\n", "")) for text in written)


LONG_NAMES = {
    "short": "case-{}",
    "public": "memtier_benchmark-1Mkeys-load-stream-10-fields-with-100B-values-pipeline-{}",
    "long": "name-" * 60 + "{}",
    "wide": "\N{GRINNING FACE}" * 200 + "{}",
    "bars": "|" * 300 + "{}",
    "fences": "``` `` `" * 60 + "{}",
}


def large_comparison(pattern: str, count: int) -> Comparison:
    """Return a comparison of 500 cases, all of its names made from a pattern."""
    findings = [changed(CULPRIT, rank=rank, function=pattern.format(rank), text=pattern * 3) for rank in range(9)]
    slower = a_case("", a_work("regression", 0.1), a_time("regression", 0.1), findings=findings)
    same = a_case("", a_work("same", 0.0), a_time("same", 0.0))
    cases = [
        changed(slower if number < count else same, case=pattern.format(number), group=pattern.format(number % 30))
        for number in range(500)
    ]
    build = changed(SERVER, config={pattern: pattern}, flags=pattern)
    return a_comparison(cases, notes=[pattern * 5] * 20, base=build, head=changed(build, flags="-O3"))


def large_state(pattern: str, comparison: Comparison, platforms: int) -> PullRequestState:
    accepted = Acknowledgement(pattern, pattern * 3, "2026-11-20T21:00:00Z", frozenset({"another"}))
    outcomes = [
        a_platform(
            pattern.format(number),
            comparison,
            report_url=f"{LAB}/c-20261120-4f1a{number}",
            json_url=f"{LAB}/c-20261120-4f1a{number}.json",
            false_alarms=FalseAlarms(0, 360, "since 2026-08-01"),
        )
        for number in range(platforms)
    ]
    return a_state(*outcomes, acknowledgements=(accepted,) * 10, command=pattern * 3, label=pattern)


@pytest.mark.parametrize("name", LONG_NAMES)
@pytest.mark.parametrize("changed", [0, 3, 500])
def test_a_comment_of_500_cases_is_below_6_kib_and_whole(changed: int, name: str) -> None:
    comparison = large_comparison(LONG_NAMES[name], changed)
    for platforms in (1, 2, 6):
        text = comment_markdown(large_state(LONG_NAMES[name], comparison, platforms))
        assert len(text.encode()) < MOST_COMMENT_BYTES
        page = read_by_markdown_it(text)
        assert set(page.tags) <= OURS
        assert page.tags.count("details") == text.count("</details>") <= 1
        assert "**" not in page.text
        if changed == 500:
            assert "and 499 further cases regress" in page.text
            assert "more in the report" in page.text
            assert page.tags.count("tr") >= 2
        else:
            assert re.search(f"No change in {500 - changed} cases|{500 - changed} cases unchanged", page.text)


def test_a_comment_without_room_for_anything_else_has_its_headline() -> None:
    name = "\N{GRINNING FACE}" * 200 + "{}"
    state = large_state(name, large_comparison(name, 2), 40)
    text = comment_markdown(replace(state, commits=replace(COMMITS, site="https://github.example/" + "x" * 1000)))
    assert len(text.encode()) < MOST_COMMENT_BYTES
    assert "and 1 further case regresses" in text


def test_a_comment_of_500_cases_has_the_rows_that_fit() -> None:
    cases = [changed(XADD, case=LONG_NAMES["public"].format(number)) for number in range(500)]
    text = comment_markdown(a_state(*(a_platform(name, a_comparison(cases)) for name in ("arm", "x86"))))
    rows = text.count("| `memtier")
    assert rows >= 10
    assert f"and {1000 - rows} more in the report" in text


def a_regression() -> BranchRegression:
    platforms = (a_platform("x86", ISSUE), a_platform("arm", UNCHANGED))
    return BranchRegression(COMMITS, "unstable", "Faster ids (#12)", platforms)


def test_an_issue_says_what_came_with_which_commit() -> None:
    assert issue_title(a_regression()) == (
        "XADD does 10 % more work and takes 4.1 % longer on `x86`, not on `arm` (`unstable`, `9e8d7c6b5a49`)"
    )
    body = issue_body(a_regression())
    commit = f"[`9e8d7c6b5a49`](https://github.com/valkey-io/valkey/commit/{HEAD_COMMIT})"
    assert f"On `unstable` since {commit}: `Faster ids (#12)`\n" in body
    assert "| `xadd-auto-id` | `x86` | **regression** +10.1 %" in body
    assert "1. It runs twice per request. → [`src/t_stream.c:2210`]" in body
    assert f"- `x86`: [report]({LAB}/x86)\n" in body
    assert closing_text(COMMITS, "Revert (#13)") == f"It went away with {commit}: `Revert (#13)`\n"


def test_notices_to_other_programs() -> None:
    document = json.loads(opened_notice(a_regression()).model_dump_json(by_alias=True))
    assert (document["schema"], document["event"]) == ("zerolap.notice/1", "opened")
    assert (document["repository"], document["branch"]) == ("valkey-io/valkey", "unstable")
    assert (document["base"], document["head"]) == (BASE_COMMIT, HEAD_COMMIT)
    assert document["text"].startswith("XADD does 10 % more work and takes 4.1 % longer on x86, not on arm; ")
    assert [(case["case"], case["platform"], case["verdict"]) for case in document["cases"]] == [
        ("xadd-auto-id", "x86", "regression")
    ]
    assert document["reports"] == {"arm": f"{LAB}/arm", "x86": f"{LAB}/x86"}
    closed = closed_notice(COMMITS, "unstable", "Revert (#13)")
    assert closed.event == "closed"
    assert closed.text == f"it went away with commit {HEAD_COMMIT}: Revert (#13)"


def test_a_message_for_slack() -> None:
    message = slack_opened(a_regression())
    text = message["blocks"][0]["text"]["text"]
    commit = f"<https://github.com/valkey-io/valkey/commit/{HEAD_COMMIT}|9e8d7c6b5a49>"
    assert text.startswith("*XADD does 10 % more work and takes 4.1 % longer on `x86`, not on `arm`*\n")
    assert f"`valkey-io/valkey`, `unstable` since {commit}: `Faster ids (#12)`\n" in text
    assert text.endswith(f"<{LAB}/x86|report of x86>")
    assert message["text"].startswith("XADD does 10 % more work")
    assert commit in slack_closed(COMMITS, "unstable", "Revert")["blocks"][0]["text"]["text"]


def test_what_failed_and_what_is_invalid_is_in_the_table_with_its_reason() -> None:
    text = comment_markdown(a_state(a_platform("x86", BOTH), a_platform("arm", ALL)))
    assert "| `fcall` | `x86` | failed: `the server exited with 139` |" in text
    assert "| `hget-misses` | `arm` | invalid: `hit_rate` is 0.12, expected \\>= 0.99 |" in text
