//! Levels of nodes from contrasts between them: generalised least squares on a graph.
//!
//! A contrast is a measured difference of two nodes with its variance. The levels that fit all contrasts best, relative to
//! a reference, are the generalised least squares estimate (Rao and Toutenburg, Linear Models, 1995, chapter 4): the
//! adjustment of a levelling network. The normal matrix is the weighted Laplacian of the graph without the reference.

/// A measured difference: the level of `head` less that of `base`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The node that is subtracted.
    pub base: usize,
    /// The node that the difference is of.
    pub head: usize,
    /// The difference.
    pub value: f64,
    /// Its variance, above 0.
    pub variance: f64,
}

/// The level of a node, or of the difference to another one, with its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The estimate.
    pub value: f64,
    /// Its variance.
    pub variance: f64,
}

/// The levels of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    values: Vec<f64>,
    /// The place of each node in the covariance; none for the reference and for nodes that no contrast joins with it.
    places: Vec<Option<usize>>,
    /// Lower triangle of the Cholesky factor of the normal matrix.
    factor: Vec<Vec<f64>>,
    reference: usize,
}

/// Estimates the levels of so many nodes relative to `reference`, which is less than `nodes`.
///
/// Contrasts of nodes that are not there, of a node with itself, or whose numbers are not finite or whose variance is not
/// above 0, are left out.
#[must_use]
pub fn levels(nodes: usize, contrasts: &[Contrast], reference: usize) -> Levels {
    let usable: Vec<&Contrast> = contrasts.iter().filter(|contrast| is_usable(contrast, nodes)).collect();
    let is_joined = joined(nodes, &usable, reference);
    let mut places = vec![None; nodes];
    let members: Vec<usize> = (0..nodes).filter(|&node| is_joined[node] && node != reference).collect();
    for (place, &node) in members.iter().enumerate() {
        places[node] = Some(place);
    }
    let mut normal = vec![vec![0.0; members.len()]; members.len()];
    let mut observed = vec![0.0; members.len()];
    for contrast in usable.iter().filter(|contrast| is_joined[contrast.base]) {
        let weight = 1.0 / contrast.variance;
        let (base, head) = (places[contrast.base], places[contrast.head]);
        if let Some(head) = head {
            normal[head][head] += weight;
            observed[head] += weight * contrast.value;
        }
        if let Some(base) = base {
            normal[base][base] += weight;
            observed[base] -= weight * contrast.value;
        }
        if let (Some(base), Some(head)) = (base, head) {
            normal[base][head] -= weight;
            normal[head][base] -= weight;
        }
    }
    let factor = cholesky(normal);
    let solved = solve(&factor, observed);
    let values = places.iter().map(|place| place.map_or(0.0, |place| solved[place])).collect();
    Levels { values, places, factor, reference }
}

impl Levels {
    /// The level of a node relative to the reference; none where no contrast joins them.
    #[must_use]
    pub fn of(&self, node: usize) -> Option<Level> {
        self.step(self.reference, node)
    }

    /// The level of a node relative to another one; none where no contrast joins them with the reference.
    #[must_use]
    pub fn step(&self, from: usize, to: usize) -> Option<Level> {
        let is_known = |node: usize| node == self.reference || self.places.get(node).is_some_and(Option::is_some);
        if !is_known(from) || !is_known(to) {
            return None;
        }
        let mut difference = vec![0.0; self.factor.len()];
        if let Some(place) = self.places[to] {
            difference[place] += 1.0;
        }
        if let Some(place) = self.places[from] {
            difference[place] -= 1.0;
        }
        // The variance of a'x is a'N⁻¹a = |L⁻¹a|².
        let halfway = forward(&self.factor, difference);
        let variance = halfway.iter().map(|part| part * part).sum();
        Some(Level { value: self.values[to] - self.values[from], variance })
    }
}

fn is_usable(contrast: &Contrast, nodes: usize) -> bool {
    contrast.base < nodes
        && contrast.head < nodes
        && contrast.base != contrast.head
        && contrast.value.is_finite()
        && contrast.variance.is_finite()
        && contrast.variance > 0.0
}

fn joined(nodes: usize, contrasts: &[&Contrast], reference: usize) -> Vec<bool> {
    let mut neighbours = vec![Vec::new(); nodes];
    for contrast in contrasts {
        neighbours[contrast.base].push(contrast.head);
        neighbours[contrast.head].push(contrast.base);
    }
    let mut is_joined = vec![false; nodes];
    let mut open = vec![reference];
    while let Some(node) = open.pop() {
        if node < nodes && !is_joined[node] {
            is_joined[node] = true;
            open.extend(&neighbours[node]);
        }
    }
    is_joined
}

