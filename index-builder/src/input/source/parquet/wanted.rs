//! Fields that an index takes from sources whose values have names and types of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use canter_doc_mapper::config::BytesFormat;
use canter_doc_mapper::datetime::DateInput;
use canter_doc_mapper::{FieldKind, FieldMapping, IndexConfig, Mode};

/// JSON form of a field's values, where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Text,
    /// RFC 3339.
    Date,
    /// A number whose magnitude tells the unit.
    UnixTime,
    Base64,
    Hex,
}

/// The fields that an index takes.
#[derive(Clone, Debug, Default)]
pub(in crate::input::source) struct Wanted(Arc<Fields>);

#[derive(Debug, Default)]
struct Fields {
    /// All, if there is no list.
    roots: Option<BTreeSet<String>>,
    /// Keyed by the path of names.
    written: BTreeMap<Vec<String>, Written>,
}

impl Wanted {
    pub(in crate::input::source) fn of(config: &IndexConfig) -> Wanted {
        let mapping = &config.doc_mapping;
        // Only lenient mode ignores unmapped fields.
        Wanted::with(
            config,
            mapping.mode != Mode::Lenient || mapping.store_source,
        )
    }

    /// Returns all fields, for a transform that reads what the index does not take.
    pub(in crate::input::source) fn of_all(config: &IndexConfig) -> Wanted {
        Wanted::with(config, true)
    }

    fn with(config: &IndexConfig, takes_all: bool) -> Wanted {
        let mapping = &config.doc_mapping;
        let names = mapping
            .field_mappings
            .iter()
            .map(|field| field.name.clone());
        let mut fields = Fields {
            roots: (!takes_all).then(|| names.collect()),
            written: BTreeMap::new(),
        };
        fields.add(&[], &mapping.field_mappings);
        Wanted(Arc::new(fields))
    }

    /// Returns whether it takes the field of a document with this name.
    pub(super) fn takes(&self, name: &str) -> bool {
        let roots = self.0.roots.as_ref();
        roots.is_none_or(|roots| roots.contains(name))
    }

    /// Returns the JSON form of the values at a path.
    pub(super) fn written(&self, path: &[String]) -> Option<Written> {
        self.0.written.get(path).copied()
    }
}

impl Fields {
    fn add(&mut self, path: &[String], fields: &[FieldMapping]) {
        for field in fields {
            let path = [path, std::slice::from_ref(&field.name)].concat();
            let written = match &field.kind {
                FieldKind::Text(_) => Written::Text,
                FieldKind::Date(date) if date.input_formats.contains(&DateInput::Rfc3339) => {
                    Written::Date
                }
                FieldKind::Date(_) => Written::UnixTime,
                FieldKind::Bytes(bytes) => match bytes.input_format {
                    BytesFormat::Base64 => Written::Base64,
                    BytesFormat::Hex => Written::Hex,
                },
                FieldKind::Object(fields) => {
                    self.add(&path, fields);
                    continue;
                }
                _ => continue,
            };
            self.written.insert(path, written);
        }
    }
}
