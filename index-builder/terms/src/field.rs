//! The terms of one field, and which documents have them.

use std::net::Ipv6Addr;

use tantivy::columnar::{MonotonicallyMappableToU64, MonotonicallyMappableToU128};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::document::ReferenceValueLeaf;
use tantivy::schema::{
    DATE_TIME_PRECISION_INDEXED, Field, FieldEntry, FieldType, IndexRecordOption, Value,
};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{TantivyError, tokenizer::TextAnalyzer};

use crate::cut::{Cut, Cutter};
use crate::json::JsonTerms;
use crate::log::{Log, Occurrence};
use crate::shapes::{Form, MAX_WORDS, Shapes};
use crate::words::{Words, hash_of};

pub(crate) struct FieldTerms {
    pub(crate) kind: Kind,
    pub(crate) record: IndexRecordOption,
    pub(crate) words: Words,
    pub(crate) log: Log,
    pub(crate) shapes: Shapes,
    /// One for each document so far, if the field has them.
    pub(crate) norms: Option<Vec<u8>>,
    pub(crate) num_tokens: u64,
    /// The last term of a value that is a term: the next document often has it, too.
    last: u32,
}

/// Kind of a field's values.
pub(crate) enum Kind {
    Text(Cutter),
    /// Numbers, times, addresses and bytes, which are a term each.
    Single,
    Json(JsonTerms),
}

/// What adding a document needs for a moment.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) cut: Cut,
    pub(crate) found: Vec<Occurrence>,
    form: Form,
    slots: Vec<u32>,
}

