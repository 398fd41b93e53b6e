//! A fixed piece of work: the time that it takes is of the machine, and of nothing that is measured on it.

use std::hint::black_box;

use crate::clock;

/// Lines of the table, of 64 bytes: 1 MiB, which is more than the first level of the cache holds.
const LINES: u32 = 1 << 14;
/// Multiplications for each line, each of which needs the result of the one before.
const MULTIPLICATIONS: usize = 4;
/// Of which the fastest counts: what interrupts the work makes it only slower.
const REPEATS: u64 = 16;
/// Odd, and with no pattern; the constant of Knuth's generator MMIX.
const FACTOR: u64 = 6_364_136_223_846_793_005;

/// A line of the cache, with the number of the one to be read next.
#[repr(align(64))]
struct Line {
    next: u32,
}

/// CPU time of a step in nanoseconds, in about 5 ms: to read a line of a table of 1 MiB, and four multiplications.
#[must_use]
pub fn cpu_ns_per_step() -> f64 {
    let circle = circle();
    let repeat = |number: u64| {
        let before_ns = clock::thread_cpu_ns();
        black_box(steps(&circle, black_box(number)));
        clock::thread_cpu_ns().saturating_sub(before_ns)
    };
    let fastest_ns = (0..REPEATS).map(repeat).min().unwrap_or(0);
    fastest_ns as f64 / f64::from(LINES)
}

/// Reads each line once, in the order of the circle, then multiplies.
fn steps(circle: &[Line], number: u64) -> u64 {
    let (mut at, mut value) = (0, number);
    for _ in 0..circle.len() {
        at = circle[at as usize].next;
    }
    value ^= u64::from(at);
    for _ in 0..circle.len() * MULTIPLICATIONS {
        value = value.wrapping_mul(FACTOR).rotate_left(23) ^ FACTOR;
    }
    value
}

/// All lines in one circle, of an order that no processor foresees and that is always the same (Sattolo 1986).
fn circle() -> Vec<Line> {
    let mut order: Vec<u32> = (0..LINES).collect();
    let mut state = 1_u64;
    for last in (1..LINES).rev() {
        state = state.wrapping_mul(FACTOR).wrapping_add(1);
        let drawn = (state >> 33) % u64::from(last);
        order.swap(last as usize, usize::try_from(drawn).unwrap_or(0));
    }
    order.into_iter().map(|next| Line { next }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_once_before_the_first_again() {
        let circle = circle();
        let (mut at, mut seen) = (0, 0);
        loop {
            at = circle[at as usize].next;
            seen += 1;
            if at == 0 {
                break;
            }
        }
        assert_eq!(seen, LINES);
        assert_eq!(std::mem::size_of_val(circle.as_slice()), 1 << 20);
    }

    #[test]
    fn the_work_is_always_the_same_and_takes_time() {
        let (one, another) = (circle(), circle());
        assert!(one.iter().zip(&another).all(|(line, other)| line.next == other.next));
        assert_eq!(steps(&one, 7), steps(&another, 7));
        assert_ne!(steps(&one, 7), steps(&one, 8));
        assert!(cpu_ns_per_step() > 0.0);
    }
}
