//! The endless sequence of requests of one connection.

use std::ops::Range;
use std::sync::Arc;

use zerolap_resp::Values;
use zerolap_resp::cluster::key_slot;

use super::keys::KeySequence;
use super::scan::ScanWalk;
use super::sizes::SizeSequence;
use super::special::is_plain;
use super::{Command, DataPool, MadeValues};
use crate::Settings;
use crate::random::{Purpose, Random};

/// What one connection sends next.
#[derive(Debug)]
pub struct RequestStream {
    pub(super) settings: Arc<Settings>,
    /// Whether requests are made of one template for each command, and nothing else.
    is_plain: bool,
    /// Index of the command whose turn it is.
    pub(super) command: usize,
    /// How often it was sent in this turn.
    sent_in_turn: u64,
    /// One sequence for each command.
    pub(super) keys: Vec<KeySequence>,
    pub(super) key_random: Random,
    pub(super) data: DataPool,
    pub(super) sizes: SizeSequence,
    pub(super) data_random: Random,
    /// In place of data, where values are to be proved.
    pub(super) made_values: Option<MadeValues>,
    pub(super) expiry_random: Random,
    pub(super) recording_random: Random,
    /// Takes the place of all commands.
    pub(super) scan: Option<ScanWalk>,
}

impl RequestStream {
    /// The stream of connection `connection` of `thread`.
    pub fn new(settings: &Arc<Settings>, data: &DataPool, thread: usize, connection: usize) -> Self {
        let index = thread * settings.clients + connection;
        let keys = |command: &Command| KeySequence::new(settings, command.pattern, index);
        // Only what is drawn is the same for all: those that split a range still do.
        let (thread, connection) = if settings.one_stream { (0, 0) } else { (thread, connection) };
        let mut stream = Self {
            settings: Arc::clone(settings),
            is_plain: is_plain(settings),
            command: 0,
            sent_in_turn: 0,
            keys: settings.commands.iter().map(keys).collect(),
            key_random: Random::new(settings.seed, Purpose::Keys, thread, connection),
            data: data.clone(),
            sizes: SizeSequence::new(settings),
            data_random: Random::new(settings.seed, Purpose::Data, thread, connection),
            made_values: settings.verify.then(|| MadeValues::new(settings)),
            expiry_random: Random::new(settings.seed, Purpose::Expiry, thread, connection),
            recording_random: Random::new(settings.seed, Purpose::Recording, thread, connection),
            scan: settings.scan.as_ref().map(ScanWalk::new),
        };
        stream.skip_finished_turns();
        stream
    }

    /// Appends the next request to `output`; returns the index of its command.
    pub fn write_next(&mut self, output: &mut Vec<u8>) -> usize {
        self.write_next_with_key(output).0
    }

    /// For each command that draws no key, the slot of its first argument, which is its key for most commands.
    #[must_use]
    pub fn fixed_slots(&self) -> Vec<Option<u16>> {
        let slot = |command: &Command| {
            let key = command.template.first_argument().unwrap_or_default();
            (command.template.key_count() == 0).then(|| key_slot(key))
        };
        self.settings.commands.iter().map(slot).collect()
    }

    /// As [`Self::write_next`]; also returns where in `output` the first drawn key lies, if any is drawn.
    pub fn write_next_with_key(&mut self, output: &mut Vec<u8>) -> (usize, Option<Range<usize>>) {
        if !self.is_plain {
            return self.write_special(output);
        }
        let index = self.command;
        let mut draw = Draw {
            keys: &mut self.keys[index],
            key_random: &mut self.key_random,
            last_key: None,
            data: &self.data,
            sizes: &mut self.sizes,
            data_random: &mut self.data_random,
        };
        let key = self.settings.commands[index].template.write(&mut draw, output);
        self.end_request();
        (index, key)
    }

    /// Goes on after a request of the command whose turn it is.
    pub(super) fn end_request(&mut self) {
        self.sent_in_turn += 1;
        self.skip_finished_turns();
    }

    /// Takes what a reply to the last request gave to go on with.
    pub fn take_cursor(&mut self, cursor: &[u8]) {
        if let Some(scan) = &mut self.scan {
            scan.take_cursor(cursor);
        }
    }

    /// Goes on to a command that is due. Settings hold at least one whose ratio is not 0.
    fn skip_finished_turns(&mut self) {
        let commands = &self.settings.commands;
        for _ in 0..=commands.len() {
            if self.sent_in_turn < commands[self.command].ratio {
                return;
            }
            self.sent_in_turn = 0;
            self.command = (self.command + 1) % commands.len();
        }
    }
}

/// Fills the holes of one request.
pub(super) struct Draw<'stream> {
    pub(super) keys: &'stream mut KeySequence,
    pub(super) key_random: &'stream mut Random,
    /// The key that was drawn last in this request.
    pub(super) last_key: Option<u64>,
    pub(super) data: &'stream DataPool,
    pub(super) sizes: &'stream mut SizeSequence,
    pub(super) data_random: &'stream mut Random,
}

impl Values for Draw<'_> {
    fn next_key(&mut self) -> u64 {
        let key = self.keys.next(self.key_random);
        self.last_key = Some(key);
        key
    }

    fn next_data(&mut self) -> &[u8] {
        let size = self.sizes.next(self.last_key, self.data_random);
        self.data.slice(size, self.data_random)
    }
}
