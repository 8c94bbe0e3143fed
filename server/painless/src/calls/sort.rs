//! Sorting. The standard library's may panic where a comparison contradicts itself, which a script's can.

use crate::ast::Lambda;
use crate::error::ScriptError;
use crate::values::{Value, compare};

use super::host::Host;

/// Sorts elements by their natural order, or by a function of two.
///
/// # Errors
/// Two elements cannot be compared.
pub(super) fn sorted<'s, H: Host<'s>>(
    host: &mut H,
    elements: Vec<Value>,
    by: Option<&'s Lambda>,
) -> Result<Vec<Value>, ScriptError> {
    let mut sorted = elements;
    let mut width = 1;
    while width < sorted.len() {
        let mut merged = Vec::with_capacity(sorted.len());
        for pair in sorted.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(host, (left, right), by, &mut merged)?;
        }
        sorted = merged;
        width *= 2;
    }
    Ok(sorted)
}

fn merge<'s, H: Host<'s>>(
    host: &mut H,
    (mut left, mut right): (&[Value], &[Value]),
    by: Option<&'s Lambda>,
    into: &mut Vec<Value>,
) -> Result<(), ScriptError> {
    while let ([first, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
        host.heap().spend(1)?;
        let is_after = match by {
            None => compare(host.heap(), first, other)?.is_gt(),
            Some(by) => match host.invoke(by, &[first.clone(), other.clone()])? {
                Value::Int(order) => order > 0,
                value => {
                    let reason = format!("Cannot cast from [{}] to [int].", value.class());
                    return Err(host.heap().error("class_cast_exception", reason));
                }
            },
        };
        match is_after {
            true => {
                into.push(other.clone());
                right = right_rest;
            }
            false => {
                into.push(first.clone());
                left = left_rest;
            }
        }
    }
    into.extend_from_slice(left);
    into.extend_from_slice(right);
    Ok(())
}
