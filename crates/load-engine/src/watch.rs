//! What a run shares with those who watch it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zerolap_load_measure::Live;

/// The user's side of a run.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Set when the user wants the work to end as if its time were over.
    pub interrupt: Arc<AtomicBool>,
    /// What was counted so far.
    pub live: Arc<Live>,
}

impl Watch {
    /// Whether the user wants the end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}
