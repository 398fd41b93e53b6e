//! Connections that only read what the server pushes.

use zerolap_resp::Template;

use super::Credentials;

/// Listeners, and what makes the server push to them.
#[derive(Debug, Clone)]
pub struct Listening {
    /// What listeners send once, in turn; never empty.
    pub commands: Vec<ListenCommand>,
    /// How many listeners there are.
    pub connections: usize,
    /// What they authenticate with, in turn; empty: as all connections do.
    pub credentials: Vec<Credentials>,
    /// Whether nothing but listening is done.
    pub is_alone: bool,
}

/// What a listener sends.
#[derive(Debug, Clone)]
pub struct ListenCommand {
    /// The line as it was given.
    pub line: String,
    /// The line, compiled.
    pub template: Template,
    /// Words of the line.
    pub words: usize,
}

impl ListenCommand {
    /// The word of the server's confirmations, one for each channel; none where the server answers once, in any way.
    #[must_use]
    pub fn confirmation(&self) -> Option<&'static [u8]> {
        match self.template.command() {
            "SUBSCRIBE" => Some(b"subscribe"),
            "PSUBSCRIBE" => Some(b"psubscribe"),
            "SSUBSCRIBE" => Some(b"ssubscribe"),
            _ => None,
        }
    }

    /// How many confirmations or answers there are.
    #[must_use]
    pub fn confirmations(&self) -> usize {
        // Without any channel the server answers with an error.
        if self.confirmation().is_some() { (self.words - 1).max(1) } else { 1 }
    }
}
