//! Which tantivy field has which number.
//!
//! ```text
//!   0 _dynamic · 1 _source · 2 _field_presence · 3 _doc_length · 4 _verbatim │ 5 … mapped leaves
//! ```
//!
//! The fields of the index itself stand first, whether a config uses them or not, and the mapped ones
//! follow in the order of the config. So a mapping that has grown at its end gives every older field the
//! number that it had, and segments of both can be merged. **Never change the order, nor put another in
//! between**: numbers stand in stored documents.
//!
//! Segments of before this order say theirs in the schema that they carry, so readers look numbers up
//! there ([`Numbering::Given`]).

use tantivy::schema::{Field, FieldEntry, JsonObjectOptions, NumericOptions, Schema, TextOptions};
use tantivy::schema::{INDEXED, STORED, SchemaBuilder};

use super::{
    DOCUMENT_SIZE_FIELD, DYNAMIC_FIELD, FIELD_PRESENCE_FIELD, SOURCE_FIELD, VERBATIM_FIELD,
};
use crate::config::ConfigError;

/// Gives fields their numbers.
pub(super) enum Numbering<'s> {
    /// Of a segment to be written.
    New(SchemaBuilder),
    /// Of one that was: by name. The first field that it lacks is kept for the end.
    Given(&'s Schema, Option<ConfigError>),
}

/// Which of the index's own fields a config uses.
pub(super) struct OwnFields {
    pub(super) dynamic: Option<JsonObjectOptions>,
    pub(super) source: bool,
    pub(super) presence: bool,
    pub(super) document_size: bool,
    pub(super) verbatim: bool,
}

/// The numbers of those that are used.
pub(super) struct OwnNumbers {
    pub(super) dynamic: Option<Field>,
    pub(super) source: Option<Field>,
    pub(super) presence: Option<Field>,
    pub(super) document_size: Option<Field>,
    pub(super) verbatim: Option<Field>,
}

impl Numbering<'_> {
    /// The index's own fields: to be called first, and once.
    pub(super) fn own(&mut self, used: OwnFields) -> OwnNumbers {
        let text = |is_used: bool| match is_used {
            true => TextOptions::from(STORED),
            false => TextOptions::default(),
        };
        let presence = match used.presence {
            true => NumericOptions::from(INDEXED),
            false => NumericOptions::default(),
        };
        let size = match used.document_size {
            true => NumericOptions::default().set_fast(),
            false => NumericOptions::default(),
        };
        let has_dynamic = used.dynamic.is_some();
        let dynamic = used.dynamic.unwrap_or_default();
        let name = str::to_owned;
        let entries = [
            (
                FieldEntry::new_json(name(DYNAMIC_FIELD), dynamic),
                has_dynamic,
            ),
            (
                FieldEntry::new_text(name(SOURCE_FIELD), text(used.source)),
                used.source,
            ),
            (
                FieldEntry::new_u64(name(FIELD_PRESENCE_FIELD), presence),
                used.presence,
            ),
            (
                FieldEntry::new_u64(name(DOCUMENT_SIZE_FIELD), size),
                used.document_size,
            ),
            (
                FieldEntry::new_text(name(VERBATIM_FIELD), text(used.verbatim)),
                used.verbatim,
            ),
        ];
        let [dynamic, source, presence, document_size, verbatim] =
            entries.map(|(entry, is_used)| self.own_field(entry).filter(|_| is_used));
        OwnNumbers {
            dynamic,
            source,
            presence,
            document_size,
            verbatim,
        }
    }

    /// `None` for a segment that was written before the index had such a field.
    fn own_field(&mut self, entry: FieldEntry) -> Option<Field> {
        match self {
            Numbering::New(builder) => Some(builder.add_field(entry)),
            Numbering::Given(schema, _) => schema.get_field(entry.name()).ok(),
        }
    }

    /// The next mapped leaf.
    pub(super) fn mapped(&mut self, entry: FieldEntry) -> Field {
        match self {
            Numbering::New(builder) => builder.add_field(entry),
            Numbering::Given(schema, lacking) => {
                let found = schema.get_field(entry.name()).ok().filter(|field| {
                    let given = schema.get_field_entry(*field).field_type().value_type();
                    given == entry.field_type().value_type()
                });
                found.unwrap_or_else(|| {
                    lacking.get_or_insert_with(|| {
                        let message = format!(
                            "the segment has no field {:?} of the mapped type: it was not built with \
                             this config",
                            entry.name()
                        );
                        ConfigError::new("doc_mapping.field_mappings", message)
                    });
                    Field::from_field_id(0)
                })
            }
        }
    }

    /// The schema.
    ///
    /// # Errors
    /// If a given one lacks a mapped field.
    pub(super) fn finish(self) -> Result<Schema, ConfigError> {
        match self {
            Numbering::New(builder) => Ok(builder.build()),
            Numbering::Given(_, Some(error)) => Err(error),
            Numbering::Given(schema, None) => Ok(schema.clone()),
        }
    }
}
