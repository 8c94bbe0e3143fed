//! The index of a split's vectors, which a query has before it reads any.
//!
//! ```text
//!   u32 version 2
//!   varint32 num_docs
//!   count(7) num_fields × {                      fields ascending
//!     varint32 field                             its number in the schema
//!     varint element                             0 float, 1 byte, 2 bit
//!     varint similarity                          0 cosine, 1 dot product, 2 L2 norm, 3 maximum inner product
//!     varint32 dims                              1 to 4,096
//!     varint32 code bits                         0, 1, 2, 4
//!     with codes: u64 seed · varint32 centroid bits (4 or 8)
//!     varint32 num_vectors                       at least 1
//!     count num_clusters                         at least 1; 1 without codes
//!     numbers  vectors of each cluster           none of them 0, together num_vectors
//!     if num_vectors < num_docs: numbers  first document of each block of places, ascending
//!     with codes: num_clusters × f32 spread · num_clusters × centroid
//!   }
//! ```

use super::{VectorField, check_at};
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{TOO_OLD, VECTORS_NAME, VECTORS_VERSION};

/// Minimum number of bytes of a field.
const MIN_FIELD_LEN: usize = 7;

/// The vectors of all fields of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorIndex {
    num_docs: u32,
    fields: Vec<VectorField>,
}

impl VectorIndex {
    /// Describes fields, whose bytes follow each other.
    pub(super) fn new(num_docs: u32, fields: Vec<VectorField>) -> Self {
        Self { num_docs, fields }
    }

    /// Reads an index. `vectors_len` is the length of the file that it describes.
    ///
    /// # Errors
    /// The bytes are no index, one of an unknown version, or that of another file.
    pub fn open(bytes: &[u8], vectors_len: u64) -> Result<Self, FormatError> {
        let mut reader = Reader::new(VECTORS_NAME, bytes);
        let version = reader.u32()?;
        if version < VECTORS_VERSION {
            return Err(reader.error(TOO_OLD));
        }
        if version > VECTORS_VERSION {
            return Err(reader.error(format!(
                "version {version} is unknown, only {VECTORS_VERSION} is known: use a newer Canter"
            )));
        }
        let num_docs = reader.varint_u32()?;
        let mut fields: Vec<VectorField> = Vec::new();
        for _ in 0..reader.count(MIN_FIELD_LEN)? {
            let start = fields.last().map_or(0, |last| last.range().end);
            let field = VectorField::read(&mut reader, num_docs, start)?;
            if fields
                .last()
                .is_some_and(|last| last.shape().field >= field.shape().field)
            {
                return Err(reader.error("its fields are not in order"));
            }
            fields.push(field);
        }
        let index = Self { num_docs, fields };
        if index.vectors_len() != vectors_len {
            return Err(reader.error(format!(
                "it describes {} bytes of vectors, of which there are {vectors_len}",
                index.vectors_len()
            )));
        }
        reader.finish()?;
        Ok(index)
    }

    /// Returns the bytes of the index.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(VECTORS_VERSION);
        out.varint(u64::from(self.num_docs));
        out.varint(self.fields.len() as u64);
        for field in &self.fields {
            field.write(&mut out);
        }
        out.into_bytes()
    }

    /// Returns the number of documents of the split.
    pub fn num_docs(&self) -> u32 {
        self.num_docs
    }

    /// Returns the length of the file that this index describes.
    pub fn vectors_len(&self) -> u64 {
        self.fields.last().map_or(0, |last| last.range().end)
    }

    /// Puts the checksum of each piece into the file of vectors.
    pub fn seal(&self, file: &mut [u8]) {
        for range in self.fields.iter().flat_map(VectorField::pieces) {
            let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            if let Some(piece) = file.get_mut(at(range.start)..at(range.end)) {
                check_at(range.start).seal(piece);
            }
        }
    }

    /// Returns all fields, ascending.
    pub fn fields(&self) -> &[VectorField] {
        &self.fields
    }

    /// Returns the vectors of a field, if there are any.
    pub fn field(&self, field: u32) -> Option<&VectorField> {
        let found = self
            .fields
            .binary_search_by_key(&field, |of| of.shape().field);
        found.ok().and_then(|place| self.fields.get(place))
    }
}
