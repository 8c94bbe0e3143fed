//! Whole values of texts: `level.keyword`, as Elasticsearch's clients name them.
//!
//! ```text
//!   level: "Disk full" ─┬─ words ──▶ terms     disk, full      level          match
//!                       └─ whole ──▶ column    "Disk full"     level.keyword  term, sort, aggregate
//! ```
//!
//! A text that is indexed by words has its whole values in its column, and nowhere else: a name such as
//! `level.keyword` is a view of the same field. A field whose terms are whole values anyway is answered
//! under that name as under its own.
//!
//! Whether documents have a key `keyword` inside an object, or a text there, is not known of unmapped
//! values. [`DocMapper::resolve`] gives the path itself, and [`DocMapper::whole_values`] the view.

use super::resolve::{Found, ResolvedField, find};
use super::schema::doc_mapper::DocMapper;
use super::tree::Leaf;
use super::views::{NamedColumn, View};
use crate::config::{FieldKind, Normalizer};
use crate::field_path::{join_path, split_path};
use crate::tokenizers::{self, Extent};

/// Name of the whole values of every text, unless a field has it.
const KEYWORD: &str = "keyword";

impl Leaf {
    /// Returns whether the whole values of the field have this name.
    pub(super) fn has_whole_values(&self, name: &str) -> bool {
        let FieldKind::Text(text) = &self.kind else {
            return false;
        };
        let is_found = self.is_whole || self.fast.is_some();
        text.whole_values.iter().any(|own| own == name) || (name == KEYWORD && is_found)
    }
}

impl DocMapper {
    /// Returns the whole values of an unmapped text, or of a text inside a JSON field, if a path may be
    /// theirs: `level.keyword` for `level`.
    pub fn whole_values(&self, path: &str) -> Option<ResolvedField<'_>> {
        let path = self.path_of(path);
        let found = self.resolve(path)?;
        if !matches!(found.kind, FieldKind::Json(_)) {
            return None;
        }
        let mut inside = split_path(&found.json_path);
        inside.pop_if(|last| last == KEYWORD || found.is_dynamic && self.is_named(path))?;
        if inside.is_empty() {
            return None;
        }
        let leaf = match found.is_dynamic {
            true => self.dynamic.as_ref()?,
            false => match find(&self.root, &split_path(path)) {
                Some(Found::Leaf(leaf, _)) => leaf,
                _ => return None,
            },
        };
        let path = join_path(&split_path(path));
        self.whole_values_of(leaf, join_path(&inside), found.is_dynamic, path)
    }

    /// Returns whether the config names a path as whole values of a field. An older segment may have
    /// that among the unmapped ones.
    fn is_named(&self, path: &str) -> bool {
        matches!(
            find(&self.root, &split_path(path)),
            Some(Found::WholeValues(_))
        )
    }

    /// Returns the whole values of a field.
    pub(super) fn whole_values_of<'m>(
        &'m self,
        leaf: &'m Leaf,
        json_path: String,
        is_dynamic: bool,
        path: String,
    ) -> Option<ResolvedField<'m>> {
        let own = ResolvedField::new(leaf, json_path, is_dynamic);
        if leaf.is_whole {
            return Some(own);
        }
        let (kind, letters) = self.views.of(leaf.fast?);
        Some(ResolvedField {
            kind,
            letters,
            // Found by terms as it were, which are those of the column's dictionary.
            indexed: true,
            scanned: false,
            values_of: None,
            view: Some(View {
                path,
                of: &leaf.kind,
                has_words: leaf.indexed
                    && leaf.values_of.is_none()
                    && leaf.fast == Some(Normalizer::Raw),
            }),
            ..own
        })
    }

    /// Returns the type of the whole values of a mapped field.
    pub(super) fn kind_of_whole_values<'m>(&'m self, leaf: &'m Leaf) -> &'m FieldKind {
        match (leaf.is_whole, leaf.fast) {
            (false, Some(normalizer)) => &self.views.of(normalizer).0,
            _ => &leaf.kind,
        }
    }

    /// Returns the columns that a name may stand for, of which the first that a segment has counts.
    pub fn columns_of<'n>(&self, name: &'n str) -> Vec<NamedColumn<'n>> {
        if let Some(path) = self.field_aliases.get(name) {
            let columns = self.columns_of(path).into_iter();
            let owned = columns.map(|column| NamedColumn {
                name: column.name.into_owned().into(),
                ..column
            });
            return owned.collect();
        }
        let named = |field: &ResolvedField<'_>| NamedColumn {
            name: field.fast_field_name().into(),
            is_text: field.view.is_some(),
        };
        if let Some(Found::WholeValues(leaf)) = find(&self.root, &split_path(name))
            && !leaf.is_absent
        {
            return self.resolve(name).iter().map(named).collect();
        }
        let own = NamedColumn {
            name: name.into(),
            is_text: false,
        };
        std::iter::once(own)
            .chain(self.whole_values(name).as_ref().map(named))
            .collect()
    }
}

