//! What a command line means, for programs that change it or look at it before they run it.

use std::ffi::OsString;

use serde::Serialize;

use super::{Arguments, Invocation, Mode, UsageError, read};
use zerolap_load_output::SettingsRecord;
use zerolap_load_requests::{Amount, Plan};

/// A command line as it was understood.
#[derive(Debug, Serialize)]
pub struct Description {
    /// The arguments in their order under their long names, each with its value if it takes one: no letters, nothing
    /// cut short, no words that belong to nothing.
    given: Vec<(&'static str, Option<String>)>,
    settings: SettingsRecord,
    /// Requests of all connections together; none where the time is given.
    requests: Option<u64>,
    seconds: Option<f64>,
    /// Requests a second of all connections together, if that is limited.
    per_second: Option<u64>,
    warnings: Vec<String>,
}

/// Explains what a command line means; `None` where it asks for a text, such as `--help`.
///
/// # Errors
/// As [`super::parse`].
pub fn describe(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Description>, UsageError> {
    let mut given = Vec::new();
    let invocation = read(arguments, |argument, value| given.push((argument.long[0], value.map(str::to_owned))))?;
    Ok(match invocation {
        Invocation::Print(_) => None,
        Invocation::Run(arguments) => Some(Description::new(given, *arguments)),
    })
}

impl Description {
    fn new(given: Vec<(&'static str, Option<String>)>, arguments: Arguments) -> Self {
        let Arguments { settings, mode, report } = arguments;
        let plan = match mode {
            Mode::Once(plan) => Some(plan),
            Mode::Control => None,
        };
        let amount = plan.map(|plan| plan.work.amount);
        Self {
            given,
            requests: match (plan, amount) {
                (None, _) | (_, None | Some(Amount::For(_))) => None,
                (Some(plan), Some(_)) => Some(requests(&settings, &plan)),
            },
            seconds: match amount {
                Some(Amount::For(time)) => Some(time.as_secs_f64()),
                _ => None,
            },
            per_second: plan.and_then(|plan| plan.work.pace).map(|pace| pace.per_second.get()),
            settings: SettingsRecord::new(&settings),
            warnings: report.warnings,
        }
    }
}

fn requests(settings: &zerolap_load_requests::Settings, plan: &Plan) -> u64 {
    (0..settings.connections()).map(|client| settings.quota(&plan.work, client)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::describe;

    fn described(line: &str) -> serde_json::Value {
        let words = line.split(' ').map(OsString::from);
        let description = describe(words).expect("a command line").expect("a run");
        serde_json::to_value(description).expect("JSON")
    }

    #[test]
    fn arguments_stand_under_their_long_names() {
        let description = described("-c 6 --pipel=2 -t 1 stray --hide -n allkeys --key-max 10 --key-minimum=1");
        let expected = serde_json::json!([
            ["clients", "6"],
            ["pipeline", "2"],
            ["threads", "1"],
            ["hide-histogram", null],
            ["requests", "allkeys"],
            ["key-maximum", "10"],
            ["key-minimum", "1"],
        ]);
        assert_eq!(description["given"], expected);
        assert_eq!(description["settings"]["connections"], 6);
        assert_eq!(description["warnings"].as_array().map(Vec::len), Some(1), "{description}");
    }

    #[test]
    fn amounts_are_those_of_all_connections() {
        assert_eq!(described("-t 2 -c 5 -n 100")["requests"], 1000);
        assert_eq!(described("-t 2 -c 5 -n 100")["seconds"], serde_json::Value::Null);
        assert_eq!(described("--test-time 3")["seconds"], 3.0);
        assert_eq!(described("-t 2 -c 5 --rate-limiting 10")["per_second"], 100);
    }

    #[test]
    fn texts_are_no_runs() {
        assert!(describe([OsString::from("--help")]).expect("a command line").is_none());
    }
}
