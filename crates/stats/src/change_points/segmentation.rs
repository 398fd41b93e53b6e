//! The cheapest segmentation of a series: functional pruning with a bounded loss.
//!
//! Fearnhead & Rigaill, "Changepoint Detection in the Presence of Outliers", Journal of the American Statistical
//! Association 114 (2019): the least cost of the points so far is kept as a function of the level of the last segment.
//! It is piecewise quadratic. A new point adds its loss to every piece; a change replaces the pieces that cost more than
//! the least cost and the penalty. Both are exact, and a point costs as much as there are pieces, some tens.

/// Beyond that many standard deviations from its segment's level a point costs no more: the biweight loss.
pub(super) const OUTLIER: f64 = 3.0;

/// A level up to which a piece is valid, from where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Piece {
    end: f64,
    /// Cost of a level: `weight * (level - center)^2 + least`.
    weight: f64,
    center: f64,
    least: f64,
    /// First point of the last segment.
    origin: usize,
}

impl Piece {
    fn cost(&self, level: f64) -> f64 {
        if self.weight == 0.0 { self.least } else { self.weight * (level - self.center).powi(2) + self.least }
    }

    /// The same piece with the loss of a point whose residual is small everywhere in it.
    fn with_loss(&self, value: f64, weight: f64) -> Self {
        if self.weight == 0.0 {
            return Self { weight, center: value, ..*self };
        }
        let sum = self.weight + weight;
        let share = weight / sum;
        let center = self.center + share * (value - self.center);
        let least = self.least + self.weight * share * (self.center - value).powi(2);
        Self { weight: sum, center, least, ..*self }
    }
}

/// The least cost of the points up to one of them.
#[derive(Debug, Clone, Copy)]
struct Best {
    cost: f64,
    level: f64,
    origin: usize,
}

/// A stretch of points of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) level: f64,
}

/// The cheapest segmentations of all beginnings of a series.
#[derive(Debug, Clone, Default)]
pub(super) struct Segmentation {
    pieces: Vec<Piece>,
    capped: Vec<Piece>,
    best: Vec<Best>,
}

impl Segmentation {
    pub(super) fn len(&self) -> usize {
        self.best.len()
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.best.clear();
    }

    /// Adds a point of a value and a weight (the inverse of its variance); a change before it costs `penalty`.
    pub(super) fn push(&mut self, value: f64, weight: f64, penalty: f64) {
        match self.best.last() {
            None => {
                let whole = Piece { end: f64::INFINITY, weight: 0.0, center: 0.0, least: 0.0, origin: 0 };
                self.capped.clear();
                self.capped.push(whole);
            }
            Some(best) => self.cap(best.cost + penalty),
        }
        self.add(value, weight);
        self.best.push(self.cheapest());
    }

    /// The cheapest segmentation of all points.
    pub(super) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut end = self.best.len();
        while let Some(best) = end.checked_sub(1).and_then(|last| self.best.get(last)) {
            segments.push(Segment { start: best.origin, end, level: best.level });
            end = best.origin;
        }
        segments.reverse();
        segments
    }

    /// Takes the minimum of the pieces and a constant, the cost of a change before the next point.
    fn cap(&mut self, cap: f64) {
        let origin = self.best.len();
        let capped = &mut self.capped;
        capped.clear();
        let constant_until = |capped: &mut Vec<Piece>, end: f64| match capped.last_mut() {
            Some(last) if last.origin == origin => last.end = end,
            _ => capped.push(Piece { end, weight: 0.0, center: 0.0, least: cap, origin }),
        };
        let mut start = f64::NEG_INFINITY;
        for piece in &self.pieces {
            if piece.least >= cap {
                constant_until(capped, piece.end);
            } else if piece.weight == 0.0 || (piece.cost(start) <= cap && piece.cost(piece.end) <= cap) {
                capped.push(*piece);
            } else {
                let radius = ((cap - piece.least) / piece.weight).sqrt();
                let (low, high) = (piece.center - radius, piece.center + radius);
                if low >= piece.end || high <= start {
                    constant_until(capped, piece.end);
                } else {
                    if low > start {
                        constant_until(capped, low);
                    }
                    capped.push(Piece { end: piece.end.min(high), ..*piece });
                    if high < piece.end {
                        constant_until(capped, piece.end);
                    }
                }
            }
            start = piece.end;
        }
    }

    /// Adds a point's loss, which is bounded.
    fn add(&mut self, value: f64, weight: f64) {
        let reach = OUTLIER / weight.sqrt();
        let (low, high) = (value - reach, value + reach);
        let bound = OUTLIER * OUTLIER;
        self.pieces.clear();
        let mut start = f64::NEG_INFINITY;
        for piece in &self.capped {
            let end = piece.end;
            if start < low {
                self.pieces.push(Piece { end: end.min(low), least: piece.least + bound, ..*piece });
            }
            if start < high && end > low {
                self.pieces.push(Piece { end: end.min(high), ..piece.with_loss(value, weight) });
            }
            if end > high {
                self.pieces.push(Piece { least: piece.least + bound, ..*piece });
            }
            start = end;
        }
    }

    /// The cheapest level. Of equal costs the longest segment's: the order of levels does not matter, so that a
    /// mirrored series is segmented alike.
    fn cheapest(&self) -> Best {
        let mut best = Best { cost: f64::INFINITY, level: 0.0, origin: usize::MAX };
        let mut start = f64::NEG_INFINITY;
        for piece in &self.pieces {
            if piece.least <= best.cost {
                let level = if piece.weight == 0.0 {
                    // A level at which all points of the segment are outliers is no level.
                    piece.end
                } else {
                    piece.center.clamp(start, piece.end)
                };
                let cost = if piece.weight == 0.0 { piece.least } else { piece.cost(level) };
                if cost.total_cmp(&best.cost).then(piece.origin.cmp(&best.origin)).is_lt() {
                    best = Best { cost, level, origin: piece.origin };
                }
            }
            start = piece.end;
        }
        best
    }
}
