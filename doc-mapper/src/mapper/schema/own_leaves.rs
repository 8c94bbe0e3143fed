//! The index's own fields: which of them a mapping uses, and those whose values come from the index itself.

use tantivy::schema::Field;

use super::field_options::json_options;
use super::numbering::OwnFields;
use crate::config::{ConfigError, DocMapping, FieldKind, FieldMapping, Normalizer, NumericKind};
use crate::mapper::tree::{Leaf, ObjectNode};
use crate::mapper::{DOCUMENT_SIZE_FIELD, IGNORED_FIELD};
use crate::tokenizers::Letters;

/// Returns the field `_doc_length` for queries, sort keys and aggregations: a number with only a
/// column.
pub(in crate::mapper) fn document_size_leaf(field: Field) -> Leaf {
    Leaf {
        field,
        is_absent: false,
        path: DOCUMENT_SIZE_FIELD.to_string(),
        kind: FieldKind::U64(NumericKind {
            coerce: false,
            output_as_string: false,
            width: None,
        }),
        multi_valued: false,
        stored: false,
        indexed: false,
        scanned: false,
        values_of: None,
        fast: Some(Normalizer::Raw),
        ignore_above: None,
        ignored_names: Vec::new(),
        null_value: None,
        constant: None,
        ignores_malformed: false,
        infers_days: false,
        has_no_dates: false,
        is_whole: false,
        is_timestamp: false,
        is_needle: false,
        presence: None,
        letters: Letters::default(),
        is_computed: false,
        takes_values: true,
        variants: Vec::new(),
        subs: Vec::new(),
        aliases: Vec::new(),
        counted_by: None,
        copies: Vec::new(),
    }
}

/// Text that every document has in a field.
#[derive(Debug)]
pub(in crate::mapper) struct Constant {
    pub(in crate::mapper) field: Field,
    pub(in crate::mapper) presence: Option<u64>,
    pub(in crate::mapper) text: String,
}

/// Returns the texts that every document has.
pub(in crate::mapper) fn constants_of(root: &ObjectNode) -> Vec<Constant> {
    let leaves = root.leaves().into_iter().filter(|leaf| !leaf.is_absent);
    let constants = leaves.filter_map(|leaf| {
        let text = leaf.constant.clone()?;
        Some(Constant {
            field: leaf.field,
            presence: leaf.presence_of(&text),
            text,
        })
    });
    constants.collect()
}

/// Returns the field with the paths of values that were ignored as malformed, if the mapping has it.
pub(in crate::mapper) fn ignored_of(root: &ObjectNode) -> Option<Field> {
    let mut leaves = root.leaves().into_iter();
    let leaf = leaves.find(|leaf| leaf.path == IGNORED_FIELD && !leaf.is_absent)?;
    Some(leaf.field)
}

/// Returns the index's own fields that a mapping uses.
pub(super) fn own_fields(
    mapping: &DocMapping,
    dynamic_mapping: Option<&FieldMapping>,
) -> OwnFields {
    OwnFields {
        dynamic: dynamic_mapping.map(json_options),
        source: mapping.store_source,
        presence: mapping.index_field_presence,
        document_size: mapping.store_document_size,
        verbatim: mapping.ignore_malformed
            || has_malformed(&mapping.field_mappings)
            || has_verbatim(&mapping.field_mappings)
            || dynamic_mapping.is_some_and(is_kept_verbatim),
    }
}

/// Returns whether `_verbatim` stores the original text of a field.
fn is_kept_verbatim(mapping: &FieldMapping) -> bool {
    mapping.stored && mapping.kind.is_shown_as_written()
}

/// Returns whether hits may show malformed values of a field.
fn has_malformed(fields: &[FieldMapping]) -> bool {
    fields.iter().any(|mapping| match &mapping.kind {
        FieldKind::Object(fields) => has_malformed(fields),
        _ => mapping.stored && mapping.ignore_malformed,
    })
}

pub(super) fn has_verbatim(fields: &[FieldMapping]) -> bool {
    fields.iter().any(|mapping| match &mapping.kind {
        FieldKind::Object(fields) => mapping.is_nested() || has_verbatim(fields),
        _ => is_kept_verbatim(mapping),
    })
}

/// Returns the maximum lengths of whole values in the fields of a mapping, distinct.
pub(super) fn limits_of_values(root: &ObjectNode, dynamic: Option<&Leaf>) -> Vec<u32> {
    let leaves = root.leaves().into_iter().chain(dynamic);
    let limits = canter_sorting::set_of(leaves.filter_map(|leaf| leaf.ignore_above));
    limits.into_iter().collect()
}

/// Returns the timestamp field.
///
/// # Errors
/// The mapping names one that is not there.
pub(super) fn timestamp_of(
    root: &ObjectNode,
    mapping: &DocMapping,
) -> Result<Option<(Field, String)>, ConfigError> {
    let leaves = root.leaves().into_iter();
    let timestamp = leaves
        .filter(|leaf| leaf.is_timestamp && !leaf.is_absent)
        .map(|leaf| (leaf.field, leaf.path.clone()))
        .next();
    if timestamp.is_none() && mapping.timestamp_field.is_some() {
        let message = "the timestamp field is not a mapped field, or the segment has none";
        return Err(ConfigError::new("doc_mapping.timestamp_field", message));
    }
    Ok(timestamp)
}
