//! Mapping as a tree of objects and leaves, with fast look-up of keys.

use tantivy::schema::Field;

use crate::config::{FieldKind, FieldMapping, Normalizer, NullValue};
use crate::mapper::JsonValue;
use crate::tokenizers::{Letters, is_too_long};

/// Dictionary of whole values, in which queries look for words.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// The terms of a field.
    Terms(Field),
    /// The column of a fast field of this name.
    Column(String),
}

impl Values {
    /// Returns the dictionaries of a field's whole values, in which words are looked for: those that are too long for its
    /// column are among its terms.
    pub(super) fn of(
        field: Option<Field>,
        name: &str,
        mapping: &FieldMapping,
    ) -> Option<Vec<Values>> {
        let terms = field.into_iter().map(Values::Terms);
        let has_column = field.is_some() && mapping.fast == Some(Normalizer::Raw);
        let column = has_column.then(|| Values::Column(name.to_owned()));
        mapping.by_values.then(|| terms.chain(column).collect())
    }
}

/// Mapped field.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) field: Field,
    /// True if the segment is from before the field was mapped. Its values are then in `_dynamic`,
    /// if anywhere, and `field` is meaningless.
    pub(crate) is_absent: bool,
    /// Escaped path, which is tantivy's name of the field.
    pub(crate) path: String,
    pub(crate) kind: FieldKind,
    pub(crate) multi_valued: bool,
    pub(crate) stored: bool,
    pub(crate) indexed: bool,
    /// True if queries search the field by scanning stored documents.
    pub(crate) scanned: bool,
    /// Where queries look for words, if the field has no terms for them.
    pub(crate) values_of: Option<Vec<Values>>,
    pub(crate) fast: Option<Normalizer>,
    /// Maximum length of a whole value, in UTF-16 code units.
    pub(crate) ignore_above: Option<u32>,
    /// Paths that `_ignored` has of a document with a longer value.
    pub(crate) ignored_names: Vec<String>,
    /// Value in place of `null`.
    pub(crate) null_value: Option<NullValue>,
    /// Text that every document has.
    pub(crate) constant: Option<String>,
    /// True if a value that the field does not accept is left out.
    pub(crate) ignores_malformed: bool,
    /// True if a day among the values of a JSON field is a date.
    pub(crate) infers_days: bool,
    /// True if no text among the values of a JSON field is a date.
    pub(crate) has_no_dates: bool,
    /// Whether its tokenizer makes one term of a value.
    pub(crate) is_whole: bool,
    pub(crate) is_timestamp: bool,
    pub(crate) is_needle: bool,
    /// Presence hash, if `exists` on this field needs it: see `presence.rs`.
    pub(crate) presence: Option<u64>,
    /// Effect of its tokenizer on letters.
    pub(crate) letters: Letters,
    /// True if its values come from other fields rather than from documents.
    pub(crate) is_computed: bool,
    /// True if documents may have values of their own for it.
    pub(crate) takes_values: bool,
    /// Variants of the text, by name.
    pub(crate) variants: Vec<(String, Leaf)>,
    /// Fields that get each value, by name.
    pub(crate) subs: Vec<(String, Leaf)>,
    /// Further names of the field itself.
    pub(crate) aliases: Vec<String>,
    /// Tokenizer whose number of words is the value.
    pub(crate) counted_by: Option<String>,
    /// Text fields that receive copies of its values: variants and concatenations.
    pub(crate) copies: Vec<Copied>,
}

/// Field that receives the values of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) field: Field,
    pub(crate) presence: Option<u64>,
}

impl Leaf {
    /// Returns whether dots in the keys of a JSON field separate keys.
    pub(crate) fn expands_dots(&self) -> bool {
        matches!(&self.kind, FieldKind::Json(json) if json.expand_dots)
    }

    /// Returns whether its text is a value as a whole: by its terms, or without any by its column.
    pub(crate) fn is_whole_value(&self) -> bool {
        match &self.kind {
            FieldKind::Text(_) if self.values_of.is_some() => false,
            FieldKind::Text(text) if !self.indexed && !self.scanned => {
                self.fast.is_some() && text.whole_values.is_empty()
            }
            FieldKind::Text(_) => self.is_whole,
            _ => false,
        }
    }

    /// Returns the dictionaries of its whole values.
    pub(super) fn whole_values(&self) -> Vec<Values> {
        match (&self.values_of, self.indexed) {
            (Some(own), _) => own.clone(),
            (None, true) => vec![Values::Terms(self.field)],
            (None, false) => vec![Values::Column(self.path.clone())],
        }
    }

