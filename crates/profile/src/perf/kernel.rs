//! Names of the kernel's functions.

use std::fs::File;
use std::io::{BufRead, BufReader};

use crate::symbol;

const PATH: &str = "/proc/kallsyms";
/// A kernel with many modules has some 20 MB of them.
const LIMIT_BYTES: u64 = 256 << 20;
/// perf notes down where one of these lies.
const STARTS: [&str; 2] = ["_text", "_stext"];

/// Functions by their address, in order; empty when they are secret, or those of another start of the machine.
#[derive(Default)]
pub(super) struct KernelSymbols(Vec<(u64, String)>);

impl KernelSymbols {
    /// Those of the running kernel, if `start` is where its code begins.
    pub(super) fn running(start: u64) -> Self {
        File::open(PATH).map_or_else(|_| Self::default(), |file| Self::read(BufReader::new(file), start))
    }

    /// Lines such as `ffffffff81000000 T _stext`, with a module's name behind where there is one.
    fn read(input: impl BufRead, start: u64) -> Self {
        let mut symbols = Vec::new();
        let mut is_same = false;
        for line in input.take(LIMIT_BYTES).lines().map_while(Result::ok) {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            is_same |= address == start && address != 0 && STARTS.contains(&name);
            if matches!(kind, "t" | "T" | "w" | "W") {
                symbols.push((address, name.to_owned()));
            }
        }
        if !is_same {
            return Self::default();
        }
        symbols.sort_by_key(|(address, _)| *address);
        // Of several names for one place the first is kept: it is the one that the kernel lists first itself.
        symbols.dedup_by_key(|(address, _)| *address);
        Self(symbols)
    }

    /// The name in its normal form.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let before = self.0.partition_point(|(start, _)| *start <= address);
        self.0.get(before.checked_sub(1)?).map(|(_, name)| symbol::normal_form(name))
    }
}

#[cfg(test)]
mod tests {
    use super::KernelSymbols;

    const LIST: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t vfs_read
ffffffff81000100 t alias_of_it
ffffffff81000150 D a_variable
ffffffff81000200 t tcp_sendmsg.isra.0\t[tcp]
";

    #[test]
    fn the_function_is_the_one_that_begins_before() {
        let symbols = KernelSymbols::read(LIST.as_bytes(), 0xffff_ffff_8100_0000);
        assert_eq!(symbols.name(0xffff_ffff_8100_01ff), Some("vfs_read"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0200), Some("tcp_sendmsg"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0300), Some("tcp_sendmsg"));
        assert_eq!(symbols.name(0x1000), None);
    }

    #[test]
    fn symbols_of_another_start_or_kept_secret_are_not_used() {
        assert_eq!(KernelSymbols::read(LIST.as_bytes(), 0xffff_ffff_9100_0000).name(u64::MAX), None);
        let secret = LIST.replace("ffffffff81", "0000000000");
        assert_eq!(KernelSymbols::read(secret.as_bytes(), 0).name(u64::MAX), None);
    }
}
