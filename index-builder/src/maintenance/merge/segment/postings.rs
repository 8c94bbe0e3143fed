//! Term dictionaries, postings and positions: the terms of all splits in order, and for each term
//! the documents of all splits in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use canter_doc_mapper::DocMapper;
use canter_matching::{PositionList, Recorded, check_postings};
use tantivy::directory::FileSlice;
use tantivy::fieldnorm::FieldNormReaders;
use tantivy::index::SegmentComponent;
use tantivy::postings::{
    FieldSerializer, InvertedIndexSerializer, Postings, SegmentPostings, TermInfo,
};
use tantivy::schema::{Field, FieldType, IndexRecordOption, Type};
use tantivy::termdict::TermMerger;
use tantivy::{DocSet, HasLen as _, InvertedIndexReader, Segment, TERMINATED, TantivyError};

use super::super::input::OpenInput;
use super::super::order::DocOrder;
use super::rare_words::RareSegment;
use crate::packager::{cut_short, slice_of};

pub(super) fn write(
    segment: &Segment,
    inputs: &[OpenInput],
    order: &DocOrder,
    mapper: &DocMapper,
) -> tantivy::Result<()> {
    let rare = inputs.iter().map(|input| RareSegment::of(input, mapper));
    let rare = rare.collect::<std::io::Result<Vec<_>>>()?;
    let norms = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?;
    let mut serializer = InvertedIndexSerializer::open(segment)?;
    for (field, entry) in segment.schema().fields() {
        let Some(record) = entry.field_type().get_index_record_option() else {
            continue;
        };
        let of_field = MergedField {
            field,
            frequencies: Frequencies::of(entry.field_type(), record),
            record,
            order,
            splits: splits_of(inputs, &rare, field)?,
        };
        let has_deletes = inputs.iter().any(|input| input.deleted.is_some());
        of_field.write(&mut serializer, &norms, has_deletes)?;
    }
    serializer.close()?;
    Ok(())
}

/// Postings of a field in one split.
struct SplitField {
    /// Index of the split among the inputs.
    segment_ord: usize,
    index: Arc<InvertedIndexReader>,
    /// Lists of the field, including positions.
    lists: FileSlice,
    /// Number of documents in the split.
    max_doc: u32,
}

fn splits_of(
    inputs: &[OpenInput],
    rare: &[Option<RareSegment>],
    field: Field,
) -> tantivy::Result<Vec<SplitField>> {
    let mut splits = Vec::new();
    for (segment_ord, (input, rare)) in inputs.iter().zip(rare).enumerate() {
        let Some(field) = input.fields.of_target(field) else {
            continue;
        };
        let max_doc = input.num_docs();
        splits.push(SplitField {
            segment_ord,
            index: input.segment.inverted_index(field)?,
            lists: input.lists(field),
            max_doc,
        });
        if let Some(rare) = rare {
            // No word is in both.
            splits.push(SplitField {
                segment_ord,
                index: rare.segment.inverted_index(field)?,
                lists: rare.lists(field),
                max_doc,
            });
        }
    }
    Ok(splits)
}

/// Terms of a field for which frequencies are stored.
#[derive(Clone, Copy)]
enum Frequencies {
    All,
    /// Text terms only, since JSON fields also have numbers.
    JsonTexts,
    None,
}

impl Frequencies {
    fn of(field_type: &FieldType, record: IndexRecordOption) -> Self {
        match field_type {
            FieldType::Str(_) if record.has_freq() => Self::All,
            FieldType::JsonObject(_) if record.has_freq() => Self::JsonTexts,
            _ => Self::None,
        }
    }

    fn has(self, term: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::JsonTexts => {
                // A JSON term consists of the path, a zero byte, the type and the value.
                let mut behind_path = term.iter().skip_while(|byte| **byte != 0).skip(1);
                behind_path.next() == Some(&Type::Str.to_code())
            }
        }
    }
}

/// Inputs of one field of the merged segment.
struct MergedField<'a> {
    field: Field,
    record: IndexRecordOption,
    frequencies: Frequencies,
    order: &'a DocOrder,
    splits: Vec<SplitField>,
}

