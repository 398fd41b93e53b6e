"""Rules of reasons: who owns inlined lines, what is netted, who is named first, what a sentence states."""

import pytest
from call_graphs import FILE, LINES, call_graph, changed_in, culprits, definitions, explained, hunk_at

from zerolap.explain import Evidence, explain_change, explanation_limits
from zerolap.records import CallGraph, Changes, FileChange, Finding, SourceFunction, UnknownChanges

HEADER = "shared.h"
MIX = SourceFunction(HEADER, "mix", 10, 20)
CALLERS = ("command", "format", "reply", "helper", "lookup")
COSTS = {"main": 100.0, "command": 200.0, "format": 300.0}
CALLS = {("main", "command"): 1.0, ("command", "format"): 1.0}


def with_inlined(instructions: float) -> CallGraph:
    """Five functions, each with so many instructions of `mix` among its own."""
    costs = {"main": 100.0} | dict.fromkeys(CALLERS, 200.0 + instructions)
    lines = {name: [(FILE, LINES[name] + 1, 200.0), (HEADER, 12, instructions)] for name in CALLERS}
    return call_graph(costs, {("main", name): 1.0 for name in CALLERS}, lines)


NO_CHANGES_KNOWN = UnknownChanges(reason="The sources are not kept")


def explained_with(
    base: CallGraph, head: CallGraph, changes: Changes | UnknownChanges, *more: SourceFunction
) -> list[Finding]:
    functions = [*definitions("main", *CALLERS), *more]
    return explain_change(Evidence(base, head, functions, functions, changes, base_stripped=False, head_stripped=False))


@pytest.mark.parametrize("is_diff_known", [True, False])
def test_an_inline_function_that_grew_is_named_itself_and_not_its_callers(is_diff_known: bool) -> None:
    file = FileChange(old_file=f"src/{HEADER}", new_file=f"src/{HEADER}", hunks=[hunk_at(12, "-a\n+b")])
    changes = Changes(files=[file]) if is_diff_known else NO_CHANGES_KNOWN
    findings = explained_with(with_inlined(10.0), with_inlined(60.0), changes, MIX)
    assert culprits(findings) == ["mix"]
    mix = findings[0]
    assert (mix.file, mix.in_diff, mix.calls_per_op) == (HEADER, True if is_diff_known else None, None)
    assert mix.share_of_change == pytest.approx(1.0)
    assert mix.self_instructions_per_op is not None
    assert (mix.self_instructions_per_op.base, mix.self_instructions_per_op.head) == (50.0, 300.0)
    place = f"{HEADER}, changed here" if is_diff_known else HEADER
    code = ", where `a` became `b`" if is_diff_known else ""
    assert mix.text == (
        f"`mix` ({place}), inlined into `command`, `format` and 3 more, takes more instructions "
        f"(50 -> 300 per request){code}: +250 instructions, 100 % of the change."
    )


def test_calls_in_inlined_lines_are_those_of_the_inlined_function() -> None:
    """`mix` calls `hash` twice now, within five symbols: it is the function that does so."""

    def graph(times: float) -> CallGraph:
        base = with_inlined(10.0)
        calls = {("main", name): 1.0 for name in CALLERS} | {(name, "hash"): times for name in CALLERS}
        costs = {"main": 100.0} | dict.fromkeys(CALLERS, 210.0) | {"hash": 50.0}
        lines = {name: [(FILE, LINES[name] + 1, 200.0), (HEADER, 12, 10.0)] for name in CALLERS}
        whole = call_graph(costs, calls, lines)
        header = whole.files.index(HEADER)
        edges = [
            edge.model_copy(update={"lines": [(header, 12, edge.calls)]})
            if whole.functions[edge.callee].name == "hash"
            else edge
            for edge in whole.edges
        ]
        assert base.files == whole.files
        return whole.model_copy(update={"edges": edges})

    findings = explained_with(graph(1.0), graph(2.0), NO_CHANGES_KNOWN, MIX, *definitions("hash"))
    assert culprits(findings) == ["hash"]
    assert [caller.function for caller in findings[0].callers] == ["mix"]
    assert findings[0].text.startswith(
        f"`mix` ({HEADER}) calls `hash` ({FILE}) more often (5 -> 10 per request): +250 "
    )


