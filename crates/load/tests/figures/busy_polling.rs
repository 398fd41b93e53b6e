//! Threads that never sleep.

use std::thread;
use std::time::Duration;

use crate::number;
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
        (number(&thread["cpu_ns"]), number(&thread["spin_ns"]), document["lab"]["settings"]["busy_poll"].clone())
    };
    // It waits for 200 ms at least.
    let (cpu_ns, spin_ns, told) = spun(&[]);
    assert!(cpu_ns < 50e6 && spin_ns < 1.0 && told == false, "{cpu_ns} {spin_ns}");
    let (cpu_ns, spin_ns, told) = spun(&["--busy-poll"]);
    assert!(cpu_ns > 5e6 && spin_ns > 5e6 && told == true, "{cpu_ns} {spin_ns}");
}
