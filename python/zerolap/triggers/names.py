"""Names in payloads and settings: commits, refs, repositories and logins, in the forms that git and GitHub give them.

They are used in command lines of git, file names and comments; all other forms are refused.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, StringConstraints

from zerolap.github import REPOSITORY
from zerolap.records import UsageError

COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?")
LONGEST_REF_BYTES: Final = 255
"""The limit of GitHub, and of file systems for one component of a path."""
BRANCHES: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
HEAD: Final = "HEAD"

_FORBIDDEN_IN_REF: Final = re.compile(r"[\x00-\x20\x7f-\x9f~^:?*\[\\]|\.\.|@\{|//")


def ref_fault(name: str) -> str | None:
    """Return why git refuses a name of a branch or tag, None if it accepts the name.

    The rules are those of `git check-ref-format --branch`; C1 control characters and `@` alone are refused too.
    """
    faults = {
        "it is empty": not name,
        "it is too long": len(name.encode(errors="surrogatepass")) > LONGEST_REF_BYTES,
        "it has characters that git forbids": _FORBIDDEN_IN_REF.search(name) is not None,
        "it begins with -": name.startswith("-"),
        "it begins or ends with /": name.startswith("/") or name.endswith("/"),
        "it ends with .": name.endswith("."),
        "it is a name that git uses itself": name in ("@", HEAD),
        "a part begins with .": any(part.startswith(".") for part in name.split("/")),
        "a part ends with .lock": any(part.endswith(".lock") for part in name.split("/")),
    }
    return next((fault for fault, holds in faults.items() if holds), None)


def _checked_commit(text: str) -> str:
    if COMMIT.fullmatch(text) is None:
        raise ValueError("a commit has 40 or 64 hexadecimal digits")
    return text


def _checked_ref_name(text: str) -> str:
    if fault := ref_fault(text):
        raise ValueError(f"not the name of a branch or tag: {fault}")
    return text


def _checked_name_at_host(text: str) -> str:
    return text if text == HEAD else _checked_ref_name(text)


def _checked_ref(text: str) -> str:
    for prefix in (BRANCHES, TAGS):
        if text.startswith(prefix):
            _checked_name_at_host(text.removeprefix(prefix))
            return text
    raise ValueError("neither a branch nor a tag")


def _checked_repository(text: str) -> str:
    if REPOSITORY.fullmatch(text) is None:
        raise ValueError("a repository has a name like redis/redis")
    return text


def _checked_login(text: str) -> str:
    if LOGIN.fullmatch(text) is None:
        raise ValueError("not a login of GitHub")
    return text


_Text = Annotated[str, StringConstraints(strict=True, max_length=1024)]

CommitName = Annotated[_Text, AfterValidator(_checked_commit)]
RefName = Annotated[_Text, AfterValidator(_checked_ref_name)]
"""The name of a branch or tag, without `refs/heads/` or `refs/tags/`."""
NameAtHost = Annotated[_Text, AfterValidator(_checked_name_at_host)]
"""The name of a branch or tag, which may also be `HEAD`: a host accepts that name, git refuses it in commands."""
FullRef = Annotated[_Text, AfterValidator(_checked_ref)]
"""A branch or tag at a host, with `refs/heads/` or `refs/tags/`."""
RepositoryName = Annotated[_Text, AfterValidator(_checked_repository)]
"""Owner and name, such as `redis/redis`; for GitHub, upper and lower case are the same."""
Login = Annotated[_Text, AfterValidator(_checked_login)]
"""The login of a person or an application at GitHub; upper and lower case are the same."""


def commit_of_ref(name: str, refs: Mapping[str, str], shown: str) -> str | None:
    """Return the commit of a tag or branch among `refs` by its short or full name, None if there is neither.

    Raises `UsageError` if the short name is that of a tag and of a branch with other commits; `shown` is the remote.
    """
    there = {full: refs[full] for full in (name, f"{TAGS}{name}", f"{BRANCHES}{name}") if full in refs}
    if name in there:
        return there[name]
    if len(set(there.values())) > 1:
        named = ", ".join(f"`{full}` ({commit[:12]})" for full, commit in there.items())
        raise UsageError(
            f"`{name}` is ambiguous in {shown}: it can be {named}",
            hint=f"give the one that is meant: {' or '.join(there)}",
        )
    return next(iter(there.values()), None)


def is_same_name(name: str, other: str) -> bool:
    """Whether two names of repositories, two logins or two labels are the same to GitHub: letter case has no meaning.

    Names of branches, tags and commits are git's, and differ by case.
    """
    return name.casefold() == other.casefold()
