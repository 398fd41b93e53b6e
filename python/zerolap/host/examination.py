"""The doctor: all probes, together in about a second."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zerolap.host.diagnosis import Diagnosis, State
from zerolap.host.identity import fingerprint
from zerolap.host.noise import measure_noise
from zerolap.host.probes import PROBES, disturbance
from zerolap.host.probes.plugged import plugged_probes

DOCTOR_SCHEMA = "zerolap.doctor/1"


def doctor() -> list[Diagnosis]:
    """Return what this machine can measure and how well; first what disturbs it, before the probes do."""
    noise = measure_noise()
    with ThreadPoolExecutor(max_workers=4) as workers:
        found = list(workers.map(lambda probe: probe(), [*PROBES, *plugged_probes()]))
    return [disturbance.load(noise), disturbance.steal(noise), disturbance.swap(noise), *found]


def doctor_json(diagnoses: list[Diagnosis]) -> dict[str, Any]:
    """Return the document behind `zerolap doctor --json`."""
    return {
        "schema": DOCTOR_SCHEMA,
        "platform": fingerprint().model_dump(mode="json"),
        "summary": {state.value: sum(item.state is state for item in diagnoses) for state in State},
        "diagnoses": [item.to_json() for item in diagnoses],
    }
