//! Numbers of tantivy fields.
//!
//! ```text
//!   0 _dynamic · 1 _source · 2 _field_presence · 3 _doc_length · 4 _verbatim │ 5 … mapped leaves
//! ```
//!
//! The index's own fields come first, whether a config uses them or not. The mapped ones follow in
//! the order of the config, except that later additions come last, in the order of addition
//! ([`in_order_of_addition`]). A mapping that has grown therefore keeps the numbers of older
//! fields, and segments of both versions can be merged. **Never change this order or insert
//! fields**: stored documents contain the numbers.
//!
//! A segment lists its field numbers in its schema, and readers look them up there
//! ([`Numbering::Given`]): older segments have another order, and lack fields that were added
//! later.

use tantivy::schema::{Field, FieldEntry, JsonObjectOptions, NumericOptions, Schema, TextOptions};
use tantivy::schema::{INDEXED, STORED, SchemaBuilder};

use crate::config::ConfigError;
use crate::mapper::{
    DOCUMENT_SIZE_FIELD, DYNAMIC_FIELD, FIELD_PRESENCE_FIELD, SOURCE_FIELD, VERBATIM_FIELD,
};

/// Assignment of numbers to fields.
pub(in crate::mapper) enum Numbering<'s> {
    /// For a segment to be written.
    New(SchemaBuilder),
    /// For an existing segment: by name. The first field with another type there is reported at the
    /// end.
    Given(&'s Schema, Option<ConfigError>),
}

/// Returns the fields of a schema with the added ones last, in this order.
pub(in crate::mapper) fn in_order_of_addition(schema: &Schema, added: &[String]) -> Schema {
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

/// The index's own fields that a config uses.
pub(in crate::mapper) struct OwnFields {
    pub(in crate::mapper) dynamic: Option<JsonObjectOptions>,
    pub(in crate::mapper) source: bool,
    pub(in crate::mapper) presence: bool,
    pub(in crate::mapper) document_size: bool,
    pub(in crate::mapper) verbatim: bool,
}

/// Numbers of the used ones.
pub(in crate::mapper) struct OwnNumbers {
    pub(in crate::mapper) dynamic: Option<Field>,
    pub(in crate::mapper) source: Option<Field>,
    pub(in crate::mapper) presence: Option<Field>,
    pub(in crate::mapper) document_size: Option<Field>,
    pub(in crate::mapper) verbatim: Option<Field>,
}

impl Numbering<'_> {
    /// Returns the numbers of the index's own fields. Must be called first, and once.
    pub(in crate::mapper) fn own(&mut self, used: OwnFields) -> OwnNumbers {
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

    /// Returns the number of an own field, or `None` for a segment from before the index had it.
    fn own_field(&mut self, entry: FieldEntry) -> Option<Field> {
        match self {
            Numbering::New(builder) => Some(builder.add_field(entry)),
            Numbering::Given(schema, _) => schema.get_field(entry.name()).ok(),
        }
    }

    /// Returns the number of the next mapped leaf, or `None` for a segment from before it was
    /// added.
    pub(in crate::mapper) fn mapped(&mut self, entry: FieldEntry) -> Option<Field> {
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

    /// Returns the schema.
    ///
    /// # Errors
    /// A field of a given schema has another type than in the config.
    pub(in crate::mapper) fn finish(self) -> Result<Schema, ConfigError> {
        match self {
            Numbering::New(builder) => Ok(builder.build()),
            Numbering::Given(_, Some(error)) => Err(error),
            Numbering::Given(schema, None) => Ok(schema.clone()),
        }
    }
}