impl FieldTerms {
    /// Returns `None` if the field is not indexed.
    pub(crate) fn new(
        entry: &FieldEntry,
        tokenizers: &TokenizerManager,
    ) -> tantivy::Result<Option<Self>> {
        let field_type = entry.field_type();
        let Some(record) = field_type.get_index_record_option() else {
            return Ok(None);
        };
        let analyzer = |name: &str| -> tantivy::Result<TextAnalyzer> {
            let problem = || TantivyError::SchemaError(format!("there is no tokenizer {name:?}"));
            tokenizers.get(name).ok_or_else(problem)
        };
        let kind = match field_type {
            FieldType::Str(options) => {
                let name = options.get_indexing_options();
                let name = name.map_or("default", |indexing| indexing.tokenizer());
                Kind::Text(Cutter::new(name, analyzer(name)?))
            }
            FieldType::JsonObject(options) => {
                let name = options.get_text_indexing_options();
                let name = name.map_or("default", |indexing| indexing.tokenizer());
                let cutter = Cutter::new(name, analyzer(name)?);
                Kind::Json(JsonTerms::new(cutter, options.is_expand_dots_enabled()))
            }
            FieldType::Facet(_) | FieldType::TieBreaker | FieldType::Custom(_) => {
                let what = format!("field {:?} has a type that no mapping gives", entry.name());
                return Err(TantivyError::SchemaError(what));
            }
            _ => Kind::Single,
        };
        Ok(Some(Self {
            kind,
            record,
            words: Words::default(),
            log: Log::default(),
            shapes: Shapes::default(),
            norms: entry.has_fieldnorms().then(Vec::new),
            num_tokens: 0,
            last: 0,
        }))
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn num_bytes(&self) -> usize {
        let paths = match &self.kind {
            Kind::Json(json) => json.num_bytes(),
            _ => 0,
        };
        let norms = self.norms.as_ref().map_or(0, Vec::len);
        paths + norms + self.words.num_bytes() + self.log.num_bytes() + self.shapes.num_bytes()
    }

    /// Adds all values of the field in a document.
    pub(crate) fn add<'a, V: Value<'a>>(
        &mut self,
        doc: u32,
        values: &[(Field, V)],
        scratch: &mut Scratch,
    ) -> tantivy::Result<()> {
        scratch.found.clear();
        match &mut self.kind {
            Kind::Single => self.add_singles(values, scratch)?,
            Kind::Json(json) => {
                json.begin(doc);
                for (_, value) in values {
                    json.add(value, &mut self.words, scratch);
                }
            }
            Kind::Text(cutter) => {
                if let [(_, value)] = values
                    && let Some(text) = value.as_str()
                {
                    if cutter.keeps(text) {
                        self.add_single(text.as_bytes(), scratch);
                    } else if !matches!(cutter, Cutter::Whole) {
                        cutter.cut(text, &mut scratch.cut);
                        if self.add_shaped(doc, scratch) {
                            return Ok(());
                        }
                        self.add_words(0, scratch);
                    }
                } else {
                    self.add_texts(values, scratch);
                }
            }
        }
        let num = scratch.found.len();
        self.num_tokens += num as u64;
        self.record_norm(doc, num);
        if num > 0 {
            self.log
                .add(doc, &scratch.found, self.record.has_positions());
        }
        Ok(())
    }

    fn record_norm(&mut self, doc: u32, num: usize) {
        if let Some(norms) = &mut self.norms {
            norms.resize(doc as usize, 0);
            let num = u32::try_from(num).unwrap_or(u32::MAX);
            norms.push(FieldNormReader::fieldnorm_to_id(num));
        }
    }

    fn add_singles<'a, V: Value<'a>>(
        &mut self,
        values: &[(Field, V)],
        scratch: &mut Scratch,
    ) -> tantivy::Result<()> {
        for (_, value) in values {
            let leaf = value.as_leaf().unwrap_or(ReferenceValueLeaf::Null);
            let number = match leaf {
                ReferenceValueLeaf::U64(number) => number,
                ReferenceValueLeaf::I64(number) => number.to_u64(),
                ReferenceValueLeaf::F64(number) => number.to_u64(),
                ReferenceValueLeaf::Bool(is) => is.to_u64(),
                ReferenceValueLeaf::Date(time) => {
                    time.truncate(DATE_TIME_PRECISION_INDEXED).to_u64()
                }
                ReferenceValueLeaf::IpAddr(address) => {
                    let address: u128 = Ipv6Addr::to_u128(address);
                    self.add_single(&address.to_be_bytes(), scratch);
                    continue;
                }
                ReferenceValueLeaf::Bytes(bytes) => {
                    self.add_single(bytes, scratch);
                    continue;
                }
                _ => {
                    let what = "a value has another type than its field";
                    return Err(TantivyError::SchemaError(what.to_owned()));
                }
            };
            self.add_single(&number.to_be_bytes(), scratch);
        }
        Ok(())
    }

    /// Adds a value that is one term.
    #[inline]
    fn add_single(&mut self, key: &[u8], scratch: &mut Scratch) {
        let is_last = self.words.len() > 0 && self.words.key(self.last) == key;
        if !is_last {
            self.last = self.words.term(hash_of(key), key);
        }
        self.words.count(self.last);
        scratch.found.push(Occurrence {
            term: self.last,
            position: 0,
        });
    }

    fn add_texts<'a, V: Value<'a>>(&mut self, values: &[(Field, V)], scratch: &mut Scratch) {
        let mut first = 0_u32;
        for (_, value) in values {
            if let Some(text) = value.as_str()
                && let Kind::Text(cutter) = &mut self.kind
            {
                cutter.cut(text, &mut scratch.cut);
                self.add_words(first, scratch);
                first = first.wrapping_add(scratch.cut.end).wrapping_add(1);
            }
        }
    }

    /// Adds the words of a text that begins at this position.
    fn add_words(&mut self, first: u32, scratch: &mut Scratch) {
        for word in &scratch.cut.words {
            let key = scratch.cut.bytes(word);
            let term = self.words.term(hash_of(key), key);
            self.words.count(term);
            scratch.found.push(Occurrence {
                term,
                position: first.wrapping_add(word.position),
            });
        }
    }

    /// Adds a document whose only text has a known shape; returns `false` if it has none.
    fn add_shaped(&mut self, doc: u32, scratch: &mut Scratch) -> bool {
        let Scratch {
            cut, form, slots, ..
        } = scratch;
        if cut.words.len() > MAX_WORDS || cut.words.len() < 2 || !cut.is_even() {
            return false;
        }
        form.set(cut);
        let shape = match self.shapes.find(form) {
            Some(shape) => shape,
            None if self.shapes.is_met(form) => {
                let fixed = cut.words.iter().filter(|word| !word.is_slot);
                let words = &mut self.words;
                let terms = fixed.map(|word| {
                    let key = cut.bytes(word);
                    words.term(hash_of(key), key)
                });
                self.shapes.add(form, cut, terms)
            }
            None => return false,
        };
        slots.clear();
        for word in cut.words.iter().filter(|word| word.is_slot) {
            let key = cut.bytes(word);
            let term = self.words.term(hash_of(key), key);
            self.words.count(term);
            slots.push(term);
        }
        self.log.add_shape(doc, shape, slots);
        self.shapes.count(shape);
        self.num_tokens += cut.words.len() as u64;
        let num = cut.words.len();
        self.record_norm(doc, num);
        true
    }
}
