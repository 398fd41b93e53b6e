//! One request, while it is under way.

/// One request under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// When it was due: when it was sent, if it had no time of its own.
    pub due_ns: u64,
    /// When it was first handed to the system; 0 before.
    pub sent_ns: u64,
    /// Index of its command.
    pub command: u32,
    /// How often it was redirected.
    pub redirects: u16,
    /// Whether it is no command of the settings, but ASKING.
    pub is_asking: bool,
    /// Whether it had to wait until a pipeline had room.
    pub was_held_up: bool,
}
