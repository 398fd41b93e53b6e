//! Threads that never sleep.

use std::thread;
use std::time::Duration;

use super::count;
use crate::support::load;
use crate::support::scripted::Scripted;

#[test]
fn busy_threads_spin_and_others_sleep() {
    let spun = |arguments: &[&str]| {
        let server = Scripted::replying(|_, _| {
            thread::sleep(Duration::from_millis(20));
            "+OK\r\n".to_owned()
        });
        let document = load(&server, &[&["-t", "1", "-c", "1", "-n", "10", "--command", "PING"], arguments].concat());
        assert_eq!(document["lab"]["requests"], 10);
        let thread = &document["lab"]["client"]["threads"][0];
        (count(&thread["spin_ns"]), document["lab"]["settings"]["busy_poll"].clone())
    };
    assert_eq!(spun(&[]), (0, false.into()));
    // It waits for 200 ms at least.
    let (spin_ns, is_recorded) = spun(&["--busy-poll"]);
    assert!(spin_ns > 0 && is_recorded == true, "{spin_ns}");
}
