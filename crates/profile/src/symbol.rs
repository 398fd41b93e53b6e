//! The normal form of a symbol: the name in the source, whatever the compiler made of it.

/// What GCC and Clang append to the name of a function that they cloned, split or moved.
const SUFFIXES: [&str; 6] = ["constprop", "isra", "part", "cold", "lto_priv", "llvm"];
/// Suffixes that also come without a number.
const BARE_SUFFIXES: [&str; 1] = ["cold"];

/// The name without the suffixes of cloned, split and moved functions (`.constprop.0`, `.isra.0`, `.part.0`, `.cold`,
/// `.lto_priv.0`, `.llvm.0`, in any number and order) and without callgrind's mark of a recursion level (`'2`).
#[must_use]
pub fn normal_form(symbol: &str) -> &str {
    let mut name = symbol;
    loop {
        let shorter = without_recursion(without_last_suffix(name).unwrap_or(name));
        if shorter == name {
            return name;
        }
        name = shorter;
    }
}

/// Whether the symbol names a clone or a piece of a function.
#[must_use]
pub fn is_piece(symbol: &str) -> bool {
    without_last_suffix(without_recursion(symbol)).is_some()
}

/// The symbol without callgrind's mark of a recursion level (`--separate-recs`).
#[must_use]
pub fn without_recursion(symbol: &str) -> &str {
    match symbol.rsplit_once('\'') {
        Some((name, level)) if !name.is_empty() && is_number(level) => name,
        _ => symbol,
    }
}

fn without_last_suffix(name: &str) -> Option<&str> {
    let (rest, last) = name.rsplit_once('.')?;
    if BARE_SUFFIXES.contains(&last) {
        return Some(rest).filter(|rest| !rest.is_empty());
    }
    let (rest, word) = rest.rsplit_once('.')?;
    (is_number(last) && SUFFIXES.contains(&word) && !rest.is_empty()).then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_piece, normal_form};

    #[test]
    fn suffixes_of_the_compiler_go() {
        for (symbol, name) in [
            ("addReply.part.0", "addReply"),
            ("extent_split_interior.constprop.0.isra.0", "extent_split_interior"),
            ("main.cold", "main"),
            ("main.cold.12", "main"),
            ("dictFind.lto_priv.3.cold", "dictFind"),
            ("f.llvm.1234567890", "f"),
            ("rdbSaveRio.part.0'2", "rdbSaveRio"),
        ] {
            assert_eq!(normal_form(symbol), name);
        }
    }

    #[test]
    fn other_names_stay() {
        for name in ["", ".", "'2", ".cold", ".part.0", "a.part", "a.part.x", "malloc@@GLIBC_2.2.5", "(below main)"] {
            assert_eq!(normal_form(name), name);
        }
        assert_eq!(normal_form("zerolap_pin::callgrind::request"), "zerolap_pin::callgrind::request");
    }

    #[test]
    fn recursion_alone_is_no_piece() {
        assert!(!is_piece("f'2"));
        assert!(is_piece("f.part.0'2"));
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own_normal_form(symbol in "[a-c.'0-9]{0,12}(\\.(cold|part\\.1|isra\\.0)){0,3}") {
            let once = normal_form(&symbol);
            prop_assert_eq!(normal_form(once), once);
            prop_assert!(symbol.starts_with(once));
        }
    }
}
