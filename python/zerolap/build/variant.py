"""How a source is built: compiler, optimization, link-time optimization, allocator, frame pointers."""

import difflib
import re
from typing import Literal, TypeAlias

from zerolap.records import Record, UsageError

Optimization: TypeAlias = Literal["-O0", "-O1", "-O2", "-O3"]
Allocator: TypeAlias = Literal["jemalloc", "libc"]

DEFAULT_WORD = "default"
COMPILER = re.compile(r"(gcc|clang)(?:-(\d+))?")
"""A compiler, or a version of it as distributions name them: `clang-19`."""
WORDS: dict[str, tuple[str, str | bool]] = {
    "-O0": ("optimization", "-O0"),
    "-O1": ("optimization", "-O1"),
    "-O2": ("optimization", "-O2"),
    "-O3": ("optimization", "-O3"),
    "-flto": ("link_time_optimization", True),
    "-fno-lto": ("link_time_optimization", False),
    "jemalloc": ("allocator", "jemalloc"),
    "libc": ("allocator", "libc"),
    "frame-pointers": ("frame_pointers", True),
    "no-frame-pointers": ("frame_pointers", False),
}
"""The words that follow the compiler in a variant's name, in their order, each with the field that it sets."""

COMPILERS = ("gcc", "clang")

SYNONYMS = {"-fno-omit-frame-pointer": "frame-pointers", "-fomit-frame-pointer": "no-frame-pointers"}
EXTRA_FLAG = re.compile(r"-[fmD][\w.+=:-]+")
"""Only flags that mean the same in every Makefile: nothing that make, a shell or the linker reads."""


class Variant(Record):
    """What is asked of a build; a field that is none is left to the source's own Makefile.

    `extra` are further flags of the compiler, for the server's own code alone.
    """

    compiler: str | None = None
    optimization: Optimization | None = None
    link_time_optimization: bool | None = None
    allocator: Allocator | None = None
    frame_pointers: bool | None = None
    extra: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words that make this variant, in one order; `default` for the Makefile's own build."""
        words = [word for word, (field, value) in WORDS.items() if getattr(self, field) == value]
        compiler = [] if self.compiler is None else [self.compiler]
        return ",".join([*compiler, *words, *self.extra]) or DEFAULT_WORD

    @property
    def is_default(self) -> bool:
        """Whether all is left to the Makefile."""
        return self == DEFAULT

    def with_changes(self, other: "Variant") -> "Variant":
        """Return this variant with all that the other one sets."""
        changed = {field: value for field, value in other if value is not None}
        return self.model_copy(update=changed | {"extra": tuple(dict.fromkeys(self.extra + other.extra))})


DEFAULT = Variant()


def parse_variant(text: str) -> Variant:
    """Return the variant that words separated by commas stand for; raises `UsageError`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError(f"`--variant {text}` names nothing", hint="write clang,-O2,-flto,libc or default")
    if words == [DEFAULT_WORD]:
        return DEFAULT
    chosen: dict[str, str | bool] = {}
    said: dict[str, str] = {}
    extra: list[str] = []
    for word in words:
        if word == DEFAULT_WORD:
            raise UsageError(f"`--variant {text}`: `{DEFAULT_WORD}` stands alone", hint="leave the other words out")
        known = ("compiler", word) if COMPILER.fullmatch(word) else WORDS.get(SYNONYMS.get(word, word))
        if known is None:
            extra.append(_extra_flag(word))
            continue
        field, value = known
        if chosen.setdefault(field, value) != value:
            raise UsageError(f"`--variant {text}`: `{said[field]}` and `{word}` contradict", hint="keep one of them")
        said[field] = word
    return Variant.model_validate(chosen | {"extra": tuple(dict.fromkeys(extra))})


def _extra_flag(word: str) -> str:
    """Return a flag that is passed on as it is; raises `UsageError` for a misspelt word."""
    unchecked = word.startswith(("-flto", "-fno-lto", "-fuse-ld", "-fplugin"))
    if EXTRA_FLAG.fullmatch(word) and not unchecked:
        return word
    near = difflib.get_close_matches(word, [*COMPILERS, *WORDS, DEFAULT_WORD], n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    words = ", ".join([*COMPILERS, *WORDS])
    raise UsageError(
        f"`{word}` is no word of a variant",
        hint=f"{hint}words: {words}; a compiler's version such as clang-19; or a flag such as -march=native",
    )
