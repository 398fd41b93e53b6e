"""`zerolap watch`: this machine follows one remote and measures what comes, without listening for anybody."""

import asyncio
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from zerolap.api.serving import ServeOptions, serve
from zerolap.records import Comparison, EnvironmentMissing, UsageError
from zerolap.sandbox import SandboxPolicy
from zerolap.store import Store
from zerolap.triggers import (
    BRANCHES,
    Mirror,
    Push,
    Triggers,
    TriggerSettings,
    WatchSettings,
    commit_of_ref,
    mirrors_of,
)

NAMED_BRANCHES: Final = 5


async def follow(
    store: Store,
    settings: TriggerSettings,
    sandbox: SandboxPolicy,
    on_measured: Callable[[Push, Sequence[Comparison]], None],
    *,
    since: str = "",
    once: bool = False,
) -> None:
    """Follow the remotes of the settings until SIGTERM or SIGINT, or, with `once`, until what is new is measured.

    `since` is a commit or tag behind which following begins where the remote was not asked before. Raises `UsageError`
    where another conductor works on the store, or for a branch or revision that the remote does not have, and
    `EnvironmentMissing` where a remote cannot be reached that was never asked before. A branch that vanishes later is
    logged, and followed again once it is back.
    """
    if store.has_conductor():
        raise UsageError(
            f"zerolap serve or another zerolap watch works on the store {store.address}",
            hint="give another --store, or have serve follow the remote: zerolap serve --triggers FILE",
        )
    triggers = Triggers(store, settings, mirrors_of(store), on_measured)
    for watch in settings.watches:
        await asyncio.to_thread(_begin, watch, store, since)
    until = triggers.until_idle if once else None
    await serve(ServeOptions(store, (), sandbox=sandbox, triggers=triggers, until=until))


def _begin(watch: WatchSettings, store: Store, since: str) -> None:
    """Check that a remote has what is to be followed.

    Of a remote that was not asked before, record that its branches were at `since` when last asked.
    """
    mirror = Mirror.below(mirrors_of(store), watch.remote)
    was_asked = bool(store.triggers.watched(watch.remote))
    try:
        refs = mirror.refs()
    except EnvironmentMissing:
        if was_asked:
            # It is asked again while it is followed.
            return
        raise
    _require_branches(watch, refs, mirror.shown)
    if was_asked or not since:
        return
    followed = [name for name in refs if name.startswith(BRANCHES) and watch.follows_branch(name)]
    mirror.fetch([refs[name] for name in followed])
    commit = commit_of_ref(since, refs, mirror.shown) or mirror.revision(since)
    if commit is None:
        raise UsageError(f"{mirror.shown} has no revision `{since}`", hint="give a tag or the hash of a commit")
    mirror.fetch([commit])
    store.triggers.saw(watch.remote, dict.fromkeys(followed, commit))


def _require_branches(watch: WatchSettings, refs: Mapping[str, str], shown: str) -> None:
    """Raise `UsageError` for a branch that is not there; what a glob stands for may come later."""
    there = [name.removeprefix(BRANCHES) for name in refs if name.startswith(BRANCHES)]
    for branch in watch.named_branches:
        if branch not in there:
            near = difflib.get_close_matches(branch, there, n=NAMED_BRANCHES, cutoff=0) or ["none"]
            raise UsageError(f"{shown} has no branch `{branch}`", hint=f"branches of it: {', '.join(near)}")
