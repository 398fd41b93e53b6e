"""Events of the lab for other programs: lines of JSON in a file, entries of a stream of a Redis server."""

from zerolap.events.lab_event import (
    LabEvent,
    RequestEvent,
    TriggerEvent,
    attempt_events,
    end_events,
    request_event,
    submitted_event,
    trigger_event,
)
from zerolap.events.sinks import EventSink

__all__ = [
    "EventSink",
    "LabEvent",
    "RequestEvent",
    "TriggerEvent",
    "attempt_events",
    "end_events",
    "request_event",
    "submitted_event",
    "trigger_event",
]
