//! Which keys a connection draws.

use zerolap_resp::Values;

use crate::random::Random;
use crate::settings::share;
use crate::{Command, KeyPattern, Policy, Settings};

/// The keys of one command on one connection.
#[derive(Debug, Clone)]
pub(super) enum KeySequence {
    Random(KeyRange),
    Walk { range: KeyRange, next: u64 },
    Gaussian(Gaussian),
    Zipf(Zipf),
}

impl KeySequence {
    /// The sequence of a command with this pattern, on the connection with this index over all threads.
    pub(super) fn new(settings: &Settings, pattern: KeyPattern, connection: usize) -> Self {
        let keys = &settings.keys;
        match pattern {
            KeyPattern::Random => Self::Random(keys.range),
            KeyPattern::Sequential => Self::walk(keys.range),
            KeyPattern::Parallel => Self::walk(part(settings, connection)),
            KeyPattern::Gaussian => Self::Gaussian(Gaussian::new(keys.range, keys.median, keys.standard_deviation)),
            KeyPattern::Zipf => Self::Zipf(match settings.policy {
                Policy::Lab => Zipf::new(keys.range, 1, keys.zipf_exponent),
                Policy::Memtier => Zipf::ranked_by_id(keys.range, keys.zipf_exponent),
            }),
        }
    }

    fn walk(range: KeyRange) -> Self {
        Self::Walk { range, next: range.minimum() }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        match self {
            Self::Random(range) => range.minimum() + random.below(range.size()),
            Self::Walk { range, next } => {
                let key = *next;
                *next = if key == range.maximum() { range.minimum() } else { key + 1 };
                key
            }
            Self::Gaussian(gaussian) => gaussian.next(random),
            Self::Zipf(zipf) => zipf.next(random),
        }
    }
}

/// What a connection walks under the parallel pattern. Where there are more connections than keys to split, those left
/// over share keys.
fn part(settings: &Settings, connection: usize) -> KeyRange {
    let (range, connections) = (settings.keys.range, settings.connections().max(1));
    match settings.policy {
        Policy::Memtier => range.memtier_part(connection, connections),
        Policy::Lab => {
            let parts = usize::try_from(range.size()).map_or(connections, |size| size.min(connections));
            range.part(connection % parts, parts).unwrap_or(range)
        }
    }
}

/// Ids from `minimum` to `maximum`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRange {
    minimum: u64,
    maximum: u64,
}

impl KeyRange {
    /// The range, unless it is empty or has more ids than 64 bits can count.
    #[must_use]
    pub fn new(minimum: u64, maximum: u64) -> Option<Self> {
        let is_countable = maximum.checked_sub(minimum)? < u64::MAX;
        is_countable.then_some(Self { minimum, maximum })
    }

    /// The first id.
    #[must_use]
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The last id.
    #[must_use]
    pub const fn maximum(self) -> u64 {
        self.maximum
    }

    /// How many ids there are.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.maximum - self.minimum + 1
    }

    /// One of `parts` consecutive pieces, whose sizes differ by at most one; none if there are fewer ids than parts and
    /// this one gets none.
    #[must_use]
    pub fn part(self, part: usize, parts: usize) -> Option<Self> {
        let (part, parts) = (part as u64, (parts as u64).max(1));
        let (base, longer) = (self.size() / parts, self.size() % parts);
        let size = base + u64::from(part < longer);
        let minimum = self.minimum + part * base + part.min(longer);
        (size > 0).then(|| Self { minimum, maximum: minimum + (size - 1) })
    }

    /// The piece that `memtier_benchmark` gives one of `parts` clients (`client::setup_client` of its version 2): all
    /// pieces but the last are equally long, so that later ones may reach beyond the range or lie beyond it. One that
    /// would end before it starts is its first id alone, which is what memtier sends then.
    pub(super) fn memtier_part(self, part: usize, parts: usize) -> Self {
        let (part, parts) = (part as u64, (parts as u64).max(1));
        let size = (self.maximum - self.minimum) / parts + 1;
        let minimum = self.minimum.saturating_add(size.saturating_mul(part));
        let maximum = if part == parts - 1 { self.maximum } else { minimum.saturating_add(size - 1) };
        Self { minimum, maximum: maximum.max(minimum) }
    }

    /// The key `distance` after the first one; the last one if that is beyond it.
    pub(super) fn at(self, distance: u64) -> u64 {
        self.minimum + distance.min(self.maximum - self.minimum)
    }
}

/// Draws the key at a place of the range and those that follow it; after the last comes the first.
#[derive(Debug)]
pub struct ConsecutiveKeys {
    range: KeyRange,
    place: u64,
}

impl ConsecutiveKeys {
    /// The keys of `range` from its `index`th on.
    #[must_use]
    pub const fn new(range: KeyRange, index: usize) -> Self {
        Self { range, place: index as u64 }
    }
}

