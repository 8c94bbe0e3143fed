//! A path in a query → the tantivy field that holds it.

use tantivy::DateTime;
use tantivy::schema::Field;

use super::presence::PathHasher;
use super::schema::DocMapper;
use super::tree::{Child, Leaf, ObjectNode};
use crate::config::{FieldKind, Normalizer};
use crate::datetime;
use crate::field_path::{join_path, split_path};
use crate::tokenizers::Letters;

/// What a path in a query means.
#[derive(Clone, Debug)]
pub struct ResolvedField<'m> {
    /// The tantivy field.
    pub field: Field,
    /// The field's name in the schema.
    pub name: &'m str,
    /// The path inside a JSON field, escaped; empty for a plain field or a whole JSON field.
    pub json_path: String,
    /// The type and its options; `Json` for anything inside a JSON field.
    pub kind: &'m FieldKind,
    /// A document may have several values. Always so inside a JSON field.
    pub multi_valued: bool,
    /// Terms can be searched.
    pub indexed: bool,
    /// Not indexed, and searched all the same: by looking through stored documents.
    pub scanned: bool,
    /// What its tokenizer does to letters.
    pub letters: &'m Letters,
    /// The normalizer, if there is a fast field.
    pub fast: Option<Normalizer>,
    /// Hits show it.
    pub stored: bool,
    /// Not mapped: it would be in `_dynamic`.
    pub is_dynamic: bool,
    /// Mapped, but of a segment that was built before and has nothing of it: `field` stands for nothing.
    pub is_absent: bool,
}

impl<'m> ResolvedField<'m> {
    fn new(leaf: &'m Leaf, json_path: String, is_dynamic: bool) -> ResolvedField<'m> {
        ResolvedField {
            field: leaf.field,
            name: &leaf.path,
            multi_valued: leaf.multi_valued || !json_path.is_empty(),
            json_path,
            kind: &leaf.kind,
            indexed: leaf.indexed,
            scanned: leaf.scanned,
            letters: &leaf.letters,
            fast: leaf.fast,
            stored: leaf.stored,
            is_dynamic,
            is_absent: leaf.is_absent,
        }
    }

    /// Whether sorting and aggregating is possible.
    pub fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// The column's name in the fast fields: the field's, with the path inside a JSON field after it.
    pub fn fast_field_name(&self) -> String {
        match self.json_path.as_str() {
            "" => self.name.to_string(),
            path => format!("{}.{path}", self.name),
        }
    }

    /// A date as a query on this field may write it: by the field's own input formats, as in a document,
    /// else as [`datetime::parse_datetime_literal`] reads it. In this order `20240501` is a day to a field
    /// whose documents write days so, and a number of seconds to others.
    pub fn parse_date(&self, text: &str) -> Option<DateTime> {
        let by_format = match self.kind {
            FieldKind::Date(date) => datetime::parse_str(text, &date.input_formats).ok(),
            _ => None,
        };
        by_format.or_else(|| datetime::parse_datetime_literal(text))
    }

    /// The value of `_field_presence` in documents that have this field, or something below this path.
    /// `None` for fast fields (their column knows) and for fields that are not indexed.
    pub fn presence_hash(&self) -> Option<u64> {
        if !self.indexed || self.is_fast() {
            return None;
        }
        let hasher = PathHasher::new(self.name);
        let (FieldKind::Json(json), false) = (self.kind, self.json_path.is_empty()) else {
            return Some(hasher.finish());
        };
        let segments = split_path(&self.json_path);
        let path = segments.iter().fold(hasher, |hasher, segment| {
            hasher.key(segment, json.expand_dots)
        });
        Some(path.finish())
    }
}

impl DocMapper {
    /// The field a path means: a mapped leaf, a path inside a mapped JSON field, `_doc_length` where it is
    /// kept, or else, in dynamic mode, a path inside `_dynamic`. `None` for a path that cannot have a value, and for a mapped
    /// object unless dynamic mode makes it a path too (see [`DocMapper::resolve_all`]).
    ///
    /// Dots divide; `\.` is a dot in a name. A mapped name with dots is found without the escape too,
    /// where nothing else fits.
    ///
    /// It is where the values stand in a segment that this was compiled for ([`DocMapper::of_segment`]): one of
    /// before a field was mapped has them in `_dynamic`, as an unmapped field.
    pub fn resolve(&self, path: &str) -> Option<ResolvedField<'_>> {
        let segments = split_path(path);
        if let Some(Found::Leaf(leaf, rest)) = find(&self.root, &segments) {
            return Some(match &self.dynamic {
                Some(dynamic) if leaf.is_absent => {
                    ResolvedField::new(dynamic, join_path(&segments), true)
                }
                _ => ResolvedField::new(leaf, join_path(rest), false),
            });
        }
        if segments.iter().any(String::is_empty) {
            return None;
        }
        if let Some((first, rest)) = segments.split_first() {
            if let (Some(size), true, true) = (
                &self.document_size,
                first == super::DOCUMENT_SIZE_FIELD,
                rest.is_empty(),
            ) {
                return Some(ResolvedField::new(size, String::new(), false));
            }
            // `_dynamic.a` names the same as `a`; `_source` and `_field_presence` are not searched.
            if let (Some(dynamic), true, false) = (
                &self.dynamic,
                first == super::DYNAMIC_FIELD,
                rest.is_empty(),
            ) {
                return Some(ResolvedField::new(dynamic, join_path(rest), true));
            }
            if super::RESERVED_NAMES.contains(&first.as_str()) {
                return None;
            }
        }
        let dynamic = self.dynamic.as_ref()?;
        Some(ResolvedField::new(dynamic, join_path(&segments), true))
    }