def test_an_unchanged_function_inlined_into_a_changed_one_is_part_of_it() -> None:
    """Compilers guess whose line an instruction is: in one body, gain and loss are set off."""
    sides = [
        call_graph(
            {"main": 100.0, "command": own + inlined},
            {("main", "command"): 1.0},
            {"command": [(FILE, LINES["command"] + 1, own), (HEADER, 12, inlined)]},
        )
        for own, inlined in ((500.0, 500.0), (1000.0, 100.0))
    ]
    findings = explained_with(sides[0], sides[1], changed_in("command", "-a\n+b"), MIX)
    assert culprits(findings) == ["command"]
    assert findings[0].share_of_change == pytest.approx(1.0)
    assert (
        "itself takes more instructions (1,000 -> 1,100 per request), where `a` became `b`: +100 instructions"
        in findings[0].text
    )


def test_a_loss_here_does_not_hide_a_gain_there() -> None:
    """A function works 500 more and spares a call of 450: what it comes to is 50, of two parts."""
    base = call_graph({**COSTS, "reply": 450.0}, {**CALLS, ("command", "reply"): 1.0})
    head = call_graph({**COSTS, "command": 700.0, "reply": 450.0}, CALLS | {("command", "reply"): 0.0})
    findings = explained(base, head, changed_in("command", "- reply();", "+ loop();"))
    assert culprits(findings) == ["command"]
    assert findings[0].share_of_change == pytest.approx(1.0)
    assert [(part.function, part.instructions_changed_per_op) for part in findings[0].parts] == [
        ("command", pytest.approx(500.0)),
        ("reply", pytest.approx(-450.0)),
    ]
    assert [finding for finding in findings if finding.kind == "moved"] == []
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) itself takes more instructions (200 -> 700 per request), with what goes "
        "with it: +50 instructions, 100 % of the change."
    )
    assert findings[0].parts[0].text.endswith("+500 instructions, 1,000 % of the change; others take back a part.")
    assert findings[0].parts[1].text == (
        f"`command` ({FILE}, changed here) no longer calls `reply` (1 -> 0 per request): "
        "-450 instructions, against the change."
    )


def test_only_a_call_in_the_place_of_another_replaces_it() -> None:
    """Two calls in one changed place are netted; in two places they are two changes."""
    base = call_graph({**COSTS, "reply": 290.0, "lookup": 400.0}, {**CALLS, ("command", "reply"): 1.0})
    head = call_graph({**COSTS, "reply": 290.0, "lookup": 400.0}, {**CALLS, ("command", "lookup"): 1.0})
    netted = explained(base, head, changed_in("command", "- reply();\n+ lookup();"))
    assert culprits(netted) == ["lookup"]
    assert netted[0].share_of_change == pytest.approx(1.0)
    assert netted[0].text == (
        f"`command` ({FILE}, changed here) now calls `lookup` (0 -> 1 per request), in place of `reply`, "
        "at 400 instead of 290 instructions a call: "
        "+110 instructions, 100 % of the change."
    )
    apart = explained(base, head, changed_in("command", "- reply();", "+ lookup();"))
    assert culprits(apart) == ["command"]
    assert [part.function for part in apart[0].parts] == ["lookup", "reply"]
    assert [part.share_of_change for part in apart[0].parts] == pytest.approx([400 / 110, -290 / 110])


def test_a_call_of_a_function_that_is_inlined_now_is_exchanged_by_the_diff() -> None:
    """No call of `reply` is seen in the head, but the changed line has it in place of `lookup`."""
    base = call_graph({**COSTS, "lookup": 40.0}, {**CALLS, ("command", "lookup"): 10.0})
    lines = {"command": [(FILE, LINES["command"] + 1, 200.0), (FILE, LINES["reply"] + 1, 90.0)]}
    findings = explained(
        base,
        call_graph({**COSTS, "command": 290.0}, CALLS, lines),
        changed_in("command", "- lookup(crlf);\n+ reply(crlf, 2);"),
        base_functions=[*COSTS, "lookup", "reply"],
        head_functions=[*COSTS, "lookup", "reply"],
    )
    assert (
        f"`command` ({FILE}, changed here) calls `reply` in place of `lookup` (10 -> 0 per request)" in findings[0].text
    )


