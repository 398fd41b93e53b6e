"""Results as JUnit's XML, which CI systems show as tests: a test for each case."""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from zerolap.fail_on import FailOn
from zerolap.records import CaseResult, Comparison, RunCase, RunReport, Skipped
from zerolap.sheets import case_sentences, failed_check, gate_sentence, one_line, run_word

NAME: Final = "zerolap"
LONGEST_MESSAGE: Final = 300


def comparison_junit(comparison: Comparison, when: FailOn) -> str:
    """Return a test for each case of a comparison.

    A test fails where `--fail-on` applies to its case, is an error where the case failed or is invalid, and is skipped
    where the case was. The verdict of each case is a property, and its sentences are the output of the test. What fails
    of all cases together, and changed functions that none executed, are tests of their own.
    """
    failing = {case.case for case in comparison.failing_cases(when)}
    suite = _suite(f"{comparison.base.name} .. {comparison.head.name}", comparison, comparison.summary.machine_seconds)
    for case in comparison.cases:
        test = _test(suite, case.group, case.case)
        answers = {"work": case.work, "time": case.time, "memory": case.memory}
        properties = {"verdict": case.verdict, **answers, "deciding": case.deciding}
        _properties(test, {name: word for name, word in properties.items() if word is not None})
        sentences = [one_line(sentence) for sentence in case_sentences(case)]
        if case.verdict == "invalid":
            _outcome(test, "error", "failed" if case.failure is not None else "invalid", _why_invalid(case))
        elif case.case in failing:
            _outcome(test, "failure", "regression" if case.is_regression else "unsure", sentences)
        SubElement(test, "system-out").text = "\n".join(sentences)
    of_all = {"cases together": comparison.failing_together(when), "changed functions": comparison.is_unseen(when)}
    for name in (name for name, fails in of_all.items() if fails):
        _outcome(_test(suite, "comparison", name), "failure", "regression", [gate_sentence(comparison, when) or ""])
    return _document(suite, comparison.skipped)


def run_junit(report: RunReport) -> str:
    """Return a test for each case of a run: it passes where the case was measured and all checks hold."""
    suite = _suite(report.server.name, report, report.machine_seconds)
    for case in report.cases:
        test = _test(suite, case.group, case.case)
        if run_word(case) != "measured":
            _outcome(test, "error", run_word(case), _why_invalid(case))
    return _document(suite, report.skipped)


def _suite(name: str, result: Comparison | RunReport, seconds: float) -> Element:
    platform = one_line(result.platform.name)
    suite = Element("testsuite", name=f"{one_line(name)} on {platform}", timestamp=result.created.removesuffix("Z"))
    suite.set("time", f"{seconds:.3f}")
    suite.set("hostname", platform)
    _properties(suite, {"id": result.id, "command_line": result.command_line})
    return suite


def _test(suite: Element, group: str, case: str) -> Element:
    return SubElement(suite, "testcase", classname=f"{NAME}.{one_line(group)}", name=one_line(case))


def _properties(element: Element, values: dict[str, str]) -> None:
    properties = SubElement(element, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=one_line(value))


def _outcome(test: Element, tag: str, kind: str, lines: Sequence[str]) -> None:
    message = next(iter(lines), kind)[:LONGEST_MESSAGE]
    SubElement(test, tag, type=kind, message=message).text = "\n".join(lines)


def _why_invalid(case: CaseResult | RunCase) -> list[str]:
    """Return why a case has no result: lines of a failed trial, or the checks that failed."""
    failure = [one_line(line) for line in (case.failure or "").splitlines()]
    failed = case.validity.failed
    return failure or [one_line(failed_check(check.check, check.value, check.limit)) for check in failed]


def _document(suite: Element, skipped: Sequence[Skipped]) -> str:
    for case in skipped:
        SubElement(_test(suite, "skipped", case.case), "skipped", message=one_line(case.text))
    tests = suite.findall("testcase")
    counts = {"tests": len(tests)}
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[count] = sum(test.find(tag) is not None for test in tests)
    suites = Element("testsuites", name=NAME, time=suite.attrib["time"])
    for element in (suite, suites):
        for count, number in counts.items():
            element.set(count, str(number))
    suites.append(suite)
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'
