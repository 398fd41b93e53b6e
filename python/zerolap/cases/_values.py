"""Words and values in messages: the most similar known word, a value as written in a file."""

import difflib
import json
from collections.abc import Iterable
from typing import Any

LONGEST_SHOWN = 200


def near(word: str, known: Iterable[str]) -> str:
    """Return `did you mean ...?` for the most similar known word, or an empty string."""
    by_lower_case = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.6)
    return f'did you mean "{by_lower_case[matches[0]]}"?' if matches else ""


def shown(value: Any) -> str:
    """Return a value as written in a file."""
    if isinstance(value, dict):
        return "fields"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
