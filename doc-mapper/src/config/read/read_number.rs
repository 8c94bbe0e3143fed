//! Reader of the options of numbers.

use super::node::{MapReader, NodeValue, Result};
use crate::config::{NumericKind, Width};

/// Reads the options of a number, which may have one of these widths.
pub(super) fn numeric(
    map: &MapReader<'_>,
    widths: &[(&str, Option<Width>)],
) -> Result<NumericKind> {
    const SCALED: &str = "scaling_factor";
    let mut width = map.choice("width", widths, None)?;
    if let Some(node) = map.get(SCALED) {
        let factor = match &node.value {
            NodeValue::Number(text) => text.parse::<f64>().ok(),
            _ => None,
        };
        let is_float = widths.len() == Width::FLOATS.len();
        let factor = factor.filter(|factor| *factor > 0.0 && factor.is_finite());
        width = Some(match factor.filter(|_| is_float && width.is_none()) {
            Some(factor) => Width::Scaled(factor),
            None => {
                let message =
                    "\"scaling_factor\" must be a number above 0, of an f64 without \"width\"";
                return Err(map.error(SCALED, message));
            }
        });
    }
    Ok(NumericKind {
        width,
        coerce: map.bool("coerce", true)?,
        output_as_string: map.choice(
            "output_format",
            &[("number", false), ("string", true)],
            false,
        )?,
    })
}
