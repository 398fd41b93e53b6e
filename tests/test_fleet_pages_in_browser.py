"""The pages of fleet, platforms, triggers and the API in a browser."""

import json
import re

from browser_pages import opened
from demonstrated_lab import DemonstratedLab
from http_server import served_lab
from playwright.sync_api import Browser, expect
from sqlalchemy import update
from stored_comparison import ID, recorded_comparison, stored_token

from zerolap.demonstration import ARM, X86
from zerolap.store import Store, StoredDelivery, StoredTrigger
from zerolap.store.tables import request
from zerolap.triggers.settings import LabSettings, TriggerSettings


def test_the_fleet_states_what_runs_on_an_agent_and_since_when(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, f"{made_up.url}/fleet") as shown:
        row = shown.get_by_role("row").filter(has=shown.get_by_role("rowheader", name=re.compile("^arm-agent-b")))
        expect(row).to_contain_text("busy")
        expect(row).to_contain_text(re.compile(r"\(counted\) of c-[0-9a-f]+, \d+ (s|min|h) ago"))
        expect(shown.get_by_role("button", name="Drain")).to_have_count(0)
        expect(shown.get_by_text("with one of the scope admin")).to_be_visible()
        shown.get_by_text("reason and end of the log").first.click()
        expect(shown.get_by_label("End of the log").or_(shown.get_by_text("It has no log.")).first).to_be_visible()


def test_who_signs_in_with_a_token_drains_an_agent_and_ends_a_request(
    browser: Browser, made_up: DemonstratedLab
) -> None:
    token = stored_token(made_up.store, "ops", "admin")
    with opened(browser, f"{made_up.url}/fleet") as shown:
        shown.get_by_role("link", name="Sign in", exact=True).click()
        shown.get_by_label("Token").fill(token)
        shown.get_by_role("button", name="Sign in").click()
        expect(shown).to_have_url(f"{made_up.url}/fleet")
        expect(shown.get_by_role("link", name="Signed in as ops")).to_be_visible()
        row = shown.get_by_role("row").filter(has=shown.get_by_role("rowheader", name=re.compile("^x86-agent-a")))
        row.get_by_role("button", name="Drain").click()
        confirming = row.get_by_role("button", name="Drain")
        expect(confirming).to_be_focused()
        shown.keyboard.press("Escape")
        expect(row.get_by_role("button", name="Leave it")).to_have_count(0)
        row.get_by_role("button", name="Drain").click()
        row.get_by_role("button", name="Drain").click()
        expect(row.get_by_role("button", name="Resume")).to_be_visible()
        assert "x86-agent-a" in made_up.store.fleet.orders().draining
        waiting = shown.get_by_role("row").filter(has_text="waiting").filter(has=shown.get_by_role("button")).first
        identity = waiting.get_by_role("link").inner_text()
        waiting.get_by_role("button", name="Cancel").click()
        waiting.get_by_role("button", name="Cancel").click()
        ended = shown.get_by_role("row").filter(has=shown.get_by_role("link", name=identity))
        expect(ended.get_by_role("button", name="Retry")).to_be_visible()
        assert made_up.store.request(identity).state == "cancelled"
        shown.get_by_role("link", name="Signed in as ops").click()
        shown.get_by_role("button", name="Sign out").click()
        expect(shown.get_by_role("heading", name="You have signed in")).to_have_count(0)


def test_platforms_lead_to_their_changes_and_lie_side_by_side(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, f"{made_up.url}/platforms") as shown:
        shown.get_by_role("link", name=ARM).click()
        expect(shown.get_by_role("heading", level=1)).to_have_text(ARM)
        expect(shown.get_by_role("heading", name="False alarms")).to_be_visible()
        expect(shown.get_by_text("the platform was seen first")).to_be_visible()
        shown.get_by_role("link", name="All platforms").click()
        shown.get_by_role("button", name="Show").click()
        expect(shown.get_by_role("heading", level=1)).to_have_text(re.compile(f"{ARM} and {X86}|{X86} and {ARM}"))
        expect(shown.get_by_role("rowheader", name="kernel")).to_be_visible()
        expect(shown.get_by_role("rowheader", name="memory, GiB")).to_be_visible()
        expect(shown.get_by_text("16 processors, 16 cores, 1 last-level cache")).to_be_visible()
        only = shown.get_by_label("only where verdicts differ")
        expect(only).to_be_checked()
        expect(shown.get_by_role("status")).to_have_text(re.compile("^[0-9]+ of [0-9]+ differ; [0-9]+ invalid$"))
        cases = shown.get_by_role("table").last.get_by_role("rowheader")
        differing = int(shown.get_by_role("status").inner_text().split()[0])
        expect(cases).to_have_count(differing)
        only.uncheck()
        expect(cases.filter(has_text="no verdict on one of both").first).to_be_visible()


