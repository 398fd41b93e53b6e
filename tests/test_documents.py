"""The documents: every one is in the index, their links lead somewhere, and their pictures are small."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)\)")
LARGEST_PICTURE_BYTES = 150_000


def anchors(document: Path) -> set[str]:
    """Return the anchors of the headings of a document, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(PROJECT)))
def test_links_lead_to_files_and_headings_that_there_are(document: Path) -> None:
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", document.read_text())):
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_the_index_has_every_document() -> None:
    index = (PROJECT / "docs" / "README.md").read_text()
    missing = [path.name for path in (PROJECT / "docs").glob("*.md") if f"({path.name})" not in index]
    assert missing == ["README.md"]


def test_pictures_are_small_and_shown() -> None:
    shown = "".join(document.read_text() for document in DOCUMENTS)
    for picture in (PROJECT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size <= LARGEST_PICTURE_BYTES, picture
        assert f"pictures/{picture.name})" in shown, picture
