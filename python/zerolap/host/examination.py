"""The doctor: all probes, which together take about a second."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from zerolap.host.diagnosis import Diagnosis, State
from zerolap.host.noise import measure_noise
from zerolap.host.platform_identity import fingerprint
from zerolap.host.probes import PROBES, memory, processor
from zerolap.host.probes.plugged import plugged_probes

DOCTOR_SCHEMA = "zerolap.doctor/1"


def doctor() -> list[Diagnosis]:
    """Return the diagnoses of this machine; noise is measured first, before the probes cause any."""
    noise = measure_noise()
    with ThreadPoolExecutor(max_workers=4) as workers:
        diagnoses = list(workers.map(lambda probe: probe(), [*PROBES, *plugged_probes()]))
    return [processor.load(noise), processor.steal(noise), memory.swap(noise), *diagnoses]


def doctor_json(diagnoses: list[Diagnosis]) -> dict[str, Any]:
    """Return the document behind `zerolap doctor --json`."""
    return {
        "schema": DOCTOR_SCHEMA,
        "platform": fingerprint().model_dump(mode="json"),
        "summary": {state.value: sum(diagnosis.state is state for diagnosis in diagnoses) for state in State},
        "diagnoses": [asdict(diagnosis) for diagnosis in diagnoses],
    }
