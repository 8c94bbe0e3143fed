//! Estimate of the number of distinct values from the registers, without tables: Ertl's improved
//! raw estimator ("New cardinality estimation algorithms for HyperLogLog sketches", 2017, algorithm
//! 6).
//!
//! It only uses additions, multiplications, divisions and square roots, which IEEE 754 defines
//! exactly: every machine gives the same estimate.

use super::MAX_RANK;

/// 1 / (2 ln 2), the limit of the correction factor for many registers.
const ALPHA: f64 = 0.721_347_520_444_481_7;

pub(super) fn estimate(registers: &[u8]) -> f64 {
    let mut counts = [0u32; MAX_RANK as usize + 1];
    for rank in registers {
        counts[usize::from(*rank).min(counts.len() - 1)] += 1;
    }
    let num = registers.len() as f64;
    let [empty, ranks @ .., full] = &counts;
    let mut sum = num * tau(1.0 - f64::from(*full) / num);
    for count in ranks.iter().rev() {
        sum = 0.5 * (sum + f64::from(*count));
    }
    sum += num * sigma(f64::from(*empty) / num);
    ALPHA * num * num / sum
}

/// Returns the term of empty registers: x + Σ x^(2^k) · 2^(k-1), which is infinite for 1.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut weight) = (x, 1.0);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight += weight;
        if sum == before {
            return sum;
        }
    }
}

/// Returns the term of saturated registers: (1 - x - Σ (1 - x^(2^-k))² · 2^-k) / 3.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut sum, mut weight) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_finite_or_zero() {
        assert_eq!(estimate(&[0; 2048]), 0.0);
        let full = estimate(&[MAX_RANK; 2048]);
        assert!(full.is_infinite() && full > 0.0);
        assert!(estimate(&[MAX_RANK - 1; 2048]).is_finite());
        // Ranks beyond those of coupons count as the highest.
        assert_eq!(estimate(&[255; 16]), estimate(&[MAX_RANK; 16]));
    }

    #[test]
    fn a_register_more_is_about_a_value_more() {
        let mut registers = [0; 2048];
        for (at, expected) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
            registers[at] = 1;
            let estimate = estimate(&registers);
            assert!((estimate - expected).abs() < 0.01, "{estimate}");
        }
    }
}
