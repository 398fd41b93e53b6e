//! A server whose times and counts are known, for measuring load generators.
//!
//! It answers every request with the same reply, keeps to the given times, and notes when each request was read
//! and when its reply was written. One thread does everything and never sleeps; another only waits for the end of
//! standard input. `{"port": N}` on standard output reports that it listens on 127.0.0.1. When standard input or SIGTERM
//! ends it, it prints what it counted.

mod clock;
mod connection;
mod entrance;
mod escapes;
mod options;
mod records;
mod report;
mod request;
mod server;
mod stalls;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use options::{Invocation, parse};
use server::Server;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is closed, the exit code still shows it.
            let _ = writeln!(io::stderr(), "scripted_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = match parse()? {
        Invocation::Print(text) => return Ok(io::stdout().write_all(text.as_bytes())?),
        Invocation::Serve(options) => *options,
    };
    let end = watch_for_end()?;
    if let Some(cpu) = options.cpu {
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set)?;
    }
    let record = options.record.clone();
    let mut server = Server::listen(options)?;
    print_line(&json!({ "port": server.port()? }))?;
    server.serve(&end)?;
    let (report, records) = server.finish();
    if let Some(path) = record {
        records.write(&path)?;
    }
    Ok(print_line(&report)?)
}

/// A flag that is set at the end of standard input or by a signal.
fn watch_for_end() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    let at_end = Arc::clone(&flag);
    thread::Builder::new().spawn(move || {
        // An input that cannot be read any more has ended, too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        at_end.store(true, Ordering::Relaxed);
    })?;
    Ok(flag)
}

fn print_line(value: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut output = io::stdout();
    output.write_all(&line)?;
    output.flush()
}
