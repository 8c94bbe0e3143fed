//! Mapping of a split's fields to those of the index, and the check whether the split can be
//! merged.
//!
//! Fields are identified by name. Splits of the same config, and of configs to which fields were
//! only appended, also have the same field numbers, so that stored documents can be copied. A merge
//! is refused if values would be lost or change their meaning.

use canter_doc_mapper::mapper::{DYNAMIC_FIELD, FIELD_PRESENCE_FIELD};
use canter_doc_mapper::{DocMapper, split_path};
use tantivy::SegmentReader;
use tantivy::columnar::ColumnarReader;
use tantivy::schema::{Field, FieldEntry, Schema};

use crate::BuildError;

/// Separator of path segments in terms and in names of columns.
const PATH_SEPARATOR: &str = "\u{1}";

/// Mapping between the fields of a split and those of the index.
pub(super) struct FieldMap {
    /// Indexed by the index's field number: the split's field, if it exists.
    of_target: Vec<Option<Field>>,
    /// Indexed by the split's field number: the index's field; `None` if all numbers are equal.
    renumbered: Option<Vec<Field>>,
    /// Names of mapped fields that the split does not have.
    added: Vec<String>,
}

/// Returns whether a field can have values. The index also has internal fields that need not be
/// used.
fn is_used(entry: &FieldEntry) -> bool {
    entry.is_indexed() || entry.is_fast() || entry.is_stored()
}

impl FieldMap {
    /// # Errors
    /// `Invalid` if a field of the split differs in the index's config or is missing from it.
    pub(super) fn new(split_id: &str, split: &Schema, target: &Schema) -> Result<Self, BuildError> {
        let refused = |name: &str, problem: &str| {
            BuildError::invalid(format!(
                "split {split_id} cannot be merged under the index's config: its field {name:?} {problem}; \
                 merge splits whose mappings differ by fields that were added, and leave this one as it is"
            ))
        };
        let mut of_target = Vec::new();
        let mut added = Vec::new();
        for (_, wanted) in target.fields() {
            let name = wanted.name();
            let found = split.get_field(name).ok();
            let found = found.filter(|field| is_used(split.get_field_entry(*field)));
            match found.map(|field| split.get_field_entry(field)) {
                Some(entry) if entry != wanted => {
                    return Err(refused(name, "is indexed in another way"));
                }
                // Existing documents would lack values that all others have.
                None if name == FIELD_PRESENCE_FIELD && is_used(wanted) => {
                    return Err(refused(name, "is missing"));
                }
                None if !name.starts_with('_') => added.push(name.to_owned()),
                _ => {}
            }
            of_target.push(found);
        }
        let mut renumbered = Vec::new();
        let mut has_same_numbers = true;
        for (field, entry) in split.fields() {
            let wanted = match target.get_field(entry.name()) {
                Ok(wanted) => wanted,
                Err(_) if !is_used(entry) => field,
                Err(_) => return Err(refused(entry.name(), "is not mapped any more")),
            };
            has_same_numbers &= wanted == field;
            renumbered.push(wanted);
        }
        Ok(Self {
            of_target,
            renumbered: (!has_same_numbers).then_some(renumbered),
            added,
        })
    }

    /// Returns the split's field for a field of the index, or `None` if the split does not have it.
    pub(super) fn of_target(&self, target: Field) -> Option<Field> {
        let ord = usize::try_from(target.field_id()).ok()?;
        self.of_target.get(ord).copied().flatten()
    }

    /// Returns whether a field has different numbers in the index and the split.
    pub(super) fn is_renumbered(&self) -> bool {
        self.renumbered.is_some()
    }

    /// Returns the number of the split's field in the index.
    pub(super) fn to_target(&self, field: Field) -> Option<Field> {
        let ord = usize::try_from(field.field_id()).ok()?;
        match &self.renumbered {
            Some(renumbered) => renumbered.get(ord).copied(),
            None => Some(field),
        }
    }

    /// Refuses a split whose documents have values at a path that was mapped later. Queries read
    /// the mapped field and would no longer find these values.
    pub(super) fn check_dynamic(
        &self,
        split_id: &str,
        segment: &SegmentReader,
        columnar: &ColumnarReader,
        target: &DocMapper,
    ) -> Result<(), BuildError> {
        let dynamic = target
            .dynamic_field()
            .and_then(|field| self.of_target(field));
        let Some(dynamic) = dynamic.filter(|_| !self.added.is_empty()) else {
            return Ok(());
        };
        for name in &self.added {
            if has_values(segment, columnar, dynamic, name)? {
                return Err(BuildError::invalid(format!(
                    "split {split_id} has documents with {name:?} from before it was mapped, which queries \
                     would not find any more once it is merged: leave the split as it is, or ingest its \
                     documents again"
                )));
            }
        }
        Ok(())
    }
}

/// Returns whether documents of a segment have a value at this path or below it in the dynamic
/// field.
pub(super) fn has_values(
    segment: &SegmentReader,
    columnar: &ColumnarReader,
    dynamic: Field,
    name: &str,
) -> tantivy::Result<bool> {
    let segments = split_path(name);
    // The dynamic mapping determines whether a dot in a key divides it.
    let divided: Vec<&str> = segments.iter().flat_map(|key| key.split('.')).collect();
    let mut paths = vec![segments.join(PATH_SEPARATOR), divided.join(PATH_SEPARATOR)];
    paths.dedup();
    let columns = columnar.list_columns()?;
    let is_indexed = segment.schema().get_field_entry(dynamic).is_indexed();
    for path in paths {
        let column = format!("{DYNAMIC_FIELD}{PATH_SEPARATOR}{path}");
        let has_column = columns.iter().any(|(name, _)| {
            let rest = name.strip_prefix(&column);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(PATH_SEPARATOR))
        });
        if has_column || (is_indexed && has_term_under(segment, dynamic, &path)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_term_under(segment: &SegmentReader, field: Field, path: &str) -> tantivy::Result<bool> {
    let index = segment.inverted_index(field)?;
    // A term consists of a path, a zero byte and a value. Below the path, its separator (a one
    // byte) follows.
    let from = [path.as_bytes(), &[0]].concat();
    let to = [path.as_bytes(), &[2]].concat();
    let mut terms = index.terms().range().ge(from).lt(to).into_stream()?;
    Ok(terms.advance())
}
