"""Events of the lab for other programs: lines of JSON in a file, entries of a stream of a Redis server."""

from zerolap.events.lab_event import (
    LabEvent as LabEvent,
    RequestEvent as RequestEvent,
    TriggerEvent as TriggerEvent,
    attempt_events as attempt_events,
    end_events as end_events,
    request_event as request_event,
    submitted_event as submitted_event,
    trigger_event as trigger_event,
)
from zerolap.events.sinks import EventSink as EventSink