    /// What the config says that a path is, wherever a segment has its values.
    pub fn kind_of(&self, path: &str) -> Option<&FieldKind> {
        match find(&self.root, &split_path(path)) {
            Some(Found::Leaf(leaf, _)) => Some(&leaf.kind),
            _ => self.resolve(path).map(|field| field.kind),
        }
    }

    /// Every field a path may have values in: as [`DocMapper::resolve`], but a mapped object gives all
    /// the leaves below it, and in dynamic mode the unmapped rest of it.
    pub fn resolve_all(&self, path: &str) -> Vec<ResolvedField<'_>> {
        let mut fields = Vec::new();
        if let Some(Found::Object(object)) = find(&self.root, &split_path(path)) {
            fields.extend(
                object
                    .leaves()
                    .into_iter()
                    // What an absent one had is below the path in `_dynamic`, if there is that.
                    .filter(|leaf| !leaf.is_absent || self.dynamic.is_none())
                    .map(|l| ResolvedField::new(l, String::new(), false)),
            );
        }
        fields.extend(self.resolve(path));
        fields
    }

    /// Every mapped field, in the order of the config, each before the other ways in which it is indexed.
    pub fn fields(&self) -> Vec<ResolvedField<'_>> {
        let leaves = self.root.leaves().into_iter();
        leaves
            .flat_map(|leaf| {
                let variants = leaf.variants.iter().map(|(_, variant)| variant);
                std::iter::once(leaf).chain(variants)
            })
            .map(|leaf| ResolvedField::new(leaf, String::new(), false))
            .collect()
    }

    /// [`ResolvedField::presence_hash`] of the field a path means. `None` also without
    /// `index_field_presence`, and for paths that are no field.
    pub fn field_presence_hash(&self, path: &str) -> Option<u64> {
        self.presence?;
        self.resolve(path)?.presence_hash()
    }
}

enum Found<'m, 's> {
    /// A leaf, and the segments that are left inside a JSON field.
    Leaf(&'m Leaf, &'s [String]),
    Object(&'m ObjectNode),
}

fn find<'m, 's>(object: &'m ObjectNode, segments: &'s [String]) -> Option<Found<'m, 's>> {
    // One segment first; then names with dots that were not escaped.
    for num_segments in 1..=segments.len() {
        let (name, rest) = segments.split_at_checked(num_segments)?;
        let Some(child) = object
            .find(&name.join("."), usize::MAX)
            .and_then(|i| object.child(i))
        else {
            continue;
        };
        match child {
            Child::Leaf(leaf) if rest.is_empty() || matches!(leaf.kind, FieldKind::Json(_)) => {
                return Some(Found::Leaf(leaf, rest));
            }
            Child::Leaf(leaf) => {
                if let [name] = rest
                    && let Some((_, variant)) = leaf.variants.iter().find(|(own, _)| own == name)
                {
                    return Some(Found::Leaf(variant, &[]));
                }
            }
            Child::Object(child) if rest.is_empty() => return Some(Found::Object(child)),
            Child::Object(child) => {
                if let Some(found) = find(child, rest) {
                    return Some(found);
                }
            }
        }
    }
    None
}
