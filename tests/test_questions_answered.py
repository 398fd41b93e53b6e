"""Ten questions of a maintainer, each answered from the overview by at most three clicks."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pytest
from browser_pages import opened
from demonstrated_lab import DemonstratedLab
from playwright.sync_api import Browser, Locator, Page, expect

MOST_CLICKS: Final = 3


@dataclass
class Reader:
    """Looks at pages, begins at the overview, and counts clicks."""

    shown: Page
    made_up: DemonstratedLab
    clicks: int = field(default=0)

    def click(self, place: Locator) -> None:
        place.first.click()
        self.clicks += 1

    def go_to(self, title: str) -> None:
        """Choose a page in the navigation."""
        self.click(self.shown.get_by_role("navigation", name="Pages").get_by_role("link", name=title, exact=True))

    def row(self, *texts: str | re.Pattern[str]) -> Locator:
        """Return the first row of a table that has all of these texts."""
        rows = self.shown.get_by_role("row")
        for text in texts:
            rows = rows.filter(has_text=text)
        return rows.first

    def sees(self, place: Locator, *texts: str | re.Pattern[str]) -> None:
        """Expect that a place has all of these texts."""
        for text in texts:
            expect(place.first).to_contain_text(text)


def what_did_this_commit_do_to_hashes(reader: Reader) -> None:
    reader.click(
        reader.row("hgetall-20-fields", "Hashes reserve").get_by_role("link", name=re.compile("^[0-9a-f]{12}$"))
    )
    reader.sees(reader.shown.get_by_role("heading", level=1), "Commit")
    hashes = reader.row(re.compile("^hash ?[-+0-9].*instructions"))
    reader.sees(hashes, "-8.3 %", "hset", "+3.4 %", "hgetall-20-fields")


def since_when_is_zadd_slower_on_arm(reader: Reader) -> None:
    reader.sees(reader.row("zadd", "made-up-arm", "CPU ns/request"), "worse", "+6.4 %", "Sorted sets compare scores")
    reader.click(reader.row("zadd", "made-up-arm", "CPU ns/request").get_by_role("link", name="zadd"))
    reader.sees(reader.shown.locator("main"), "zslUpdateScore")


def what_runs_on_agent_b_and_since_when(reader: Reader) -> None:
    reader.go_to("Fleet")
    reader.sees(reader.row("arm-agent-b"), "busy", "zadd (counted)", "min ago")


def which_function_costs_most_over_all_cases(reader: Reader) -> None:
    reader.go_to("Stacks")
    reader.click(reader.shown.get_by_role("link", name="which functions cost most"))
    reader.sees(reader.shown.get_by_role("row").nth(1), "grisu2", "fpconv_dtoa.c")


def why_was_this_trial_invalid(reader: Reader) -> None:
    reader.click(reader.row("invalid").get_by_role("link"))
    reader.click(reader.shown.get_by_role("button", name="rpush-lpop", exact=True))
    reader.sees(reader.shown.locator("main"), re.compile(r"hit_rate.{0,40}0\.87", re.DOTALL))


def which_regressions_are_open(reader: Reader) -> None:
    for case in ("xadd-auto-id", "zadd", "hgetall-20-fields", "geosearch-100km"):
        reader.sees(reader.row(case, "open"), "worse")


def what_came_of_pull_request_12(reader: Reader) -> None:
    reader.go_to("Triggers")
    reader.sees(reader.row("made-up/server#12", "pull request"), "done", "1 regression")


def did_the_platform_change_last_week(reader: Reader) -> None:
    reader.go_to("Platforms")
    reader.click(reader.row("made-up-arm").get_by_role("link", name="made-up-arm"))
    reader.sees(reader.shown.locator("main"), re.compile(r"kernel:\s+6\.8\.0-47-generic\s+→\s+6\.8\.0-51-generic"))


def what_did_release_7_4_cost_set(reader: Reader) -> None:
    reader.go_to("Versions")
    reader.sees(reader.shown.get_by_role("columnheader", name="7.4.0"), "7.4.0")
    reader.sees(reader.row(re.compile("^SET")), "+5.3 %")


def how_do_i_reproduce_this_comparison(reader: Reader) -> None:
    reader.click(reader.row("1 regression").get_by_role("link"))
    command = reader.shown.get_by_text(re.compile("^zerolap compare --seed [0-9]+ "))
    reader.sees(command, "geosearch-100km zadd zrange-100-withscores --repo /made-up/server --platform made-up-")


QUESTIONS: Final[tuple[Callable[[Reader], None], ...]] = (
    what_did_this_commit_do_to_hashes,
    since_when_is_zadd_slower_on_arm,
    what_runs_on_agent_b_and_since_when,
    which_function_costs_most_over_all_cases,
    why_was_this_trial_invalid,
    which_regressions_are_open,
    what_came_of_pull_request_12,
    did_the_platform_change_last_week,
    what_did_release_7_4_cost_set,
    how_do_i_reproduce_this_comparison,
)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_a_question_is_answered_in_three_clicks(
    question: Callable[[Reader], None], browser: Browser, made_up: DemonstratedLab
) -> None:
    with opened(browser, made_up.url, viewport={"width": 1280, "height": 900}) as shown:
        reader = Reader(shown, made_up)
        question(reader)
        assert reader.clicks <= MOST_CLICKS
