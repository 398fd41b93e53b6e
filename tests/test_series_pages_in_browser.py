"""Pages of series, versions and commits in a browser: what they show, how they are used, and who can use them."""

import re

import pytest
from browser_pages import PHONE, opened, violations
from http_server import served_lab
from playwright.sync_api import Browser, expect
from published_history import (
    ACCEPTED_SET,
    ARM,
    FASTER_GET,
    HOSTILE,
    INSTRUCTIONS,
    SLOWER_ZADD,
    SLOWLY_SLOWER_HGET,
    MadeUp,
    Step,
    commit_id,
    keep,
    keep_two_platforms,
)
from waiting import PATIENCE_SECONDS

from zerolap.store import Store


def test_since_when_is_zadd_slower_on_arm(browser: Browser, store: Store) -> None:
    keep_two_platforms(store)
    with served_lab(store) as url, opened(browser, url) as shown:
        row = shown.get_by_role("row").filter(has_text="zadd-100B").filter(has_text="instructions/request, arm")
        expect(row).to_contain_text("+4.2 %")
        expect(row).to_contain_text("2026-01-21")
        row.get_by_role("link", name="zadd-100B").click()
        expect(shown.get_by_role("img", name=re.compile("1 change point"))).to_be_visible()
        expect(shown.get_by_role("table").last).to_contain_text(SLOWER_ZADD.reasons[0])


def test_what_did_this_commit_do_to_hashes(browser: Browser, store: Store) -> None:
    keep_two_platforms(store)
    with served_lab(store) as url, opened(browser, url) as shown:
        strip = shown.get_by_role("list", name=re.compile("newest 40 commits")).first
        strip.get_by_role("link", name=re.compile(r"worse: \+8\.0 %.*hset-100B")).click()
        expect(shown.get_by_role("heading", level=1)).to_contain_text(commit_id(30)[:12])
        group = shown.get_by_role("row").filter(has_text="hash").filter(has_text="instructions/request").first
        expect(group).to_contain_text("+8.0 % hset-100B")
        group.get_by_role("link", name="hash", exact=True).click()
        expect(shown.get_by_role("checkbox", name=re.compile("^hset-100B"))).to_be_checked()


def test_a_drift_is_a_range_and_blames_no_commit(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,), drifts=(SLOWLY_SLOWER_HGET,), metrics=(INSTRUCTIONS,)))
    with served_lab(store) as url, opened(browser, url) as shown:
        row = shown.get_by_role("row").filter(has_text="hget-100B")
        expect(row).to_contain_text(f"16 commits, none of which is the reason by itself, from {commit_id(12)[:12]}")
        expect(row).not_to_contain_text("Change something in the server (#28)")
        row.get_by_role("link", name=commit_id(28)[:12]).click()
        drift = shown.get_by_role("list", name="Drifts").get_by_role("listitem")
        expect(drift).to_contain_text("This commit is the last of the drift of hget-100B, +2.4 %")
        drift.get_by_role("link", name="hget-100B").click()
        expect(shown).to_have_url(re.compile(f"first={commit_id(12)}&last={commit_id(28)}"))


def test_an_open_change_has_the_command_that_accepts_it(browser: Browser, store: Store) -> None:
    keep_two_platforms(store)
    with served_lab(store) as url, opened(browser, url) as shown:
        row = shown.get_by_role("row").filter(has_text="zadd-100B").first
        row.get_by_text("accept it").click()
        expect(row.locator("details code")).to_have_text(
            f"zerolap history ack {commit_id(20)[:12]}:zadd-100B --reason '…'"
        )


def test_accepted_changes_have_their_reason(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD, ACCEPTED_SET), metrics=(INSTRUCTIONS,)))
    with served_lab(store) as url:
        for page in (f"/commits/{commit_id(15)}", "/series?case=set-100B"):
            with opened(browser, f"{url}{page}") as shown:
                expect(shown.get_by_text("accepted: needed for safety")).to_be_visible()
        with opened(browser, f"{url}/versions") as shown:
            shown.get_by_text("The cells contain 1 accepted change").click()
            expect(shown.get_by_text("accepted: needed for safety")).to_be_visible()