impl Values for ConsecutiveKeys {
    fn next_key(&mut self) -> u64 {
        let key = self.range.minimum() + self.place % self.range.size();
        self.place = self.place.wrapping_add(1);
        key
    }

    fn next_data(&mut self) -> &[u8] {
        b""
    }
}

/// Requests with which connection `connection` (of all threads) does its share of a pass over all keys.
#[must_use]
pub fn requests_for_all_keys(settings: &Settings, connection: usize) -> u64 {
    match settings.policy {
        Policy::Lab => requests_for_walks(settings, connection)
            .unwrap_or_else(|| share(settings.keys.range.size(), connection, settings.connections())),
        Policy::Memtier => requests_of_memtier(settings),
    }
}

/// With commands that walk their keys: as many rotations as it takes until each of them has gone through the
/// connection's keys, so that one command with one key and the parallel pattern writes each key exactly once over all
/// connections. None if no command does.
fn requests_for_walks(settings: &Settings, connection: usize) -> Option<u64> {
    let range = settings.keys.range;
    let sent: Vec<&Command> = settings.commands.iter().filter(|command| command.ratio > 0).collect();
    let walk = |command: &&Command| match command.pattern {
        KeyPattern::Sequential => Some(range.size()),
        KeyPattern::Parallel => Some(range.part(connection, settings.connections()).map_or(0, KeyRange::size)),
        KeyPattern::Random | KeyPattern::Gaussian | KeyPattern::Zipf => None,
    };
    let keys_per_request = |command: &Command| (command.template.key_count() as u64).max(1);
    if let [command] = sent.as_slice() {
        return walk(command).map(|keys| keys.div_ceil(keys_per_request(command)));
    }
    let rotations = |command: &&Command| {
        let keys_per_rotation = command.ratio.saturating_mul(keys_per_request(command));
        walk(command).map(|keys| keys.div_ceil(keys_per_rotation))
    };
    let per_rotation = sent.iter().fold(0_u64, |sum, command| sum.saturating_add(command.ratio));
    sent.iter().filter_map(rotations).max().map(|most| most.saturating_mul(per_rotation))
}

/// As `config_init_defaults` of `memtier_benchmark`, version 2: the last key is left out, and only `--key-pattern P:P`
/// shares requests out. A count that comes to 0 is taken for one that was not given.
fn requests_of_memtier(settings: &Settings) -> u64 {
    let keys = settings.keys.range.maximum() - settings.keys.range.minimum();
    let is_shared = |command: &Command| command.is_default && command.pattern == KeyPattern::Parallel;
    if settings.commands.iter().all(is_shared) {
        return keys / (settings.connections() as u64).max(1) + 1;
    }
    if keys == 0 { 10_000 } else { keys }
}

/// After how many numbers outside the range a key is chosen without the distribution.
const TRIES: usize = 100;

/// Normally distributed keys, without those outside the range.
#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    range: KeyRange,
    /// Distance of the median from the first key.
    centre: f64,
    deviation: f64,
    /// The second of two numbers that were drawn at once.
    spare: Option<f64>,
}

impl Gaussian {
    /// By default as in `memtier_benchmark` (`gaussian_distribution_range` of its version 2): the centre of the range,
    /// and a sixth of the distance between its ends.
    pub(super) fn new(range: KeyRange, median: Option<f64>, deviation: Option<f64>) -> Self {
        let length = (range.maximum() - range.minimum()) as f64;
        Self {
            range,
            // A key is a number without its fraction: the middle of the middle key is half a key after its beginning.
            centre: median.map_or(length / 2.0 + 0.5, |median| median - range.minimum() as f64),
            deviation: deviation.unwrap_or(length / 6.0),
            spare: None,
        }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        for _ in 0..TRIES {
            let distance = self.centre + self.deviation * self.normal(random);
            if self.is_within(distance) {
                return self.key(distance);
            }
        }
        if self.is_within(self.centre) {
            // The deviation is so much wider than the range that all keys are about as likely.
            self.range.at(random.below(self.range.size()))
        } else {
            // The median is so far away that nearly all weight is on the end next to it.
            self.key(self.centre)
        }
    }

    fn normal(&mut self, random: &mut Random) -> f64 {
        self.spare.take().unwrap_or_else(|| {
            let (number, spare) = random.normal_pair();
            self.spare = Some(spare);
            number
        })
    }

    fn is_within(&self, distance: f64) -> bool {
        (0.0..self.range.size() as f64).contains(&distance)
    }

    /// The key so far after the first one, or the end next to it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, which is what is wanted"
    )]
    fn key(&self, distance: f64) -> u64 {
        self.range.at(distance as u64)
    }
}

/// Zipf-distributed keys; the first of the range is the likeliest.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    range: KeyRange,
    law: Law,
    /// Lower and upper bound of what the integral is inverted for.
    bounds: (f64, f64),
    /// What is no further below its distance needs no look at the weight.
    surely_accepted: f64,
}

