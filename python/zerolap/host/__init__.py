"""This machine and what it can measure: doctor, pinning, noise, fingerprint."""

from zerolap.host.diagnosis import Diagnosis, State
from zerolap.host.disturbance import DISTURBANCES, Disturbance, watch
from zerolap.host.examination import DOCTOR_SCHEMA, doctor, doctor_json
from zerolap.host.hardware_counters import HardwareCounters, hardware_counters
from zerolap.host.machine_settings import available_bytes, huge_pages
from zerolap.host.neighbours import Neighbours, watch_neighbours
from zerolap.host.noise import MachineTimes, Noise, measure_noise, noise_between, read_counters, stolen_seconds
from zerolap.host.pinning import Pinning, Sharing, choose_pinning
from zerolap.host.platform_identity import fingerprint, runnable_architectures
from zerolap.host.probes.programs import version_of
from zerolap.host.processors import Processor, Processors, read_processors
from zerolap.host.tracing import TracingObstacle, events_of, probing_obstacle, tracing_obstacle

__all__ = [
    "DISTURBANCES",
    "DOCTOR_SCHEMA",
    "Diagnosis",
    "Disturbance",
    "HardwareCounters",
    "MachineTimes",
    "Neighbours",
    "Noise",
    "Pinning",
    "Processor",
    "Processors",
    "Sharing",
    "State",
    "TracingObstacle",
    "available_bytes",
    "choose_pinning",
    "doctor",
    "doctor_json",
    "events_of",
    "fingerprint",
    "hardware_counters",
    "huge_pages",
    "measure_noise",
    "noise_between",
    "probing_obstacle",
    "read_counters",
    "read_processors",
    "runnable_architectures",
    "stolen_seconds",
    "tracing_obstacle",
    "version_of",
    "watch",
    "watch_neighbours",
]
