//! What was counted.

use std::collections::BTreeMap;

use serde::Serialize;

/// The counts of a server's life. Replies include errors; commands are named in capitals.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) requests: u64,
    pub(crate) replies: u64,
    pub(crate) errors: u64,
    pub(crate) connections: u64,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    /// Longest time between two looks at the connections: what the times in the record may be late by.
    pub(crate) longest_pause_ns: u64,
    #[serde(skip)]
    looked_ns: Option<u64>,
    #[serde(serialize_with = "in_capitals")]
    pub(crate) commands: BTreeMap<Vec<u8>, u64>,
}

impl Report {
    /// Notes a look at the connections.
    pub(crate) fn note_look(&mut self, now_ns: u64) {
        let pause_ns = self.looked_ns.map_or(0, |looked_ns| now_ns - looked_ns);
        self.longest_pause_ns = self.longest_pause_ns.max(pause_ns);
        self.looked_ns = Some(now_ns);
    }

    /// Counts a request.
    pub(crate) fn count_request(&mut self, name: &[u8]) {
        self.requests += 1;
        match self.commands.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.commands.insert(name.to_vec(), 1);
            }
        }
    }
}

fn in_capitals<S: serde::Serializer>(commands: &BTreeMap<Vec<u8>, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut merged = BTreeMap::<String, u64>::new();
    for (name, count) in commands {
        *merged.entry(String::from_utf8_lossy(name).to_uppercase()).or_default() += count;
    }
    merged.serialize(serializer)
}
