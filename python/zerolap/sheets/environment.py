"""What was measured, and how: servers, settings, platform, what was skipped, how to repeat it."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from zerolap.records import Comparison, MeasuredServer, RunReport, Settings, Skipped
from zerolap.sheets.format import COMMIT_DIGITS, listing, percent
from zerolap.sheets.sheet import Fact, Section, Sentence, as_name

MOST_SKIPPED: Final = 20
"""Those that are named; the JSON document has all."""


def server_text(server: MeasuredServer) -> str:
    """Return a server in a line: its names, version, settings, and the subject and author of its commit.

    What its name says already is left out.
    """
    parts = [as_name(server.name)]
    is_named_by_commit = server.commit is not None and server.commit[:COMMIT_DIGITS] == server.name
    parts += [as_name(server.commit[:COMMIT_DIGITS])] if server.commit and not is_named_by_commit else []
    parts += [server.version.replace("`", "'")] if server.version not in ("", server.name) else []
    parts += [as_name(f"{key}={value}") for key, value in server.config.items()]
    by_author = f" by {as_name(server.author)}" if server.author else ""
    return " ".join(parts) + (f": {as_name(server.subject)}{by_author}" if server.subject else "")


def build_text(server: MeasuredServer) -> str:
    """Return a build in a line: names, configuration, commit, flags, compiler, allocator."""
    parts = [as_name(server.name)]
    parts += [server.version.replace("`", "'")] if server.version not in ("", server.name) else []
    parts += [as_name(f"{key}={value}") for key, value in server.config.items()]
    parts += [f"commit {as_name(server.commit)}"] if server.commit else []
    parts += [f"build {as_name(server.build)}", f"flags {as_name(server.flags)}" if server.flags else "flags unknown"]
    parts += [as_name(part) for part in (server.compiler, server.allocator) if part]
    return ", ".join(parts)


def settings_text(settings: Settings) -> str:
    """Return the minimum effects, q and level in a line."""
    effects = ", ".join(f"{engine} {percent(value)}" for engine, value in settings.min_effect.items())
    level = "" if settings.level is None else f"; intervals of {percent(settings.level)}"
    return f"smallest change that counts: {effects}; q {settings.q:g}{level}"


def repeating(document: Comparison | RunReport, facts: Sequence[Fact]) -> Section:
    """Return a folded section on how to repeat a measurement; `facts` are those of the kind of document."""
    platform, noun = document.platform, "run" if isinstance(document, RunReport) else "comparison"
    machine = f"{as_name(platform.name)}, {as_name(platform.cpu)}, {platform.cores} cores, kernel"
    return Section(
        key="repeating",
        title="How to repeat it",
        is_folded=True,
        facts=[
            Fact(label="command", text=as_name(document.command_line)),
            Fact(label="seed", text=as_name(str(document.settings.seed))),
            *facts,
            Fact(
                label="platform",
                text=f"{machine} {as_name(platform.kernel)}, fingerprint {as_name(platform.fingerprint)}",
            ),
            Fact(label=noun, text=f"{as_name(document.id)} of {as_name(document.created)}"),
        ],
    )


def closing_fact(document: Comparison | RunReport) -> Fact:
    """Return how a document is shown with everything, and how it is measured with the same random choices."""
    shown = as_name(f"zerolap explain {document.id} --all")
    return Fact(label="all", text=f"{shown}; the same random choices: `--seed {document.settings.seed}`")


def skipped_section(skipped: Sequence[Skipped], most: int = MOST_SKIPPED) -> list[Section]:
    """Return how many cases were skipped, and the first of them with what they lack; nothing without any."""
    line, left = skipped_line(skipped), len(skipped) - most
    sentences = [Sentence(label=of.reason, text=f"{as_name(of.case)}: {of.text}") for of in skipped[:most]]
    sentences += [Sentence(text=f"and {left:,} more", mark="quiet")] if left > 0 else []
    return [] if line is None else [Section(key="skipped", title=line, sentences=sentences)]


def skipped_line(skipped: Sequence[Skipped]) -> str | None:
    """Return the number of skipped cases by reason: `31 skipped: 30 memory, 1 arguments`; None without any."""
    if not skipped:
        return None
    reasons = Counter(case.reason for case in skipped).most_common()
    return f"{len(skipped):,} skipped: {listing(f'{number:,} {reason}' for reason, number in reasons)}"
