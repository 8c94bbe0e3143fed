//! What a field's vectors are, and how they were encoded.

use canter_vectors::{CodeWidth, Element, Rotation, Similarity};

use super::centroids::{self, MAX_CENTROID_BITS};
use super::{CHECKSUM_LEN, CORRECTIONS_LEN, MAX_DIMS};
use crate::FormatError;
use crate::codec::{Reader, Writer};

/// What the vectors of a field are, and how they were encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorShape {
    /// Number of the field in the schema.
    pub field: u32,
    /// What the numbers of its vectors are.
    pub element: Element,
    /// How they are compared.
    pub similarity: Similarity,
    /// Number of dimensions.
    pub dims: u32,
    /// Seed of the rotation.
    pub seed: u64,
    /// Width of codes; without it, there is one cluster, without codes, and all vectors are read.
    pub codes: Option<CodeWidth>,
    /// Number of bits of a centroid's numbers: 4 or 8.
    pub centroid_bits: u32,
}

impl VectorShape {
    /// Returns the number of dimensions of a rotated vector.
    pub fn rotated_dims(&self) -> usize {
        Rotation::num_dims_of(self.dims())
    }

    /// Returns the number of dimensions.
    pub fn dims(&self) -> usize {
        usize::try_from(self.dims).unwrap_or(usize::MAX)
    }

    /// Returns the number of bytes of an exact vector.
    pub fn stored_len(&self) -> u64 {
        self.element.stored_len(self.dims()) as u64
    }

    /// Returns the number of bytes of an exact vector in the file, with its checksum.
    pub(super) fn exact_len(&self) -> u64 {
        CHECKSUM_LEN + self.stored_len()
    }

    /// Returns the number of bytes of a code and its corrections.
    pub(super) fn coded_len(&self) -> u64 {
        let len = |width: CodeWidth| width.code_len(self.rotated_dims()) as u64 + CORRECTIONS_LEN;
        self.codes.map_or(0, len)
    }

    /// Returns the number of bytes of a centroid in the index.
    pub(super) fn centroid_len(&self) -> usize {
        match self.codes {
            Some(_) => centroids::len(self.rotated_dims(), self.centroid_bits),
            None => 0,
        }
    }

    /// Returns the number of bytes of a cluster in the index, at least.
    pub(super) fn cluster_len(&self) -> usize {
        match self.codes {
            Some(_) => size_of::<f32>().saturating_add(self.centroid_len()),
            None => 0,
        }
    }

    /// Rounds a rotated centroid to what is stored.
    pub fn stored_centroid(&self, numbers: &[f32]) -> Vec<u8> {
        let mut stored = Vec::new();
        centroids::write(&mut stored, numbers, self.centroid_bits);
        stored
    }

    /// Returns the rotated centroid that was stored, which codes are relative to.
    pub fn centroid(&self, stored: &[u8]) -> Vec<f32> {
        centroids::read(stored, self.rotated_dims(), self.centroid_bits)
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.varint(u64::from(self.field));
        let element = match self.element {
            Element::Float => 0,
            Element::Byte => 1,
            Element::Bit => 2,
        };
        let similarity = match self.similarity {
            Similarity::Cosine => 0,
            Similarity::DotProduct => 1,
            Similarity::L2Norm => 2,
            Similarity::MaxInnerProduct => 3,
        };
        out.varint(element);
        out.varint(similarity);
        out.varint(u64::from(self.dims));
        out.varint(u64::from(self.codes.map_or(0, CodeWidth::bits)));
        if self.codes.is_some() {
            out.u64(self.seed);
            out.varint(u64::from(self.centroid_bits));
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let field = reader.varint_u32()?;
        let element = match reader.varint()? {
            0 => Element::Float,
            1 => Element::Byte,
            2 => Element::Bit,
            other => return Err(reader.error(format!("element type {other} is unknown"))),
        };
        let similarity = match reader.varint()? {
            0 => Similarity::Cosine,
            1 => Similarity::DotProduct,
            2 => Similarity::L2Norm,
            3 => Similarity::MaxInnerProduct,
            other => return Err(reader.error(format!("similarity {other} is unknown"))),
        };
        let dims = reader.varint_u32()?;
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(reader.error(format!("vectors of {dims} dimensions")));
        }
        let bits = reader.varint_u32()?;
        let codes = CodeWidth::of_bits(bits);
        if codes.is_none() && bits != 0 {
            return Err(reader.error(format!("codes of {bits} bits a dimension")));
        }
        let (seed, centroid_bits) = match codes {
            Some(_) => (reader.u64()?, reader.varint_u32()?),
            None => (0, MAX_CENTROID_BITS),
        };
        if !matches!(centroid_bits, 4 | MAX_CENTROID_BITS) {
            return Err(reader.error(format!("centroids of {centroid_bits} bits a dimension")));
        }
        Ok(Self {
            field,
            element,
            similarity,
            dims,
            seed,
            codes,
            centroid_bits,
        })
    }
}