/// The lower triangle L of A = L·L' (Golub and Van Loan, Matrix Computations, algorithm 4.2.1). The Laplacian of a graph
/// whose nodes are all joined with the reference is positive definite.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for row in 0..matrix.len() {
        for column in 0..=row {
            let (above, below) = matrix.split_at(row);
            let of_column = if column == row { &below[0] } else { &above[column] };
            let product: f64 =
                below[0][..column].iter().zip(&of_column[..column]).map(|(left, right)| left * right).sum();
            let rest = below[0][column] - product;
            let diagonal = if column == row { 1.0 } else { above[column][column] };
            matrix[row][column] = if column == row { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / diagonal };
        }
    }
    matrix
}

fn forward(factor: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    for row in 0..factor.len() {
        let product: f64 = factor[row][..row].iter().zip(&right[..row]).map(|(left, value)| left * value).sum();
        right[row] = (right[row] - product) / factor[row][row];
    }
    right
}

fn solve(factor: &[Vec<f64>], right: Vec<f64>) -> Vec<f64> {
    let mut solved = forward(factor, right);
    for row in (0..factor.len()).rev() {
        let product: f64 = (row + 1..factor.len()).map(|below| factor[below][row] * solved[below]).sum();
        solved[row] = (solved[row] - product) / factor[row][row];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(base: usize, head: usize, value: f64, variance: f64) -> Contrast {
        Contrast { base, head, value, variance }
    }

    fn assert_level(level: Option<Level>, value: f64, variance: f64) {
        let level = level.expect("the node is joined");
        assert!((level.value - value).abs() < 1e-9 && (level.variance - variance).abs() < 1e-9, "{level:?}");
    }

    #[test]
    fn a_chain_adds_up_values_and_variances() {
        let chain = levels(3, &[contrast(0, 1, 1.0, 1.0), contrast(1, 2, 2.0, 3.0)], 0);
        assert_level(chain.of(2), 3.0, 4.0);
        assert_level(chain.step(1, 2), 2.0, 3.0);
        assert_level(chain.step(2, 1), -2.0, 3.0);
    }

    #[test]
    fn contrasts_of_the_same_nodes_are_weighted_by_their_variances() {
        let both = levels(2, &[contrast(0, 1, 1.0, 1.0), contrast(1, 0, -4.0, 3.0)], 0);
        // (1/1·1 + 1/3·4) / (1/1 + 1/3), and 1 / (1/1 + 1/3)
        assert_level(both.of(1), 1.75, 0.75);
    }

    #[test]
    fn a_contrast_with_the_anchor_holds_a_chain() {
        let links: Vec<Contrast> = (0..100).map(|link| contrast(link, link + 1, 0.0, 1.0)).collect();
        let mut held = links.clone();
        held.extend((1..=100).map(|node| contrast(0, node, 0.0, 1.0)));
        assert_level(levels(101, &links, 0).of(100), 0.0, 100.0);
        let variance = levels(101, &held, 0).of(100).expect("the node is joined").variance;
        assert!(variance < 1.0, "{variance}");
    }

    #[test]
    fn a_triangle_that_does_not_close_is_adjusted_evenly() {
        let triangle = [contrast(0, 1, 1.0, 1.0), contrast(1, 2, 1.0, 1.0), contrast(0, 2, 2.3, 1.0)];
        assert_level(levels(3, &triangle, 0).of(2), 2.2, 2.0 / 3.0);
    }

    #[test]
    fn nodes_that_nothing_joins_have_no_level() {
        let apart = levels(4, &[contrast(0, 1, 1.0, 1.0), contrast(2, 3, 1.0, 1.0)], 0);
        assert_eq!((apart.of(2), apart.step(2, 3)), (None, None));
        assert_level(apart.of(0), 0.0, 0.0);
    }

    #[test]
    fn unusable_contrasts_are_left_out() {
        let broken = [
            contrast(0, 7, 1.0, 1.0),
            contrast(1, 1, 1.0, 1.0),
            contrast(0, 1, f64::NAN, 1.0),
            contrast(0, 1, 1.0, 0.0),
        ];
        assert_eq!(levels(2, &broken, 0).of(1), None);
    }

    #[test]
    fn swapping_the_sides_of_all_contrasts_mirrors_the_levels() {
        let forth = [contrast(0, 1, 0.3, 1.0), contrast(1, 2, -0.1, 2.0), contrast(0, 2, 0.4, 0.5)];
        let back: Vec<Contrast> = forth.iter().map(|c| contrast(c.base, c.head, -c.value, c.variance)).collect();
        let (one, other) = (levels(3, &forth, 0), levels(3, &back, 0));
        for node in 0..3 {
            let (one, other) = (one.of(node).expect("joined"), other.of(node).expect("joined"));
            assert!((one.value + other.value).abs() < 1e-12 && (one.variance - other.variance).abs() < 1e-12);
        }
    }
}