/// Further names of values: ways in which a text is indexed besides, and its whole values.
impl DocMapper {
    /// Returns the further names of the value at a path, and whether the mapping has each, or only
    /// queries may use it.
    pub fn further_names(&self, path: &str) -> Vec<(String, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        let mut add = |name: &str, is_mapped: bool| {
            let name = format!("{path}.{name}");
            if !names.iter().any(|(known, _)| *known == name) {
                names.push((name, is_mapped));
            }
        };
        match find(&self.root, &split_path(path)) {
            Some(Found::Leaf(leaf, [])) => {
                leaf.subs.iter().for_each(|(own, _)| add(own, true));
                if let FieldKind::Text(text) = &leaf.kind {
                    text.variants.iter().for_each(|own| add(&own.name, true));
                    text.whole_values.iter().for_each(|own| add(own, true));
                    if leaf.has_whole_values(KEYWORD) {
                        add(KEYWORD, false);
                    }
                }
            }
            Some(Found::WholeValues(_) | Found::Object(_)) => {}
            Some(Found::Leaf(..)) | None => {
                let keyword = format!("{path}.{KEYWORD}");
                if let Some(found) = self.whole_values(&keyword) {
                    add(KEYWORD, found.view.is_some());
                }
            }
        }
        let aliases = self.field_aliases().filter(|(_, target)| *target == path);
        names.extend(aliases.map(|(name, _)| (name.to_owned(), true)));
        names
    }

    /// Returns the mapped field at a path.
    pub(super) fn leaf_at(&self, path: &str) -> Option<&Leaf> {
        match find(&self.root, &split_path(self.path_of(path))) {
            Some(Found::Leaf(leaf, [])) => Some(leaf),
            _ => None,
        }
    }

    /// Returns a value of a document as the text that it is under one of its further names; `None` if it
    /// is none.
    pub(super) fn text_as(&self, name: &str, value: &serde_json::Value) -> Option<String> {
        let whole_values = self.whole_values(name);
        let is_mapped = whole_values.is_none();
        let field = whole_values.or_else(|| self.resolve(name))?;
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) if is_mapped => {
                value.to_string()
            }
            _ => return None,
        };
        let is_whole = field.view.is_some()
            || self.leaf_at(name).is_some_and(Leaf::is_whole_value)
            || matches!(field.kind, FieldKind::Text(text) if tokenizers::is_whole(&text.tokenizer) && field.indexed);
        if !is_whole {
            return Some(text);
        }
        let limit = field.ignore_above;
        let is_too_long = limit.is_some_and(|limit| tokenizers::is_too_long(&text, limit));
        (!is_too_long).then(|| match field.fast {
            Some(normalizer) if normalizer != Normalizer::Raw => {
                normalizer.letters().apply(&text, Extent::Whole)
            }
            _ if field.indexed || field.scanned => field.letters.apply(&text, Extent::Whole),
            _ => text,
        })
    }
}
