//! Upper bound for the terms of a document. Each term takes memory in a dictionary while its split
//! is built, and tantivy panics when that memory is exhausted.
//!
//! ```text
//!   bytes of the encoded document ─ small ──────────────────────────────────▶ taken
//!                                 └ else: a bound for each value ─ fits ────▶ taken
//!                                                                └ else: cut ▶ taken or refused
//! ```
//!
//! The length of almost every document proves that it is small enough. Text is tokenized only if
//! its length leaves a doubt, and only up to the limit.

use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, FieldType, Schema, Value};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

use crate::config::{CustomTokenizer, TermLimits, TokenizerCut, TokenizerFilter};
use crate::documents::doc_error::{DocError, DocErrorReason};
use crate::documents::encoded::{DocShape, EncodedValue, values_of};
use crate::tokenizers;

/// Number of bytes of a numeric term, including its type.
const NUMBER_NUM_BYTES: u64 = 16;
/// Maximum number of bytes of tokens for each byte of text: a letter may become longer.
const LETTER_GROWTH: u64 = 2;
/// Maximum number of bytes of a path: longer terms are dropped.
const MAX_VALUE_BYTES: u64 = 65_526;
/// Upper bound for the number of ways to index a field; a kept record is in one field, next to two
/// short ones.
const MAX_COPIES: usize = 16;

/// Bounds for the terms of a document.
#[derive(Debug)]
pub(super) struct TermBounds {
    limits: TermLimits,
    shape: DocShape,
    /// Terms of each field, by number.
    fields: Vec<FieldTerms>,
    /// Size of an encoded document up to which it is always within the limits.
    small_num_bytes: usize,
}

/// Terms of a field's values.
#[derive(Clone, Debug)]
enum FieldTerms {
    /// The field is not indexed.
    None,
    /// A value is one term.
    One,
    /// Text is tokenized, including text in JSON fields.
    Cut { tokenizer: String, growth: Growth },
}

/// Upper bound for the growth of text by a tokenizer.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// Number of terms for each byte.
    terms: u64,
    /// Number of bytes of terms for each byte.
    bytes: u64,
}

impl Growth {
    fn of(tokenizer: &str, custom: &[CustomTokenizer]) -> Growth {
        let own = custom.iter().find(|custom| custom.name == tokenizer);
        let cut = match own.map(|custom| &custom.cut) {
            Some(TokenizerCut::Ngram {
                min_gram, max_gram, ..
            }) => Self::of_grams(*min_gram, *max_gram),
            Some(TokenizerCut::Grams { grams, .. }) => {
                Self::of_grams(grams.min_gram, grams.max_gram)
            }
            // Each part of a path is in all paths below.
            Some(TokenizerCut::Paths(_)) => Growth {
                terms: 1,
                bytes: MAX_VALUE_BYTES,
            },
            // Tokens of all others do not overlap.
            _ => Growth { terms: 1, bytes: 1 },
        };
        let filters = own.map_or(&[][..], |own| &own.filters).iter();
        let all = filters.fold(cut, |so_far, filter| match filter {
            TokenizerFilter::Grams(grams) => {
                let own = Self::of_grams(grams.min_gram, grams.max_gram);
                // The token itself may be kept beside its grams.
                Growth {
                    terms: so_far.terms.saturating_mul(own.terms.saturating_add(1)),
                    bytes: so_far.bytes.saturating_mul(own.bytes.saturating_add(1)),
                }
            }
            _ => so_far,
        });
        let more = own.map_or(1, |own| tokenizers::growth(own) as u64);
        Growth {
            terms: all.terms.saturating_mul(more),
            bytes: all.bytes.saturating_mul(LETTER_GROWTH).saturating_mul(more),
        }
    }

    /// Each character is in as many grams of a length as that length in characters.
    fn of_grams(min_gram: usize, max_gram: usize) -> Growth {
        Growth {
            terms: (max_gram.saturating_sub(min_gram) as u64).saturating_add(1),
            bytes: (min_gram as u64..=max_gram as u64).sum::<u64>(),
        }
    }
}

/// Number of terms, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mapper) struct Amount {
    terms: u64,
    bytes: u64,
}

impl Amount {
    pub(in crate::mapper) fn add(&mut self, terms: u64, bytes: u64) {
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

    /// Returns the size up to which a text is within the limits, in however many ways its field is
    /// indexed.
    pub(super) fn always_fitting_num_bytes(&self) -> usize {
        self.small_num_bytes / MAX_COPIES
    }

    /// Checks that an encoded document is within the limits.
    ///
    /// # Errors
    /// `TooManyTerms`, with the field that exceeds the limit.
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

    /// Tokenizes the text of a document until a limit is exceeded.
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

    /// Checks that the paths of a document's values are within the limits.
    ///
    /// # Errors
    /// `TooManyTerms` otherwise; `path` is that of the field.
    pub(super) fn check_paths(&self, num_path_bytes: u64, path: &str) -> Result<(), DocError> {
        let sum = Amount {
            terms: 0,
            bytes: num_path_bytes,
        };
        self.check_amount(&sum, path)
    }

    /// Checks that terms are within the limits while they are made.
    ///
    /// # Errors
    /// `TooManyTerms` otherwise; `path` is that of the field.
    pub(in crate::mapper) fn check_amount(&self, sum: &Amount, path: &str) -> Result<(), DocError> {
        match sum.exceeds(&self.limits) {
            true => Err(self.too_many(sum, path)),
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

    /// Passes the values of indexed fields to `take` until it returns `false`.
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

/// Passes the scalars of a value to `take` until it returns `false`; returns `false` then.
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
