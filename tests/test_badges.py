"""Badges: pictures of the newest verdict that other pages show."""

from http import HTTPStatus
from xml.etree import ElementTree

import httpx
import pytest
from api_client import request
from http_server import served_lab
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from stored_comparison import COMPARISON, ID, reading_token, recorded_comparison

from zerolap.api.badges import COLOURS, Badge, badge_svg
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.settings import TriggerSettings, checked_settings

TEXT = "{http://www.w3.org/2000/svg}text"
ALLOWED = {"svg", "title", "rect", "path", "g", "text"}


def words(answer: httpx.Response) -> list[str | None]:
    """Return the words of a badge; assert that it is a picture that loads and does nothing."""
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    picture = ElementTree.fromstring(answer.text)
    assert {element.tag.partition("}")[2] for element in picture.iter()} <= ALLOWED
    attributes = {name for element in picture.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name or name == "style" for name in attributes)
    return [element.text for element in picture.iter(TEXT)]


def test_a_comparison_has_a_badge_that_is_kept_for_a_minute(store: Store) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        address = f"{url}/badges/comparison.svg?id={ID}"
        shown = request("GET", address)
        assert words(shown) == ["performance", "same"]
        assert shown.headers["cache-control"] == "public, max-age=60"
        again = request("GET", address, {"If-None-Match": shown.headers["etag"]})
        assert again.status_code == HTTPStatus.NOT_MODIFIED


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"regression": 2, "improvement": 1}, "2 regressions"),
        ({"improvement": 1}, "1 improvement"),
        ({"same": 1, "unsure": 1, "invalid": 98}, "1 same, 99 not decided"),
        ({"same": 0, "unsure": 1}, "not decided"),
    ],
)
def test_the_worst_is_stated(changed: dict[str, int], word: str, store: Store) -> None:
    recorded_comparison(store, summary=COMPARISON.summary.model_copy(update=changed))
    with served_lab(store) as url:
        assert words(request("GET", f"{url}/badges/comparison.svg?id={ID}")) == ["performance", word]


def test_a_platform_shows_its_newest_comparison(store: Store) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        name = COMPARISON.platform.name
        assert words(request("GET", f"{url}/badges/platform.svg", params={"name": name})) == ["performance", "same"]
        unknown = request("GET", f"{url}/badges/platform.svg?name=nobody")
        assert (unknown.status_code, words(unknown)) == (HTTPStatus.NOT_FOUND, ["performance", "not measured"])


def test_a_branch_shows_what_its_newest_finished_trigger_has_led_to(store: Store, fleet: SimulatedFleet) -> None:
    asked = fleet.submit(made_up_cases(1))

    async def measured(running: SimulatedFleet) -> None:
        assert await running.ended(asked) == ["done"]

    fleet.run(measured)
    for number, requests in enumerate((f'["{asked.id}"]', "[]")):
        subject = "octo/server@unstable"
        trigger = StoredTrigger(
            f"t-{number:024}", "octo/server", subject, "push", "{}", state="done", request_ids=requests
        )
        assert store.triggers.add(trigger)
    with served_lab(store) as url:
        address = f"{url}/badges/branch.svg?repository=octo/server&branch=unstable"
        assert words(request("GET", address))[1] in ("same", "unsure")
        assert request("GET", f"{address}&platform={PLATFORM}").status_code == HTTPStatus.OK
        assert request("GET", f"{address}&platform=other").status_code == HTTPStatus.NOT_FOUND


def test_badges_need_a_token_unless_reports_or_badges_are_public(store: Store) -> None:
    recorded_comparison(store)
    path = f"/badges/comparison.svg?id={ID}"
    with served_lab(store, TriggerSettings()) as url:
        assert request("GET", url + path).status_code == HTTPStatus.UNAUTHORIZED
        shown = request("GET", url + path, {"Authorization": f"Bearer {reading_token(store)}"})
        assert shown.headers["cache-control"] == "private, max-age=60"
    with served_lab(store, checked_settings({"lab": {"badges": "public"}}, store.builds_directory)) as url:
        assert request("GET", url + path).status_code == HTTPStatus.OK
        assert request("GET", f"{url}/comparisons/{ID}.json").status_code == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><svg onload="x">', "&lt;", "x" * 10_000])
def test_texts_of_others_stay_short_texts(text: str) -> None:
    picture = badge_svg(Badge(text, "unknown"))
    assert len(picture) < 2_000
    assert {element.tag.partition("}")[2] for element in ElementTree.fromstring(picture).iter()} <= ALLOWED


def test_words_can_be_read_on_their_colours() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert all(1.05 / (luminance(colour) + 0.05) > 4.5 for colour in COLOURS.values())
