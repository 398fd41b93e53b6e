"""Completes web/package-lock.json, so that it holds with any index of packages.

Addresses are left out. Optional packages of other platforms that the index at hand did not have are entered: `npm ci`
wants every one of them named, also those that it does not install.
"""

import json
import sys
from pathlib import Path
from typing import Any

SYSTEMS = frozenset(
    {"aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"}
)
PROCESSORS = frozenset({"arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"})


def complete(packages: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the lock's packages without addresses and with all optional packages."""
    completed = {place: {k: v for k, v in entry.items() if k != "resolved"} for place, entry in packages.items()}
    for entry in packages.values():
        for name, version in entry.get("optionalDependencies", {}).items():
            added = {"version": version, **({"dev": True} if entry.get("dev") else {}), "optional": True}
            completed.setdefault(f"node_modules/{name}", added | platform_of(name))
    root = {"": completed.pop("")}
    return root | dict(sorted(completed.items()))


def platform_of(name: str) -> dict[str, list[str]]:
    """Return the platform that the name of a package with binaries tells, as npm writes it."""
    words = set(name.rpartition("/")[2].split("-"))
    libraries = {"musl": "musl", "gnu": "glibc"}
    found = {
        "os": sorted(words & SYSTEMS),
        "cpu": sorted(words & PROCESSORS),
        "libc": sorted(libraries[word] for word in words & libraries.keys()),
    }
    return {field: values for field, values in found.items() if values}


def main() -> int:
    """Rewrite the lock file that the command line names."""
    path = Path(sys.argv[1])
    lock = json.loads(path.read_text(encoding="utf-8"))
    lock["packages"] = complete(lock["packages"])
    path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