def test_what_one_side_alone_executes_does_not_call_less_often() -> None:
    """`reply` and `helper`, both inlined into `command`, formatted an ID each; now `command` does so itself, once."""
    both = ("reply", "helper")
    base = call_graph(
        COSTS,
        CALLS | {("command", "format"): 2.0},
        {"command": [(FILE, LINES[name] + 1, 100.0) for name in ("command", *both)]},
    )
    edges = [
        edge.model_copy(update={"lines": [(0, LINES[name] + 1, 1.0) for name in both]})
        if base.functions[edge.callee].name == "format"
        else edge
        for edge in base.edges
    ]
    lines = [hunk_at(LINES[name] + 1, "- format(id);\n+ format_id(id);") for name in ("command", *both)]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(
        base.model_copy(update={"edges": edges}),
        call_graph(COSTS, CALLS),
        changes,
        base_functions=[*COSTS, *both],
        head_functions=[*COSTS, *both],
    )
    assert findings[0].text.startswith(
        f"`command` ({FILE}, changed here) calls `format` less often (2 -> 1 per request) through `helper` and `reply`"
    )


def called_by(command: float, helper: float) -> CallGraph:
    """`lookup`, called so often by either of two functions."""
    calls = {("main", "command"): 1.0, ("main", "helper"): 1.0}
    calls |= {("command", "lookup"): command, ("helper", "lookup"): helper}
    return call_graph({"main": 100.0, "command": 200.0, "helper": 50.0, "lookup": 100.0}, calls)


def test_calls_more_of_one_function_and_fewer_of_another_are_two_changes() -> None:
    findings = explained(called_by(5.0, 0.0), called_by(0.0, 7.0))
    assert culprits(findings) == ["lookup", "lookup"]
    assert [finding.share_of_change for finding in findings] == pytest.approx([3.5, -2.5])
    assert [[caller.function for caller in finding.callers] for finding in findings] == [["helper"], ["command"]]


def test_a_call_that_only_moved_to_another_caller_is_no_change() -> None:
    slower = call_graph(
        {"main": 100.0, "command": 260.0, "helper": 50.0, "lookup": 100.0},
        {("main", "command"): 1.0, ("main", "helper"): 1.0, ("helper", "lookup"): 5.0},
    )
    assert culprits(explained(called_by(5.0, 0.0), slower)) == ["command"]


def test_work_below_a_new_function_is_named() -> None:
    """A set became a list: the function that is called now does little, the search below it does the work."""
    costs = {"main": 100.0, "command": 200.0, "lookup": 150.0, "helper": 30.0, "format": 2000.0, "reply": 200.0}
    base = call_graph(costs, {("main", "command"): 1.0, ("command", "lookup"): 1.0})
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0, ("helper", "format"): 1.0, ("format", "reply"): 2.0}
    findings = explained(base, call_graph(costs, calls), changed_in("command", "- lookup();", "+ helper();"))
    assert (
        f"now calls `helper` (0 -> 1 per request), below which `format` ({FILE}) takes more instructions "
        "(0 -> 2,000 per request)" in findings[0].text
    )


def test_work_below_a_function_that_does_it_itself_is_not_named() -> None:
    costs = {"main": 100.0, "command": 200.0, "helper": 300.0, "format": 400.0}
    base = call_graph(costs, {("main", "command"): 1.0})
    head = call_graph(costs, {("main", "command"): 1.0, ("command", "helper"): 1.0, ("helper", "format"): 1.0})
    assert "below which" not in explained(base, head, changed_in("command", "+ helper();"))[0].text


def test_work_below_an_unchanged_dearer_function_is_named() -> None:
    """A table that is sized beforehand: setting a field is cheaper, and what got cheaper is that it grows no more."""
    costs = {"main": 100.0, "command": 200.0, "lookup": 40.0, "helper": 10.0, "reply": 500.0}
    calls = {
        ("main", "command"): 1.0,
        ("command", "lookup"): 20.0,
        ("lookup", "helper"): 0.25,
        ("helper", "reply"): 1.0,
    }
    head = call_graph(costs, calls | {("lookup", "helper"): 0.0})
    findings = explained(call_graph(costs, calls), head, changed_in("command", "- create();\n+ create(20);"))
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) makes calls of `lookup` ({FILE}), which is unchanged, cheaper "
        f"(168 -> 40 instructions a call), below which `reply` ({FILE}) takes fewer instructions "
        "(2,500 -> 0 per request): -2,550 instructions, 100 % of the change."
    )


