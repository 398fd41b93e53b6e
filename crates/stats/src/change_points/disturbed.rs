//! Stretches of a series in which wild points are frequent: it has no level there, or its noise is another.

/// The share of wild points in a disturbed stretch.
const DISTURBED_SHARE: f64 = 0.9;
/// Elsewhere it is taken as at least this.
const LEAST_SHARE: f64 = 0.01;
/// Wild points with so many others between them do not belong together.
const APART: u8 = 5;

/// A stretch of points of which nearly all are wild.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbed {
    /// The first point.
    pub start: usize,
    /// The point after the last one; the length of the series if it is still disturbed.
    pub end: usize,
    /// Probability that a series without a change has a gain so large somewhere.
    pub p: f64,
}

/// A stretch with what each of its ends gains: twice the logarithm of how much likelier its wild points are than
/// elsewhere, shared among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) gain: f64,
}

/// The most likely stretches, given in order the wild points of a series: those of which each end gains more than
/// `penalty`. At least `least` points are wild.
pub(super) fn disturbed(wild: &[usize], points: usize, penalty: f64, least: usize) -> Vec<Stretch> {
    if wild.len() < least {
        return Vec::new();
    }
    let share = usual_share(wild, points);
    if share >= DISTURBED_SHARE {
        return Vec::new();
    }
    let gain = 2.0 * (DISTURBED_SHARE / share).ln();
    let loss = 2.0 * ((1.0 - share) / (1.0 - DISTURBED_SHARE)).ln();
    let mut stretches = Vec::new();
    // From one wild point on: the best sum so far, and where that was reached.
    let mut open: Option<Open> = None;
    for &index in wild {
        if let Some(current) = open.as_mut() {
            let sum = current.sum - loss * (index - current.last - 1) as f64;
            // An end and another beginning are cheaper than what lies between, or the stretch is worth nothing any more.
            if sum > 0.0 && sum > current.best - 2.0 * penalty {
                current.add(index, sum + gain);
                continue;
            }
            stretches.extend(current.closed(2.0, penalty, least));
        }
        open =
            Some(Open { start: index, last: index, sum: gain, best: gain, best_end: index + 1, wild: 1, best_wild: 1 });
    }
    if let Some(mut current) = open {
        // It need not have ended: what follows its last wild point speaks for an end only if it is longer than that costs.
        let rest = loss * (points - current.last - 1) as f64;
        if current.best_end == current.last + 1 && rest < penalty {
            current.best_end = points;
            current.best -= rest;
            stretches.extend(current.closed(1.0, penalty, least));
        } else {
            stretches.extend(current.closed(2.0, penalty, least));
        }
    }
    stretches
}

/// The share of wild points outside of stretches, from those that are alone or first: of points that are wild with one
/// probability, the share (1 - p)^`APART` of the wild ones follows that many others.
fn usual_share(wild: &[usize], points: usize) -> f64 {
    let all = wild.len() as f64 / points as f64;
    let firsts = 1 + wild.windows(2).filter(|pair| pair[1] - pair[0] > usize::from(APART)).count();
    let alone = firsts as f64 / points as f64 / (1.0 - all).powi(i32::from(APART));
    alone.min(all).max(LEAST_SHARE)
}

struct Open {
    start: usize,
    last: usize,
    sum: f64,
    best: f64,
    best_end: usize,
    wild: usize,
    best_wild: usize,
}

impl Open {
    fn add(&mut self, index: usize, sum: f64) {
        self.sum = sum;
        self.last = index;
        self.wild += 1;
        if sum > self.best {
            self.best = sum;
            self.best_end = index + 1;
            self.best_wild = self.wild;
        }
    }

    fn closed(&self, ends: f64, penalty: f64, least: usize) -> Option<Stretch> {
        let gain = self.best / ends;
        let is_stretch = gain > penalty && self.best_wild >= least;
        is_stretch.then_some(Stretch { start: self.start, end: self.best_end, gain })
    }
}
