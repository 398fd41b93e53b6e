//! Any command line is understood or refused, and the same one always alike.

#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use zerolap_load_arguments::parse;

fuzz_target!(|bytes: &[u8]| {
    // Words stand between line feeds, so that what is found can be read.
    let words = || bytes.split(|&byte| byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    let (once, again) = (parse(words()), parse(words()));
    assert_eq!(once.is_ok(), again.is_ok());
    if let Err(error) = once {
        assert!(!error.to_string().is_empty());
    }
});
