//! Which tantivy field has which number.
//!
//! ```text
//!   0 _dynamic · 1 _source · 2 _field_presence · 3 _doc_length · 4 _verbatim │ 5 … mapped leaves
//! ```
//!
//! The fields of the index itself stand first, whether a config uses them or not, and the mapped ones
//! follow in the order of the config, those last that the index got later, in the order in which it got them
//! ([`in_order_of_addition`]). So a mapping that has grown gives every older field the number that it had, and
//! segments of both can be merged. **Never change the order, nor put another in between**: numbers stand in
//! stored documents.
//!
//! A segment says in its schema which number has which field, so readers look them up there
//! ([`Numbering::Given`]): segments of before this order have another, and fields that the index got later are
//! absent.

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
    /// Of one that was: by name. The first field that has another type there is kept for the end.
    Given(&'s Schema, Option<ConfigError>),
}

/// The fields of a schema with these behind all others, in this order.
pub(super) fn in_order_of_addition(schema: &Schema, added: &[String]) -> Schema {
    let rank = |name: &str| added.iter().position(|path| path == name);
    let mut entries: Vec<&FieldEntry> = schema.fields().map(|(_, entry)| entry).collect();
    canter_sorting::sort_by_key(&mut entries, |entry| {
        rank(entry.name()).map_or(0, |place| place + 1)
    });
    let mut builder = Schema::builder();
    for entry in entries {
        builder.add_field(entry.clone());
    }
    builder.build()
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

    /// The next mapped leaf; `None` if the segment was built before there was one.
    pub(super) fn mapped(&mut self, entry: FieldEntry) -> Option<Field> {
        match self {
            Numbering::New(builder) => Some(builder.add_field(entry)),
            Numbering::Given(schema, wrong) => {
                let field = schema.get_field(entry.name()).ok()?;
                let given = schema.get_field_entry(field).field_type().value_type();
                if given != entry.field_type().value_type() {
                    wrong.get_or_insert_with(|| {
                        let message = format!(
                            "the segment has the field {:?} with the type {given:?}: it was not built with this \
                             config",
                            entry.name()
                        );
                        ConfigError::new("doc_mapping.field_mappings", message)
                    });
                }
                Some(field)
            }
        }
    }

    /// The schema.
    ///
    /// # Errors
    /// If a field of a given one has another type than the config says.
    pub(super) fn finish(self) -> Result<Schema, ConfigError> {
        match self {
            Numbering::New(builder) => Ok(builder.build()),
            Numbering::Given(_, Some(error)) => Err(error),
            Numbering::Given(schema, None) => Ok(schema.clone()),
        }
    }
}