def test_commits_are_chosen_by_their_subjects(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,)))
    with served_lab(store) as url, opened(browser, f"{url}/series?case=zadd-100B") as shown:
        option = shown.get_by_label("from", exact=True).locator("option").nth(1)
        expect(option).to_have_text(f"{commit_id(1)[:12]}, 2026-01-02, Change something in the server (#1)")


def test_a_cell_of_versions_leads_to_the_changes_behind_it(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD, FASTER_GET)))
    with served_lab(store) as url, opened(browser, f"{url}/versions") as shown:
        row = shown.get_by_role("row").filter(has=shown.get_by_role("rowheader", name="ZADD"))
        cell = row.get_by_role("cell").nth(2)
        expect(cell).to_have_attribute("title", re.compile(r"\+4\.\d % .*in ZADD from v1\.0 to v3\.0"))
        cell.get_by_role("link").click()
        expect(shown.get_by_role("table").last).to_contain_text("zadd-100B")
        assert f"last={commit_id(20)}" in shown.url
        # The first commit that is shown, and the last one.
        expect(shown.get_by_label("to", exact=True)).to_have_value(commit_id(20))


def test_versions_are_filtered_and_compared_with_the_one_before(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD, FASTER_GET)))
    with served_lab(store) as url, opened(browser, f"{url}/versions") as shown:
        shown.get_by_label("compare").select_option("before")
        expect(shown.get_by_role("row").filter(has_text="ZADD").get_by_role("cell").nth(3)).not_to_have_text("+4.2 %")
        shown.get_by_role("main").get_by_role("searchbox").fill("hash")
        expect(shown.get_by_role("rowheader")).to_have_text(["all, mean", "HGET", "HSET"])


def test_what_is_named_and_is_not_there_is_stated(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,)))
    # A browser writes refusals to the console, which `opened` takes for faults.
    with served_lab(store) as url, browser.new_context() as context:
        shown = context.new_page()
        shown.set_default_timeout(1000 * PATIENCE_SECONDS)
        shown.goto(f"{url}/series?case=zadd-100B&since=ffff&axis=dates")
        expect(shown.get_by_role("alert")).to_contain_text("no history of these series has the commit ffff")
        shown.get_by_role("link", name="The same series in the newest histories").click()
        expect(shown).to_have_url(re.compile(r"/series\?case=zadd-100B&axis=dates$"))
        expect(shown.get_by_role("heading", name="Changes")).to_be_visible()
        shown.goto(f"{url}/versions?since=v9.0&rows=case")
        expect(shown.get_by_role("alert")).to_contain_text("v9.0 is none of the measured versions")
        shown.get_by_role("link", name="The newest history since its first version").click()
        expect(shown.get_by_role("rowheader")).to_contain_text(["all, mean", "zadd-100B"])
        shown.goto(f"{url}/versions?metric=unknown")
        expect(shown.get_by_text("No case of this history has the metric unknown")).to_be_visible()
        expect(shown.get_by_label("metric")).to_have_value("unknown")


def test_a_chart_is_read_and_zoomed_by_the_keyboard(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,)))
    with served_lab(store) as url, opened(browser, f"{url}/series?case=zadd-100B&metric={INSTRUCTIONS}") as shown:
        chart = shown.get_by_role("img", name=re.compile("zadd-100B"))
        chart.press("End")
        chart.press("ArrowLeft")
        readout = shown.locator(".series-readout")
        expect(readout).to_contain_text("(#36)")
        expect(readout).to_contain_text(re.compile(r"\+4\.\d %.*instructions"))
        shown.get_by_label("from", exact=True).select_option(commit_id(18))
        expect(shown).to_have_url(re.compile(f"first={commit_id(18)}"))
        expect(shown.get_by_label("from", exact=True)).to_have_value(commit_id(18))
        shown.get_by_role("button", name="all 40 commits").click()
        expect(shown.get_by_label("from", exact=True)).to_have_value(commit_id(0))


