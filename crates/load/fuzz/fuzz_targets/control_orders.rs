//! Any line as an order of `--control`: it is one only if it is a JSON object with an order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zerolap_load::untrusted::is_control_order;

fuzz_target!(|line: &[u8]| {
    if is_control_order(line) {
        let text = std::str::from_utf8(line).expect("JSON is UTF-8");
        assert!(text.contains("do") && text.trim_start().starts_with('{'), "{text}");
    }
});
