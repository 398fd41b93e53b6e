"""From a trigger (a label, a push, a tag, a schedule) to requests, and from their results to what is reported."""

from zerolap.triggers.mirror import Mirror
from zerolap.triggers.names import BRANCHES, LOGIN, TAGS
from zerolap.triggers.notifying import Push, headline, regressed_cases
from zerolap.triggers.running import Triggers, mirrors_of
from zerolap.triggers.settings import (
    TriggerLimits,
    TriggerSettings,
    WatchSettings,
    checked_settings,
    read_trigger_settings,
)
from zerolap.triggers.trigger import AskedComparison, AskedTrigger, PushTrigger, asked_by

__all__ = [
    "BRANCHES",
    "LOGIN",
    "TAGS",
    "AskedComparison",
    "AskedTrigger",
    "Mirror",
    "Push",
    "PushTrigger",
    "TriggerLimits",
    "TriggerSettings",
    "Triggers",
    "WatchSettings",
    "asked_by",
    "checked_settings",
    "headline",
    "mirrors_of",
    "read_trigger_settings",
    "regressed_cases",
]
