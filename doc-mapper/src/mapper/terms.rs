//! How many terms a document makes, at most: each is an entry of a dictionary in memory while its split is built, and the
//! memory for them has an end at which tantivy panics.
//!
//! ```text
//!   bytes of the encoded document ─ small ──────────────────────────────────▶ taken
//!                                 └ else: a bound for each value ─ fits ────▶ taken
//!                                                                └ else: cut ▶ taken or refused
//! ```
//!
//! Nearly every document is small enough that its length says so. Text is cut only where its length leaves a doubt, and only
//! until the limit.

use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, FieldType, Schema, Value};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

use crate::config::{CustomTokenizer, TermLimits, TokenizerCut};
use crate::doc_error::{DocError, DocErrorReason};
use crate::encoded::{DocShape, EncodedValue, values_of};

/// Bytes of a term that is a number, with what says which type it has.
const NUMBER_NUM_BYTES: u64 = 16;
/// Bytes of a token for each byte of the text that it is cut from: a letter may become a longer one.
const LETTER_GROWTH: u64 = 2;
/// A field is indexed in at most so many ways, and a kept record stands in one field beside two short ones.
const MAX_COPIES: usize = 16;

/// What bounds the terms of a document.
#[derive(Debug)]
pub(super) struct TermBounds {
    limits: TermLimits,
    shape: DocShape,
    /// By the numbers of the fields.
    fields: Vec<FieldTerms>,
    /// An encoded document of at most so many bytes is within the limits, whatever it holds.
    small_num_bytes: usize,
}

/// The terms of a field's values.
#[derive(Clone, Debug)]
enum FieldTerms {
    /// It is not indexed.
    None,
    /// A value is one term.
    One,
    /// Text is cut, in JSON fields too.
    Cut { tokenizer: String, growth: Growth },
}

/// What becomes of text, at most.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// Terms for each byte.
    terms: u64,
    /// Bytes of terms for each byte.
    bytes: u64,
}

impl Growth {
    fn of(tokenizer: &str, custom: &[CustomTokenizer]) -> Growth {
        let cut = custom.iter().find(|custom| custom.name == tokenizer);
        match cut.map(|custom| &custom.cut) {
            // A character is in as many grams of a length as that has characters.
            Some(TokenizerCut::Ngram {
                min_gram, max_gram, ..
            }) => Growth {
                terms: (max_gram.saturating_sub(*min_gram) as u64).saturating_add(1),
                bytes: (*min_gram as u64..=*max_gram as u64)
                    .sum::<u64>()
                    .saturating_mul(LETTER_GROWTH),
            },
            // Tokens of all others do not overlap.
            _ => Growth {
                terms: 1,
                bytes: LETTER_GROWTH,
            },
        }
    }
}

/// Terms, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    terms: u64,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, terms: u64, bytes: u64) {
        self.terms = self.terms.saturating_add(terms);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn exceeds(&self, limits: &TermLimits) -> bool {
        self.terms > limits.max_doc_terms || self.bytes > limits.max_doc_term_bytes
    }
}

impl TermBounds {
    pub(super) fn new(
        limits: TermLimits,
        schema: &Schema,
        custom: &[CustomTokenizer],
    ) -> TermBounds {
        let cut = |tokenizer: &str| FieldTerms::Cut {
            tokenizer: tokenizer.to_owned(),
            growth: Growth::of(tokenizer, custom),
        };
        let fields: Vec<FieldTerms> = schema
            .fields()
            .map(|(_, entry)| match entry.field_type() {
                FieldType::Str(options) => options
                    .get_indexing_options()
                    .map_or(FieldTerms::None, |options| cut(options.tokenizer())),
                FieldType::JsonObject(options) => options
                    .get_text_indexing_options()
                    .map_or(FieldTerms::None, |options| cut(options.tokenizer())),
                other if other.is_indexed() => FieldTerms::One,
                _ => FieldTerms::None,
            })
            .collect();
        let growths = fields.iter().filter_map(|field| match field {
            FieldTerms::Cut { growth, .. } => Some(*growth),
            _ => None,
        });
        let most = growths.fold((1, NUMBER_NUM_BYTES), |(terms, bytes), growth| {
            (terms.max(growth.terms), bytes.max(growth.bytes))
        });
        let small = (limits.max_doc_terms / most.0).min(limits.max_doc_term_bytes / most.1);
        TermBounds {
            limits,
            shape: DocShape::of(schema),
            fields,
            small_num_bytes: usize::try_from(small).unwrap_or(usize::MAX),
        }
    }

    /// A text of so many bytes is within the limits in however many ways a field is indexed.
    pub(super) fn always_fitting_num_bytes(&self) -> usize {
        self.small_num_bytes / MAX_COPIES
    }

    /// Whether an encoded document is within the limits.
    ///
    /// # Errors
    /// `TooManyTerms`, with the field whose terms are too many.
    pub(super) fn check(
        &self,
        encoded: &[u8],
        schema: &Schema,
        analyzers: &TokenizerManager,
    ) -> Result<(), DocError> {
        if encoded.len() <= self.small_num_bytes {
            return Ok(());
        }
        let mut bound = Amount::default();
        self.for_each(encoded, |_, value, field| {
            let growth = match field {
                FieldTerms::Cut { growth, .. } => Some(*growth),
                _ => None,
            };
            each_leaf(value, &mut |leaf| {
                match (leaf, growth) {
                    (ReferenceValueLeaf::Str(text), Some(growth)) => {
                        let len = text.len() as u64;
                        bound.add(
                            len.saturating_mul(growth.terms),
                            len.saturating_mul(growth.bytes),
                        );
                    }
                    _ => bound.add(1, NUMBER_NUM_BYTES),
                }
                true
            })
        });
        if !bound.exceeds(&self.limits) {
            return Ok(());
        }
        self.count(encoded, schema, analyzers)
    }

