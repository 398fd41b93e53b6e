"""What was measured, and how: servers, settings, platform, how to repeat it."""

from collections.abc import Sequence

from zerolap.records import Comparison, MeasuredServer, RunReport, Settings
from zerolap.sheets.format import COMMIT_DIGITS, percent
from zerolap.sheets.sheet import Fact, Section, as_name


def server_text(server: MeasuredServer) -> str:
    """Return a server in a line: its names, version, settings, and the first line of its commit's message.

    What its name says already is left out.
    """
    parts = [as_name(server.name)]
    is_named_by_commit = server.commit is not None and server.commit[:COMMIT_DIGITS] == server.name
    parts += [as_name(server.commit[:COMMIT_DIGITS])] if server.commit and not is_named_by_commit else []
    parts += [server.version.replace("`", "'")] if server.version not in ("", server.name) else []
    parts += [as_name(f"{key}={value}") for key, value in server.config.items()]
    return " ".join(parts) + (f": {as_name(server.subject)}" if server.subject else "")


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


def closing_facts(document: Comparison | RunReport, everything: str) -> list[Fact]:
    """Return how a document is shown with everything, and how it is measured with the same random choices."""
    shown = f"{as_name(f'zerolap explain {document.id} --all')}: {everything}"
    seed = f"`--seed {document.settings.seed}` makes the same random choices"
    return [Fact(label="all", text=shown), Fact(label="repeat", text=seed)]
