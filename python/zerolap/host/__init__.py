"""This machine and what it can measure: doctor, pinning, noise, fingerprint."""

from zerolap.host.diagnosis import Diagnosis as Diagnosis, State as State
from zerolap.host.disturbance import Disturbance as Disturbance, watch as watch
from zerolap.host.examination import DOCTOR_SCHEMA as DOCTOR_SCHEMA, doctor as doctor, doctor_json as doctor_json
from zerolap.host.hardware_counters import HardwareCounters as HardwareCounters, hardware_counters as hardware_counters
from zerolap.host.machine_settings import available_bytes as available_bytes, huge_pages as huge_pages
from zerolap.host.neighbours import Neighbours as Neighbours, watch_neighbours as watch_neighbours
from zerolap.host.noise import (
    MachineTimes as MachineTimes,
    Noise as Noise,
    measure_noise as measure_noise,
    noise_between as noise_between,
    stolen_seconds as stolen_seconds,
)
from zerolap.host.pinning import Pinning as Pinning, Sharing as Sharing, choose_pinning as choose_pinning
from zerolap.host.platform_identity import fingerprint as fingerprint, runnable_architectures as runnable_architectures
from zerolap.host.probes.programs import version_of as version_of
from zerolap.host.processors import Processor as Processor, Processors as Processors, read_processors as read_processors
from zerolap.host.tracing import (
    Obstacle as Obstacle,
    events_of as events_of,
    probing_obstacle as probing_obstacle,
    tracing_obstacle as tracing_obstacle,
)
