//! How much is sent, and when.

use super::{Argument, put};
use crate::arguments::values::{arrivals, nonzero, number, seconds, slo};
use zerolap_load_requests::Amount;

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["requests"],
        &['n'],
        "NUMBER|allkeys",
        "requests of each connection (default 10000); allkeys: in total as many as there are keys, with pattern P each \
         key once, with pattern S each key once on each connection",
        |draft, text| {
            let amount = if text == "allkeys" {
                Ok(Amount::AllKeys)
            } else {
                number(text, 1..=u64::MAX).map(Amount::PerConnection)
            };
            put(&mut draft.amount.requests, amount)
        },
    ),
    Argument::value(&["test-time"], &[], "SECONDS", "send for so long, in place of --requests", |draft, text| {
        put(&mut draft.amount.test_time, seconds(text))
    }),
    Argument::value(
        &["rate"],
        &[],
        "NUMBER",
        "requests a second over all connections, due whether or not the server keeps up; latencies count from when a \
         request was due (default: send as soon as replies make room)",
        |draft, text| put(&mut draft.amount.rate, nonzero(text)),
    )
    .own(),
    Argument::value(
        &["arrivals"],
        &[],
        "fixed|poisson",
        "whether requests of --rate are due evenly (default) or independently of each other",
        |draft, text| put(&mut draft.amount.arrivals, arrivals(text)),
    )
    .own(),
    Argument::value(&["rate-limiting"], &[], "NUMBER", "the same as --rate, but for each connection", |draft, text| {
        put(&mut draft.amount.rate_limiting, nonzero(text))
    }),
    Argument::value(
        &["search"],
        &[],
        "slo=PERCENTILE<TIME",
        "look for the highest rate with a percentile of responses below a limit, such as slo=p99<1ms: p50, p90, p95, \
         p99, p99.9, p99.99 or max; us, ms or s; a run of --test-time (default 5) for each rate, from --rate (default \
         1000) on",
        |draft, text| put(&mut draft.amount.search, slo(text)),
    )
    .own(),
    Argument::value(
        &["run-count"],
        &['x'],
        "NUMBER",
        "how many times all is done, each time with new connections (default 1)",
        |draft, text| put(&mut draft.amount.runs, nonzero(text)),
    ),
    Argument::switch(
        &["check"],
        &[],
        "first send each command once, and end if one is answered with an error",
        |draft| draft.amount.check = true,
    )
    .own(),
    Argument::switch(&["prefill"], &[], "write each key of the range once before", |draft| {
        draft.amount.prefill = true;
    })
    .own(),
    Argument::value(&["warm-up"], &[], "SECONDS", "send for so long before anything counts", |draft, text| {
        put(&mut draft.amount.warm_up, seconds(text))
    })
    .own(),
    Argument::switch(
        &["control"],
        &[],
        "connect, then take JSON lines from standard input: {\"do\":\"slice\",\"requests\":N} sends N requests in \
         total and prints the result as a line, {\"do\":\"stop\"} ends",
        |draft| draft.amount.control = true,
    )
    .own(),
];
