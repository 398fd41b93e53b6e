//! Which argument a name means.

use super::UsageError;
use super::table::{Argument, Origin, all};

/// The argument with this letter.
pub(super) fn by_letter(letter: char) -> Result<&'static Argument, UsageError> {
    all().find(|argument| argument.short.contains(&letter)).ok_or_else(|| UsageError::Unknown(format!("-{letter}")))
}

/// The argument with this long name, which may be cut short as far as it stays clear.
///
/// Where a cut name could be one of memtier's or one of this program's own, it is memtier's: a command line that
/// `memtier_benchmark` understands means the same here.
pub(super) fn by_name(given: &str) -> Result<&'static Argument, UsageError> {
    if let Some(argument) = all().find(|argument| argument.long.contains(&given)) {
        return Ok(argument);
    }
    let beginning_so = |origin: Origin| {
        let names = all().filter(move |argument| argument.origin == origin);
        let pairs = names.flat_map(|argument| argument.long.iter().map(move |&name| (name, argument)));
        pairs.filter(|(name, _)| !given.is_empty() && name.starts_with(given)).collect::<Vec<_>>()
    };
    let candidates = [Origin::Memtier, Origin::Own].map(beginning_so).into_iter().find(|names| !names.is_empty());
    let candidates = candidates.ok_or_else(|| UsageError::Unknown(format!("--{given}")))?;
    let (_, first) = candidates[0];
    if candidates.iter().all(|(_, argument)| std::ptr::eq(*argument, first)) {
        return Ok(first);
    }
    let names: Vec<String> = candidates.iter().map(|(name, _)| format!("--{name}")).collect();
    Err(UsageError::Ambiguous { given: format!("--{given}"), candidates: names.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::{by_letter, by_name};
    use crate::table::all;

    fn name_of(given: &str) -> Result<&'static str, String> {
        by_name(given).map(|argument| argument.long[0]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_may_be_cut_short_while_it_is_clear() {
        assert_eq!(
            name_of("thre"),
            Err("--thre is short for more than one argument: --threads, --thread-conn-start-min-jitter-micros, \
             --thread-conn-start-max-jitter-micros"
                .to_owned())
        );
        assert_eq!(name_of("threads"), Ok("threads"));
        assert_eq!(name_of("rate-l"), Ok("rate-limiting"));
        assert_eq!(name_of("key-max"), Ok("key-maximum"));
        assert_eq!(name_of("nonsense"), Err("there is no argument --nonsense".to_owned()));
        assert_eq!(name_of(""), Err("there is no argument --".to_owned()));
    }

    #[test]
    fn a_whole_name_wins_over_longer_ones() {
        for name in ["command", "key", "data-size", "tls", "rate", "requests"] {
            assert_eq!(name_of(name), Ok(name));
        }
    }

    #[test]
    fn what_memtier_understands_means_the_same() {
        assert_eq!(name_of("connec"), Ok("connection-timeout"));
        assert_eq!(name_of("conn"), Ok("connection-timeout"));
        assert_eq!(name_of("con"), Ok("connection-timeout"), "not --control, which memtier_benchmark does not know");
        assert_eq!(name_of("contr"), Ok("control"));
        assert_eq!(name_of("vers"), Ok("version"));
        assert!(name_of("h").is_err_and(|message| message.contains("--host") && message.contains("--help")));
    }

    #[test]
    fn names_and_letters_are_unique() {
        let names: Vec<&str> = all().flat_map(|argument| argument.long).copied().collect();
        let letters: Vec<char> = all().flat_map(|argument| argument.short).copied().collect();
        for name in &names {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "--{name}");
        }
        for letter in "vsSpPoxDRnctdah46u".chars() {
            assert!(by_letter(letter).is_ok(), "-{letter}");
            assert_eq!(letters.iter().filter(|&&other| other == letter).count(), 1, "-{letter}");
        }
    }
}
