//! One cluster: the codes of its vectors, and whose they are.
//!
//! ```text
//!   num × code │ num × { f32 factor · f32 offset } │ num × document id │ num × place among the exact vectors
//!                                                    packed bits, then zeros up to a byte
//! ```
//!
//! Documents ascend. Places stand there only if some documents have no vector; otherwise a document's
//! place is its id. A document may be in several clusters.

use canter_vectors::Codes;

use super::{VectorShape, packed_len, width_of_places};
use crate::FormatError;
use crate::codec::Reader;
use crate::codec::bits::bits_at;
use crate::version::VECTORS_NAME;

/// Vectors of a cluster, checked.
#[derive(Clone, Debug)]
pub struct VectorCluster<'a> {
    codes: Codes<'a>,
    docs: Vec<u32>,
    places: Option<Vec<u32>>,
}

impl<'a> VectorCluster<'a> {
    /// Opens a cluster of `num` vectors, whose bytes have the right length.
    pub(super) fn open(
        shape: &VectorShape,
        [num_docs, num_vectors]: [u32; 2],
        num: u32,
        bytes: &'a [u8],
    ) -> Result<Self, FormatError> {
        let mut reader = Reader::new(VECTORS_NAME, bytes);
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
        let places = match num_vectors < num_docs {
            true => Some(raw(packed_len(num, width_of_places(num_vectors)))?),
            false => None,
        };
        reader.finish()?;
        let numbers = corrections.as_chunks::<4>().0.iter();
        if !numbers
            .map(|bytes| f32::from_le_bytes(*bytes))
            .all(f32::is_finite)
        {
            return Err(error("a correction of a code is not finite"));
        }
        let docs = ascending(docs, num, num_docs, "documents")?;
        let places = places.map(|bytes| ascending(bytes, num, num_vectors, "places"));
        Ok(Self {
            codes: Codes { codes, corrections },
            docs,
            places: places.transpose()?,
        })
    }

    /// Returns the codes, in the order of documents; empty if the field has none.
    pub fn codes(&self) -> Codes<'a> {
        self.codes
    }

    /// Returns the documents, ascending.
    pub fn docs(&self) -> &[u32] {
        &self.docs
    }

    /// Returns the place of each document's vector among the exact vectors, ascending.
    pub fn places(&self) -> &[u32] {
        self.places.as_ref().unwrap_or(&self.docs)
    }
}

fn error(problem: impl Into<String>) -> FormatError {
    FormatError::new(VECTORS_NAME, problem)
}

/// Unpacks `num` numbers, which must ascend and be less than `end`.
fn ascending(bytes: &[u8], num: u32, end: u32, what: &str) -> Result<Vec<u32>, FormatError> {
    let width = width_of_places(end);
    let mut least = 0u64;
    let numbers = (0..u64::from(num)).map(|place| {
        let number = bits_at(bytes, place, width).filter(|number| *number >= least)?;
        least = number + 1;
        u32::try_from(number).ok().filter(|number| *number < end)
    });
    let numbers: Option<Vec<u32>> = numbers.collect();
    numbers.ok_or_else(|| error(format!("the {what} of a cluster are not in order")))
}
