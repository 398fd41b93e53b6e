"""The doctor's probes, one function per subject; none of them hangs or raises."""

from collections.abc import Callable

from zerolap.host.diagnosis import Diagnosis
from zerolap.host.probes import instruments, isolation, memory, processor, programs

PROBES: tuple[Callable[[], Diagnosis], ...] = (
    processor.cores,
    processor.pinning,
    processor.simultaneous_threads,
    processor.governor,
    processor.turbo,
    processor.virtualisation,
    memory.transparent_huge_pages,
    memory.memory,
    memory.overcommit,
    memory.address_randomisation,
    memory.disk,
    memory.sockets,
    programs.python,
    programs.redis_server,
    instruments.valgrind,
    instruments.library_symbols,
    instruments.perf,
    instruments.processor_counters,
    instruments.bpftrace,
    instruments.strace,
    isolation.bubblewrap,
    isolation.memory_limit,
    isolation.process_limit,
    isolation.disk_limit,
    isolation.time_limit,
    isolation.network,
    isolation.system_calls,
    programs.git,
    programs.compiler,
    programs.make,
    programs.ccache,
    programs.emulator,
)
