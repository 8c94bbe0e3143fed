//! Merged sorted runs: first only the places of documents, then the documents one after another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use canter_doc_mapper::{DocShape, EncodedDoc, EncodedDocs};
use canter_split_format::DocIdentity;
use zstd::bulk::Decompressor;

use super::DocPlace;
use super::waiting::{Block, PackedRun, Run, failed};
use crate::error::BuildError;

/// The documents of a split in order.
pub(in crate::pipeline) struct SortedDocs {
    shape: DocShape,
    runs: Vec<Run>,
    /// By place in the split: the run whose next document it is.
    order: Vec<u32>,
    decompressor: Decompressor<'static>,
    cursors: Vec<Cursor>,
    next: usize,
}

/// Read position in a run.
#[derive(Clone, Default)]
struct Cursor {
    next_doc: usize,
    block_ord: usize,
    /// Offset of the next document in the block.
    offset: usize,
    /// The block, if a document of it was read.
    block: Option<Arc<EncodedDocs>>,
}

fn lost() -> BuildError {
    BuildError::internal("a document that waited for its split is not there")
}

impl SortedDocs {
    /// Merges all runs; returns the documents and their identities in order.
    pub(super) fn merge(
        runs: Vec<Run>,
        num_docs: usize,
        shape: DocShape,
    ) -> Result<(Self, Vec<DocIdentity>), BuildError> {
        let mut order = Vec::with_capacity(num_docs);
        let mut identities = Vec::with_capacity(num_docs);
        for_each_place(&runs, |(_, identity), run_ord| {
            order.push(run_ord);
            identities.push(identity);
        });
        if order.len() != num_docs {
            return Err(lost());
        }
        let docs = Self {
            shape,
            cursors: vec![Cursor::default(); runs.len()],
            runs,
            order,
            decompressor: Decompressor::new().map_err(failed)?,
            next: 0,
        };
        Ok((docs, identities))
    }

    pub(in crate::pipeline) fn len(&self) -> usize {
        self.order.len()
    }

    /// Drops the documents, all of which were read.
    pub(in crate::pipeline) fn clear(&mut self) {
        (self.runs, self.order, self.cursors) = (Vec::new(), Vec::new(), Vec::new());
        self.next = 0;
    }

    /// Passes on the documents at these ascending places, each with its place.
    pub(in crate::pipeline) fn sample(
        &mut self,
        places: impl Iterator<Item = usize>,
        mut take: impl FnMut(usize, &EncodedDoc),
    ) -> Result<(), BuildError> {
        let mut wanted = places.peekable();
        let mut cursors = vec![Cursor::default(); self.runs.len()];
        for (place, run_ord) in self.order.iter().enumerate() {
            let run_ord = *run_ord as usize;
            let (run, cursor) = (self.runs.get(run_ord), cursors.get_mut(run_ord));
            let (run, cursor) = run.zip(cursor).ok_or_else(lost)?;
            if wanted.next_if_eq(&place).is_some() {
                take(
                    place,
                    &cursor.read(run, &self.shape, &mut self.decompressor)?,
                );
            }
            if wanted.peek().is_none() {
                break;
            }
            cursor.pass(run);
        }
        Ok(())
    }

    /// Returns the next document, which is not kept any longer.
    pub(in crate::pipeline) fn next(&mut self) -> Result<Option<EncodedDoc>, BuildError> {
        let Some(run_ord) = self.order.get(self.next) else {
            return Ok(None);
        };
        let run_ord = *run_ord as usize;
        let (run, cursor) = (self.runs.get_mut(run_ord), self.cursors.get_mut(run_ord));
        let (run, cursor) = run.zip(cursor).ok_or_else(lost)?;
        let doc = cursor.read(run, &self.shape, &mut self.decompressor)?;
        if let (0, Run::Packed(packed)) = (cursor.offset, &mut *run)
            && let Some(block) = packed.blocks.get_mut(cursor.block_ord)
        {
            block.frame = Vec::new();
        }
        cursor.pass(run);
        self.next += 1;
        Ok(Some(doc))
    }
}

impl Cursor {
    fn read(
        &mut self,
        run: &Run,
        shape: &DocShape,
        decompressor: &mut Decompressor<'_>,
    ) -> Result<EncodedDoc, BuildError> {
        match run {
            Run::Plain(plain) => {
                let (_, range) = plain.docs.get(self.next_doc).ok_or_else(lost)?;
                Ok(plain.encoded.doc(range.clone()))
            }
            Run::Packed(packed) => {
                let end = self.offset + len_of(packed, self.next_doc);
                let block = match &self.block {
                    Some(block) => block,
                    None => {
                        // After the last block there are only empty documents, if any.
                        let bytes = packed.blocks.get(self.block_ord).map(|block| {
                            let Block { frame, num_bytes } = block;
                            decompressor.decompress(frame, *num_bytes)
                        });
                        let bytes = bytes.transpose().map_err(failed)?.unwrap_or_default();
                        self.block.insert(EncodedDocs::new(bytes, shape.clone()))
                    }
                };
                match end <= block.bytes().len() {
                    true => Ok(block.doc(self.offset..end)),
                    false => Err(lost()),
                }
            }
        }
    }

    /// Skips a document.
    fn pass(&mut self, run: &Run) {
        if let Run::Packed(packed) = run {
            self.offset += len_of(packed, self.next_doc);
            let block = packed.blocks.get(self.block_ord);
            if block.is_none_or(|block| self.offset >= block.num_bytes) {
                self.block_ord += 1;
                (self.offset, self.block) = (0, None);
            }
        }
        self.next_doc += 1;
    }
}

fn len_of(run: &PackedRun, doc: usize) -> usize {
    run.lens.get(doc).map_or(0, |len| *len as usize)
}

/// Passes on the places of all runs in order, each with its run. Among equal ones the earlier run comes first.
fn for_each_place(runs: &[Run], mut take: impl FnMut(DocPlace, u32)) {
    let mut iters: Vec<Box<dyn Iterator<Item = DocPlace> + '_>> = Vec::with_capacity(runs.len());
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (run_ord, run) in (0_u32..).zip(runs) {
        let mut iter: Box<dyn Iterator<Item = DocPlace>> = match run {
            Run::Packed(packed) => Box::new(packed.places.iter()),
            Run::Plain(plain) => Box::new(plain.docs.iter().map(|(place, _)| *place)),
        };
        heads.extend(iter.next().map(|place| Reverse((place, run_ord))));
        iters.push(iter);
    }
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((place, run_ord)) = *head;
        take(place, run_ord);
        match iters.get_mut(run_ord as usize).and_then(Iterator::next) {
            Some(next) => *head = Reverse((next, run_ord)),
            None => drop(PeekMut::pop(head)),
        }
    }
}