def test_calls_of_one_function_from_one_file_are_one_reason() -> None:
    costs = {"main": 100.0, "command": 200.0, "helper": 50.0, "lookup": 100.0}
    calls = {("main", "command"): 1.0, ("main", "helper"): 1.0}
    head = calls | {("command", "lookup"): 2.0, ("helper", "lookup"): 3.0}
    lines = [hunk_at(LINES[name] + 1, "+ lookup();") for name in ("command", "helper")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(call_graph(costs, calls), call_graph(costs, head), changes)
    assert culprits(findings) == ["lookup"]
    assert findings[0].text == (
        f"`command` and `helper` ({FILE}, changed here) now call `lookup` (0 -> 5 per request): "
        "+500 instructions, 100 % of the change."
    )
    assert [part.instructions_changed_per_op for part in findings[0].parts] == pytest.approx([300.0, 200.0])


def test_memory_that_is_taken_and_given_back_is_one_reason() -> None:
    """Nothing that differs makes these calls: a buffer of the right size is what they have in common."""
    costs = {"main": 100.0, "command": 200.0, "format": 50.0, "zmalloc": 300.0, "zfree": 310.0}
    calls = {("main", "command"): 1.0, ("command", "format"): 1.0}
    base = calls | {("format", "zmalloc"): 1.0, ("format", "zfree"): 1.0}
    findings = explained(call_graph(costs, base), call_graph(costs, calls))
    assert [part.function for part in findings[0].parts] == ["zfree", "zmalloc"]
    assert findings[0].text == (
        "`format` (server.c) no longer calls `zmalloc` (1 -> 0 per request), with what goes with it: "
        "-610 instructions, 100 % of the change."
    )


def test_what_is_no_longer_made_comes_before_what_released_it() -> None:
    costs = {"main": 100.0, "command": 200.0, "createObject": 200.0, "decrRefCount": 290.0}
    calls = {("main", "command"): 1.0}
    base = calls | {("command", "createObject"): 40.0, ("command", "decrRefCount"): 40.0}
    findings = explained(call_graph(costs, base), call_graph(costs, calls), changed_in("command", "- createObject();"))
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) no longer calls `createObject` (40 -> 0 per request) and no longer calls "
        "`decrRefCount` (40 -> 0 per request): -19,600 instructions, 100 % of the change."
    )


def test_what_one_function_makes_and_another_releases_is_one_reason() -> None:
    """A callback gathers fewer objects, so that its caller releases fewer."""
    costs = {"main": 100.0, "command": 200.0, "helper": 100.0, "createObject": 200.0, "decrRefCount": 290.0}
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0}
    base = calls | {("helper", "createObject"): 40.0, ("command", "decrRefCount"): 40.0}
    lines = [hunk_at(LINES["helper"] + 1, "+ if (!match) return;"), hunk_at(LINES["command"] + 1, "- decrRefCount(o);")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(call_graph(costs, base), call_graph(costs, calls), changes)
    assert culprits(findings) == ["helper"]
    assert findings[0].text == (
        f"`helper` ({FILE}, changed here) no longer calls `createObject` (40 -> 0 per request); `command` ({FILE}, "
        "changed here) no longer calls `decrRefCount` (40 -> 0 per request): -19,600 instructions, 100 % of the change."
    )


def test_work_that_moved_into_a_new_function_is_no_cost_of_that() -> None:
    """`command` hashed a script, now `helper`, which is new, does so before: as many calls, and a look-up more."""
    costs = {"main": 100.0, "command": 200.0, "format": 7000.0, "helper": 30.0, "lookup": 150.0}
    base = call_graph(costs, {("main", "command"): 1.0, ("command", "format"): 1.0})
    calls = {("main", "command"): 1.0, ("main", "helper"): 1.0, ("helper", "format"): 1.0, ("helper", "lookup"): 1.0}
    lines = [hunk_at(LINES["main"] + 1, "+ helper();"), hunk_at(LINES["command"] + 1, "- format();")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(
        base,
        call_graph(costs, calls),
        changes,
        base_functions=["main", "command", "format", "lookup"],
        head_functions=list(costs),
    )
    assert "`format`" not in findings[0].text
    assert "now calls `lookup` (0 -> 1 per request)" in findings[0].text


def test_a_changed_line_is_shown_where_a_function_itself_got_cheaper() -> None:
    """Of two changed places it is that whose lines cost less now."""

    def graph(of_loop: float) -> CallGraph:
        lines = {"command": [(FILE, LINES["command"] + 1, of_loop), (FILE, LINES["command"] + 3, 50.0)]}
        return call_graph({**COSTS, "command": of_loop + 50.0}, CALLS, lines)

    changes = changed_in("command", "- while (skip--) next();\n+ next_at(skip);", "- int a = 1;\n+ int a = 2;")
    (finding,) = explained(graph(9000.0), graph(100.0), changes)
    assert finding.text == (
        f"`command` ({FILE}, changed here) itself takes fewer instructions (9,050 -> 150 per request), where "
        "`while (skip--) next();` became `next_at(skip);`: -8,900 instructions, 100 % of the change."
    )


def test_a_changed_line_is_that_which_named_what_was_inlined() -> None:
    """The line itself costs the same, what was inlined for it is gone; a line of parameters is no place of work."""
    read = [(FILE, LINES["command"] + 2, 20.0), (HEADER, 12, 90.0)]
    base = call_graph({**COSTS, "command": 110.0}, CALLS, {"command": read})
    head = call_graph({**COSTS, "command": 20.0}, CALLS, {"command": read[:1]})
    hunks = [
        hunk_at(LINES["command"], "-int command(char *key) {\n+int command(char *key, size_t length) {"),
        hunk_at(LINES["command"] + 2, "- return find(key, mix(key));\n+ return find(key, length);"),
        hunk_at(LINES["command"] + 4, "- found(key);\n+ found(key, length);"),
    ]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=hunks)])
    findings = explained_with(base, head, changes, MIX)
    assert (
        "itself takes fewer instructions (110 -> 20 per request), where `return find(key, mix(key));` became "
        "`return find(key, length);`: -90 instructions" in findings[0].text
    )


