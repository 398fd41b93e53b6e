"""Histories that are kept for pages: what replaces what, and what the queries of pages answer of them."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_server import served_lab
from postgresql_server import PostgresqlServer
from published_history import (
    ACCEPTED_SET,
    ARM,
    CPU_TIME,
    FASTER_GET,
    INSTRUCTIONS,
    REPOSITORY,
    SLOWER_ZADD,
    SLOWLY_SLOWER_HGET,
    MadeUp,
    Step,
    commit_id,
    keep,
    keep_two_platforms,
)
from stored_comparison import COMPARISON, ID, recorded_comparison
from waiting import PATIENCE_SECONDS

from zerolap.cases import load_cases
from zerolap.history import TableQuestion, open_changes, version_table
from zerolap.records import BoundedChange, Build, PlatformEvent, Revision, RevisionSource, TableChange
from zerolap.server import case_weights
from zerolap.sheets.history_sheet import change_text
from zerolap.store import AcceptedChange, Retention, SeriesFilter, Store

MANY = 100
DAY = 86_400.0


def answered(store: Store, query: str, **parameters: Any) -> Any:
    """Return what a page gets."""
    with served_lab(store) as url, httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as client:
        answer = client.get(f"{url}/api/v1/pages/{query}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json() if "json" in answer.headers["content-type"] else list(csv.DictReader(io.StringIO(answer.text)))


def refused(store: Store, query: str, **parameters: Any) -> int:
    """Return the status of the answer to a page that asks for what there is not."""
    return refusal(store, query, **parameters)[0]


def refusal(store: Store, query: str, **parameters: Any) -> tuple[int, str]:
    """Return the status of the answer to a page that asks for what there is not, and what it states."""
    with served_lab(store) as url, httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as client:
        answer = client.get(f"{url}/api/v1/pages/{query}", params=parameters)
    return answer.status_code, str(answer.json().get("detail"))


def kept_cases(store: Store) -> dict[str, int]:
    """Return how many series each case has."""
    names = store.published_histories.names(MANY)
    return {name.case: sum(other.case == name.case for other in names) for name in names}


class TestKeeping:
    def test_a_newer_judgement_replaces_an_older_one(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        assert store.published_histories.open_count() == 2
        keep(store, MadeUp(created="2026-11-21T21:00:00Z"))
        [history] = store.published_histories.histories(MANY)
        assert history.created == "2026-11-21T21:00:00Z"
        assert store.published_histories.open_count() == 0
        assert len(store.published_histories.names(MANY)) == 12

    def test_others_of_another_range_or_platform_stay(self, store: Store) -> None:
        keep(store, MadeUp())
        keep(store, MadeUp(range="v2.0..HEAD"))
        keep(store, MadeUp(platform=ARM))
        assert len(store.published_histories.histories(MANY)) == 3

    def test_series_of_other_cases_stay(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD, FASTER_GET)))
        keep(store, MadeUp(cases={"string": ("GET",)}, metrics=(INSTRUCTIONS,)))
        # Those of the judged case are the new ones: its time is not judged now.
        assert kept_cases(store) == dict.fromkeys(kept_cases(store), 2) | {"get-100B": 1}
        assert {change.id.split(":")[1] for change in store.published_histories.open_changes(MANY)} == {"zadd-100B"}
        [commit] = store.published_histories.commits_at({(1, 20)}).values()
        assert commit.measured == 11

    def test_series_that_stay_move_with_their_commits(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,), metrics=(INSTRUCTIONS,)))
        whole = MadeUp(cases={"string": ("GET",)}, metrics=(INSTRUCTIONS,)).document
        # The range begins ten commits later now, as `HEAD~30..HEAD` does.
        points = tuple(
            point.model_copy(update={"position": point.position - 10})
            for point in whole.series[0].points
            if point.position >= 10
        )
        series = whole.series[0].model_copy(update={"points": points, "ledger": None})
        later = whole.model_copy(update={"commits": whole.commits[10:], "series": (series,)})
        store.published_histories.keep(later, open_changes(later), {"get-100B": ("GET",)})
        [change] = store.published_histories.open_changes(MANY)
        assert (change.position, change.commit) == (10, commit_id(20))
        [zadd] = store.published_histories.series(SeriesFilter(cases=("zadd-100B",)), MANY)
        points_of_zadd = store.published_histories.points([zadd.number])[zadd.number]
        assert points_of_zadd.positions[0] == 0
        before, step = (points_of_zadd.levels[points_of_zadd.positions.index(at)] for at in (9, 10))
        assert math.expm1(step - before) == pytest.approx(0.042, abs=1e-6)

    def test_an_accepted_change_is_not_open(self, store: Store) -> None:
        keep(store, MadeUp((ACCEPTED_SET,)))
        assert store.published_histories.open_changes(MANY) == []
        [series] = store.published_histories.series(SeriesFilter(cases=("set-100B",), metrics=(INSTRUCTIONS,)), MANY)
        [change] = store.published_histories.changes_of([series.number], MANY)
        assert (change.accepted, change.is_worse, change.is_open) == ("needed for safety", True, False)

    def test_a_step_that_other_counts_oppose_is_no_gain_later_either(self, store: Store) -> None:
        """Also where a history of other cases keeps it at its commit."""
        document = MadeUp((Step("get-100B", 20, -0.1),)).document
        opposed = [
            series.model_copy(
                update={"changes": tuple(change.model_copy(update={"is_opposed": True}) for change in series.changes)}
            )
            for series in document.series
        ]
        whole = document.model_copy(update={"series": tuple(opposed)})
        store.published_histories.keep(whole, open_changes(whole), {"get-100B": ("GET",)})
        others = whole.model_copy(update={"series": tuple(of for of in opposed if of.case != "get-100B")})
        store.published_histories.keep(others, open_changes(others), {"set-100B": ("SET",)})
        [series] = store.published_histories.series(SeriesFilter(cases=("get-100B",), metrics=(INSTRUCTIONS,)), MANY)
        [change] = store.published_histories.changes_of([series.number], MANY)
        assert (change.is_worse, change.is_opposed) == (False, True)

    def test_a_change_that_is_accepted_later_is_open_no_more(self, store: Store) -> None:
        keep_two_platforms(store)
        change = AcceptedChange("/srv/redis", commit_id(20), "it was needed", "zadd-100B", INSTRUCTIONS)
        store.history.accept(change)
        still_open = {(of.commit, of.id) for of in store.published_histories.open_changes(MANY)}
        assert (commit_id(20), f"{commit_id(20)[:12]}:zadd-100B:{INSTRUCTIONS}") not in still_open
        assert (commit_id(20), f"{commit_id(20)[:12]}:zadd-100B:{CPU_TIME}") in still_open
        assert store.history.withdraw(change)
        assert store.published_histories.open_count() == 6

    def test_a_removed_history_leaves_nothing(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,), created="2020-01-01T00:00:00Z"))
        assert store.prune(Retention(seconds=DAY)).histories == 1
        assert store.published_histories.names(MANY) == []
        assert store.published_histories.open_count() == 0
        assert store.published_histories.commits_named(commit_id(20), MANY) == []


class TestSeries:
    def test_a_series_goes_out_with_its_changes_and_releases(self, store: Store) -> None:
        keep_two_platforms(store)
        chart = answered(store, "series", case="zadd-100B")
        assert [history["platform_name"] for history in chart["histories"]] == ["arm", "x86"]
        assert [line["metric"] for line in chart["lines"]] == [INSTRUCTIONS] * 2
        [line, _] = chart["lines"]
        assert len(line["commits"]) == 37
        assert line["changes"] == line["lows"] == line["highs"]
        assert line["least"] == line["most"] == line["counts"] == []
        at = [chart["commits"][index]["index"] for index in line["commits"]]
        assert line["changes"][at.index(20)] - line["changes"][at.index(19)] == pytest.approx(0.042, abs=0.001)
        assert [commit["name"] for commit in chart["commits"] if commit["is_release"]] == [
            "v1.0",
            "v2.0",
            "v3.0",
            "v4.0",
        ]
        assert {change["commit"]["commit"] for change in chart["change_points"]} == {commit_id(20)}
        assert chart["change_points"][0]["reasons"] == [*SLOWER_ZADD.reasons]

    def test_the_legend_names_lines_by_what_they_do_not_share(self, store: Store) -> None:
        keep_two_platforms(store)
        metrics = [INSTRUCTIONS, CPU_TIME]

        def names(**parameters: Any) -> list[str]:
            return [row[0]["text"] for row in answered(store, "series", **parameters)["legend"]["rows"]]

        assert sorted(names(case="zadd-100B")) == ["zadd-100B, arm", "zadd-100B, x86"]
        assert sorted(names(case=["get-100B", "zadd-100B"], platform="arm")) == ["get-100B", "zadd-100B"]
        of_metrics = ["zadd-100B, CPU ns/request", "zadd-100B, instructions/request"]
        assert sorted(names(case="zadd-100B", platform="arm", metric=metrics)) == of_metrics

    def test_the_legend_states_what_a_line_has_come_to(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        chart = answered(store, "series", case="zadd-100B")
        [line], [cells] = chart["lines"], chart["legend"]["rows"]
        by_column = dict(zip((column["key"] for column in chart["legend"]["columns"]), cells, strict=True))
        assert by_column["change"]["text"] == change_text(line["changes"][-1])
        assert by_column["sum"] == by_column["change"] | {"detail": "since v1.0"}
        [kept] = store.published_histories.series(SeriesFilter((1,), ("zadd-100B",), (INSTRUCTIONS,)), 9)
        assert kept.ledger is not None
        assert by_column["small"]["text"] == change_text(kept.ledger.small_changes)
        assert "places" not in by_column

    def test_changes_begin_at_a_chosen_commit(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        chart = answered(store, "series", case="zadd-100B", metric=CPU_TIME, since=commit_id(20)[:12])
        [line] = chart["lines"]
        assert line["base_index"] == 20
        at = {chart["commits"][index]["index"]: point for point, index in enumerate(line["commits"])}
        assert line["changes"][at[20]] == line["lows"][at[20]] == line["highs"][at[20]] == 0.0
        assert line["changes"][at[19]] == pytest.approx(-0.0403, abs=0.001)
        assert line["highs"][at[19]] - line["lows"][at[19]] == pytest.approx(2 * 0.006 * 2**0.5 * 0.96, abs=0.001)

    def test_many_points_go_out_as_few_with_their_extremes(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,), commits=400))
        [line] = answered(store, "series", case="zadd-100B", pixels=20)["lines"]
        assert len(line["commits"]) == 20
        assert sum(line["counts"]) == line["point_count"] == 397
        for change, least, most in zip(line["changes"], line["least"], line["most"], strict=True):
            assert least <= change <= most
        # The step lies within a point that stands for many commits.
        assert max(most - least for least, most in zip(line["least"], line["most"], strict=True)) > 0.03

    def test_a_stretch_is_shown_alone(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD, FASTER_GET)))
        chart = answered(store, "series", case=["zadd-100B", "get-100B"], first=commit_id(18), last=commit_id(22))
        assert [commit["index"] for commit in chart["commits"]] == [18, 19, 20, 21, 22]
        assert [change["case"] for change in chart["change_points"]] == ["zadd-100B"]
        assert chart["total"] == 40

    def test_the_newest_range_is_shown_unless_a_history_is_named(self, store: Store) -> None:
        keep(store, MadeUp())
        keep(store, MadeUp(range="v3.0..HEAD", created="2026-11-21T21:00:00Z"))
        chart = answered(store, "series", case="get-100B")
        assert [history["range"] for history in chart["histories"]] == ["v3.0..HEAD"]
        named = answered(store, "series", case="get-100B", history=1)
        assert [history["range"] for history in named["histories"]] == ["v1.0..HEAD"]

    def test_more_lines_than_can_be_told_apart_are_left_out(self, store: Store) -> None:
        keep(store, MadeUp(cases={"many": [f"C{number}" for number in range(40)]}))
        chart = answered(store, "series", group="many")
        assert (len(chart["lines"]), chart["left_out"]) == (24, 16)

    def test_nothing_is_shown_where_nothing_is_asked_for(self, store: Store) -> None:
        keep(store, MadeUp())
        assert answered(store, "series")["lines"] == []
        assert answered(store, "series", case="unknown")["lines"] == []

    @pytest.mark.parametrize("name", ["since", "first", "last"])
    def test_a_commit_that_no_history_has_is_not_found(self, name: str, store: Store) -> None:
        keep(store, MadeUp())
        for query in ("series", "series.csv", "series-changes"):
            status, detail = refusal(store, query, case="get-100B", **{name: "ffff"})
            assert (status, detail) == (404, "no history of these series has the commit ffff")

    def test_what_several_commits_begin_with_is_refused(self, store: Store) -> None:
        whole = MadeUp().document
        alike = whole.commits[6].model_copy(update={"commit": f"{commit_id(5)[:8]}{'b' * 32}"})
        history = whole.model_copy(update={"commits": (*whole.commits[:6], alike, *whole.commits[7:])})
        store.published_histories.keep(history, open_changes(history), {})
        named = commit_id(5)[:8]
        status, detail = refusal(store, "series", case="get-100B", since=named)
        assert (status, detail) == (404, f"2 commits of these series begin with {named}")
        assert refusal(store, "commit", commit=named) == (404, f"several commits begin with {named}")
        assert answered(store, "series", case="get-100B", since=alike.commit[:9])["lines"][0]["base_index"] == 6

    def test_a_history_that_is_not_kept_is_not_found(self, store: Store) -> None:
        keep(store, MadeUp())
        assert refusal(store, "series", case="get-100B", history=[1, 99]) == (404, "no history has the number 99")

    def test_a_step_of_the_platform_is_told_beside_times_only(self, store: Store) -> None:
        event = PlatformEvent(before="2026-01-02T00:00:00Z", since="2026-01-03T00:00:00Z", change=0.02, series=6)
        keep(store, MadeUp(platform_events=(event,)))
        [step] = answered(store, "series", case="get-100B", metric=[INSTRUCTIONS, CPU_TIME])["platform_steps"]
        assert (step["before"], step["change"]) == (event.before, 0.02)
        assert answered(store, "series", case="get-100B", metric=INSTRUCTIONS)["platform_steps"] == []

    def test_the_table_has_a_line_for_each_point(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        rows = answered(store, "series.csv", case="zadd-100B")
        assert len(rows) == 37
        assert rows[0]["release"] == "v1.0"
        assert float(rows[0]["value"]) == 4000.0
        [change] = answered(store, "series-changes.csv", case="zadd-100B")
        assert (change["commit"], change["change"], change["open"]) == (commit_id(20), "0.042", "True")

    def test_the_list_has_all_cases_with_their_metrics(self, store: Store) -> None:
        keep_two_platforms(store)
        listed = answered(store, "series-list")
        assert [case["case"] for case in listed["cases"]] == sorted(kept_cases(store))
        assert listed["cases"][0]["commands"] == ["GET"]
        assert {*listed["metrics"]} == {INSTRUCTIONS, CPU_TIME}
        assert len(listed["histories"]) == 2


def on_page(versions: Any, name: str, column: int) -> BoundedChange | None:
    """Return a cell of the page of versions."""
    row = next(row for row in (*versions["rows"], versions["total"]) if row["name"] == name)
    change, low, high = (row[bound][column] for bound in ("changes", "lows", "highs"))
    return None if change is None else BoundedChange(change=change, low=low, high=high)


def assert_same_figures(on_page: BoundedChange | None, of_terminal: TableChange | None) -> None:
    """Assert that a change is written alike, is a change alike, and has the same bounds."""
    if on_page is None or of_terminal is None:
        assert on_page is of_terminal
        return
    whole = of_terminal.whole
    assert change_text(on_page.change) == change_text(whole.change)
    assert on_page.is_certain == whole.is_certain
    assert (on_page.low, on_page.high) == pytest.approx((whole.low, whole.high), abs=2e-6)


class TestVersions:
    def test_commands_are_compared_with_a_release(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        table = answered(store, "versions")
        assert [version["name"] for version in table["versions"]][:4] == ["v1.0", "v2.0", "v3.0", "v4.0"]
        rows = {row["name"]: row for row in table["rows"]}
        assert rows["ZADD"]["changes"][2] == pytest.approx(0.042, abs=0.003)
        assert rows["ZADD"]["changes"][0] == 0.0
        assert table["total"]["changes"][3] == pytest.approx(0.007, abs=0.002)
        since = answered(store, "versions", since="v3.0")
        assert since["since"] == 2
        zadd = next(row for row in since["rows"] if row["name"] == "ZADD")
        assert zadd["changes"][1] == pytest.approx(-0.04, abs=0.003)

    def test_a_release_candidate_at_the_end_is_named_by_its_tag(self, store: Store) -> None:
        keep(store, MadeUp(pre_releases={25: "v3.1-rc1", 37: "v5.0-rc1"}))
        names = [version["name"] for version in answered(store, "versions")["versions"]]
        assert names == ["v1.0", "v2.0", "v3.0", "v4.0", "v5.0-rc1"]
        assert answered(store, "versions", since="v5.0-rc1")["since"] == 4

    def test_versions_are_compared_with_the_one_before(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD,)))
        table = answered(store, "versions", against="before", rows="case", metric=CPU_TIME)
        zadd = next(row for row in table["rows"] if row["name"] == "zadd-100B")
        assert zadd["changes"][0] is None
        assert zadd["changes"][2] == pytest.approx(0.042, abs=0.003)
        assert zadd["lows"][2] < zadd["changes"][2] < zadd["highs"][2]

    @pytest.mark.parametrize("metric", [INSTRUCTIONS, CPU_TIME])
    def test_the_figures_are_those_of_the_terminal(self, store: Store, tmp_path: Path, metric: str) -> None:
        made_up = MadeUp((SLOWER_ZADD, FASTER_GET))
        keep(store, made_up)
        cases = [
            {"name": f"{name.lower()}-100B", "commands": [f"{name} __key__"]}
            for names in made_up.cases.values()
            for name in names
        ]
        (tmp_path / "cases.yml").write_text(json.dumps({"group": "some", "cases": cases}))
        suite = load_cases(tmp_path / "cases.yml")
        table = version_table(made_up.document, suite, TableQuestion(metric, case_weights("equal", suite)))
        steps = answered(store, "versions", against="before", rows="case", metric=metric)
        assert [version["name"] for version in steps["versions"]] == [version.name for version in table.versions]
        whole = [answered(store, "versions", rows="case", metric=metric, since=at.name) for at in table.versions]
        for name, cells in [*((row.case, row.cells) for row in table.rows), ("all", table.totals)]:
            for index, cell in enumerate(cells):
                assert_same_figures(on_page(steps, name, index), cell.step)
                assert_same_figures(on_page(whole[index], name, -1), cell.since)

    def test_what_counting_itself_makes_is_no_change(self, store: Store) -> None:
        small, large = (Step("zadd-100B", 20, change) for change in (0.00015, 0.00025))
        for step, is_flat in ((small, True), (large, False)):
            keep(store, MadeUp((step,), same=frozenset(range(1, 40)) - {20}))
            table = answered(store, "versions", rows="case")
            zadd = next(row for row in table["rows"] if row["name"] == "zadd-100B")
            assert (zadd["changes"][2] == 0.0) == is_flat
            assert zadd["highs"][2] > 0.0

    def test_accepted_changes_of_the_metric_are_listed(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD, ACCEPTED_SET)))
        [accepted] = answered(store, "versions", metric=CPU_TIME)["accepted"]
        assert (accepted["case"], accepted["metric"]) == ("set-100B", CPU_TIME)
        assert accepted["accepted"] == ACCEPTED_SET.accepted

    def test_a_version_that_is_not_measured_is_not_found(self, store: Store) -> None:
        keep(store, MadeUp())
        status, detail = refusal(store, "versions", since="v9.0")
        assert (status, detail) == (404, "v9.0 is none of the measured versions of this history")

    def test_a_metric_that_no_case_has_has_no_rows(self, store: Store) -> None:
        keep(store, MadeUp())
        table = answered(store, "versions", metric="unknown")
        assert (table["metric"], table["rows"], table["total"]) == ("unknown", [], None)

    def test_a_history_without_releases_has_no_table(self, store: Store) -> None:
        keep(store, MadeUp(releases_every=100))
        table = answered(store, "versions")
        assert (table["history"], table["rows"]) == (None, [])
        assert refused(store, "versions", history=99) == 404


class TestCommits:
    def test_a_commit_says_what_it_did_to_each_group(self, store: Store) -> None:
        keep_two_platforms(store)
        commit = answered(store, "commit", commit=commit_id(30)[:12])
        arm, x86 = commit["histories"]
        assert [step["case"] for step in arm["steps"]] == ["hset-100B"] * 2
        assert x86["steps"] == []
        group = next(group for group in arm["groups"] if (group["group"], group["metric"]) == ("hash", INSTRUCTIONS))
        assert (group["cases"], group["identical"], group["most_case"]) == (2, 0, "hset-100B")
        assert group["most"] == pytest.approx(0.08, abs=1e-6)
        assert group["change"] == pytest.approx(0.04, abs=0.002)

    @pytest.mark.parametrize(("position", "is_in"), [(11, False), (12, True), (20, True), (28, True), (29, False)])
    def test_a_commit_has_the_drifts_around_it(self, position: int, is_in: bool, either_store: Store) -> None:
        keep(either_store, MadeUp((SLOWER_ZADD,), drifts=(SLOWLY_SLOWER_HGET,), metrics=(INSTRUCTIONS,)))
        [history] = answered(either_store, "commit", commit=commit_id(position))["histories"]
        assert [drift["case"] for drift in history["drifts"]] == ["hget-100B"] * is_in
        for drift in history["drifts"]:
            assert (drift["after"]["commit"], drift["commit"]["commit"]) == (commit_id(12), commit_id(28))
            assert (drift["change"], drift["commit_count"]) == (0.024, 16)

    def test_a_commit_has_the_comparisons_of_which_it_is_the_head(self, either_store: Store) -> None:
        keep(either_store, MadeUp())
        recorded_comparison(either_store)
        revision = Revision(
            repository="origin", commit=commit_id(30), parents=(), time="2026-01-30T00:00:00Z", subject="Change"
        )
        source = RevisionSource(name="HEAD", repository=Path(REPOSITORY), revision=revision)
        build = Build(build=COMPARISON.head.build, version="7.2.4", build_id="", flags="-O2")
        either_store.record_build(build, source)
        [comparison] = answered(either_store, "commit", commit=commit_id(30))["comparisons"]
        assert (comparison["id"], comparison["path"]) == (ID, "comparisons")
        assert answered(either_store, "commit", commit=commit_id(29))["comparisons"] == []

    def test_a_commit_of_the_same_program_says_so(self, store: Store) -> None:
        keep(store, MadeUp())
        [history] = answered(store, "commit", commit=commit_id(3))["histories"]
        assert history["is_same_program"]
        assert all(group["identical"] == group["cases"] for group in history["groups"])

    def test_a_commit_that_failed_says_why(self, store: Store) -> None:
        keep(store, MadeUp())
        [history] = answered(store, "commit", commit=commit_id(7))["histories"]
        assert history["failure"].startswith("make failed")
        assert (history["measured"], history["groups"]) == (0, [])

    def test_an_unknown_commit_is_not_found(self, store: Store) -> None:
        keep(store, MadeUp())
        assert refused(store, "commit", commit="ffff") == 404
        assert refused(store, "commit", commit="main") == 422


class TestOverview:
    def test_the_strip_has_the_worst_step_of_each_commit(self, store: Store) -> None:
        keep(store, MadeUp((SLOWER_ZADD, FASTER_GET, Step("get-100B", 20, -0.3))))
        [strip] = answered(store, "overview")["strips"]
        states = {commit["commit"]: commit["state"] for commit in strip["commits"]}
        assert states[commit_id(20)] == "worse"
        assert states[commit_id(26)] == "better"
        assert states[commit_id(3)] == "identical"
        assert states[commit_id(7)] == "failed"
        assert states[commit_id(8)] == "unchanged"
        assert states[commit_id(39)] == "not measured"
        worst = next(commit for commit in strip["commits"] if commit["commit"] == commit_id(20))
        assert (worst["case"], worst["change"], worst["steps"]) == ("zadd-100B", 0.042, 4)

    def test_a_long_history_shows_its_newest_commits(self, store: Store) -> None:
        keep(store, MadeUp(commits=200))
        [strip] = answered(store, "overview")["strips"]
        assert (len(strip["commits"]), strip["earlier"]) == (60, 140)

    def test_open_changes_are_listed_the_largest_first(self, store: Store) -> None:
        keep_two_platforms(store)
        overview = answered(store, "overview")
        assert not overview["is_empty"]
        assert [change["case"] for change in overview["open_changes"]] == ["hset-100B"] * 2 + ["zadd-100B"] * 4
        assert overview["open_count"] == 6


def test_histories_are_kept_in_postgresql_too(postgresql: PostgresqlServer, tmp_path: Path) -> None:
    with Store.open(f"{postgresql.url(postgresql.new_store())}&blobs={tmp_path / 'blobs'}") as store:
        keep_two_platforms(store)
        keep(store, MadeUp((SLOWER_ZADD,), cases={"sorted-set": ("ZADD",)}))
        assert len(store.published_histories.histories(MANY)) == 2
        assert len(answered(store, "series", group="sorted-set")["lines"]) == 4
        assert answered(store, "versions")["history"] is not None
        assert answered(store, "commit", commit=commit_id(20)[:8])["histories"]
        assert answered(store, "overview")["strips"]


def test_places_of_strings_are_no_change_of_a_group(store: Store) -> None:
    """Neither where a history is kept, nor where its series are moved to the range of a later one."""
    made_up = MadeUp(steps=[Step("get-100B", 20, 0.004), Step("set-100B", 20, 0.003)], releases_every=99)
    document = made_up.document
    series = [
        one.model_copy(
            update={
                "points": tuple(
                    point.model_copy(update={"by_string_places": point.position == 20 and one.case == "get-100B"})
                    for point in one.points
                )
            }
        )
        for one in document.series
    ]
    placed = document.model_copy(update={"series": tuple(series)})
    others = document.model_copy(update={"series": tuple(one for one in series if one.case != "get-100B")})
    for kept in (placed, others):
        store.published_histories.keep(kept, open_changes(kept), {})
        newest = max(history.number for history in store.published_histories.histories(9))
        groups = store.published_histories.group_changes(newest, 20)
        [of_strings] = [group for group in groups if (group.group, group.metric) == ("string", INSTRUCTIONS)]
        assert of_strings.cases == 2
        assert (of_strings.least, of_strings.most) == (0.0, pytest.approx(0.003, abs=1e-6))
