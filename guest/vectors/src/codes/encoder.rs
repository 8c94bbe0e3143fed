//! From residuals to codes.

use super::{CodeWidth, ROUNDING, Space};
use crate::kernels::dot;

/// Steps of the grid that are tried, as multiples of the step that is best for numbers with a normal
/// distribution.
const LARGER_STEPS: [f32; 4] = [1.1, 1.2, 1.35, 1.5];

/// The same, below it.
const SMALLER_STEPS: [f32; 4] = [0.9, 0.8, 0.7, 0.6];

/// What a code needs besides its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrections {
    /// Factor of the inner product of code and query.
    pub factor: f32,
    /// Summand that depends on neither code nor query.
    pub offset: f32,
}

/// Makes codes of rotated residuals.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    width: CodeWidth,
    space: Space,
}

impl Encoder {
    /// Creates an encoder.
    pub fn new(width: CodeWidth, space: Space) -> Self {
        Self { width, space }
    }

    /// Appends the code of `residual`, a rotated vector minus its rotated `centroid`. Returns its
    /// corrections.
    pub fn encode(&self, residual: &[f32], centroid: &[f32], code: &mut Vec<u8>) -> Corrections {
        let square = dot(residual, residual);
        let direction = self.direction(residual, square);
        self.append(&direction, code);
        let inner = dot(&direction, residual);
        // A residual of zeros has no direction; neither has one whose square is smaller than any number.
        let factor = match inner > 0.0 {
            true => square / inner,
            false => 0.0,
        };
        match self.space {
            Space::Distance => Corrections {
                factor: 2.0 * factor,
                offset: -square,
            },
            Space::Product => Corrections {
                factor,
                offset: dot(residual, centroid),
            },
        }
    }

    /// Returns the direction of the grid that is nearest to that of a residual, among those of all
    /// steps.
    fn direction(&self, residual: &[f32], square: f32) -> Vec<f32> {
        let deviation = (square / float_of(residual.len())).sqrt();
        let best_step = match self.width {
            CodeWidth::One => return self.on_grid(residual, 0.0),
            CodeWidth::Two => 0.996,
            CodeWidth::Four => 0.335,
        };
        if deviation == 0.0 {
            return self.on_grid(residual, 0.0);
        }
        let of_step = |step: f32| {
            let direction = self.on_grid(residual, 1.0 / (deviation * best_step * step));
            let inner = dot(&direction, residual);
            (inner / dot(&direction, &direction).sqrt(), direction)
        };
        // From the middle outwards, as long as it gets better.
        let mut best = of_step(1.0);
        for steps in [LARGER_STEPS, SMALLER_STEPS] {
            let mut is_better = false;
            for step in steps {
                let next = of_step(step);
                if next.0 <= best.0 {
                    break;
                }
                (best, is_better) = (next, true);
            }
            if is_better {
                break;
            }
        }
        best.1
    }

    /// Rounds each number times `scale` to the middle between two whole numbers.
    fn on_grid(&self, residual: &[f32], scale: f32) -> Vec<f32> {
        let greatest = f32::from(self.width.greatest());
        let half = greatest / 2.0;
        if self.width == CodeWidth::One {
            let signs = residual.iter();
            return signs.map(|number| sign(*number) * half).collect();
        }
        let numbers = residual.iter().map(|number| {
            let shifted = (number * scale + half).clamp(0.0, greatest);
            ((shifted + ROUNDING) - ROUNDING) - half
        });
        numbers.collect()
    }

    fn append(&self, direction: &[f32], code: &mut Vec<u8>) {
        let half = f32::from(self.width.greatest()) / 2.0;
        let bits = self.width.bits();
        let bytes = direction.chunks(8 / bits as usize).map(|numbers| {
            let numbers = (0..8).step_by(bits as usize).zip(numbers);
            let numbers = numbers.map(|(place, number)| small(number + half) << place);
            numbers.fold(0, |byte, number| byte | number)
        });
        code.extend(bytes);
    }
}

fn sign(number: f32) -> f32 {
    if number >= 0.0 { 1.0 } else { -1.0 }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number from 0 to 15"
)]
fn small(number: f32) -> u8 {
    number as u8
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of dimensions are small"
)]
fn float_of(num_dims: usize) -> f32 {
    num_dims as f32
}
