"""Transparent huge pages of single servers: asked for or avoided by each process; the machine's setting stays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zerolap.byte_counts import shown_bytes
from zerolap.records import EnvironmentMissing, HugePages, TrialFailed
from zerolap.server import AnonymousMemory

MACHINE_SETTING: Final = Path("/sys/kernel/mm/transparent_hugepage")
"""Servers and allocators read there whether they have to do anything."""
HUGE_PAGE_VARIABLES: Final[Mapping[HugePages, Mapping[str, str]]] = {
    "always": {
        "MALLOC_CONF": "thp:always",
        "JE_MALLOC_CONF": "thp:always",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    },
    "never": {"MALLOC_CONF": "thp:never", "JE_MALLOC_CONF": "thp:never"},
}
"""Environment variables with which jemalloc, also that in Redis' sources, and the C library advise the kernel on all
their memory.
"""
LEAST_SHARE: Final = 0.5
"""The least share of huge pages in the anonymous memory of a server that has huge pages."""
MOST_SHARE: Final = 0.1
"""The largest share of huge pages in the anonymous memory of a server that has none."""


def visible_setting() -> list[Path]:
    """Return the paths of the machine's setting, which servers in the sandbox do not see otherwise."""
    return [MACHINE_SETTING] if MACHINE_SETTING.exists() else []


def require_huge_pages_possible(wanted: HugePages, machine: str) -> None:
    """Raise `EnvironmentMissing` if no server can have huge pages on a machine with that setting."""
    if wanted == "always" and machine not in ("always", "madvise"):
        raise EnvironmentMissing(
            "no server can have transparent huge pages: the kernel has none, or is set to `never`",
            hint=f"echo madvise | sudo tee {MACHINE_SETTING}/enabled",
        )


def huge_page_settings(wanted: HugePages | None, machine: str) -> dict[str, str]:
    """Return settings of a server for it: where the machine's is `always`, Redis declines huge pages by default."""
    return {"disable-thp": "no"} if wanted == "always" and machine == "always" else {}


def require_huge_pages(wanted: HugePages, memory: AnonymousMemory | None) -> None:
    """Raise `TrialFailed` if a filled server does not have the pages that were wanted."""
    if memory is None:
        raise TrialFailed("the kernel does not show how much memory of the server lies in huge pages")
    share = memory.huge_page_bytes / memory.all_bytes
    if share < LEAST_SHARE if wanted == "always" else share > MOST_SHARE:
        part = f"{shown_bytes(memory.huge_page_bytes)} of its {shown_bytes(memory.all_bytes)} lie in huge pages"
        raise TrialFailed(
            f"the server does not do as transparent-huge-pages={wanted} asks: {part}",
            hint="its allocator does not follow MALLOC_CONF or GLIBC_TUNABLES, or memory is fragmented",
        )
