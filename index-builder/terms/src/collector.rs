//! Collects the terms of documents, and writes the files that say which documents have them.

use canter_doc_mapper::EncodedDoc;
use tantivy::TantivyError;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Document, Field, Schema};
use tantivy::tokenizer::TokenizerManager;

use crate::field::{FieldTerms, Scratch};
use crate::seal::write_field;

/// Collector of the terms of a segment.
pub struct TermCollector {
    /// By number of the field.
    fields: Vec<Option<FieldTerms>>,
    num_docs: u32,
    scratch: Scratch,
}

impl TermCollector {
    /// Creates a collector of no documents yet.
    ///
    /// # Errors
    /// A field has a tokenizer that is not among these, or a type that no mapping gives.
    pub fn new(schema: &Schema, tokenizers: &TokenizerManager) -> tantivy::Result<Self> {
        let fields = schema
            .fields()
            .map(|(_, entry)| FieldTerms::new(entry, tokenizers));
        Ok(Self {
            fields: fields.collect::<tantivy::Result<_>>()?,
            num_docs: 0,
            scratch: Scratch::default(),
        })
    }

    /// Returns the number of bytes in memory, without those that writing takes.
    pub fn num_bytes(&self) -> u64 {
        let fields = self.fields.iter().flatten();
        fields.map(|field| field.num_bytes() as u64).sum()
    }

    /// Returns the number of documents so far.
    pub fn num_docs(&self) -> u32 {
        self.num_docs
    }

    /// Adds the next document.
    ///
    /// # Errors
    /// A value has another type than its field, or there are more terms than can be counted.
    pub fn add(&mut self, doc: &EncodedDoc) -> tantivy::Result<()> {
        let mut values = Vec::with_capacity(16);
        for (field, value) in doc.iter_fields_and_values() {
            let place = field.field_id() as usize;
            if let Some(Some(_)) = self.fields.get(place) {
                values.push((field, value));
            }
        }
        if !values.is_sorted_by_key(|(field, _)| *field) {
            // The values of a field keep their order.
            values.sort_by_key(|(field, _)| *field);
        }
        for group in values.chunk_by(|(one, _), (other, _)| one == other) {
            let field = group.first().map(|(field, _)| field.field_id() as usize);
            if let Some(Some(field)) = field.and_then(|field| self.fields.get_mut(field)) {
                field.add(self.num_docs, group, &mut self.scratch)?;
                if field.words.is_full() {
                    let what = "a segment has more terms than can be counted";
                    return Err(TantivyError::InvalidArgument(what.to_owned()));
                }
            }
        }
        self.num_docs += 1;
        Ok(())
    }

    /// Writes the field norms, dictionaries, postings and positions of a segment.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn write(self, segment: &Segment) -> tantivy::Result<()> {
        let Self {
            mut fields,
            num_docs,
            ..
        } = self;
        let ids = || (0..).map(Field::from_field_id);
        let norms = segment.open_write(SegmentComponent::FieldNorms)?;
        let mut norms = FieldNormsSerializer::from_write(norms)?;
        for (id, field) in ids().zip(&mut fields) {
            if let Some(mut of_field) = field.as_mut().and_then(|field| field.norms.take()) {
                of_field.resize(num_docs as usize, 0);
                norms.serialize_field(id, &of_field)?;
            }
        }
        norms.close()?;
        let norms = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?;
        let mut out = InvertedIndexSerializer::open(segment)?;
        for (id, field) in ids().zip(fields) {
            // A field without terms is not in the files.
            if let Some(field) = field.filter(|field| field.words.len() > 0) {
                let out = out.new_field(id, field.num_tokens, norms.get_field(id)?)?;
                write_field(field, num_docs, out)?;
            }
        }
        out.close()?;
        Ok(())
    }
}
