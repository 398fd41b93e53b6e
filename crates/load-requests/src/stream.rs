//! The endless sequence of requests of one connection.

use std::ops::Range;
use std::sync::Arc;

use zerolap_resp::{Values, ValuesOfKeys};

use crate::keys::KeySequence;
use crate::random::{Purpose, Random};
use crate::recording::RecordedRequest;
use crate::scan::ScanWalk;
use crate::values::SizeSequence;
use crate::{Command, DataPool, MadeValues, Recorded, RecordingOrder, Settings, Source};

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
    /// Lines of a recording that follow on this connection.
    recorded_lines: Range<usize>,
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
            made_values: settings.verify.then(|| MadeValues::new(&settings.data.sizes)),
            expiry_random: Random::new(settings.seed, Purpose::Expiry, thread, connection),
            recording_random: Random::new(settings.seed, Purpose::Recording, thread, connection),
            recorded_lines: 0..0,
            scan: settings.scan.as_ref().map(ScanWalk::new),
        };
        stream.skip_finished_turns();
        stream
    }

    /// Goes on after a lost connection: no command follows of a transaction that was lost with it.
    pub fn leave_transaction(&mut self) {
        if !self.recorded_lines.is_empty() {
            self.recorded_lines = 0..0;
            self.end_request();
        } else if self.settings.has_transactions() {
            (self.command, self.sent_in_turn) = (0, 0);
            self.skip_finished_turns();
        }
    }

    /// Where the next request has to be sent. To be asked where requests are sent in
    /// [several databases](Settings::largest_database).
    pub fn next_database(&mut self) -> NextDatabase {
        let command = &self.settings.commands[self.command];
        match &command.source {
            Source::Recorded(recorded) => {
                let lines = &mut self.recorded_lines;
                draw_lines(recorded, &self.data, &mut self.recording_random, lines);
                let line = recorded.recording.line(lines.start);
                NextDatabase { needed: line.database, selects: line.selects }
            }
            Source::Template | Source::Expiring(_) => NextDatabase {
                needed: Some(command.database.unwrap_or(self.settings.server.database)),
                selects: command.template.command() == "SELECT",
            },
        }
    }

    /// Appends the next request to `output`; returns the index of its command.
    pub fn write_next(&mut self, output: &mut Vec<u8>) -> usize {
        self.write_next_with_key(output).0
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

/// Where a request has to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextDatabase {
    /// The number of its database; none where that is any, or that of the request before it.
    pub needed: Option<u32>,
    /// Whether the connection may be in another database afterwards.
    pub selects: bool,
}

/// Draws recorded lines that follow each other on one connection, unless some of them are left.
fn draw_lines(recorded: &Recorded, data: &DataPool, random: &mut Random, lines: &mut Range<usize>) {
    if lines.start >= lines.end {
        let recording = &recorded.recording;
        *lines = recording.unit(match recorded.order {
            RecordingOrder::Sequential => data.next_place(),
            RecordingOrder::Random => random.below(recording.units()),
        });
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

/// Whether requests are made of one template for each command, and nothing else.
pub(super) fn is_plain(settings: &Settings) -> bool {
    let is_plain = |command: &Command| matches!(command.source, Source::Template);
    settings.scan.is_none() && !settings.verify && settings.commands.iter().all(is_plain)
}

impl RequestStream {
    /// As [`Self::write_next_with_key`], for everything that is out of the ordinary.
    // Apart, so that nothing is in the way of ordinary requests.
    #[inline(never)]
    pub(super) fn write_special(&mut self, output: &mut Vec<u8>) -> (usize, Option<Range<usize>>) {
        if let Some(scan) = &self.scan {
            return (scan.write_next(output), None);
        }
        let index = self.command;
        let command = &self.settings.commands[index];
        let (mut seconds, mut counted_as) = (0, index);
        let template = match &command.source {
            Source::Template => &command.template,
            Source::Expiring(expiry) => {
                seconds = expiry.draw(&mut self.expiry_random);
                if seconds > 0 { &expiry.template } else { &command.template }
            }
            Source::Recorded(recorded) => {
                let recording = &recorded.recording;
                let lines = &mut self.recorded_lines;
                draw_lines(recorded, &self.data, &mut self.recording_random, lines);
                let line = recording.line(lines.next().unwrap_or_default());
                counted_as = recorded.slots[line.name];
                match &line.request {
                    RecordedRequest::Drawn(template) => template,
                    RecordedRequest::Plain(range) => {
                        output.extend_from_slice(recording.bytes(range.clone()));
                        self.end_special();
                        return (counted_as, None);
                    }
                }
            }
        };
        let draw = Draw {
            keys: &mut self.keys[index],
            key_random: &mut self.key_random,
            last_key: None,
            data: &self.data,
            sizes: &mut self.sizes,
            data_random: &mut self.data_random,
        };
        let time = (seconds > 0).then(|| seconds.to_string());
        let mut draw = SpecialDraw { draw, time: time.as_deref(), made: self.made_values.as_mut() };
        let key = template.write_with_keys(&mut draw, output);
        self.end_special();
        (counted_as, key)
    }

    /// As [`Self::end_request`]; no other command comes within a recorded transaction.
    fn end_special(&mut self) {
        if self.recorded_lines.is_empty() {
            self.end_request();
        }
    }
}

/// Fills the holes of one such request.
struct SpecialDraw<'stream> {
    draw: Draw<'stream>,
    /// What fills the first hole for a value.
    time: Option<&'stream str>,
    /// Makes values of keys, if that is asked for.
    made: Option<&'stream mut MadeValues>,
}

impl ValuesOfKeys for SpecialDraw<'_> {
    fn next_key(&mut self) -> u64 {
        self.draw.next_key()
    }

    fn next_data(&mut self, key: &[u8]) -> &[u8] {
        match (self.time.take(), &mut self.made) {
            (Some(time), _) => time.as_bytes(),
            (None, Some(made)) if !key.is_empty() => made.of(key),
            (None, _) => self.draw.next_data(),
        }
    }
}
