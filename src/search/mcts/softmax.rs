//! The softmax of the logits of a position's moves, in a form that compiles to vector instructions.
//!
//! A search computes one for every leaf. It uses its own exponential function, so that priors, and
//! with them whole games, are the same on every machine. The `expf` of the system can differ.

use crate::game::MAX_SQUARES;

/// The number of logits that are computed together.
const LANES: usize = 8;

/// Space for the logits of all squares, rounded up to whole groups.
pub(super) type LogitArray = [f32; MAX_SQUARES.next_multiple_of(LANES)];

/// Turns the first `count` logits into probabilities; `greatest` must be the greatest of them. If
/// they include NaN or infinity, all moves get the same probability.
#[inline]
pub(super) fn softmax(logits: &mut LogitArray, count: usize, greatest: f32) {
    let used = count.next_multiple_of(LANES).min(logits.len());
    // The rest of the last group must not contribute to the sum.
    logits[count..used].fill(f32::NEG_INFINITY);
    let mut sums = [0.0; LANES];
    for group in logits[..used].as_chunks_mut::<LANES>().0 {
        for (logit, sum) in group.iter_mut().zip(&mut sums) {
            *logit = exp(*logit - greatest);
            *sum += *logit;
        }
    }
    let sum: f32 = sums.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        logits[..count].fill(1.0 / count as f32);
        return;
    }
    let share = 1.0 / sum;
    for group in logits[..used].as_chunks_mut::<LANES>().0 {
        group.iter_mut().for_each(|weight| *weight *= share);
    }
}

/// `e` to the power of `x` for `x` up to 80, with an error of a few units in the last place; 0
/// below about -87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding this constant rounds a number of moderate size to an integer, in its lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let log2 = x * std::f32::consts::LOG2_E;
    let rounded = log2.max(-126.0) + ROUND;
    let whole = rounded - ROUND;
    // The rest lies within 0.35 of 0, so a few terms of the series are enough. The two constants
    // are ln 2 in two parts, for precision.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (1.0 / 6.0
                                + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0)))));
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if log2 < -126.0 { 0.0 } else { series * power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for step in -8_700..=8_000 {
            let x = step as f32 / 100.0;
            let (got, wanted) = (exp(x) as f64, (x as f64).exp());
            assert!((got / wanted - 1.0).abs() < 4e-7, "exp({x}) = {got}, not {wanted}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-90.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn probabilities_follow_the_logits() {
        for count in 1..=MAX_SQUARES {
            let mut lanes: LogitArray = [f32::NAN; _];
            let logit = |place: usize| (place as f32 * 1.7).sin() * 6.0;
            (0..count).for_each(|place| lanes[place] = logit(place));
            let greatest = lanes[..count].iter().copied().fold(f32::MIN, f32::max);
            softmax(&mut lanes, count, greatest);
            let sum: f64 = (0..count).map(|place| (logit(place) as f64).exp()).sum();
            for (place, lane) in lanes[..count].iter().enumerate() {
                let wanted = (logit(place) as f64).exp() / sum;
                assert!((*lane as f64 - wanted).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn nan_or_infinite_logits_give_equal_probabilities() {
        for broken in [f32::NAN, f32::INFINITY] {
            let mut lanes: LogitArray = [0.0; _];
            lanes[1] = broken;
            softmax(&mut lanes, 4, if broken.is_nan() { 0.0 } else { broken });
            assert_eq!(lanes[..4], [0.25; 4]);
        }
    }
}