/// The weights, continued to all distances above -1/2.
#[derive(Debug, Clone, Copy)]
struct Law {
    first: f64,
    exponent: f64,
}

impl Zipf {
    /// Ranks count from `first`, the rank of the first key. The exponent is above 0.
    pub(super) fn new(range: KeyRange, first: u64, exponent: f64) -> Self {
        let law = Law { first: first.max(1) as f64, exponent };
        let lower = law.integral(0.5) - law.weight(0.0);
        let upper = law.integral((range.size() - 1) as f64 + 0.5);
        let surely_accepted = 1.0 - law.inverse(law.integral(1.5) - law.weight(1.0));
        Self { range, law, bounds: (lower, upper), surely_accepted }
    }

    /// As in `memtier_benchmark` (`set_key_zipf_distribution` of its version 2): the rank of a key is its id, and ids
    /// below 1 are left out.
    pub(super) fn ranked_by_id(range: KeyRange, exponent: f64) -> Self {
        let first = range.minimum().max(1);
        let ids = KeyRange::new(first, range.maximum().max(first)).unwrap_or(range);
        Self::new(ids, first, exponent)
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        let (lower, upper) = self.bounds;
        let last = (self.range.size() - 1) as f64;
        loop {
            let drawn = lower + random.unit() * (upper - lower);
            let place = self.law.inverse(drawn);
            let distance = (place + 0.5).floor().clamp(0.0, last);
            if distance - place <= self.surely_accepted
                || drawn >= self.law.integral(distance + 0.5) - self.law.weight(distance)
            {
                return self.key(distance);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number within the range")]
    fn key(&self, distance: f64) -> u64 {
        self.range.at(distance as u64)
    }
}

impl Law {
    fn weight(self, distance: f64) -> f64 {
        (-self.exponent * (distance / self.first).ln_1p()).exp()
    }

    /// The integral of the weight from 0. Exponents of 1 and nearly 1 are no special case: the quotient that is 0 / 0
    /// there is a function of its own.
    fn integral(self, distance: f64) -> f64 {
        let logarithm = (distance / self.first).ln_1p();
        self.first * logarithm * exp_m1_quotient((1.0 - self.exponent) * logarithm)
    }

    fn inverse(self, integral: f64) -> f64 {
        let share = integral / self.first;
        let logarithm = share * ln_1p_quotient((1.0 - self.exponent) * share);
        self.first * logarithm.exp_m1()
    }
}

/// (e^x - 1) / x
fn exp_m1_quotient(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// ln(1 + x) / x
fn ln_1p_quotient(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.ln_1p() / x }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::KeyRange;

    #[test]
    fn the_ends_of_64_bits_are_no_trouble() {
        assert_eq!(KeyRange::new(0, u64::MAX), None);
        assert_eq!(KeyRange::new(2, 1), None);
        let range = KeyRange::new(1, u64::MAX).expect("a range");
        assert_eq!(range.part(6, 7).map(KeyRange::maximum), Some(u64::MAX));
        assert_eq!(range.memtier_part(6, 7).maximum(), u64::MAX);
        let last = KeyRange::new(u64::MAX - 1, u64::MAX).expect("a range");
        assert_eq!(last.memtier_part(3, 5), KeyRange::new(u64::MAX, u64::MAX).expect("a range"));
        assert_eq!([last.at(0), last.at(1), last.at(u64::MAX)], [u64::MAX - 1, u64::MAX, u64::MAX]);
    }

    #[test]
    fn memtier_leaves_the_last_clients_beyond_the_range() {
        // By hand, from its formula: 11 keys of 8 clients are 10 / 8 + 1 = 2 for each.
        let range = KeyRange::new(0, 10).expect("a range");
        let parts: Vec<(u64, u64)> = (0..8)
            .map(|part| {
                let part = range.memtier_part(part, 8);
                (part.minimum(), part.maximum())
            })
            .collect();
        assert_eq!(parts, [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 14)]);
    }

    proptest! {
        #[test]
        fn parts_cover_the_range_once(minimum in 0_u64..1000, size in 1_u64..500, parts in 1_usize..60) {
            let range = KeyRange::new(minimum, minimum + size - 1).expect("a range");
            let pieces: Vec<KeyRange> = (0..parts).filter_map(|part| range.part(part, parts)).collect();
            let ids: Vec<u64> = pieces.iter().flat_map(|piece| piece.minimum()..=piece.maximum()).collect();
            prop_assert_eq!(ids, (range.minimum()..=range.maximum()).collect::<Vec<u64>>());
            let sizes = || pieces.iter().map(|piece| piece.size());
            prop_assert!(sizes().max().unwrap_or(0) - sizes().min().unwrap_or(0) <= 1);
        }
    }
}
