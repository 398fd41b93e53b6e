//! Arguments of a command line that have no effect.

/// Sentences for the user.
#[derive(Debug, Default)]
pub(super) struct Warnings(Vec<String>);

impl Warnings {
    pub(super) fn push(&mut self, sentence: String) {
        self.0.push(sentence);
    }

    /// Warns that `argument`, if it is given, changes nothing.
    pub(super) fn without_effect(&mut self, is_given: bool, argument: &str, reason: &str) {
        if is_given {
            self.0.push(format!("{argument} has no effect: {reason}"));
        }
    }

    pub(super) fn into_sentences(self) -> Vec<String> {
        self.0
    }
}
