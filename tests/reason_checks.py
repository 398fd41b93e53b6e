"""What holds for the reasons of any document: words agree with their figures, parts with what they are parts of."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

FIGURE: Final = r"(-?[\d,.]+(?:e[-+]\d+)?)"
PAIR: Final = rf"\({FIGURE} -> {FIGURE} "
WORDS: Final = re.compile(
    rf"takes (?P<own>more|fewer) instructions(?: a call)? {PAIR}"
    rf"|(?P<often>more|less) often {PAIR}"
    rf"|which is unchanged, (?P<dear>dearer|cheaper) {PAIR}"
    rf"|(?P<now>now calls?|no longer calls?|in place of) `[^`]+`(?: \([^()]*\))? {PAIR}"
)
EFFECT: Final = re.compile(r": ([-+][\d,]+) instructions, ")
RISES: Final = frozenset({"more", "dearer", "now call", "now calls"})
LEFT_OUT: Final = "smaller parts are left out"
OWN: Final = re.compile(rf" itself takes (?:more|fewer) instructions {PAIR}per request\)")
NAME: Final = re.compile("`([^`]+)`")
ROUNDED: Final = 0.51
"""By how much an amount without decimals may differ."""
MARGIN: Final = 1.02


def check_document(document: Any) -> None:
    """Check the reasons of a document of any kind, wherever they stand in it."""
    for findings in _findings_in(document):
        check_reasons(findings)


def check_reasons(findings: Iterable[Mapping[str, Any]]) -> None:
    """Check findings as a document has them."""
    for finding in findings:
        _check_words(finding["text"])
        _check_numbers(finding)
        if finding["kind"] == "culprit":
            _check_effect(finding["text"])
            _check_own(finding)
            _check_parts(finding)


def _findings_in(value: Any) -> Iterable[list[Mapping[str, Any]]]:
    if isinstance(value, dict):
        if isinstance(value.get("findings"), list):
            yield value["findings"]
        value = list(value.values())
    if isinstance(value, list):
        for element in value:
            yield from _findings_in(element)


def _check_words(text: str) -> None:
    for match in WORDS.finditer(text):
        word = next(word for word in match.groupdict().values() if word is not None)
        base, head = [_number(figure) for figure in match.groups() if figure is not None and figure != word]
        assert base >= 0, text
        assert head >= 0, text
        if match["now"] is not None:
            assert (base == 0, head == 0) == (word in RISES, word not in RISES), text
        else:
            assert (head > base) == (word in RISES), text
            assert head != base, text


def _check_numbers(finding: Mapping[str, Any]) -> None:
    """No cost and no number of calls is negative."""
    sides = [finding.get(name) for name in ("instructions_per_op", "self_instructions_per_op", "calls_per_op")]
    sides += [caller["calls_per_op"] for caller in finding.get("callers", [])]
    sides += [part["calls_per_op"] for part in finding.get("parts", [])]
    for side in sides:
        assert all(value is None or value >= 0 for value in (side or {}).values()), finding


def _check_own(finding: Mapping[str, Any]) -> None:
    """What a sentence states of the function itself is what the finding has of it."""
    stated = OWN.search(finding["text"])
    if stated is None or NAME.findall(finding["text"][: stated.start()])[-1] != finding["function"]:
        return
    own = finding["self_instructions_per_op"]
    for figure, value in zip(stated.groups(), (own["base"], own["head"]), strict=True):
        assert abs(_number(figure) - (value or 0.0)) <= max(ROUNDED, 0.01 * (value or 0.0)), finding


def _check_effect(text: str) -> None:
    """The first word of a sentence has the direction of its effect."""
    match, effect = WORDS.search(text), EFFECT.search(text)
    if match is not None and effect is not None and _number(effect[1]) != 0:
        word = next(word for word in match.groupdict().values() if word is not None)
        assert (_number(effect[1]) > 0) == (word in RISES), text


def _check_parts(finding: Mapping[str, Any]) -> None:
    parts = finding.get("parts", [])
    for part in parts:
        _check_words(part["text"])
        _check_part(part)
    effect = EFFECT.search(finding["text"])
    if not parts or effect is None:
        return
    sum_of_parts = sum(part["instructions_changed_per_op"] for part in parts)
    assert abs(sum_of_parts - _number(effect[1])) <= 2 * ROUNDED or LEFT_OUT in finding["text"], finding


def _check_part(part: Mapping[str, Any]) -> None:
    """The word of a part has the direction of its effect, which is no more than what its figures allow."""
    match = WORDS.search(part["text"])
    assert match is not None, part
    word = next(word for word in match.groupdict().values() if word is not None)
    changed = part["instructions_changed_per_op"]
    assert (changed > 0) == (word in RISES), part
    own = OWN.search(part["text"])
    if own is not None:
        assert abs(changed) <= MARGIN * max(map(_number, own.groups())) + ROUNDED, part


def _number(figure: str) -> float:
    return float(figure.replace(",", ""))
