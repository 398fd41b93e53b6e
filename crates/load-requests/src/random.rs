//! Random numbers: xoshiro256++ of Blackman and Vigna (2019), <https://prng.di.unimi.it/>, seeded by their splitmix64.

/// One random stream.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

/// What a stream is for; streams of different purposes share nothing.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Which keys a connection draws.
    Keys = 1,
    /// Which values a connection draws.
    Data = 2,
    /// The bytes of the pool of values.
    Pool = 3,
    /// When requests are due.
    Arrivals = 4,
    /// Pauses between connections.
    Jitter = 5,
    /// How long values live.
    Expiry = 6,
    /// Which recorded commands a connection sends.
    Recording = 7,
    /// Which of a primary's replicas are read from.
    Replicas = 8,
}

impl Random {
    /// The stream of one connection of one thread.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, thread: usize, connection: usize) -> Self {
        let mut state = seed;
        for part in [purpose as u64, thread as u64, connection as u64] {
            // Each part is spread over all bits before the next one is added, so that no two sets of parts meet.
            state = splitmix64(&mut state).wrapping_add(part);
        }
        Self { state: std::array::from_fn(|_| splitmix64(&mut state)) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number below `bound`, all equally likely: the multiplication of Lemire (2019),
    /// <https://arxiv.org/abs/1805.10941>. 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let (mut high, mut low) = multiply(self.next_u64(), bound);
        if low < bound {
            let threshold = bound.wrapping_neg() % bound;
            while low < threshold {
                (high, low) = multiply(self.next_u64(), bound);
            }
        }
        high
    }

    /// A number from 0 to below 1: the upper 53 bits of the next number, as its authors advise.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An exponentially distributed number with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Two independent numbers of the standard normal distribution: the polar method of Marsaglia and Bray (1964),
    /// <https://doi.org/10.1137/1006063>.
    pub fn normal_pair(&mut self) -> (f64, f64) {
        loop {
            let (across, up) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = across * across + up * up;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                return (across * factor, up * factor);
            }
        }
    }

    /// Fills `bytes` with the next ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// The upper and the lower half of the product.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn multiply(left: u64, right: u64) -> (u64, u64) {
    let product = u128::from(left) * u128::from(right);
    ((product >> 64) as u64, product as u64)
}

/// The next number of the generator that needs no more than one word.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Purpose, Random, splitmix64};

    #[test]
    fn the_generator_gives_the_numbers_of_the_reference() {
        // Printed by the authors' xoshiro256plusplus.c started with s = {1, 2, 3, 4}.
        let mut random = Random { state: [1, 2, 3, 4] };
        let numbers: [u64; 5] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            numbers,
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205]
        );
        // Printed by the authors' splitmix64.c started with x = 1234567.
        assert_eq!(splitmix64(&mut 1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn streams_differ() {
        let first = |seed, purpose, thread, connection| Random::new(seed, purpose, thread, connection).next_u64();
        let mut seen = HashSet::new();
        for seed in 0..4 {
            for thread in 0..4 {
                for connection in 0..50 {
                    assert!(seen.insert(first(seed, Purpose::Keys, thread, connection)));
                    assert!(seen.insert(first(seed, Purpose::Data, thread, connection)));
                }
            }
        }
        assert_eq!(first(7, Purpose::Keys, 1, 2), first(7, Purpose::Keys, 1, 2));
    }

    #[test]
    fn every_number_below_the_bound_comes_alike() {
        let mut random = Random::new(1, Purpose::Keys, 0, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(random.below(7)).expect("small")] += 1;
        }
        // 5 standard deviations of a count are 463.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 463), "{counts:?}");
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn normal_numbers_have_the_moments_of_theirs_and_do_not_go_together() {
        let mut random = Random::new(1, Purpose::Keys, 0, 0);
        let pairs: Vec<(f64, f64)> = (0..100_000).map(|_| random.normal_pair()).collect();
        let mean = |term: fn(&(f64, f64)) -> f64| pairs.iter().map(term).sum::<f64>() / pairs.len() as f64;
        // Expectation and variance of each term; the mean of so many is within 5 standard deviations.
        let within = |mean: f64, expected: f64, variance: f64| (mean - expected).abs() < 5.0 * (variance / 1e5).sqrt();
        assert!(within(mean(|pair| pair.0), 0.0, 1.0) && within(mean(|pair| pair.1), 0.0, 1.0));
        assert!(within(mean(|pair| pair.0.powi(2)), 1.0, 2.0) && within(mean(|pair| pair.1.powi(2)), 1.0, 2.0));
        assert!(within(mean(|pair| pair.0.powi(4)), 3.0, 96.0) && within(mean(|pair| pair.1.powi(4)), 3.0, 96.0));
        assert!(within(mean(|pair| pair.0 * pair.1), 0.0, 1.0));
    }
}
