"""Kernels that the lab builds, as servers are: what went in, and what came out."""

from zerolap.records.base import Record


class KernelPatch(Record):
    """A patch that a kernel was built with: the name of its file, and the digest of its content."""

    name: str
    digest: str


class Kernel(Record):
    """A kernel that was built of a source, patches and a configuration; `digest` names all that went in.

    `name` is that of the source's file or directory. `without_effect` are settings of the user's configuration that the
    kernel was not built with: it does not know them, or what they depend on is missing.
    """

    digest: str
    name: str
    version: str
    patches: list[KernelPatch] = []
    compiler: str
    without_effect: list[str] = []
