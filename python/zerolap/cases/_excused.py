"""Commands that no case measures, with the reason: one of a few."""

from importlib import resources

from zerolap.cases._document import read_document
from zerolap.records import Excuse, Record


class ExcusedCommands(Record):
    """The file of excused commands: the text of each reason, and the reason of each command."""

    reasons: dict[str, str]
    commands: dict[str, str]


def excused_commands() -> dict[str, Excuse]:
    """Return the excuse of each command that none of the package's suites measures."""
    resource = resources.files("zerolap.cases") / "excused.yml"
    document = read_document(resource.read_text(encoding="utf-8"), str(resource))
    excused = ExcusedCommands.model_validate(document.data)
    return {
        command: Excuse(reason=reason, text=excused.reasons[reason]) for command, reason in excused.commands.items()
    }
