//! A suggested config as YAML.

use super::field::{Field, Kind, leaves};
use super::words;
use canter_formats::HEAD_WORDS;
use std::fmt::Write;

/// Maximum number of default search fields: more would make the search for a word without a field slow.
const MAX_DEFAULT_FIELDS: usize = 12;
/// Maximum number of fields of addresses and codes among them, besides. Only what reads as one is looked up there.
const MAX_DEFAULT_CODES: usize = 8;
const MAX_TAGS: usize = 3;
/// Maximum number of dynamic fields that comments name.
const MAX_COMMENTS: usize = 100;

/// Size of an input, as far as it decides how densely its index is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// Seconds of work, whatever is done.
    Tiny,
    /// Worth some time.
    Little,
    /// As usual.
    Usual,
}

impl Amount {
    /// Returns the size class of an input of `num_bytes` bytes as it is stored.
    pub(super) fn of(num_bytes: Option<u64>) -> Self {
        match num_bytes {
            Some(..0x80_0000) => Self::Tiny,
            Some(..0x400_0000) => Self::Little,
            _ => Self::Usual,
        }
    }

    /// Returns the level of compression and the bytes of a block of documents, unless they are the default.
    fn packing(self) -> Option<(u32, u32)> {
        match self {
            Self::Tiny => Some((19, 1 << 20)),
            Self::Little => Some((9, 512 << 10)),
            Self::Usual => None,
        }
    }
}

/// A config before it is text.
pub(super) struct Draft<'f> {
    /// Lines of the comment above it.
    pub(super) comment: String,
    pub(super) index_id: &'f str,
    pub(super) fields: &'f [Field],
    /// The path of the timestamp field.
    pub(super) timestamp: Option<&'f [String]>,
    /// Size of the input.
    pub(super) amount: Amount,
}

