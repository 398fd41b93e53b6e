//! A walk over the whole keyspace, cursor by cursor.

use zerolap_resp::write_request;

use crate::Scan;

/// Index of the command that starts a walk.
const START: usize = 0;
/// Index of the command that goes on with one.
const GO_ON: usize = 1;

/// The walk of one connection.
#[derive(Debug)]
pub(super) struct ScanWalk {
    scan: Scan,
    /// What the last reply gave; empty at the start.
    cursor: Vec<u8>,
    replies: u64,
}

impl ScanWalk {
    pub(super) fn new(scan: &Scan) -> Self {
        Self { scan: scan.clone(), cursor: Vec::new(), replies: 0 }
    }

    /// Appends the next request; returns the index of its command.
    pub(super) fn write_next(&self, output: &mut Vec<u8>) -> usize {
        let mut words: Vec<&[u8]> = self.scan.words.iter().map(Vec::as_slice).collect();
        let command = if self.cursor.is_empty() { START } else { GO_ON };
        if let (GO_ON, Some(word)) = (command, words.get_mut(1)) {
            *word = &self.cursor;
        }
        write_request(&words, output);
        command
    }

    /// Takes the cursor of a reply. After the last one, after the most there may be, and after an error, which has
    /// none, the walk starts anew.
    pub(super) fn take_cursor(&mut self, cursor: &[u8]) {
        self.replies += 1;
        let is_over = self.scan.maximum_iterations > 0 && self.replies >= self.scan.maximum_iterations;
        self.cursor.clear();
        if is_over || cursor.is_empty() || cursor == b"0" {
            self.replies = 0;
        } else {
            self.cursor.extend_from_slice(cursor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ScanWalk;
    use crate::Scan;

    #[test]
    fn a_walk_follows_cursors_and_starts_anew() {
        let words = ["SCAN", "0", "COUNT", "5"].map(|word| word.as_bytes().to_vec()).to_vec();
        let mut walk = ScanWalk::new(&Scan { words, maximum_iterations: 3 });
        let mut seen = Vec::new();
        for cursor in ["17", "4", "99", "0", "", "8"] {
            let mut output = Vec::new();
            let command = walk.write_next(&mut output);
            let text = String::from_utf8(output).expect("text");
            seen.push((command, text.split("\r\n").nth(4).expect("a cursor").to_owned()));
            walk.take_cursor(cursor.as_bytes());
        }
        let expected = [(0, "0"), (1, "17"), (1, "4"), (0, "0"), (0, "0"), (0, "0")];
        assert_eq!(seen, expected.map(|(command, cursor)| (command, cursor.to_owned())));
    }
}
