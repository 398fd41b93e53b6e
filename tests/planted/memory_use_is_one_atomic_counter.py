"""Each allocation and release adds to one atomic counter of all threads (valkey#674, valkey#1179)."""

from planted import Planted, Replacement

PLANTED = Planted(
    case="set-ex-100B",
    detector="atomics",
    functions=frozenset({"zmalloc", "zfree", "zcalloc", "zrealloc", "ztrymalloc_usable", "zmalloc_usable"}),
    fixed=(
        Replacement(
            "zmalloc.c",
            "#define update_zmalloc_stat_alloc(__n) atomicIncr(used_memory,(__n))\n"
            "#define update_zmalloc_stat_free(__n) atomicDecr(used_memory,(__n))\n",
            "#define update_zmalloc_stat_alloc(__n) (used_memory_here += (__n))\n"
            "#define update_zmalloc_stat_free(__n) (used_memory_here -= (__n))\n"
            "static __thread long long used_memory_here = 0;\n",
        ),
    ),
)
