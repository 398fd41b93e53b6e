"""A performance lab for servers that speak the Redis protocol.

    import zerolap

    comparison = zerolap.compare("HEAD~1", "HEAD", ["get-*"], repo="redis")
    for case in comparison.cases:
        print(case.case, case.verdict)

Documents and the values in them are types of `zerolap.records`; errors are those of `zerolap.errors`.
"""

# Type checkers take it for true; the module `typing` would be loaded by every command for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from zerolap import errors
    from zerolap.lab import Options
    from zerolap.python_api import Server, compare, load_cases, open_store, resume, run

__all__ = ["Options", "Server", "__version__", "compare", "errors", "load_cases", "open_store", "resume", "run"]

__version__ = "0.1.0"
_API = frozenset({"Server", "compare", "load_cases", "open_store", "resume", "run"})


def __dir__() -> list[str]:
    """Return all names, also of what is imported when it is used: completion offers them."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """Import what is used when it is used: the package itself is imported by every command."""
    import importlib

    if name in _API:
        return getattr(importlib.import_module("zerolap.python_api"), name)
    if name == "Options":
        return getattr(importlib.import_module("zerolap.lab"), name)
    if name == "errors":
        return importlib.import_module("zerolap.errors")
    raise AttributeError(f"module `zerolap` has no attribute `{name}`")
