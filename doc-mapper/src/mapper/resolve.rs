//! Resolution of a query's paths to tantivy fields.

use tantivy::DateTime;
use tantivy::schema::Field;

use super::parse::presence::PathHasher;
use super::schema::doc_mapper::DocMapper;
use super::tree::{Child, Leaf, ObjectNode, Values};
use super::views::View;
use crate::config::{FieldKind, Normalizer, VectorKind};
use crate::datetime;
use crate::field_path::{join_path, split_path};
use crate::tokenizers::{Letters, is_whole};

/// Field that a path in a query refers to.
#[derive(Clone, Debug)]
pub struct ResolvedField<'m> {
    /// Tantivy field.
    pub field: Field,
    /// Name of the field in the schema.
    pub name: &'m str,
    /// Escaped path inside a JSON field; empty for other fields, and for a whole JSON field.
    pub json_path: String,
    /// Type with its options; `Json` for anything inside a JSON field.
    pub kind: &'m FieldKind,
    /// True if a document may have several values, which is always true inside a JSON field.
    pub multi_valued: bool,
    /// True if terms can be searched.
    pub indexed: bool,
    /// True if queries search the field by scanning stored documents, without an index.
    pub scanned: bool,
    /// Where queries look for words, instead of in documents.
    pub values_of: Option<&'m [Values]>,
    /// Effect of its tokenizer on letters.
    pub letters: &'m Letters,
    /// Normalizer of the fast field, if it has one.
    pub fast: Option<Normalizer>,
    /// True if hits show it.
    pub stored: bool,
    /// True if the field is unmapped, and its values are in `_dynamic`.
    pub is_dynamic: bool,
    /// True if the field is mapped but missing in an older segment; `field` is meaningless then.
    pub is_absent: bool,
    /// True if a day among the values of a JSON field is a date.
    pub infers_days: bool,
    /// True if no text among the values of a JSON field is a date.
    pub has_no_dates: bool,
    /// Maximum length of a whole value, in UTF-16 code units.
    pub ignore_above: Option<u32>,
    /// Set if the path names the whole values of a text that is indexed by words: they are in its column.
    pub view: Option<View<'m>>,
}

