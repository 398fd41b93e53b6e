//! The program `zerolap-load`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use signal_hook::consts::{SIGINT, SIGTERM};
use zerolap_load::control;
use zerolap_load::error::{EXIT_INTERRUPTED, EXIT_USAGE, ProgramError};
use zerolap_load::{output_file::OutputFile, progress::ProgressDisplay, terminal};
use zerolap_load_arguments::{Arguments, Invocation, Mode, parse};
use zerolap_load_engine::{Watch, drive, search};
use zerolap_load_measure::{LoadError, Run};
use zerolap_load_output::{Document, ReportSettings, write_settings, write_summary};
use zerolap_load_requests::{Amount, Plan, Settings, Work};

fn main() -> ExitCode {
    let (message, code) = match parse(std::env::args_os().skip(1)) {
        Err(error) => (format!("{error}\nhint: zerolap-load --help lists all arguments"), EXIT_USAGE),
        Ok(Invocation::Print(text)) => match show(text.as_bytes()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), error.exit_code()),
        },
        Ok(Invocation::Run(arguments)) => match run(*arguments) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), error.exit_code()),
        },
    };
    // Where standard error is closed, the exit code still shows it.
    let _ = terminal::note(&format!("zerolap-load: {message}\n"));
    ExitCode::from(code)
}

fn run(arguments: Arguments) -> Result<(), ProgramError> {
    let Arguments { settings, mode, report } = arguments;
    for warning in &report.warnings {
        warn(warning);
    }
    match mode {
        Mode::Control => control(&settings, &report),
        Mode::Once(plan) => measure(&settings, &plan, &report),
    }
}

fn control(settings: &Settings, report: &ReportSettings) -> Result<(), ProgramError> {
    let file = prepare(report.json_out_file.as_deref())?;
    let started = SystemTime::now();
    let outcome = control::serve(settings.clone(), io::stdin().lock(), terminal::channel())?;
    let plan = Plan::only(Work::unpaced(Amount::Total(outcome.requests())));
    let run = Run { started, phases: Vec::new(), outcome };
    write_document(file, &Document::new(settings, report, &plan, &[run]))
}

/// Runs the plan. If a run fails, its counts until then are written before the error is reported.
fn measure(settings: &Settings, plan: &Plan, report: &ReportSettings) -> Result<(), ProgramError> {
    let file = prepare(report.json_out_file.as_deref())?;
    let summary_file = report.out_file.as_ref().map(|path| OutputFile::prepare(Path::new(path))).transpose()?;
    if report.show_settings {
        let mut shown = Vec::new();
        write_settings(&mut shown, settings, report, plan).map_err(ProgramError::standard_output)?;
        note(&shown)?;
    }
    let watch = Watch { interrupt: watch_for_interrupts()?, ..Watch::default() };
    let progress = if report.quiet { None } else { Some(ProgressDisplay::start(watch.live.clone(), settings)?) };
    let (plan, mut runs, searched) = match (plan.search, plan.work.pace) {
        (Some(slo), Some(pace)) => {
            let result = search(settings, plan, (slo, pace), &watch, |step| {
                progress.iter().for_each(ProgressDisplay::clear);
                report_line(step);
            })?;
            (result.plan, vec![result.run], Some(result.search))
        }
        _ => (*plan, drive(settings, plan, &watch)?, None),
    };
    drop(progress);
    for warning in runs.iter().flat_map(|run| run.outcome.warnings()) {
        warn(&warning);
    }
    let mut summary = Vec::new();
    write_summary(&mut summary, settings, report, &runs).map_err(ProgramError::standard_output)?;
    if let Some(searched) = &searched {
        writeln!(summary, "\n{searched}").map_err(ProgramError::standard_output)?;
    }
    let is_valid = runs.iter().all(|run| run.outcome.is_valid());
    let is_to_stdout = is_valid && report.json_out_file.as_deref() != Some("-");
    // The document first: it is written even if the reader of the table closes the pipe early.
    let document = Document::new(settings, report, &plan, &runs).of_search(searched);
    write_document(file, &document)?;
    match summary_file {
        Some(file) if is_valid => file.finish(terminal::printable(&String::from_utf8_lossy(&summary)).as_bytes())?,
        None if is_to_stdout => show(&summary)?,
        Some(_) | None => note(&summary)?,
    }
    let failure = runs.iter_mut().find_map(|run| run.outcome.failure.take());
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}

/// Where the document goes.
enum Destination {
    Nowhere,
    StandardOutput,
    File(OutputFile),
}

fn prepare(path: Option<&str>) -> Result<Destination, ProgramError> {
    Ok(match path {
        None => Destination::Nowhere,
        Some("-") => Destination::StandardOutput,
        Some(path) => Destination::File(OutputFile::prepare(Path::new(path))?),
    })
}

fn write_document(destination: Destination, document: &Document) -> Result<(), ProgramError> {
    if matches!(destination, Destination::Nowhere) {
        return Ok(());
    }
    let document = serde_json::to_vec(document);
    let mut bytes = document.map_err(|error| ProgramError::standard_output(error.into()))?;
    bytes.push(b'\n');
    match destination {
        Destination::File(file) => file.finish(&bytes),
        Destination::Nowhere | Destination::StandardOutput => {
            terminal::write_json(&bytes).map_err(ProgramError::standard_output)
        }
    }
}

/// A flag that the first interrupt sets, and that makes the second end the program.
fn watch_for_interrupts() -> Result<Arc<AtomicBool>, LoadError> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let second =
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED.into(), Arc::clone(&flag));
        let first = second.and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
        first.map_err(LoadError::Thread)?;
    }
    Ok(flag)
}

fn warn(warning: &str) {
    report_line(&format!("warning: {warning}"));
}

fn report_line(sentence: &str) {
    // If standard error is closed, there is no place to report to.
    let _ = terminal::note(&format!("zerolap-load: {sentence}\n"));
}

fn show(text: &[u8]) -> Result<(), ProgramError> {
    terminal::show(text).map_err(ProgramError::standard_output)
}

fn note(text: &[u8]) -> Result<(), ProgramError> {
    terminal::note(&String::from_utf8_lossy(text)).map_err(ProgramError::standard_output)
}
