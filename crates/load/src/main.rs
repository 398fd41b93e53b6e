//! The program `zerolap-load`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zerolap_load::arguments::{Arguments, Invocation, Mode, parse};
use zerolap_load::control::{self, ControlError};
use zerolap_load::{Crew, Document, LoadError, Outcome, OutputFile, Settings, Work, write_summary};

const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let (message, code) = match parse(std::env::args_os().skip(1)) {
        Err(error) => (format!("{error}\nhint: zerolap-load --help lists all arguments"), EXIT_USAGE),
        Ok(Invocation::Print(text)) => match print(text.as_bytes()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), error.exit_code()),
        },
        Ok(Invocation::Run(arguments)) => match run(*arguments) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), error.exit_code()),
        },
    };
    // Where standard error is closed, the exit code still tells.
    let _ = writeln!(io::stderr(), "zerolap-load: {message}");
    ExitCode::from(code)
}

fn run(arguments: Arguments) -> Result<(), ControlError> {
    let Arguments { settings, mode, report } = arguments;
    let json_out_file = report.json_out_file;
    let to_stdout = json_out_file.as_deref() == Some("-");
    let file = match json_out_file.filter(|_| !to_stdout) {
        Some(path) => Some(OutputFile::prepare(Path::new(&path))?),
        None => None,
    };
    let outcome = match mode {
        Mode::Control => control::serve(settings.clone(), io::stdin().lock(), io::stdout())?,
        Mode::Once(plan) => once(&settings, plan.work, to_stdout)?,
    };
    if file.is_none() && !to_stdout {
        return Ok(());
    }
    let document = serde_json::to_vec(&Document::new(&settings, &outcome));
    let mut bytes = document.map_err(|error| write_error(error.into()))?;
    bytes.push(b'\n');
    match file {
        Some(file) => file.finish(&bytes)?,
        None => print(&bytes)?,
    }
    Ok(())
}

/// One piece of work, and its summary: on standard output, or on standard error where the document goes there.
fn once(settings: &Settings, work: Work, to_stderr: bool) -> Result<Outcome, LoadError> {
    let mut outcome = Crew::connect(settings.clone())?.run(work)?;
    if let Some(failure) = outcome.take_failure() {
        return Err(failure);
    }
    let mut summary = Vec::new();
    write_summary(&mut summary, settings, &outcome).map_err(write_error)?;
    if to_stderr {
        io::stderr().write_all(&summary).map_err(write_error)?;
    } else {
        print(&summary)?;
    }
    Ok(outcome)
}

fn print(bytes: &[u8]) -> Result<(), LoadError> {
    let mut output = io::stdout();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(write_error)
}

fn write_error(source: io::Error) -> LoadError {
    LoadError::Write { path: PathBuf::from("standard output"), source }
}