def test_a_line_of_code_is_quoted_in_one_line_of_printable_characters() -> None:
    code = "- f(`x`,\x1b[31m" + "y" * 200 + ");\n+\tg();"
    base, head = call_graph(COSTS | {"command": 500.0}, CALLS), call_graph(COSTS, CALLS)
    (finding,) = explained(base, head, changed_in("command", code))
    assert f"where `f('x', [31m{'y' * 60}…` became `g();`" in finding.text


def test_a_cheaper_call_in_the_place_of_another() -> None:
    base = call_graph({**COSTS, "lookup": 2692.0}, {**CALLS, ("command", "lookup"): 10.0})
    head = call_graph({**COSTS, "reply": 0.1}, {**CALLS, ("command", "reply"): 10.0})
    findings = explained(
        base,
        head,
        changed_in("command", "- lookup();\n+ reply();"),
        base_functions=["main", "command", "format", "lookup", "reply"],
        head_functions=["main", "command", "format", "lookup", "reply"],
    )
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) calls `reply` in place of `lookup` (10 -> 0 per request), "
        "at 0.1 instead of 2,692 instructions a call: "
        "-26,919 instructions, 100 % of the change."
    )


LIST = {"main": 100.0, "command": 200.0, "lookup": 40.0, "helper": 10.0}
LONGER = {**LIST, "lookup": 400.0}


def list_calls(steps: float) -> dict[tuple[str, str], float]:
    return {("main", "command"): 1.0, ("command", "lookup"): 1.0, ("lookup", "helper"): steps}


def test_a_changed_caller_that_makes_an_unchanged_function_dearer_comes_first() -> None:
    """A list that has become longer: the search costs more, and compares more often; its caller was changed."""
    base, head = call_graph(LIST, list_calls(4.0)), call_graph(LONGER, list_calls(40.0))
    findings = explained(base, head, changed_in("command", "+ append(list);"))
    assert culprits(findings) == ["command"]
    first = findings[0]
    assert (first.in_diff, first.share_of_change) == (True, pytest.approx(1.0))
    assert first.carrier is not None
    assert (first.carrier.function, first.carrier.file) == ("lookup", FILE)
    assert (first.carrier.instructions_per_op.base, first.carrier.instructions_per_op.head) == (80.0, 800.0)
    assert first.text == (
        f"`command` ({FILE}, changed here) makes calls of `lookup` ({FILE}), which is unchanged, dearer "
        "(80 -> 800 instructions a call): +720 instructions, 100 % of the change."
    )


def test_a_changed_caller_farther_up_is_named_if_its_changed_lines_name_the_way() -> None:
    costs = {**LIST, "reply": 5.0}
    calls = {("main", "reply"): 1.0, ("reply", "command"): 1.0, ("command", "lookup"): 1.0}
    base, head = call_graph(costs, calls), call_graph({**costs, "lookup": 400.0}, calls)
    named = explained(base, head, changed_in("reply", "- command(4);\n+ command(40);"))
    assert culprits(named) == ["reply"]
    assert named[0].carrier is not None
    assert named[0].carrier.function == "lookup"
    elsewhere = explained(base, head, changed_in("reply", "+ count++;"))
    assert culprits(elsewhere) == ["lookup"]