    /// Returns the paths under which a value that is too long is not found.
    pub(super) fn names_of_whole_values(&self) -> Vec<String> {
        match &self.kind {
            _ if self.ignore_above.is_none() => Vec::new(),
            _ if self.is_whole_value() => vec![self.path.clone()],
            FieldKind::Text(text) => {
                let names = text.whole_values.iter();
                names.map(|name| format!("{}.{name}", self.path)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether it has neither terms nor columns, nor are documents looked through for it.
    pub(crate) fn is_only_stored(&self) -> bool {
        !self.indexed && !self.scanned && self.fast.is_none()
    }

    /// Returns whether a text is too long to be a whole value of the field.
    pub(crate) fn is_too_long(&self, text: &str) -> bool {
        self.ignore_above
            .is_some_and(|limit| is_too_long(text, limit))
    }

    /// Returns the presence hash of the field if a document with this text needs it: not if a column has
    /// the text, nor if it is too long for a field of whole values.
    pub(crate) fn presence_of(&self, text: &str) -> Option<u64> {
        let is_needed = match self.ignore_above {
            Some(_) if self.fast.is_some() => self.is_too_long(text),
            Some(_) if self.is_whole => !self.is_too_long(text),
            _ => true,
        };
        self.presence.filter(|_| is_needed)
    }

    /// Returns whether a document with this value in a JSON field needs the hash of its path.
    pub(crate) fn needs_presence(&self, value: &JsonValue<'_>) -> bool {
        match value {
            JsonValue::Str(text) => self.presence_of(text).is_some(),
            // A column has all others.
            _ => self.presence.is_some() && self.fast.is_none(),
        }
    }

    /// Returns whether its completions have this name, too.
    pub(crate) fn completes_as(&self, name: &str) -> bool {
        let completion = match &self.kind {
            FieldKind::Text(text) => text.completion.as_ref(),
            _ => None,
        };
        completion.is_some_and(|own| own.names.iter().any(|other| other == name))
    }

    pub(crate) fn as_copy(&self) -> Copied {
        Copied {
            field: self.field,
            presence: self.presence,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Child {
    Leaf(Box<Leaf>),
    Object(ObjectNode),
}

/// Mapped object; the root is one too.
#[derive(Debug, Default)]
pub(crate) struct ObjectNode {
    /// Escaped path; empty for the root.
    pub(crate) path: String,
    /// True if documents have a list of such objects.
    pub(crate) is_nested: bool,
    /// Children, in the order of the config.
    pub(crate) children: Vec<(String, Child)>,
    /// Positions of the children, sorted by name.
    sorted: Vec<usize>,
}

impl ObjectNode {
    pub(crate) fn new(path: String, children: Vec<(String, Child)>) -> ObjectNode {
        let mut sorted: Vec<usize> = (0..children.len()).collect();
        canter_sorting::sort_by_key(&mut sorted, |&i| {
            children.get(i).map(|(name, _)| name.as_str())
        });
        ObjectNode {
            path,
            is_nested: false,
            children,
            sorted,
        }
    }

    pub(crate) fn child(&self, position: usize) -> Option<&Child> {
        self.children.get(position).map(|(_, child)| child)
    }

    fn name(&self, position: usize) -> &str {
        self.children.get(position).map_or("", |(name, _)| name)
    }

    /// Returns the position of a child by its key. `guess` is tried first: documents usually have
    /// their keys in the order of the mapping.
    #[inline]
    pub(crate) fn find(&self, key: &str, guess: usize) -> Option<usize> {
        if guess < self.children.len() && self.name(guess) == key {
            return Some(guess);
        }
        self.sorted
            .binary_search_by(|&i| self.name(i).cmp(key))
            .ok()
            .and_then(|found| self.sorted.get(found).copied())
    }

    /// Finds a child like [`ObjectNode::find`], except computed fields, which documents cannot
    /// have.
    #[inline]
    pub(crate) fn find_key(&self, key: &str, guess: usize) -> Option<usize> {
        let found = self.find(key, guess)?;
        match self.child(found) {
            Some(Child::Leaf(leaf)) if !leaf.takes_values => None,
            _ => Some(found),
        }
    }

    /// Returns the child that a key with dots leads to: `a.b` is the child `b` of the object `a`.
    pub(crate) fn below_dots(&self, key: &str) -> Option<&Child> {
        let (first, rest) = key.split_once('.')?;
        let Child::Object(inner) = self.child(self.find(first, usize::MAX)?)? else {
            return None;
        };
        match inner.find_key(rest, usize::MAX) {
            Some(found) => inner.child(found),
            None => inner.below_dots(rest),
        }
    }

    /// Returns whether all fields below take several values, so that a list of such objects has the values of all.
    pub(crate) fn takes_lists(&self) -> bool {
        self.children.iter().all(|(_, child)| match child {
            Child::Leaf(leaf) => leaf.multi_valued,
            Child::Object(object) => object.takes_lists(),
        })
    }

    /// Applies `change` to all leaves below this object.
    pub(crate) fn for_each_leaf(&mut self, change: &mut dyn FnMut(&mut Leaf)) {
        for (_, child) in &mut self.children {
            match child {
                Child::Leaf(leaf) => change(leaf),
                Child::Object(object) => object.for_each_leaf(change),
            }
        }
    }

    /// Returns all leaves below this object, in the order of the config.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves<'t>(&'t self, leaves: &mut Vec<&'t Leaf>) {
        for (_, child) in &self.children {
            match child {
                Child::Leaf(leaf) => {
                    leaves.push(leaf);
                    leaves.extend(leaf.subs.iter().map(|(_, own)| own));
                }
                Child::Object(object) => object.collect_leaves(leaves),
            }
        }
    }
}