impl MergedField<'_> {
    fn write(
        &self,
        serializer: &mut InvertedIndexSerializer,
        norms: &FieldNormReaders,
        has_deletes: bool,
    ) -> tantivy::Result<()> {
        let counts = self.splits.iter();
        let counts = counts.map(|split| split.index.total_num_tokens());
        let mut num_tokens = counts.fold(0, u64::saturating_add);
        if has_deletes {
            num_tokens = num_tokens.saturating_sub(self.num_tokens_left_out()?);
        }
        let mut norms = Some(norms.get_field(self.field)?);
        // A field without terms is not in the files, like in a new segment.
        let mut out: Option<FieldSerializer<'_>> = None;
        let mut serializer = Some(serializer);
        let mut documents = Documents::default();
        let mut positions = Vec::new();
        let mut last_key: Option<Vec<u8>> = None;
        let mut terms = self.terms()?;
        while terms.advance() {
            let has_freq = self.frequencies.has(terms.key());
            documents.clear();
            let mut doc_freq = 0;
            for (ord, info) in terms.current_segment_ords_and_term_infos() {
                let Some(split) = self.splits.get(ord) else {
                    continue;
                };
                let list = split.list(&info, self.record, has_freq)?;
                doc_freq += match has_deletes {
                    true => self.num_left(split.segment_ord, list.postings.clone()),
                    false => list.postings.doc_freq(),
                };
                documents.add(list, self.order);
            }
            if doc_freq == 0 {
                continue;
            }
            if let (Some(serializer), Some(norms)) = (serializer.take(), norms.take()) {
                out = Some(serializer.new_field(self.field, num_tokens, norms)?);
            }
            let Some(out) = &mut out else { continue };
            if last_key.as_deref().is_some_and(|last| last >= terms.key()) {
                return Err(unsound("the terms of a dictionary are not in order"));
            }
            let last_key = last_key.get_or_insert_default();
            last_key.clear();
            last_key.extend_from_slice(terms.key());
            out.new_term(terms.key(), doc_freq, has_freq)?;
            let num_docs = self.write_documents(out, &mut documents, has_freq, &mut positions)?;
            if num_docs != doc_freq {
                return Err(unsound("a posting list has other documents than the split"));
            }
            out.close_term()?;
        }
        if let Some(out) = out {
            out.close()?;
        }
        Ok(())
    }

    /// Writes the documents of a term and returns their number.
    fn write_documents(
        &self,
        out: &mut FieldSerializer<'_>,
        documents: &mut Documents,
        has_freq: bool,
        positions: &mut Vec<u32>,
    ) -> tantivy::Result<u32> {
        let (mut last, mut num_docs, mut is_sound) = (None, 0, true);
        documents.drain(self.order, |doc, list| {
            let freq = match has_freq {
                true => list.postings.term_freq(),
                false => 0,
            };
            is_sound &= last.is_none_or(|last| last < doc) && list.differences(freq, positions);
            if is_sound {
                out.write_doc(doc, freq, positions);
                (last, num_docs) = (Some(doc), num_docs + 1);
            }
        });
        match is_sound {
            true => Ok(num_docs),
            false => Err(unsound(
                "a posting list is not in order, or lacks positions",
            )),
        }
    }

    fn terms(&self) -> tantivy::Result<TermMerger<'_>> {
        let streams = self.splits.iter().map(|split| split.index.terms().stream());
        Ok(TermMerger::new(streams.collect::<std::io::Result<_>>()?))
    }

    /// Returns the number of remaining documents in a posting list.
    fn num_left(&self, segment_ord: usize, mut postings: SegmentPostings) -> u32 {
        let mut num_left = 0;
        while postings.doc() != TERMINATED {
            let is_left = self.order.new_doc(segment_ord, postings.doc()).is_some();
            num_left += u32::from(is_left);
            postings.advance();
        }
        num_left
    }

    /// Returns the number of tokens in the documents that are left out. If the index does not store
    /// frequencies, each occurrence counts as one token. The mean length of a field, which affects
    /// scores, is computed from this number.
    fn num_tokens_left_out(&self) -> tantivy::Result<u64> {
        let mut num_tokens = 0;
        let record = match self.frequencies {
            Frequencies::None => IndexRecordOption::Basic,
            _ => IndexRecordOption::WithFreqs,
        };
        for split in &self.splits {
            let mut terms = split.index.terms().stream()?;
            while terms.advance() {
                let info = terms.value();
                split.check(info, self.record)?;
                let mut postings = split.index.read_postings_from_terminfo(info, record)?;
                let has_freq = self.frequencies.has(terms.key());
                while postings.doc() != TERMINATED {
                    let new_doc = self.order.new_doc(split.segment_ord, postings.doc());
                    if new_doc.is_none() {
                        num_tokens += match has_freq {
                            true => u64::from(postings.term_freq()),
                            false => 1,
                        };
                    }
                    postings.advance();
                }
            }
        }
        Ok(num_tokens)
    }
}

