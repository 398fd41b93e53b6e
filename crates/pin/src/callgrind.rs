//! Requests to callgrind: instruction sequences that do nothing on a processor and are recognised by valgrind
//! (valgrind.h, callgrind.h; the same since valgrind 3.3).

const TOOL: u64 = ((b'C' as u64) << 24) | ((b'T' as u64) << 16);
const DUMP_STATS: u64 = TOOL;
const START_INSTRUMENTATION: u64 = TOOL + 4;
const STOP_INSTRUMENTATION: u64 = TOOL + 5;

pub(crate) fn start_instrumentation() {
    request(START_INSTRUMENTATION);
}

pub(crate) fn stop_instrumentation() {
    request(STOP_INSTRUMENTATION);
}

pub(crate) fn dump_stats() {
    request(DUMP_STATS);
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn request(code: u64) {
    let arguments: [u64; 6] = [code, 0, 0, 0, 0, 0];
    // SAFETY: rotates rdi by 128 bits in all and exchanges rbx with itself: no effect outside valgrind, which writes
    // its answer to rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") 0_u64 => _,
            in("rax") arguments.as_ptr(),
            inout("rdi") 0_u64 => _,
        );
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn request(code: u64) {
    let arguments: [u64; 6] = [code, 0, 0, 0, 0, 0];
    // SAFETY: rotates x12 by 128 bits in all and ors x10 with itself: no effect outside valgrind, which writes its
    // answer to x3.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            inout("x3") 0_u64 => _,
            in("x4") arguments.as_ptr(),
            inout("x12") 0_u64 => _,
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the instruction sequence that valgrind recognises is not known here for this processor");
