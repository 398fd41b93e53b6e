"""Documents of checks: a record of a case that cannot be read fails that case alone."""

import pytest
from made_records import a_measurement
from stored_run import REQUEST, RESOLVED, SPEC

from zerolap.documents.case_trials import Trials
from zerolap.documents.check_document import check_of
from zerolap.documents.results import Results
from zerolap.records import HEAD, Build
from zerolap.store import Store

CASE = REQUEST.cases[0]
BUILD = Build(build=SPEC.digest, version="7.2.4", build_id="", flags="")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"{}", b'{"case": "a", "group": "g", "faults": []}', b"[" * 10_000]
)
def test_what_an_agent_recorded_and_nobody_can_read_fails_its_case_alone(store: Store, content: bytes) -> None:
    results = Results(RESOLVED, store.blobs)
    results.builds[SPEC.digest] = BUILD
    record = store.blobs.put(content)
    results.other["checked"] = {CASE.name: Trials(CASE, {HEAD: [a_measurement(record=record)]})}
    (checked,) = check_of(results).cases
    assert [fault.kind for fault in checked.faults] == ["failed"]
    assert "cannot be read" in checked.faults[0].text


def test_a_record_that_is_gone_fails_its_case_alone(store: Store) -> None:
    results = Results(RESOLVED, store.blobs)
    results.builds[SPEC.digest] = BUILD
    results.other["checked"] = {CASE.name: Trials(CASE, {HEAD: [a_measurement(record="0" * 64)]})}
    (checked,) = check_of(results).cases
    assert [fault.kind for fault in checked.faults] == ["failed"]
