//! Reader of the options of numbers and of vectors of them.

use canter_vectors::{Element, Similarity};

use super::node::{MapReader, NodeValue, Result};
use crate::config::{NumericKind, VectorKind, Width};
use crate::documents::vector::{ELEMENTS, MAX_DIMS};

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

/// Reads the options of `dense_vector`.
pub(in crate::config) fn vector(map: &MapReader<'_>, what: &str) -> Result<VectorKind> {
    if !map.has("dims") {
        let message = format!("{what} needs the key \"dims\": the number of dimensions");
        return Err(map.error("dims", message));
    }
    let dims = map.u64("dims", 1, 1, MAX_DIMS)?;
    let similarities = Similarity::ALL.map(|own| (own.name(), Some(own)));
    let similarity = map.choice("similarity", &similarities, None)?;
    let element = map.choice("element_type", &ELEMENTS, Element::Float)?;
    let vector = VectorKind::new(u32::try_from(dims).unwrap_or(u32::MAX), similarity, element);
    vector.map_err(|problem| map.error("similarity", format!("{what}: {problem}")))
}
