"""The toy server's source under Makefiles that set flags as those of Redis and Valkey did, one for each era.

What each era does is copied from `src/Makefile` and `deps/Makefile` of the releases named; the rest is left out.
"""

import shutil
from pathlib import Path

from toy_server import SOURCE

# Redis 7.0.15
TO_7_0 = """\
OPTIMIZATION?=-O2
"""

# Redis 7.2.5; Valkey 7.2.7 with SERVER_ for REDIS_
FROM_7_2 = """\
CLANG := $(findstring clang,$(shell sh -c '$(CC) --version | head -1'))
OPTIMIZATION?=-O3
ifeq ($(OPTIMIZATION),-O3)
	ifeq (clang,$(CLANG))
		PREFIX_CFLAGS+=-flto
	else
		PREFIX_CFLAGS+=-flto=auto
	endif
	PREFIX_LDFLAGS+=-O3 -flto
endif
"""

# Redis 7.4.1; Valkey 8.0.1 with SERVER_ for REDIS_
FROM_7_4 = """\
CLANG := $(findstring clang,$(shell sh -c '$(CC) --version | head -1'))
OPTIMIZATION?=-O3
ifeq ($(OPTIMIZATION),-O3)
	ifeq (clang,$(CLANG))
		OPTIMIZATION+=-flto
	else
		OPTIMIZATION+=-flto=auto
	endif
endif
ifneq ($(OPTIMIZATION),-O0)
	OPTIMIZATION+=-fno-omit-frame-pointer
endif
"""

VALKEY_NAMES = """\
ifdef REDIS_CFLAGS
    SERVER_CFLAGS := $(REDIS_CFLAGS)
endif
ifdef REDIS_LDFLAGS
    SERVER_LDFLAGS := $(REDIS_LDFLAGS)
endif
"""

MAKEFILE = """\
DEFAULTS
OPT=$(OPTIMIZATION)
MALLOC=jemalloc
# Override default settings if possible
-include .make-settings
NAMES
FINAL_CFLAGS=-std=gnu11 $(OPT) $(DEBUG) $(CFLAGS) $(PREFIX_CFLAGS)
FINAL_LDFLAGS=$(LDFLAGS) LINKED $(PREFIX_LDFLAGS) $(DEBUG)
DEBUG=-g -ggdb
ifeq ($(MALLOC),jemalloc)
	FINAL_CFLAGS+= -DUSE_JEMALLOC
endif
SERVER_NAME=toy-server

persist-settings: distclean
	echo OPT=$(OPT) >> .make-settings
	echo MALLOC=$(MALLOC) >> .make-settings
	echo CFLAGS=$(CFLAGS) >> .make-settings
	echo LDFLAGS=$(LDFLAGS) >> .make-settings
	echo PREFIX_CFLAGS=$(PREFIX_CFLAGS) >> .make-settings
	echo PREFIX_LDFLAGS=$(PREFIX_LDFLAGS) >> .make-settings
	echo PREV_FINAL_CFLAGS=$(FINAL_CFLAGS) >> .make-settings
	echo PREV_FINAL_LDFLAGS=$(FINAL_LDFLAGS) >> .make-settings
	-(cd ../deps && $(MAKE) bundled.o)

.make-prerequisites:
	@touch $@

ifneq ($(strip $(PREV_FINAL_CFLAGS)), $(strip $(FINAL_CFLAGS)))
.make-prerequisites: persist-settings
endif

ifneq ($(strip $(PREV_FINAL_LDFLAGS)), $(strip $(FINAL_LDFLAGS)))
.make-prerequisites: persist-settings
endif

$(SERVER_NAME): server.o commands.o format.o table.o
	$(CC) $(FINAL_LDFLAGS) -o $@ $^ ../deps/bundled.o

%.o: %.c .make-prerequisites
	$(CC) -c $(FINAL_CFLAGS) $<

distclean:
	-(rm -f .make-* *.o $(SERVER_NAME) ../deps/*.o)

.PHONY: persist-settings distclean
"""

BUNDLED_MAKEFILE = """\
CC?= gcc
bundled.o: bundled.c
	$(CC) -O3 $(CFLAGS) -DMADE_WITH='"made with $(CC) -O3 $(CFLAGS)."' -c bundled.c
"""

SAYS_VERSION = 'puts("toy-server v=" VERSION);'
SAYS_ALLOCATOR = """
#ifdef USE_JEMALLOC
    puts("toy-server v=" VERSION " malloc=jemalloc-5.3.0");
#else
    puts("toy-server v=" VERSION " malloc=libc");
#endif
"""

ERAS = {
    "redis-7.0": (TO_7_0, "", "", "REDIS"),
    "redis-7.2": (FROM_7_2, "", "", "REDIS"),
    "valkey-7.2": (FROM_7_2, VALKEY_NAMES, "", "SERVER"),
    "redis-7.4": (FROM_7_4, "", "$(OPT)", "REDIS"),
    "valkey-8.0": (FROM_7_4, VALKEY_NAMES, "$(OPT)", "SERVER"),
}


def tree_of_era(era: str, path: Path) -> Path:
    """Write a tree whose Makefile is of an era, and return its path."""
    defaults, names, linked, prefix = ERAS[era]
    shutil.copytree(SOURCE, path)
    makefile = MAKEFILE.replace("DEFAULTS", defaults).replace("NAMES", names).replace("LINKED", linked)
    (path / "src" / "Makefile").write_text(makefile.replace("PREFIX_", f"{prefix}_"))
    server = path / "src" / "server.c"
    assert SAYS_VERSION in server.read_text()
    server.write_text(server.read_text().replace(SAYS_VERSION, SAYS_ALLOCATOR))
    (path / "deps").mkdir()
    (path / "deps" / "Makefile").write_text(BUNDLED_MAKEFILE)
    (path / "deps" / "bundled.c").write_text("const char *made_with(void) { return MADE_WITH; }\n")
    return path
