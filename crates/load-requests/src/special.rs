//! Requests that are made of more than one template.

use std::ops::Range;

use zerolap_resp::{Values, ValuesOfKeys};

use super::recording::RecordedRequest;
use super::stream::{Draw, RequestStream};
use super::{Command, MadeValues, RecordingOrder, Source};
use crate::Settings;

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
                let line = recording.line(match recorded.order {
                    RecordingOrder::Sequential => self.data.next_place(),
                    RecordingOrder::Random => self.recording_random.below(recording.length() as u64),
                });
                counted_as = recorded.slots[line.name];
                match &line.request {
                    RecordedRequest::Drawn(template) => template,
                    RecordedRequest::Plain(range) => {
                        output.extend_from_slice(recording.bytes(range.clone()));
                        self.end_request();
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
        self.end_request();
        (counted_as, key)
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