def test_triggers_are_filtered_by_state(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, f"{made_up.url}/triggers") as shown:
        expect(shown.locator("tbody tr").filter(has_text="done").first).to_be_visible()
        shown.get_by_label("state").select_option("refused")
        expect(shown.locator("tbody tr").filter(has_text="done")).to_have_count(0)
        expect(shown.locator("tbody tr").filter(has_text="refused").first).to_be_visible()
        assert "state=refused" in shown.url


def test_triggers_of_a_pull_request_are_listed_alone(browser: Browser, store: Store) -> None:
    for number in (12, 13):
        identity, subject = f"t-{number}", f"a/b#{number}"
        stored = StoredTrigger(identity, "a/b", subject, "pull request", "{}", delivery=identity)
        assert store.triggers.add(stored, StoredDelivery(identity, "a/b", identity))
    settings = TriggerSettings(lab=LabSettings(reports="public"))
    with served_lab(store, settings) as url, opened(browser, f"{url}/triggers?repository=a%2Fb&number=12") as shown:
        link = shown.get_by_role("link", name="a/b#12", exact=True)
        expect(link).to_have_attribute("href", "https://github.com/a/b/pull/12")
        expect(link).to_have_attribute("rel", "noreferrer")
        expect(shown.locator("tbody tr")).to_have_count(1)
        field = shown.get_by_label("pull request")
        expect(field).to_have_value("12")
        field.fill("")
        field.press("Enter")
        expect(shown.locator("tbody tr")).to_have_count(2)
    with served_lab(store) as url, opened(browser, f"{url}/triggers") as shown:
        # Without settings the lab does not know its GitHub.
        expect(shown.get_by_role("rowheader").filter(has_text="a/b#12")).to_be_visible()
        expect(shown.get_by_role("link", name="a/b#12", exact=True)).to_have_count(0)


def test_a_comparison_leads_to_the_triggers_of_its_pull_request(browser: Browser, store: Store) -> None:
    store.triggers.add(StoredTrigger("t-12", "a/b", "a/b#12", "pull request", "{}"))
    recorded_comparison(store)
    with store._database.write_transaction() as connection:
        of_request = update(request).where(request.c.id == ID)
        connection.execute(of_request.values(document=json.dumps({"trigger": "t-12"})))
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}") as shown:
        shown.get_by_role("link", name="triggers of this pull request").click()
        expect(shown).to_have_url(re.compile(r"/triggers\?repository=a%2Fb&number=12$"))
        expect(shown.locator("tbody tr")).to_have_count(1)


def test_a_request_leads_to_its_trigger(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, f"{made_up.url}/fleet") as shown:
        link = shown.get_by_role("link", name=re.compile("^t-[0-9a-f]{24}$")).first
        trigger = link.inner_text()
        link.click()
        expect(shown.get_by_role("heading", level=1)).to_have_text("Triggers")
        expect(shown.locator("tbody tr")).to_have_count(1)
        expect(shown.get_by_role("row").filter(has_text=trigger)).to_be_visible()


def test_the_page_of_the_api_lists_each_query(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, f"{made_up.url}/api") as shown:
        query = shown.get_by_role("heading", name="GET /api/v1/pages/fleet", exact=True)
        expect(shown.get_by_role("heading", name="pages", exact=True)).to_be_visible()
        expect(query).to_be_hidden()
        shown.locator("summary").filter(has_text="pages").click()
        expect(query).to_be_visible()
        shown.locator("summary").filter(has_text="comparisons").first.click()
        asking = shown.locator("section.operation").filter(has=shown.get_by_role("link", name="/api/v1/comparisons"))
        expect(asking.first).to_contain_text("Needs a token: sign in to follow the link.")
        shown.get_by_label("Filter by path and summary").fill("triggers.csv")
        expect(shown.locator("section.operation")).to_have_count(1)
