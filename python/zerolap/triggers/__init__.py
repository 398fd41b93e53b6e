"""From a trigger (a label, a push, a tag, a schedule) to requests, and from their results to what is reported."""

from zerolap.triggers.comment_commands import Acknowledge, Run
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.names import BRANCHES, LOGIN, TAGS, commit_of_ref
from zerolap.triggers.notifying import Push, headline
from zerolap.triggers.push_report import PushReport
from zerolap.triggers.readers import Readers
from zerolap.triggers.running import Triggers, mirrors_of
from zerolap.triggers.settings import (
    TriggerLimits,
    TriggerSettings,
    WatchSettings,
    checked_settings,
    read_trigger_settings,
)
from zerolap.triggers.trigger import (
    AskedComparison,
    AskedTrigger,
    CommandTrigger,
    PullRequestTrigger,
    PushTrigger,
    TagTrigger,
    Trigger,
    asked_by,
    branch_subject,
    trigger_json,
)

__all__ = [
    "BRANCHES",
    "LOGIN",
    "TAGS",
    "Acknowledge",
    "AskedComparison",
    "AskedTrigger",
    "CommandTrigger",
    "Mirror",
    "PullRequestTrigger",
    "Push",
    "PushReport",
    "PushTrigger",
    "Readers",
    "Run",
    "TagTrigger",
    "Trigger",
    "TriggerLimits",
    "TriggerSettings",
    "Triggers",
    "WatchSettings",
    "asked_by",
    "branch_subject",
    "checked_settings",
    "commit_of_ref",
    "headline",
    "mirrors_of",
    "read_trigger_settings",
    "trigger_json",
]
