"""What a text names: commits, histories, requests and cases, and where their hosts show commits."""

from pathlib import Path

import pytest
from browser_pages import opened
from http_server import served_lab
from playwright.sync_api import Browser, expect
from published_history import REPOSITORY, MadeUp, commit_id, keep
from stored_comparison import COMPARISON, ID, recorded_comparison

from zerolap.build import page_of_remote, repository_page, run_git
from zerolap.queries import COMMIT, SEARCH, QuerySources
from zerolap.queries.commit_changes import CommitChanges, CommitParameters
from zerolap.queries.search import SearchParameters, SearchResults
from zerolap.records import Build, Revision, RevisionSource
from zerolap.store import Store

PAGE = "https://github.com/redis/redis"
OUTSIDE = "c" * 40
"""A commit that was measured, and that no history has."""


def sources(store: Store) -> QuerySources:
    return QuerySources(store, page_of_repository=lambda repository: PAGE if repository == REPOSITORY else None)


def searched(store: Store, text: str) -> SearchResults:
    answer = SEARCH.read(sources(store), SearchParameters(text=text))
    assert isinstance(answer, SearchResults)
    return answer


def commits(store: Store, text: str) -> list[str]:
    return [commit.commit for commit in searched(store, text).commits]


def record_outside(store: Store, subject: str, author: str = "") -> None:
    time = "2026-01-30T00:00:00Z"
    revision = Revision(repository="/elsewhere", commit=OUTSIDE, time=time, subject=subject, author=author)
    source = RevisionSource(name="HEAD", repository=Path("/elsewhere"), revision=revision)
    store.record_build(Build(build=COMPARISON.head.build, version="7.2.4", build_id="", flags="-O2"), source)


def test_a_commit_is_named_by_its_hash_tag_subject_and_pull_request(either_store: Store) -> None:
    keep(either_store, MadeUp(pre_releases={15: "2.0-rc1"}))
    assert commits(either_store, commit_id(4)[:6].upper()) == [commit_id(4)]
    assert commits(either_store, "v3.0") == [commit_id(20)]
    assert commits(either_store, "2.0-RC") == [commit_id(15)]
    assert commits(either_store, "0-rc") == []
    assert commits(either_store, "(#23)") == commits(either_store, "#23") == [commit_id(23)]
    assert commits(either_store, "author 23") == [commit_id(23)]
    newest = commits(either_store, "CHANGE something")
    assert (len(newest), newest[0]) == (20, commit_id(39))


def test_commits_that_no_history_has_are_named_by_their_hash_subject_and_author(either_store: Store) -> None:
    record_outside(either_store, "Try <b>something</b> again, as in 6543210", "<img src=x> Ada")
    for text in (OUTSIDE[:3], OUTSIDE[:12].upper(), OUTSIDE, "SOMETHING", "> ada", "6543210"):
        [commit] = searched(either_store, text).commits
        assert (commit.commit, commit.author) == (OUTSIDE, "<img src=x> Ada")
    assert commits(either_store, "Bob") == commits(either_store, "d" * 12) == []


@pytest.mark.parametrize("text", ["%%", "__", "\\%", "v_.0", "'; --", '"]'])
def test_signs_of_patterns_are_letters_like_others(text: str, either_store: Store) -> None:
    keep(either_store, MadeUp())
    recorded_comparison(either_store)
    answer = searched(either_store, text)
    assert (answer.commits, answer.histories, answer.requests, answer.cases) == ((), (), (), ())


def test_a_commit_that_several_histories_have_is_listed_once(store: Store) -> None:
    keep(store, MadeUp())
    keep(store, MadeUp(range="v1.0..unstable"))
    assert commits(store, "v2.0") == [commit_id(10)]
    [history] = searched(store, "UNSTABLE").histories
    assert history.range == "v1.0..unstable"


def test_requests_are_named_by_the_beginning_of_their_ids_and_cases_by_a_part_of_their_names(store: Store) -> None:
    keep(store, MadeUp())
    recorded_comparison(store)
    assert [report.id for report in searched(store, ID[:9]).requests] == [ID]
    case = searched(store, COMPARISON.cases[0].case).cases[0]
    assert case.case == COMPARISON.cases[0].case
    assert case.result is not None
    assert case.result.id == ID
    [with_series] = searched(store, "zrange").cases
    assert (with_series.case, with_series.has_series, with_series.result) == ("zrange-100B", True, None)


def test_a_commit_has_the_pages_of_its_host(store: Store) -> None:
    keep(store, MadeUp())
    [commit] = searched(store, "#23").commits
    assert commit.page == f"{PAGE}/commit/{commit_id(23)}"
    assert (commit.pull_request, commit.pull_request_page) == (23, f"{PAGE}/pull/23")
    record_outside(store, "Try (#4) something")
    [outside] = searched(store, OUTSIDE[:8]).commits
    assert (outside.page, outside.pull_request, outside.pull_request_page) == (None, None, None)


def test_a_commit_without_a_history_has_a_page(store: Store) -> None:
    record_outside(store, "Try something")
    answer = COMMIT.read(sources(store), CommitParameters(commit=OUTSIDE[:7]))
    assert isinstance(answer, CommitChanges)
    assert (answer.commit.commit, answer.commit.subject, answer.histories) == (OUTSIDE, "Try something", ())


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/redis/redis.git", PAGE),
        ("https://user:secret@github.com/redis/redis", PAGE),
        ("git@github.com:redis/redis.git", PAGE),
        ("ssh://git@github.com:22/redis/redis.git", PAGE),
        ("http://git.example:3000/a b/'", "http://git.example:3000/a%20b/%27"),
        ("/srv/git/redis.git", None),
        ("../redis", None),
        ("file:///srv/redis.git", None),
        ("javascript:alert(1)", None),
        ("https://exa mple/x", None),
        ("https://host:port/x", None),
        ("https://github.com", None),
    ],
)
def test_the_page_of_a_remote_is_at_its_host(remote: str, page: str | None) -> None:
    assert page_of_remote(remote) == page


def test_a_repository_has_the_page_of_its_origin(tmp_path: Path) -> None:
    assert repository_page(str(tmp_path / "none")) is None
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "config", "remote.origin.url", "git@github.com:redis/redis.git")
    assert repository_page(str(tmp_path)) == PAGE


def test_the_field_of_each_page_leads_to_what_a_text_names(browser: Browser, store: Store) -> None:
    keep(store, MadeUp(subject="<img src=x> keys expire (#{position})"))
    with served_lab(store) as url, opened(browser, f"{url}/reports") as shown:
        shown.locator("h1").wait_for()
        shown.keyboard.press("/")
        shown.keyboard.type("#23")
        shown.keyboard.press("Enter")
        expect(shown).to_have_url(f"{url}/search?text=%2323")
        expect(shown).to_have_title("#23: search · Zerolap")
        expect(shown.get_by_text("<img src=x> keys expire (#23), by Author 23")).to_be_visible()
        shown.get_by_role("link", name=commit_id(23)[:12]).click()
        expect(shown).to_have_title(f"{commit_id(23)[:12]} <img src=x> keys expire (#23) · Zerolap")


def test_a_tag_in_place_of_a_hash_is_searched_for(browser: Browser, store: Store) -> None:
    keep(store, MadeUp())
    with served_lab(store) as url, opened(browser, f"{url}/commits/v2.0") as shown:
        shown.get_by_role("link", name="v2.0", exact=True).click()
        expect(shown).to_have_url(f"{url}/commits/{commit_id(10)}")
