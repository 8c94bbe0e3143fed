//! One cluster: the codes of its vectors, and whose they are.
//!
//! ```text
//!   u32 checksum · num × code │ num × { f32 factor · f32 offset } │ num × document id
//!                                                                   packed bits, then zeros up to a byte
//! ```
//!
//! Neighbours are close to each other. Exact vectors stand in the same order.

use canter_vectors::Codes;

use super::{VectorShape, content, packed_len, unpacked, width_of_places};
use crate::FormatError;
use crate::codec::Reader;
use crate::version::VECTORS_NAME;

/// Vectors of a cluster, checked.
#[derive(Clone, Debug)]
pub struct VectorCluster<'a> {
    codes: Codes<'a>,
    docs: Vec<u32>,
    first_place: u32,
}

impl<'a> VectorCluster<'a> {
    /// Opens a cluster of `num` vectors, whose bytes have the right length. Its exact vectors begin at `first_place`.
    pub(super) fn open(
        shape: &VectorShape,
        num_docs: u32,
        num: u32,
        first_place: u32,
        bytes: &'a [u8],
    ) -> Result<Self, FormatError> {
        let mut reader = Reader::new(VECTORS_NAME, content(bytes));
        let mut raw = |len: u64| {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            reader.raw(len)
        };
        let corrections_len = match shape.codes {
            Some(_) => super::CORRECTIONS_LEN,
            None => 0,
        };
        let codes = raw(u64::from(num) * (shape.coded_len() - corrections_len))?;
        let corrections = raw(u64::from(num) * corrections_len)?;
        let docs = raw(packed_len(num, width_of_places(num_docs)))?;
        reader.finish()?;
        let numbers = corrections.as_chunks::<4>().0.iter();
        if !numbers
            .map(|bytes| f32::from_le_bytes(*bytes))
            .all(f32::is_finite)
        {
            return Err(error("a correction of a code is not finite"));
        }
        let docs = unpacked(docs, num, num_docs);
        Ok(Self {
            codes: Codes { codes, corrections },
            docs: docs.ok_or_else(|| error("a cluster has a document that the split has not"))?,
            first_place,
        })
    }

    /// Returns the codes; empty if the field has none.
    pub fn codes(&self) -> Codes<'a> {
        self.codes
    }

    /// Returns the documents, in the order of codes.
    pub fn docs(&self) -> &[u32] {
        &self.docs
    }

    /// Returns the documents with the place of each one's vector among the exact vectors, in the order of codes.
    pub fn placed(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.docs.iter().copied().zip(self.first_place..)
    }
}

fn error(problem: impl Into<String>) -> FormatError {
    FormatError::new(VECTORS_NAME, problem)
}