def test_a_stretch_is_chosen_by_the_mouse(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,)))
    with served_lab(store) as url, opened(browser, f"{url}/series?case=zadd-100B") as shown:
        over = shown.locator(".u-over")
        expect(over).to_be_visible()
        box = over.bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        shown.mouse.move(box["x"] + box["width"] * 0.25, middle)
        shown.mouse.down()
        shown.mouse.move(box["x"] + box["width"] * 0.75, middle, steps=5)
        shown.mouse.up()
        expect(shown).to_have_url(re.compile("first=000[9a-c]a+&last=001[a-e]a+"))
        shown.get_by_role("button", name="by date").click()
        expect(shown).to_have_url(re.compile("axis=dates"))
        expect(over).to_be_visible()


def test_a_click_pins_a_commit_whose_link_the_mouse_can_reach(browser: Browser, store: Store) -> None:
    keep(store, MadeUp((SLOWER_ZADD,)))
    with served_lab(store) as url, opened(browser, f"{url}/series?case=zadd-100B") as shown:
        over, readout = shown.locator(".u-over"), shown.locator(".series-readout")
        expect(over).to_be_visible()
        box = over.bounding_box()
        assert box is not None
        at = {share: {"x": box["width"] * share, "y": box["height"] / 2} for share in (0.25, 0.5)}
        over.click(position=at[0.5])
        pinned = readout.get_by_role("link").inner_text()
        over.hover(position=at[0.25])
        expect(readout.get_by_role("link")).to_have_text(pinned)

        # A second click releases it, another one pins another commit, and Escape releases that.
        over.click(position=at[0.5])
        over.hover(position=at[0.25])
        expect(readout.get_by_role("link")).not_to_have_text(pinned)
        over.click(position=at[0.25])
        expect(readout).to_contain_text("pinned")
        shown.get_by_role("img", name=re.compile("zadd-100B")).press("Escape")
        expect(readout).not_to_contain_text("pinned")

        over.click(position=at[0.5])
        shown.mouse.move(box["x"], box["y"] + box["height"] + 5)
        readout.get_by_role("link").click()
        expect(shown.get_by_role("heading", level=1)).to_contain_text(pinned)


def test_series_are_chosen_from_thousands(browser: Browser, store: Store) -> None:
    many = {f"group-{group}": tuple(f"CMD{group}X{number}" for number in range(100)) for group in range(10)}
    keep(store, MadeUp(cases=many, commits=5, metrics=(INSTRUCTIONS,), failed=frozenset(), unmeasured=0))
    with served_lab(store) as url, opened(browser, f"{url}/series") as shown:
        expect(shown.get_by_text("1,000 cases")).to_be_visible()
        # Only the rows near the window of the list are in the page.
        assert shown.locator(".case-choice label").count() < 60
        shown.get_by_role("main").get_by_role("searchbox").fill("cmd7x77")
        shown.get_by_role("checkbox", name=re.compile("cmd7x77-100B")).check()
        expect(shown.get_by_role("img", name=re.compile("cmd7x77-100B"))).to_be_visible()
        assert "case=cmd7x77-100B" in shown.url


def test_texts_of_commits_are_shown_as_texts(browser: Browser, store: Store) -> None:
    step = Step("zadd-100B", 20, 0.042, (HOSTILE,))
    keep(store, MadeUp((step,), platform=ARM.model_copy(update={"name": HOSTILE}), subject=HOSTILE, range=HOSTILE))
    with served_lab(store) as url:
        for page in ("/", "/series?case=zadd-100B", f"/commits/{commit_id(20)}", "/versions"):
            with opened(browser, f"{url}{page}") as shown:
                expect(shown.get_by_text(HOSTILE).first).to_be_attached()
                assert shown.locator("main img[src]").count() == 0


@pytest.mark.parametrize("page", ["/", "/series?group=sorted-set", "/series", "/versions", f"/commits/{commit_id(20)}"])
def test_pages_are_accessible_on_both_grounds_and_fit_a_phone(page: str, browser: Browser, store: Store) -> None:
    keep_two_platforms(store)
    with served_lab(store) as url, opened(browser, f"{url}{page}", color_scheme="light") as shown:
        expect(shown.get_by_text("Loading …")).to_have_count(0)
        expect(shown.get_by_role("heading", level=1)).to_be_visible()
        assert violations(shown) == []
        shown.emulate_media(color_scheme="dark")
        assert violations(shown) == []
        shown.set_viewport_size(PHONE)
        assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