impl Draft<'_> {
    pub(super) fn yaml(&self) -> String {
        let mut yaml = self.comment.clone();
        // Writing to a string cannot fail.
        let _ = write!(
            yaml,
            "version: 0.8\n\
             index_id: {}\n\
             doc_mapping:\n  \
               mode: dynamic             # fields that are not listed are indexed too\n  \
               dynamic_mapping: {{tokenizer: default, record: position, fast: true}}\n  \
               ignore_malformed: true    # a value that does not fit its field is shown, and not searched\n",
            self.index_id
        );
        match self.timestamp {
            Some(path) => {
                let name = super::field::joined(path);
                let _ = writeln!(yaml, "  timestamp_field: {}", quoted(&name));
            }
            None => yaml.push_str(
                "  # No field has a time in most documents: name one in timestamp_field if you know better.\n",
            ),
        }
        let tags = self.tags();
        if !tags.is_empty() {
            let _ = writeln!(
                yaml,
                "  tag_fields: [{}]   # few values each: a query on one skips splits without it",
                tags.join(", ")
            );
        }
        let is_mapped = |field: &Field| !matches!(field.kind, Kind::Dynamic(_));
        match self.fields.iter().any(is_mapped) {
            false => yaml.push_str("  field_mappings: []\n"),
            true => yaml.push_str("  field_mappings:\n"),
        }
        let ordered = self.needs_order();
        let (dynamic, mapped): (Vec<&Field>, Vec<&Field>) = self
            .fields
            .iter()
            .partition(|field| matches!(field.kind, Kind::Dynamic(_)));
        let shown = dynamic.into_iter().take(MAX_COMMENTS);
        for field in mapped.into_iter().chain(shown) {
            self.write_field(&mut yaml, field, 4, &ordered);
        }
        self.write_words(&mut yaml);
        let words: Vec<String> = self
            .default_fields()
            .iter()
            .map(|name| quoted(name))
            .collect();
        let _ = write!(
            yaml,
            "search_settings:\n  default_search_fields: [{}]\nindexing_settings:\n  \
             split_num_docs_target: 10000000   # maximum number of documents in a split\n",
            words.join(", ")
        );
        if let Some((level, block_num_bytes)) = self.amount.packing() {
            let _ = write!(
                yaml,
                "  # For little input: documents take less space, and more time. Leave both out for gigabytes.\n  \
                 docstore_compression_level: {level}\n  docstore_blocksize: {block_num_bytes}\n",
            );
        }
        yaml.push_str(
            "ingest_settings:\n  # `keep` stores a record that cannot be parsed as a document with its text in `_raw`.\n  \
             on_error: keep\n",
        );
        yaml
    }

    /// Writes the fields that have the words of others.
    fn write_words(&self, yaml: &mut String) {
        for all in words::of(self.fields) {
            let sources: Vec<String> = all.fields.iter().map(|name| quoted(name)).collect();
            let options = match all.by_values {
                true => "strategy: values",
                false => "tokenizer: default, record: position",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                yaml,
                "    - {{name: {}, type: concatenate, concatenate_fields: [{}], {options}}}   \
                 # the words in their values",
                quoted(&all.name),
                sources.join(", ")
            );
        }
    }

    /// Returns up to three fields with few values; certain levels come first.
    fn tags(&self) -> Vec<String> {
        let mut tags = leaves(self.fields);
        tags.retain(|field| field.kind.is_tag() && !field.is_list);
        tags.sort_by_key(|field| !matches!(field.kind, Kind::Level { .. }));
        let names = tags.into_iter().map(|field| quoted(&field.name()));
        names.take(MAX_TAGS).collect()
    }

    /// Returns the default search fields: messages first, then other texts, so that a word that is visible in a record
    /// finds it. Without texts, any fields with values.
    pub(super) fn default_fields(&self) -> Vec<String> {
        let rank = |field: &Field| match field.kind {
            // A text has its words.
            _ if field.is_blank || field.is_quoted => None,
            Kind::Words {
                is_message: true, ..
            } => Some(0),
            Kind::Words { .. } => Some(1),
            Kind::Head | Kind::LineHead => Some(2),
            Kind::Level { .. }
            | Kind::Severity
            | Kind::Word {
                is_needle: false, ..
            } => Some(3),
            Kind::Word { .. } => Some(4),
            _ => None,
        };
        let leaves = leaves(self.fields);
        let words = words::of(self.fields);
        let mut ranked: Vec<(u32, String)> = Vec::new();
        ranked.extend(words.iter().map(|all| (2, all.name.clone())));
        for field in &leaves {
            if words.iter().any(|all| all.fields.contains(&field.name())) {
                continue;
            }
            let name = match field.kind {
                Kind::LineHead => HEAD_WORDS.to_owned(),
                _ => field.name(),
            };
            ranked.extend(rank(field).map(|rank| (rank, name)));
            for path in &field.dynamic_words {
                let rank = match super::field::is_message(path) {
                    true => 0,
                    false => 5,
                };
                ranked.push((rank, super::field::joined(path)));
            }
        }
        if ranked.is_empty() {
            let others = leaves.iter().filter(|field| {
                !matches!(field.kind, Kind::Shown | Kind::Dynamic(_))
                    && self.timestamp != Some(&field.path)
            });
            ranked.extend(others.map(|field| (6, field.name())));
        }
        if ranked.is_empty() {
            // Numbers and booleans in lists and dynamic objects: each has its own name.
            ranked.extend(leaves.iter().map(|field| (7, field.name())));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let names = ranked.into_iter().map(|(_, name)| name);
        let mut names: Vec<String> = names
            .filter(|name| is_default_field(name))
            .take(MAX_DEFAULT_FIELDS)
            .collect();
        let codes = self.default_codes();
        let codes = codes.into_iter().filter(|name| !names.contains(name));
        let codes: Vec<String> = codes.take(MAX_DEFAULT_CODES).collect();
        names.extend(codes);
        names
    }

    /// Returns the fields in which addresses and numbers without a field are found: addresses, identifiers and codes.
    /// Measures are not among them: their columns are large, and what is found there is seldom meant.
    fn default_codes(&self) -> Vec<String> {
        let has_heads = self.fields.iter().any(|field| field.kind == Kind::LineHead);
        let rank = |field: &Field| match field.kind {
            _ if has_heads && words::is_of_head(field) => None,
            Kind::Ip => Some(0),
            Kind::U64 { is_id: true } | Kind::I64 { is_id: true } => Some(1),
            Kind::U64 { .. } | Kind::I64 { .. } if field.is_code => Some(2),
            _ => None,
        };
        let leaves = leaves(self.fields);
        let codes = leaves
            .iter()
            .filter_map(|field| Some((rank(field)?, field.name())));
        let mut codes: Vec<(u32, String)> =
            codes.filter(|(_, name)| is_default_field(name)).collect();
        codes.sort_by_key(|(rank, _)| *rank);
        codes.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the fields in which words are found without a field: those of the concatenation in its place.
    pub(super) fn searched_fields(&self) -> Vec<String> {
        let words = words::of(self.fields);
        let shown = |name: String| match words.iter().find(|all| all.name == name) {
            Some(all) => all.fields.clone(),
            None => vec![name],
        };
        self.default_fields().into_iter().flat_map(shown).collect()
    }

    /// Returns the texts whose words keep their positions, so that phrases are found: messages, and varied texts.
    /// Positions in repeated values take more room than everything else; only if there is no other text, the first one
    /// has them.
    fn needs_order(&self) -> Vec<&[String]> {
        let mut leaves = leaves(self.fields);
        // In values, words have their order.
        leaves.retain(|field| !self.is_by_values(field));
        let words = |is_repeated: bool| {
            let words = leaves.iter().filter(move |field| {
                matches!(field.kind, Kind::Words { is_repeated: repeated, .. } if repeated == is_repeated)
            });
            words.map(|field| field.path.as_slice())
        };
        let ordered: Vec<&[String]> = words(false).collect();
        match ordered.is_empty() {
            true => words(true).take(1).collect(),
            false => ordered,
        }
    }

    fn write_field(&self, yaml: &mut String, field: &Field, indent: usize, ordered: &[&[String]]) {
        let name = field.path.last().map_or("", String::as_str);
        let comment = in_comment(&field.comment);
        if let Kind::Dynamic(_) = field.kind {
            let _ = writeln!(yaml, "{:indent$}# {}: {comment}", "", quoted(name));
            return;
        }
        if field.kind == Kind::Object {
            let _ = writeln!(
                yaml,
                "{:indent$}- name: {}   # {comment}\n{:indent$}  type: object\n{:indent$}  field_mappings:",
                "",
                quoted(name),
                "",
                "",
            );
            for inside in &field.inside {
                self.write_field(yaml, inside, indent + 4, ordered);
            }
            return;
        }
        let (kind, options) = self.type_of(field, ordered);
        let kind = match field.is_list {
            true => format!("array<{kind}>"),
            false => kind.to_string(),
        };
        let precision = match self.timestamp == Some(&field.path) {
            true => ", fast_precision: milliseconds",
            false => "",
        };
        let _ = writeln!(
            yaml,
            "{:indent$}- {{name: {}, type: {kind}, {options}{precision}}}   # {comment}",
            "",
            quoted(name),
        );
        if field.kind == Kind::LineHead {
            let _ = writeln!(
                yaml,
                "{:indent$}- {{name: {HEAD_WORDS}, type: text, record: basic, stored: false}}   # its words, without the time",
                "",
            );
        }
    }

    /// Returns whether words are looked for in the values of a field. That suits little input: its columns are read as soon as
    /// lists of documents, and lists of words would take several times their space.
    fn is_by_values(&self, field: &Field) -> bool {
        let is_kind = matches!(
            field.kind,
            Kind::Words {
                is_message: false,
                ..
            } | Kind::Word {
                is_tag: false,
                is_needle: false
            }
        );
        self.amount != Amount::Usual && is_kind && field.is_repeated
    }

    /// The type of a field, and its options.
    fn type_of(&self, field: &Field, ordered: &[&[String]]) -> (&'static str, String) {
        let (kind, options) = match field.kind {
            _ if self.is_by_values(field) => ("text", "strategy: values, fast: true"),
            Kind::Date => {
                let forms = field.date_forms.as_deref().unwrap_or("[rfc3339]");
                return ("datetime", format!("input_formats: {forms}, fast: true"));
            }
            Kind::UnixTime => (
                "datetime",
                "input_formats: [unix_timestamp, rfc3339], fast: true",
            ),
            // Of little input, a column of addresses is read as soon as a list of their documents.
            Kind::Ip if self.amount == Amount::Tiny => ("ip", "fast: true, indexed: false"),
            Kind::Ip => ("ip", "fast: true"),
            Kind::Bool => ("bool", "fast: true"),
            // Columns answer ranges and equal values: terms beside them would be most of a small index.
            Kind::U64 { is_id: false } => ("u64", "fast: true, indexed: false"),
            Kind::I64 { is_id: false } => ("i64", "fast: true, indexed: false"),
            Kind::F64 => ("f64", "fast: true, indexed: false"),
            Kind::U64 { .. } => ("u64", "fast: true"),
            Kind::I64 { .. } => ("i64", "fast: true"),
            Kind::Words { .. } if ordered.contains(&field.path.as_slice()) => {
                ("text", "record: position")
            }
            Kind::Words { .. } | Kind::Head => ("text", "record: basic"),
            Kind::Shown | Kind::LineHead => ("text", "indexed: false"),
            Kind::Word {
                is_needle: true, ..
            } => ("text", "tokenizer: raw, fast: true, needle: true"),
            Kind::Severity => ("text", "tokenizer: level, fast: true"),
            // Found in any spelling; the column has values as they are written.
            Kind::Level { .. } | Kind::Word { .. } | Kind::Object | Kind::Dynamic(_) => {
                ("text", "tokenizer: lowercase, fast: true")
            }
        };
        (kind, options.to_owned())
    }
}

/// Returns whether a config may name a path as a default search field: no part of it is empty, and it is not a field of
/// the index itself.
pub(super) fn is_default_field(name: &str) -> bool {
    let segments = canter_doc_mapper::split_path(name);
    let is_own = |first: &String| {
        [
            "_doc_length",
            "_dynamic",
            "_field_presence",
            "_source",
            "_verbatim",
        ]
        .contains(&first.as_str())
    };
    let is_odd = |segment: &String| segment.is_empty() || segment.contains(char::is_control);
    !segments.iter().any(is_odd) && !segments.first().is_some_and(is_own)
}

/// Returns a text quoted for YAML, without anything that ends a line, is a variable or an invalid character.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '$' => quoted.push_str("\\u0024"),
            c if is_odd(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted
}

/// Returns a text that is safe after `#`.
fn in_comment(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '$' => '＄',
            c if c.is_control() || is_odd(c) => ' ',
            c => c,
        })
        .collect()
}

/// Returns whether YAML treats a character as a line break or as invalid.
fn is_odd(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}