    /// Cuts the text of a document, until there are too many terms.
    fn count(
        &self,
        encoded: &[u8],
        schema: &Schema,
        analyzers: &TokenizerManager,
    ) -> Result<(), DocError> {
        let mut sum = Amount::default();
        let mut exceeded_in = None;
        let mut analyzer: Option<(Field, Option<TextAnalyzer>)> = None;
        self.for_each(encoded, |number, value, field| {
            let FieldTerms::Cut { tokenizer, .. } = field else {
                sum.add(1, NUMBER_NUM_BYTES);
                return !sum.exceeds(&self.limits);
            };
            if analyzer.as_ref().is_none_or(|(of, _)| *of != number) {
                analyzer = Some((number, analyzers.get(tokenizer)));
            }
            let mut cut = analyzer.as_mut().and_then(|(_, cut)| cut.as_mut());
            let goes_on = each_leaf(value, &mut |leaf| {
                match (leaf, cut.as_deref_mut()) {
                    (ReferenceValueLeaf::Str(text), Some(analyzer)) => {
                        let mut tokens = analyzer.token_stream(text);
                        while !sum.exceeds(&self.limits) && tokens.advance() {
                            sum.add(1, tokens.token().text.len() as u64);
                        }
                    }
                    (ReferenceValueLeaf::Str(_), None) => {}
                    _ => sum.add(1, NUMBER_NUM_BYTES),
                }
                !sum.exceeds(&self.limits)
            });
            if !goes_on {
                exceeded_in = Some(number);
            }
            goes_on
        });
        if !sum.exceeds(&self.limits) {
            return Ok(());
        }
        let path = exceeded_in.map_or("", |field| schema.get_field_name(field));
        Err(self.too_many(&sum, path))
    }

    /// Whether the paths of a document's values are within the limits.
    ///
    /// # Errors
    /// `TooManyTerms` if they are not; `path` is that of the field.
    pub(super) fn check_paths(&self, num_path_bytes: u64, path: &str) -> Result<(), DocError> {
        let sum = Amount {
            terms: 0,
            bytes: num_path_bytes,
        };
        match sum.exceeds(&self.limits) {
            true => Err(self.too_many(&sum, path)),
            false => Ok(()),
        }
    }

    #[cold]
    fn too_many(&self, sum: &Amount, path: &str) -> DocError {
        let TermLimits {
            max_doc_terms,
            max_doc_term_bytes,
            ..
        } = self.limits;
        let message = match sum.terms > max_doc_terms {
            true => format!(
                "the document has more than {max_doc_terms} terms up to here: shorten it, index it in fewer ways, or raise \
                 \"max_doc_terms\" in \"indexing_settings\""
            ),
            false => format!(
                "the terms of the document and the paths of its values have more than {max_doc_term_bytes} bytes up to here: \
                 shorten it, index it in fewer ways, or raise \"max_doc_term_bytes\" in \"indexing_settings\""
            ),
        };
        DocError::new(DocErrorReason::TooManyTerms, path, message)
    }

    /// Hands over the values of indexed fields, until one of them is refused.
    fn for_each<'e>(
        &'e self,
        encoded: &'e [u8],
        mut take: impl FnMut(Field, EncodedValue<'e>, &FieldTerms) -> bool,
    ) {
        for (field, value) in values_of(encoded, &self.shape) {
            let number = usize::try_from(field.field_id()).unwrap_or(usize::MAX);
            match self.fields.get(number) {
                None | Some(FieldTerms::None) => {}
                Some(terms) if take(field, value, terms) => {}
                Some(_) => return,
            }
        }
    }
}

/// Hands over the scalars of a value until one is refused; false if one was.
fn each_leaf<'v, V: Value<'v>>(
    value: V,
    take: &mut impl FnMut(ReferenceValueLeaf<'v>) -> bool,
) -> bool {
    match value.as_value() {
        ReferenceValue::Leaf(leaf) => take(leaf),
        ReferenceValue::Array(mut items) => items.all(|item| each_leaf(item, take)),
        ReferenceValue::Object(mut entries) => entries.all(|(_, item)| each_leaf(item, take)),
    }
}

/// Bytes of the paths of all scalars of a value: the keys on the way to each.
pub(crate) fn num_path_bytes<'v, V: Value<'v>>(value: V) -> u64 {
    fn below<'v, V: Value<'v>>(value: V, path_num_bytes: u64) -> u64 {
        let sum = |sum: u64, below: u64| sum.saturating_add(below);
        match value.as_value() {
            ReferenceValue::Leaf(_) => path_num_bytes,
            ReferenceValue::Array(items) => {
                items.map(|item| below(item, path_num_bytes)).fold(0, sum)
            }
            ReferenceValue::Object(entries) => entries
                .map(|(key, item)| below(item, path_num_bytes + key.len() as u64 + 1))
                .fold(0, sum),
        }
    }
    below(value, 0)
}
