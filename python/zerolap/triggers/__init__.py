"""From a trigger (a label, a push, a tag, a schedule) to requests, and from their results to what is reported."""

from zerolap.triggers.comment_commands import Acknowledge as Acknowledge
from zerolap.triggers.mirror import Mirror as Mirror
from zerolap.triggers.names import BRANCHES as BRANCHES, LOGIN as LOGIN, commit_of_ref as commit_of_ref
from zerolap.triggers.notifying import Push as Push
from zerolap.triggers.push_report import PushReport as PushReport
from zerolap.triggers.readers import Readers as Readers
from zerolap.triggers.running import Triggers as Triggers, mirrors_of as mirrors_of
from zerolap.triggers.settings import (
    TriggerLimits as TriggerLimits,
    TriggerSettings as TriggerSettings,
    WatchSettings as WatchSettings,
    checked_settings as checked_settings,
    read_trigger_settings as read_trigger_settings,
)
from zerolap.triggers.trigger import (
    AskedComparison as AskedComparison,
    AskedTrigger as AskedTrigger,
    CommandTrigger as CommandTrigger,
    PullRequestTrigger as PullRequestTrigger,
    PushTrigger as PushTrigger,
    TagTrigger as TagTrigger,
    Trigger as Trigger,
    asked_by as asked_by,
    branch_subject as branch_subject,
    trigger_json as trigger_json,
)
