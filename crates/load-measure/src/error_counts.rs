//! Errors by their codes.

/// Codes that are told apart; further ones are counted together, so that no server can make it grow.
pub const MAXIMUM_CODES: usize = 64;
const OTHER_CODES: &str = "other";

/// How often each code came.
#[derive(Debug, Clone, Default)]
pub struct ErrorCounts(Vec<(String, u64)>);

impl ErrorCounts {
    pub fn add(&mut self, code: &str, count: u64) {
        let is_known = self.0.iter().any(|(known, _)| known == code);
        let code = if self.0.len() < MAXIMUM_CODES || is_known { code } else { OTHER_CODES };
        match self.0.iter_mut().find(|(known, _)| known == code) {
            Some((_, known_count)) => *known_count += count,
            None => self.0.push((code.to_owned(), count)),
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (code, count) in &other.0 {
            self.add(code, *count);
        }
    }

    /// In the order they first came.
    pub fn list(&self) -> &[(String, u64)] {
        &self.0
    }
}