def test_what_is_dearer_only_when_others_call_it_is_not_the_changed_callers_doing() -> None:
    """Of two callers only the unchanged caller gives the function more to do, on an edge of its own."""
    costs = {**LIST, "reply": 5.0}
    calls = {("main", "command"): 1.0, ("main", "reply"): 1.0, ("command", "lookup"): 1.0, ("reply", "lookup"): 1.0}
    base, head = call_graph(costs, calls), call_graph({**costs, "lookup": 240.0}, calls)
    by_caller = {"command": 40.0, "reply": 440.0}
    edges = [
        edge.model_copy(update={"instructions": by_caller[head.functions[edge.caller].name]})
        if head.functions[edge.callee].name == "lookup"
        else edge
        for edge in head.edges
    ]
    findings = explained(base, head.model_copy(update={"edges": edges}), changed_in("command", "+ count++;"))
    assert culprits(findings) == ["lookup"]
    assert findings[0].in_diff is False


def test_reasons_are_ranked_by_share_and_not_by_the_diff() -> None:
    slower = {**COSTS, "command": 600.0, "format": 800.0}
    findings = explained(call_graph(COSTS, CALLS), call_graph(slower, CALLS), changed_in("command", "+ loop();"))
    # What `command` makes dearer is its doing too, here and in `format`.
    assert [finding.share_of_change for finding in findings] == pytest.approx([1.0])
    assert [part.share_of_change for part in findings[0].parts] == pytest.approx([500 / 900, 400 / 900])
    independent = CALLS | {("main", "format"): 1.0, ("command", "format"): 0.0}
    findings = explained(
        call_graph(COSTS, independent), call_graph(slower, independent), changed_in("command", "+ loop();")
    )
    assert culprits(findings) == ["format", "command"]
    assert [finding.in_diff for finding in findings] == [False, True]


OTHER = "other.c"


def test_statics_of_one_name_in_two_files_are_two_functions() -> None:
    """Each side executes another of them: neither was moved, the new is called instead of the old."""
    both = [*definitions("main", "command", "helper"), SourceFunction(OTHER, "helper", 5, 50)]
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0}
    costs = {"main": 100.0, "command": 200.0, "helper": 100.0}
    base = call_graph(costs, calls)
    # Its first instruction is of a header: callgrind names that as its file.
    head = call_graph(
        {**costs, "helper": 400.0}, calls, {"helper": [(HEADER, 3, 10.0), (OTHER, 6, 390.0)]}, {"helper": HEADER}
    )
    findings = explain_change(
        Evidence(base, head, both, both, Changes(files=[]), base_stripped=False, head_stripped=False)
    )
    named = [(finding.function, finding.file) for finding in findings if finding.kind == "culprit"]
    assert named == [("helper", OTHER)]
    assert findings[0].instructions_per_op is not None
    assert (findings[0].instructions_per_op.base, findings[0].instructions_per_op.head) == (100.0, 400.0)
    assert findings[0].text == (
        f"`helper` ({OTHER}) is called instead of `helper` ({FILE}): +300 instructions, 100 % of the change."
    )


def test_a_changed_line_with_the_name_of_a_static_is_of_its_own_file() -> None:
    both = [*definitions("main", "command", "helper"), SourceFunction(OTHER, "helper", 5, 50)]
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0}
    costs = {"main": 100.0, "command": 200.0, "helper": 100.0}
    file = FileChange(
        old_file=f"src/{OTHER}", new_file=f"src/{OTHER}", hunks=[hunk_at(60, "- helper(1);\n+ helper(2);")]
    )
    base, head = call_graph(costs, calls), call_graph(costs, calls | {("command", "helper"): 2.0})
    evidence = Evidence(base, head, both, both, Changes(files=[file]), base_stripped=False, head_stripped=False)
    assert explain_change(evidence)[0].in_diff is False


def test_a_function_put_before_another_does_not_change_it() -> None:
    line = LINES["format"]
    added = hunk_at(line, "+static void unused(void) {}\n+").model_copy(
        update={"old_start": line - 1, "old_lines": 0, "new_lines": 2}
    )
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=[added])])
    old = definitions("main", "command", "format")
    new = [*definitions("main", "command"), SourceFunction(FILE, "format", line + 2, line + 52)]
    lines = {"format": [(FILE, line + 3, 500.0)]}
    base, head = call_graph(COSTS, CALLS), call_graph({**COSTS, "format": 500.0}, CALLS, lines)
    findings = explain_change(Evidence(base, head, old, new, changes, base_stripped=False, head_stripped=False))
    assert culprits(findings) == ["format"]
    assert findings[0].in_diff is False


