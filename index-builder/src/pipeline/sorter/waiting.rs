//! Documents that wait until their split is full, in sorted runs.

use std::ops::Range;
use std::sync::Arc;

use canter_doc_mapper::{DocShape, EncodedDocs};
use canter_split_format::DocIdentity;
use zstd::bulk::Compressor;

use super::DocPlace;
use super::places::{Places, PlacesWriter};
use super::sorted::SortedDocs;
use crate::error::BuildError;

/// Sizes of portions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portions {
    /// Number of bytes of documents that are sorted together. A smaller split is never compressed.
    pub(super) run_num_bytes: usize,
    /// Number of bytes of documents that are compressed together. One such block of each run is in memory when runs are
    /// merged.
    pub(super) block_num_bytes: usize,
}

const PORTIONS: Portions = Portions {
    run_num_bytes: 32 << 20,
    block_num_bytes: 128 << 10,
};

/// Faster than zstd's level 1, and logs still shrink to a sixth.
const COMPRESSION_LEVEL: i32 = -5;

/// The documents of a split that is being collected.
pub(in crate::pipeline) struct WaitingDocs {
    shape: DocShape,
    portions: Portions,
    open: OpenRun,
    runs: Vec<Run>,
    num_docs: usize,
}

/// Documents in the order of arrival.
#[derive(Default)]
struct OpenRun {
    docs: Vec<(DocPlace, Range<usize>)>,
    bytes: Vec<u8>,
}

/// Sorted documents.
pub(super) enum Run {
    Packed(PackedRun),
    /// The last run of a split: it is merged before compressing it would pay off.
    Plain(PlainRun),
}

pub(super) struct PackedRun {
    pub(super) places: Places,
    /// The lengths of the documents.
    pub(super) lens: Vec<u32>,
    pub(super) blocks: Vec<Block>,
}

/// Concatenated documents, compressed.
pub(super) struct Block {
    pub(super) frame: Vec<u8>,
    pub(super) num_bytes: usize,
}

pub(super) struct PlainRun {
    pub(super) docs: Vec<(DocPlace, Range<usize>)>,
    pub(super) encoded: Arc<EncodedDocs>,
}

pub(super) fn failed(error: std::io::Error) -> BuildError {
    BuildError::internal("waiting documents cannot be compressed").caused_by(error)
}

impl WaitingDocs {
    pub(in crate::pipeline) fn new(shape: DocShape) -> Self {
        Self::with_portions(shape, PORTIONS)
    }

    pub(super) fn with_portions(shape: DocShape, portions: Portions) -> Self {
        Self {
            shape,
            portions,
            open: OpenRun::default(),
            runs: Vec::new(),
            num_docs: 0,
        }
    }

    pub(in crate::pipeline) fn len(&self) -> usize {
        self.num_docs
    }

    /// Adds an encoded document.
    ///
    /// # Errors
    /// If there is no memory to compress the previous ones.
    pub(in crate::pipeline) fn add(
        &mut self,
        place: DocPlace,
        encoded: &[u8],
    ) -> Result<(), BuildError> {
        let is_full = self.open.bytes.len() + encoded.len() > self.portions.run_num_bytes;
        if is_full && !self.open.docs.is_empty() {
            let packed = self.open.pack(self.portions.block_num_bytes)?;
            self.runs.push(Run::Packed(packed));
        }
        let start = self.open.bytes.len();
        self.open.bytes.extend_from_slice(encoded);
        self.open.docs.push((place, start..self.open.bytes.len()));
        self.num_docs += 1;
        Ok(())
    }

    /// Returns all documents in order, with their identities.
    pub(in crate::pipeline) fn sort(
        mut self,
    ) -> Result<(SortedDocs, Vec<DocIdentity>), BuildError> {
        self.open.sort();
        self.runs.push(Run::Plain(PlainRun {
            docs: self.open.docs,
            encoded: EncodedDocs::new(self.open.bytes, self.shape.clone()),
        }));
        SortedDocs::merge(self.runs, self.num_docs, self.shape)
    }
}

impl OpenRun {
    fn sort(&mut self) {
        // Stable: duplicates of a document stay in the order of arrival.
        self.docs.sort_by_key(|(place, _)| *place);
    }

    /// Returns the documents in order, compressed. The run is then empty, and keeps its memory for the next.
    fn pack(&mut self, block_num_bytes: usize) -> Result<PackedRun, BuildError> {
        self.sort();
        let mut compressor = Compressor::new(COMPRESSION_LEVEL).map_err(failed)?;
        let mut places = PlacesWriter::default();
        let mut lens = Vec::with_capacity(self.docs.len());
        let mut blocks = Vec::with_capacity(self.bytes.len() / block_num_bytes + 1);
        let mut block = Vec::with_capacity(2 * block_num_bytes);
        let mut close = |block: &mut Vec<u8>| -> Result<(), BuildError> {
            let mut frame = compressor.compress(block).map_err(failed)?;
            frame.shrink_to_fit();
            let num_bytes = block.len();
            blocks.push(Block { frame, num_bytes });
            block.clear();
            Ok(())
        };
        for (place, range) in self.docs.drain(..) {
            let doc = self.bytes.get(range).unwrap_or_default();
            places.add(place);
            // Documents have 28 bits for their length.
            lens.push(u32::try_from(doc.len()).unwrap_or(u32::MAX));
            block.extend_from_slice(doc);
            if block.len() >= block_num_bytes {
                close(&mut block)?;
            }
        }
        if !block.is_empty() {
            close(&mut block)?;
        }
        self.bytes.clear();
        Ok(PackedRun {
            places: places.finish(),
            lens,
            blocks,
        })
    }
}
