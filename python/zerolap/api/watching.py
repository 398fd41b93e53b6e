"""`zerolap watch`: this machine follows one remote and measures what comes, without listening for anybody."""

import asyncio
from collections.abc import Callable
from typing import Final

from zerolap.api.serving import CONDUCTOR, Serving, serve
from zerolap.records import UsageError
from zerolap.sandbox import SandboxPolicy
from zerolap.store import RequestBusy, Store
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.names import BRANCHES, TAGS
from zerolap.triggers.notifying import Push
from zerolap.triggers.running import Triggers, mirrors_of
from zerolap.triggers.settings import TriggerSettings, WatchSettings

POLL_SECONDS: Final = 0.5


async def follow(
    store: Store,
    settings: TriggerSettings,
    sandbox: SandboxPolicy,
    on_measured: Callable[[Push], None],
    *,
    since: str = "",
    once: bool = False,
) -> None:
    """Follow the remotes of the settings until SIGTERM or SIGINT, or, with `once`, until what is new is measured.

    `since` is a commit or tag behind which following begins where the remote was not asked before. Raises `UsageError`
    where another conductor works on the store, or for a revision that the remote does not have.
    """
    try:
        with store.claim(CONDUCTOR):
            pass
    except RequestBusy:
        raise UsageError(
            f"zerolap serve or another zerolap watch works on the store {store.place}",
            hint="give another --store, or have serve follow the remote: zerolap serve --triggers FILE",
        ) from None
    if since:
        for watch in settings.watches:
            await asyncio.to_thread(_begin_behind, since, watch, store)
    triggers = Triggers(store, settings, mirrors_of(store), on_measured)
    until = triggers.until_idle if once else None
    await serve(Serving(store, None, sandbox=sandbox, triggers=triggers, until=until))


def _begin_behind(since: str, watch: WatchSettings, store: Store) -> None:
    """Record that the branches of a remote were at a commit when it was last asked, unless it was asked before."""
    if store.triggers.watched(watch.remote):
        return
    mirror = Mirror.below(mirrors_of(store), watch.remote)
    refs = mirror.refs()
    followed = [name for name in refs if name.startswith(BRANCHES) and watch.follows_branch(name)]
    mirror.fetch([refs[name] for name in followed])
    commit = refs.get(f"{TAGS}{since}") or refs.get(f"{BRANCHES}{since}") or mirror.revision(since)
    if commit is None:
        raise UsageError(f"{mirror.shown} has no revision `{since}`", hint="give a tag or the hash of a commit")
    mirror.fetch([commit])
    store.triggers.saw(watch.remote, dict.fromkeys(followed, commit))