impl<'m> ResolvedField<'m> {
    pub(super) fn new(leaf: &'m Leaf, json_path: String, is_dynamic: bool) -> ResolvedField<'m> {
        ResolvedField {
            field: leaf.field,
            name: &leaf.path,
            multi_valued: leaf.multi_valued || !json_path.is_empty(),
            json_path,
            kind: &leaf.kind,
            indexed: leaf.indexed && leaf.values_of.is_none(),
            scanned: leaf.scanned || leaf.values_of.is_some(),
            values_of: leaf.values_of.as_deref(),
            letters: &leaf.letters,
            fast: leaf.fast,
            stored: leaf.stored,
            is_dynamic,
            is_absent: leaf.is_absent,
            infers_days: leaf.infers_days,
            has_no_dates: leaf.has_no_dates,
            ignore_above: leaf.ignore_above,
            view: None,
        }
    }

    /// Returns whether sorting and aggregating is possible.
    pub fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// Returns the name of the column: that of the field, followed by the path inside a JSON field.
    pub fn fast_field_name(&self) -> String {
        match self.json_path.as_str() {
            "" => self.name.to_string(),
            path => format!("{}.{path}", self.name),
        }
    }

    /// Parses a date in a query on this field: by the field's input formats first, and then by
    /// [`datetime::parse_datetime_literal`]. In this order, `20240501` is a day for a field whose
    /// documents write days in this form, and a number of seconds for others.
    pub fn parse_date(&self, text: &str) -> Option<DateTime> {
        let by_format = match self.kind {
            FieldKind::Date(date) => datetime::parse_str(text, &date.input_formats).ok(),
            _ => None,
        };
        by_format.or_else(|| datetime::parse_datetime_literal(text))
    }

    /// Returns the path as queries name it.
    pub fn path(&self) -> String {
        match &self.view {
            Some(view) => view.path.clone(),
            None => self.fast_field_name(),
        }
    }

    /// Returns the value of `_field_presence` in documents with this field, or with a value below
    /// this path; `None` for fast fields, whose column tells it, and for fields that are not indexed. Of
    /// a fast field that lacks long values, documents with such a value have it.
    pub fn presence_hash(&self) -> Option<u64> {
        if !self.indexed || self.view.is_some() || (self.is_fast() && !self.lacks_long_values()) {
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

impl ResolvedField<'_> {
    /// Returns whether its column lacks values that its terms have.
    fn lacks_long_values(&self) -> bool {
        let tokenizer = match self.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => return false,
        };
        self.ignore_above.is_some() && !is_whole(tokenizer)
    }
}

impl DocMapper {
    /// Returns the fields of vectors that are searched, ascending, with their paths.
    pub fn vector_fields(&self) -> Vec<(Field, &str, VectorKind)> {
        let leaves = self.root.leaves().into_iter();
        let fields = leaves.filter_map(|leaf| match leaf.kind {
            FieldKind::Vector(kind) if leaf.indexed && !leaf.is_absent => {
                Some((leaf.field, leaf.path.as_str(), kind))
            }
            _ => None,
        });
        let mut fields: Vec<_> = fields.collect();
        canter_sorting::sort_by_key(&mut fields, |(field, ..)| field.field_id());
        fields
    }

    /// Returns the field that a path refers to: a mapped leaf, a path inside a mapped JSON field,
    /// `_doc_length` if it is stored, or else, in dynamic mode, a path inside `_dynamic`. Returns
    /// `None` for a path that cannot have a value, and for a mapped object unless dynamic mode
    /// makes it a path too (see [`DocMapper::resolve_all`]).
    ///
    /// Dots separate segments; `\.` is a dot in a name. A mapped name with dots is also found
    /// without the escape, if nothing else matches.
    ///
    /// The result is the location of the values in the segment that this mapper was compiled for
    /// ([`DocMapper::of_segment`]): a segment from before the field was mapped has them in
    /// `_dynamic`, as an unmapped field.
    pub fn resolve(&self, path: &str) -> Option<ResolvedField<'_>> {
        let path = self.path_of(path);
        if self.is_hidden(path) {
            return None;
        }
        let segments = split_path(path);
        match find(&self.root, &segments) {
            // A path inside an object of which nothing is searched.
            Some(Found::Leaf(leaf, [_, ..])) if self.nothing.is_some() && leaf.is_only_stored() => {
            }
            Some(Found::Leaf(leaf, rest)) => {
                return Some(match &self.dynamic {
                    Some(dynamic) if leaf.is_absent => {
                        ResolvedField::new(dynamic, join_path(&segments), true)
                    }
                    _ => ResolvedField::new(leaf, join_path(rest), false),
                });
            }
            Some(Found::WholeValues(leaf)) => {
                return match &self.dynamic {
                    Some(dynamic) if leaf.is_absent => {
                        Some(ResolvedField::new(dynamic, join_path(&segments), true))
                    }
                    _ => self.whole_values_of(leaf, String::new(), false, join_path(&segments)),
                };
            }
            _ => {}
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
            // `_dynamic.a` is the same as `a`.
            if let (Some(dynamic), true, false) = (
                &self.dynamic,
                first == super::DYNAMIC_FIELD,
                rest.is_empty(),
            ) {
                return Some(ResolvedField::new(dynamic, join_path(rest), true));
            }
            if self.is_own_key(first) {
                return None;
            }
        }
        if let Some(nothing) = &self.nothing
            && !path.starts_with('_')
        {
            return Some(ResolvedField::new(nothing, join_path(&segments), false));
        }
        let dynamic = self.dynamic.as_ref()?;
        Some(ResolvedField::new(dynamic, join_path(&segments), true))
    }

    /// Returns whether a path can have no value, and queries may name it nevertheless.
    pub fn is_unmapped(&self, path: &str) -> bool {
        self.resolve(path)
            .is_some_and(|field| self.is_nothing(&field))
    }

    fn is_nothing(&self, field: &ResolvedField<'_>) -> bool {
        let nothing = self.nothing.as_ref();
        nothing.is_some_and(|nothing| nothing.path == field.name)
    }

    /// Returns the path of the field that a name stands for: another one, if the name is an alias.
    pub(super) fn path_of<'p>(&'p self, name: &'p str) -> &'p str {
        self.field_aliases.get(name).map_or(name, String::as_str)
    }

    /// Returns the aliases of fields, each with the path of its field.
    pub fn field_aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        let aliases = self.field_aliases.iter();
        aliases.map(|(name, path)| (name.as_str(), path.as_str()))
    }