def test_a_call_made_more_often_leads_with_its_caller() -> None:
    twice = {**CALLS, ("command", "format"): 2.0}
    findings = explained(call_graph(COSTS, CALLS), call_graph(COSTS, twice), changed_in("command", "+ format(x);"))
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) calls `format` more often (1 -> 2 per request): "
        "+300 instructions, 100 % of the change."
    )


def test_calls_that_do_not_follow_their_callers_are_no_change() -> None:
    """`helper` releases two objects before and one after; only the last has a dictionary, which `lookup` frees."""
    costs = {"main": 100.0, "command": 200.0, "helper": 50.0, "lookup": 5000.0}
    calls = {("main", "command"): 1.0, ("command", "helper"): 2.0, ("helper", "lookup"): 0.5}
    fewer = calls | {("command", "helper"): 1.0, ("helper", "lookup"): 1.0}
    findings = explained(call_graph(costs, calls), call_graph(costs, fewer), changed_in("command", "- helper(copy);"))
    assert culprits(findings) == ["helper"]
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) calls `helper` less often (2 -> 1 per request): "
        "-50 instructions, 100 % of the change."
    )


def test_calls_that_move_between_changed_functions_are_no_reason() -> None:
    """`command` filtered afterwards, `helper` does so beforehand now: as many calls, and fewer replies to gather."""
    costs = {"main": 100.0, "command": 200.0, "helper": 50.0, "lookup": 500.0, "reply": 30.0}
    calls = {("main", "command"): 1.0, ("main", "helper"): 1.0}
    base = calls | {("command", "lookup"): 10.0, ("helper", "reply"): 10.0}
    head = calls | {("helper", "lookup"): 10.0, ("helper", "reply"): 2.0}
    lines = [hunk_at(LINES[name] + 1, "-a\n+b") for name in ("command", "helper")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(call_graph(costs, base), call_graph(costs, head), changes)
    assert culprits(findings) == ["reply"]
    assert findings[0].share_of_change == pytest.approx(1.0)
    assert "calls `reply` less often (10 -> 2 per request)" in findings[0].text


# Roots: what a commit did, and below it what follows from that

TABLE = {"main": 100.0, "call": 50.0, "sinterCommand": 900.0, "lookup": 30.0, "reply": 20.0}


def test_a_handler_exchanged_in_a_table_is_the_root_of_all_below_it() -> None:
    """No line of the caller differs: the table names another function."""
    base = call_graph(TABLE, {("main", "call"): 1.0, ("call", "sinterCommand"): 1.0, ("sinterCommand", "reply"): 100.0})
    costs = {name: cost for name, cost in TABLE.items() if name != "sinterCommand"} | {"smembersCommand": 300.0}
    head = call_graph(
        costs, {("main", "call"): 1.0, ("call", "smembersCommand"): 1.0, ("smembersCommand", "reply"): 40.0}
    )
    both = ["main", "call", "lookup", "reply", "sinterCommand"]
    findings = explained(
        base,
        head,
        changed_in("lookup", "+ cosmetic"),
        base_functions=both,
        head_functions=[*both, "smembersCommand"],
    )
    assert culprits(findings) == ["smembersCommand"]
    first = findings[0]
    assert (first.replaces, first.in_diff, first.share_of_change) == ("sinterCommand", True, pytest.approx(1.0))
    assert first.text == (
        f"`smembersCommand` ({FILE}) carries out the command instead of `sinterCommand`: "
        "-1,800 instructions, 100 % of the change."
    )
    parts = [(part.function, part.instructions_changed_per_op) for part in first.parts]
    assert parts == [("reply", pytest.approx(-1200.0)), ("smembersCommand", pytest.approx(-600.0))]


def test_a_library_function_that_costs_less_at_as_many_calls_got_other_arguments() -> None:
    """Scores with fewer digits: the same parser has less to do; its own parts are no reasons of their own."""
    calls = {("main", "command"): 1.0, ("command", "strtod"): 10.0, ("strtod", "multiply"): 3.0}
    base = call_graph({"main": 100.0, "command": 200.0, "strtod": 300.0, "multiply": 20.0}, calls)
    head = call_graph({"main": 100.0, "command": 200.0, "strtod": 200.0, "multiply": 10.0}, calls)
    findings = explained(base, head, base_functions=["main", "command"], head_functions=["main", "command"])
    assert culprits(findings) == ["strtod"]
    assert findings[0].text == (
        f"`strtod` ({FILE}) takes fewer instructions a call (360 -> 230 instructions a call), called 10 times per "
        "request: the same code, with other arguments or data: -1,300 instructions, 100 % of the change."
    )
    assert [part.function for part in findings[0].parts] == ["strtod", "multiply"]


def test_what_a_changed_function_has_others_do_is_its_own_story() -> None:
    """`command` was changed and hands `helper`, which was changed with it, less to do: the root is `command`."""
    costs = {"main": 100.0, "command": 200.0, "helper": 300.0, "reply": 50.0, "format": 80.0}
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0, ("helper", "reply"): 4.0, ("command", "format"): 4.0}
    fewer = calls | {("helper", "reply"): 1.0, ("command", "format"): 1.0}
    lines = [hunk_at(LINES["command"] + 1, "- helper(4);\n+ helper(1);"), hunk_at(LINES["helper"] + 1, "- a\n+ b")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    findings = explained(call_graph(costs, calls), call_graph(costs, fewer), changes)
    assert culprits(findings) == ["command"]
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) calls `format` less often (4 -> 1 per request); "
        f"`helper` ({FILE}, changed here) calls `reply` less often (4 -> 1 per request): "
        "-390 instructions, 100 % of the change."
    )