/// Returns an error about the lists or the dictionary of a split.
fn unsound(what: &str) -> TantivyError {
    std::io::Error::new(std::io::ErrorKind::InvalidData, what).into()
}

/// Length of the number of tokens before the postings of a field.
const NUM_TOKENS_LEN: usize = 8;

impl SplitField {
    /// Checks that the postings of a dictionary entry exist, which tantivy does not check.
    fn check(&self, info: &TermInfo, record: IndexRecordOption) -> std::io::Result<()> {
        if self.lists.len() < NUM_TOKENS_LEN {
            return Err(cut_short());
        }
        let postings = self.lists.slice_from(NUM_TOKENS_LEN);
        let bytes = slice_of(&postings, &info.postings_range)?;
        let recorded = match record {
            IndexRecordOption::Basic => Recorded::Documents,
            IndexRecordOption::WithFreqs => Recorded::Frequencies,
            IndexRecordOption::WithFreqsAndPositions => Recorded::Positions,
        };
        check_postings(&bytes, info.doc_freq, self.max_doc, recorded)
    }

    /// Opens the list of a term. Positions have a format that tantivy does not support, so they are
    /// read separately from the postings.
    fn list(
        &self,
        info: &TermInfo,
        record: IndexRecordOption,
        has_freq: bool,
    ) -> tantivy::Result<TermList> {
        let without_positions = match record {
            IndexRecordOption::WithFreqsAndPositions => IndexRecordOption::WithFreqs,
            other => other,
        };
        let positions = match record.has_positions() && has_freq {
            true => {
                let bytes = slice_of(&self.lists, &info.positions_range)?;
                Some(PositionList::open(bytes)?)
            }
            false => None,
        };
        self.check(info, record)?;
        let index = &self.index;
        Ok(TermList {
            segment_ord: self.segment_ord,
            postings: index.read_postings_from_terminfo(info, without_positions)?,
            positions,
            num_before: 0,
        })
    }
}

/// Documents of one term in one split, with positions.
struct TermList {
    segment_ord: usize,
    postings: SegmentPostings,
    positions: Option<PositionList>,
    /// Number of positions of the documents before the current one.
    num_before: u64,
}

impl TermList {
    fn advance(&mut self) {
        if self.positions.is_some() {
            self.num_before += u64::from(self.postings.term_freq());
        }
        self.postings.advance();
    }

    /// Reads `freq` positions of the term in the current document, each as the difference to the
    /// one before it. Returns `false` if there are fewer positions.
    fn differences(&mut self, freq: u32, differences: &mut Vec<u32>) -> bool {
        differences.clear();
        if let Some(positions) = &mut self.positions {
            let places = self.num_before..self.num_before + u64::from(freq);
            if places.end > positions.max_len() {
                return false;
            }
            differences.extend(places.map(|place| positions.difference(place)));
        }
        true
    }

    /// Returns the new number of the next remaining document, from the current one on.
    fn next_left(&mut self, order: &DocOrder) -> Option<u32> {
        while self.postings.doc() != TERMINATED {
            if let Some(doc) = order.new_doc(self.segment_ord, self.postings.doc()) {
                return Some(doc);
            }
            self.advance();
        }
        None
    }
}

/// Documents of one term from all splits, in their new order.
#[derive(Default)]
struct Documents {
    lists: Vec<TermList>,
    /// Next new document of each list, and the index of the list.
    heads: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Documents {
    fn clear(&mut self) {
        self.lists.clear();
        self.heads.clear();
    }

    fn add(&mut self, mut list: TermList, order: &DocOrder) {
        if let Some(doc) = list.next_left(order) {
            self.heads.push(Reverse((doc, self.lists.len())));
            self.lists.push(list);
        }
    }

    fn drain(&mut self, order: &DocOrder, mut take: impl FnMut(u32, &mut TermList)) {
        while let Some(mut head) = self.heads.peek_mut() {
            let Reverse((doc, list)) = *head;
            let next = self.lists.get_mut(list).and_then(|list| {
                take(doc, list);
                list.advance();
                list.next_left(order)
            });
            match next {
                Some(doc) => *head = Reverse((doc, list)),
                None => drop(PeekMut::pop(head)),
            }
        }
    }
}