    /// Returns whether queries do not see a field. Sequence numbers would tell a caller who sees some of the documents how many
    /// others were written between them.
    fn is_hidden(&self, path: &str) -> bool {
        path == "_seq_no" && self.id_field() == Some("_id")
    }

    /// Returns whether a key at the root of a document names a field of the index itself, to queries or in hits. Other
    /// reserved names are ordinary keys, because queries never read those fields.
    pub(super) fn is_own_key(&self, key: &str) -> bool {
        if !key.starts_with('_') {
            return false;
        }
        match key {
            super::DYNAMIC_FIELD => self.dynamic.is_some(),
            super::SOURCE_FIELD => self.source.is_some(),
            // Without it, a query that asks for it is told so.
            super::DOCUMENT_SIZE_FIELD => true,
            _ => false,
        }
    }

    /// Returns the type of a path in the config, wherever a segment stores its values.
    pub fn kind_of(&self, path: &str) -> Option<&FieldKind> {
        let path = self.path_of(path);
        match find(&self.root, &split_path(path)) {
            Some(Found::Leaf(leaf, _)) => Some(&leaf.kind),
            Some(Found::WholeValues(leaf)) => Some(self.kind_of_whole_values(leaf)),
            _ => self
                .resolve(path)
                .filter(|field| !self.is_nothing(field))
                .map(|field| field.kind),
        }
    }

    /// Returns all fields in which a path may have values: as [`DocMapper::resolve`], but a mapped
    /// object gives all leaves below it, and in dynamic mode its unmapped values.
    pub fn resolve_all(&self, path: &str) -> Vec<ResolvedField<'_>> {
        let path = self.path_of(path);
        let mut fields = Vec::new();
        if let Some(Found::Object(object)) = find(&self.root, &split_path(path)) {
            fields.extend(
                object
                    .leaves()
                    .into_iter()
                    // The values of an absent leaf are below the path in `_dynamic`, if that
                    // exists.
                    .filter(|leaf| !leaf.is_absent || self.dynamic.is_none())
                    .map(|l| ResolvedField::new(l, String::new(), false)),
            );
        }
        fields.extend(self.resolve(path));
        fields
    }

    /// Returns all mapped fields in the order of the config, each followed by its variants, and by the
    /// names of its whole values that the config gives.
    pub fn fields(&self) -> Vec<ResolvedField<'_>> {
        let mut fields = Vec::new();
        let leaves = self.root.leaves().into_iter();
        for leaf in leaves.filter(|leaf| !self.is_hidden(&leaf.path)) {
            let variants = leaf.variants.iter().map(|(_, variant)| variant);
            let own = std::iter::once(leaf).chain(variants);
            fields.extend(own.map(|leaf| ResolvedField::new(leaf, String::new(), false)));
            if let FieldKind::Text(text) = &leaf.kind {
                fields.extend(text.whole_values.iter().filter_map(|name| {
                    let path = format!("{}.{name}", leaf.path);
                    self.whole_values_of(leaf, String::new(), false, path)
                }));
            }
        }
        fields
    }

    /// Returns [`ResolvedField::presence_hash`] of the field that a path refers to; `None` without
    /// `index_field_presence`, and for paths that refer to no field.
    pub fn field_presence_hash(&self, path: &str) -> Option<u64> {
        self.presence?;
        self.resolve(path)?.presence_hash()
    }
}

pub(super) enum Found<'m, 's> {
    /// Leaf, and the remaining segments inside a JSON field.
    Leaf(&'m Leaf, &'s [String]),
    /// Whole values of a text.
    WholeValues(&'m Leaf),
    Object(&'m ObjectNode),
}

pub(super) fn find<'m, 's>(
    object: &'m ObjectNode,
    segments: &'s [String],
) -> Option<Found<'m, 's>> {
    let mut whole_values = None;
    // One segment first; then names with unescaped dots.
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
                    && let mut others = leaf.variants.iter().chain(&leaf.subs)
                    && let Some((_, variant)) = others.find(|(own, _)| own == name)
                {
                    return Some(Found::Leaf(variant, &[]));
                }
                if let [name] = rest
                    && (leaf.completes_as(name) || leaf.aliases.contains(name))
                {
                    return Some(Found::Leaf(leaf, &[]));
                }
                if let [name] = rest
                    && leaf.has_whole_values(name)
                {
                    // A field of this name goes before.
                    whole_values = Some(Found::WholeValues(leaf));
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
    whole_values
}