def test_a_root_of_small_parts_is_stated_by_its_largest() -> None:
    """None of them is worth a line of its own, all of them together are."""
    costs = {"main": 100.0, "command": 200.0, "helper": 300.0, "reply": 10.5, "format": 10.0, "lookup": 9.5}
    calls = {("main", "command"): 1.0, ("main", "helper"): 1.0}
    calls |= {("command", name): 1.0 for name in ("reply", "format", "lookup")}
    more = calls | {("command", name): 2.5 for name in ("reply", "format", "lookup")}
    findings = explained(
        call_graph(costs, calls), call_graph({**costs, "helper": 1055.0}, more), changed_in("command", "+ loop();")
    )
    assert culprits(findings) == ["helper", "command"]
    assert findings[1].parts == []
    assert findings[1].text.startswith(
        f"`command` ({FILE}, changed here) calls `reply` more often (1 -> 2.5 per request)"
    )
    assert findings[1].share_of_change == pytest.approx(45 / 800)


def test_a_reason_that_is_nearly_all_of_its_root_names_the_rest_beside_it() -> None:
    """The call made twice is most of it; what the caller itself does more goes with it."""
    twice = {**CALLS, ("command", "format"): 2.0}
    findings = explained(
        call_graph(COSTS, CALLS), call_graph({**COSTS, "command": 260.0}, twice), changed_in("command", "+ format(x);")
    )
    assert culprits(findings) == ["format"]
    assert findings[0].text == (
        f"`command` ({FILE}, changed here) calls `format` more often (1 -> 2 per request), with what goes with it: "
        "+360 instructions, 100 % of the change."
    )
    assert [part.instructions_changed_per_op for part in findings[0].parts] == pytest.approx([300.0, 60.0])


def test_the_root_is_the_deepest_changed_function_that_explains_nearly_all() -> None:
    """Where the called function does nearly all of it, the caller that was changed with it is none."""
    costs = {"main": 100.0, "command": 200.0, "helper": 300.0, "reply": 50.0}
    calls = {("main", "command"): 1.0, ("command", "helper"): 1.0, ("helper", "reply"): 4.0}
    lines = [hunk_at(LINES["command"] + 1, "- helper(4);\n+ helper(1);"), hunk_at(LINES["helper"] + 1, "- a\n+ b")]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=lines)])
    head = call_graph({**costs, "command": 195.0}, calls | {("helper", "reply"): 1.0})
    findings = explained(call_graph(costs, calls), head, changes)
    assert culprits(findings)[0] == "reply"
    assert findings[0].text.startswith(f"`helper` ({FILE}, changed here) calls `reply` less often (4 -> 1 per request)")


@pytest.mark.parametrize(("most_functions", "most_calls"), [(len(COSTS) - 1, 100), (100, len(CALLS) - 1)])
def test_what_executes_too_many_functions_is_not_explained(
    most_functions: int, most_calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, head = (call_graph(COSTS | {"format": own}, CALLS) for own in (300.0, 400.0))
    assert culprits(explained(base, head)) == ["format"]
    monkeypatch.setattr(explanation_limits, "MOST_FUNCTIONS", most_functions)
    monkeypatch.setattr(explanation_limits, "MOST_CALLS", most_calls)
    (finding,) = explained(base, head)
    assert (finding.kind, finding.text) == (
        "limits",
        "Too many functions are executed for the change to be attributed to them.",
    )
