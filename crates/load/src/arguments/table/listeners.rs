//! Connections that only read.

use super::{Argument, put};
use crate::arguments::values::{credentials, listen_line, number};

/// A limit that keeps a typing error from exhausting the machine.
const MOST_LISTENERS: usize = 1_000_000;

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(
        &["listen"],
        &[],
        "LINE",
        "open connections that send this once, such as \"SUBSCRIBE __key__\", and then only read and count what the \
         server pushes; __key__ stands for a key of the range, another one for each listener; repeat it, and \
         listeners take the lines in turn",
        |draft, text| {
            draft.listeners.lines.push(listen_line(text)?);
            Ok(())
        },
    )
    .own(),
    Argument::value(&["listeners"], &[], "NUMBER", "connections for --listen in total (default 1)", |draft, text| {
        put(&mut draft.listeners.connections, number(text, 1..=MOST_LISTENERS))
    })
    .own(),
    Argument::value(
        &["listen-authenticate"],
        &[],
        "PASSWORD|USER:PASSWORD",
        "what listeners authenticate with, in place of --authenticate; repeat it, and they take them in turn",
        |draft, text| {
            draft.listeners.credentials.push(credentials(text));
            Ok(())
        },
    )
    .own()
    .secret(),
    Argument::switch(&["listen-only"], &[], "send no requests: only listen, for --test-time", |draft| {
        draft.listeners.is_alone = true;
    })
    .own(),
];
