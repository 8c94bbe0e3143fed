//! Check of fields that get the values of another one.

use crate::config::read::node::{MapReader, Result};
use crate::config::{FieldKind, FieldMapping};

/// Checks that fields can get each value of the one that they are in, which is of `kind`.
pub(super) fn check_sub_fields(
    map: &MapReader<'_>,
    what: &str,
    kind: &FieldKind,
    fields: &[FieldMapping],
) -> Result<()> {
    let is_completion =
        |kind: &FieldKind| matches!(kind, FieldKind::Text(text) if text.completion.is_some());
    let has_scalars = !matches!(
        kind,
        FieldKind::GeoPoint(_) | FieldKind::Range(_) | FieldKind::Vector(_)
    ) && !is_completion(kind);
    if !fields.is_empty() && !has_scalars {
        let message = format!(
            "{what}: a completion, a range, a vector and a geo_point have no sub-fields: map a field of its own"
        );
        return Err(map.error("sub_fields", message));
    }
    for field in fields {
        let is_scalar = !matches!(
            field.kind,
            FieldKind::Object(_)
                | FieldKind::Json(_)
                | FieldKind::Concatenate(_)
                | FieldKind::GeoPoint(_)
                | FieldKind::Range(_)
                | FieldKind::Vector(_)
        ) && !is_completion(&field.kind);
        let is_plain = !field.stored && !field.scanned && !field.name.contains('.');
        if !is_scalar || !is_plain {
            let message = format!(
                "{what}: the sub-field {:?} must be of a scalar type, have no dot in its name, and \"stored: false\"",
                field.name
            );
            return Err(map.error("sub_fields", message));
        }
    }
    Ok(())
}
