//! The laboratory's own library taken out of the sums, as if the server had called what lies behind it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sums::{Flow, FunctionKey, Own, Place, Sums};

/// How the base name of the laboratory's preloaded library begins.
pub(crate) const PIN_LIBRARY: &str = "libzerolap_pin";

/// Functions of the library that stand for those of the C library, which the server calls without entering the kernel.
const CLOCKS: [&str; 3] = ["clock_gettime", "gettimeofday", "time"];
const C_LIBRARY: &str = "libc.so.6";

/// Takes the preloaded library's functions out; calls that read a clock remain, as calls that cost nothing.
///
/// Their instructions go. Calls that pass through them become calls of their callers, and system calls that they make
/// themselves become their callers', in proportion to each caller's calls. The inclusive costs of edges further up still
/// hold the instructions taken out: a call graph does not record how much of them lies under which edge.
pub(crate) fn remove_pin_library(sums: &mut Sums) {
    let pins: Vec<FunctionKey> =
        sums.functions.keys().filter(|key| key.object.starts_with(PIN_LIBRARY)).cloned().collect();
    for pin in &pins {
        if CLOCKS.contains(&&*pin.name) {
            keep_calls(sums, pin);
        }
        remove(sums, pin);
    }
}

/// Adds the calls of one of the library's functions as calls of the C library's function of that name.
fn keep_calls(sums: &mut Sums, pin: &FunctionKey) {
    let stood_for = FunctionKey { object: Arc::from(C_LIBRARY), name: pin.name.clone(), file: None };
    let callers: Vec<_> = sums
        .edges
        .iter()
        .filter(|((caller, callee), _)| callee == pin && !caller.object.starts_with(PIN_LIBRARY))
        .map(|((caller, _), flow)| (caller.clone(), Flow { instructions: 0.0, ..flow.clone() }))
        .collect();
    for (caller, flow) in callers {
        sums.functions.entry(stood_for.clone()).or_default();
        sums.edges.entry((caller, stood_for.clone())).or_default().add(&flow, 1.0);
    }
}

fn remove(sums: &mut Sums, removed: &FunctionKey) {
    let own = sums.functions.remove(removed).unwrap_or_default();
    let (touching, others) = std::mem::take(&mut sums.edges)
        .into_iter()
        .partition::<BTreeMap<_, _>, _>(|((caller, callee), _)| caller == removed || callee == removed);
    sums.edges = others;
    let incoming: Vec<_> = touching.iter().filter(|((caller, _), _)| caller != removed).collect();
    let outgoing: Vec<_> = touching.iter().filter(|((_, callee), _)| callee != removed).collect();
    let calls: f64 = incoming.iter().map(|(_, flow)| flow.calls).sum();
    for ((caller, _), into) in &incoming {
        let share = if calls > 0.0 { into.calls / calls } else { 1.0 / incoming.len() as f64 };
        let syscalls = Own { syscalls: own.syscalls, ..Own::default() };
        sums.functions.entry(caller.clone()).or_default().add(&syscalls, share);
        for ((_, callee), out) in &outgoing {
            let edge = sums.edges.entry((caller.clone(), callee.clone())).or_default();
            edge.add(&Flow { lines: lines_of_calls(into, out.calls), ..**out }, share);
        }
    }
}

/// The lines of `into` with values that add up to `calls`, as those of `into` add up to its own.
fn lines_of_calls(into: &Flow, calls: f64) -> BTreeMap<Place, f64> {
    let factor = if into.calls > 0.0 { calls / into.calls } else { 0.0 };
    into.lines.iter().map(|(place, value)| (place.clone(), value * factor)).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use std::sync::Arc;

    use super::remove_pin_library;
    use crate::sums::{Flow, FunctionKey, Own, Sums};

    fn key(object: &str, name: &str) -> FunctionKey {
        FunctionKey { object: Arc::from(object), name: Arc::from(name), file: None }
    }

    fn own(instructions: f64, syscalls: f64) -> Own {
        Own { instructions, syscalls, ..Own::default() }
    }

    fn flow(calls: f64, instructions: f64) -> Flow {
        Flow { calls, instructions, lines: [((Arc::from("ae.c"), 7), calls)].into(), ..Flow::default() }
    }

    #[test]
    fn calls_and_system_calls_go_to_the_callers_by_their_calls() {
        let (first, second) = (key("server", "first"), key("server", "second"));
        let (outer, inner) = (key("libzerolap_pin.so", "outer"), key("libzerolap_pin.so", "inner"));
        let wait = key("libc.so.6", "epoll_wait");
        let mut sums = Sums {
            functions: [
                (first.clone(), own(10.0, 0.0)),
                (second.clone(), own(10.0, 0.0)),
                (outer.clone(), own(100.0, 4.0)),
                (inner.clone(), own(100.0, 0.0)),
                (wait.clone(), own(50.0, 8.0)),
            ]
            .into(),
            edges: [
                ((first.clone(), outer.clone()), flow(3.0, 180.0)),
                ((second.clone(), outer.clone()), flow(1.0, 60.0)),
                ((outer.clone(), inner.clone()), flow(4.0, 150.0)),
                ((inner.clone(), wait.clone()), flow(8.0, 50.0)),
                ((inner.clone(), inner.clone()), flow(1.0, 1.0)),
            ]
            .into(),
        };
        remove_pin_library(&mut sums);
        assert_eq!(sums.functions.keys().collect::<Vec<_>>(), [&wait, &first, &second]);
        assert_eq!(sums.functions.values().map(|own| own.instructions).sum::<f64>(), 70.0);
        assert_eq!((sums.functions[&first].syscalls, sums.functions[&second].syscalls), (3.0, 1.0));
        let through = &sums.edges[&(first, wait.clone())];
        assert_eq!((through.calls, through.instructions), (6.0, 37.5));
        assert_eq!(through.lines[&(Arc::from("ae.c"), 7)], 6.0);
        assert_eq!(sums.edges[&(second, wait)].calls, 2.0);
        assert_eq!(sums.edges.len(), 2);
    }

    #[test]
    fn calls_that_read_a_clock_remain_and_cost_nothing() {
        let (server, clock) = (key("server", "first"), key("libzerolap_pin.so", "clock_gettime"));
        let (control, real) = (key("libzerolap_pin.so", "control"), key("libc.so.6", "clock_gettime"));
        let mut sums = Sums {
            functions: [
                (server.clone(), own(10.0, 0.0)),
                (clock.clone(), own(20.0, 0.0)),
                (control.clone(), own(5.0, 0.0)),
            ]
            .into(),
            edges: [
                ((server.clone(), clock.clone()), flow(3.0, 75.0)),
                ((clock.clone(), control.clone()), flow(3.0, 15.0)),
            ]
            .into(),
        };
        remove_pin_library(&mut sums);
        assert_eq!(sums.functions.keys().collect::<Vec<_>>(), [&real, &server]);
        assert_eq!(sums.functions[&real].instructions, 0.0);
        let calls = &sums.edges[&(server, real)];
        assert_eq!((calls.calls, calls.instructions), (3.0, 0.0));
        assert_eq!(sums.edges.len(), 1);
    }
}
