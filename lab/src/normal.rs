//! The standard normal distribution: its cumulative function and the inverse.

use std::f64::consts::PI;

/// Beyond this number of standard deviations there is less than one draw in 10¹⁴.
const MAX_DEVIATIONS: f64 = 7.7;

/// Returns the share of draws below `x`.
///
/// Half plus the density times x + x³/3 + x⁵/(3·5) + x⁷/(3·5·7) + …, all terms with the same sign.
fn normal(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut odd = 3.0;
    while term.abs() > sum.abs() * f64::EPSILON {
        term *= x * x / odd;
        sum += term;
        odd += 2.0;
    }
    0.5 + sum * density(x)
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Returns the `x` below which a share `p` of the draws lies, by bisection, which always converges,
/// down to the last bits. At 0 and 1, where it would be infinite, returns [`MAX_DEVIATIONS`].
pub(super) fn quantile_of_normal(p: f64) -> f64 {
    if p == 0.5 {
        return 0.0;
    }
    let (mut low, mut high) = (-MAX_DEVIATIONS, MAX_DEVIATIONS);
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        match normal(middle) < p {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let check = |p: f64, expect: f64| {
            let x = quantile_of_normal(p);
            assert!((x - expect).abs() < 1e-9, "{p}: {x}");
            let mirrored = quantile_of_normal(1.0 - p);
            assert!((mirrored + expect).abs() < 1e-9, "{p}: {mirrored}");
        };
        check(0.5, 0.0);
        check(0.75, 0.674_489_750_196);
        check(0.9, 1.281_551_565_545);
        check(0.95, 1.644_853_626_951);
        check(0.99, 2.326_347_874_041);
        check(0.999, 3.090_232_306_168);
    }

    #[test]
    fn the_ends_are_finite() {
        assert!(quantile_of_normal(0.0) < -7.6);
        assert!(quantile_of_normal(1.0) > 7.6);
    }
}
