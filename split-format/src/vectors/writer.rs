//! Writer of a split's vectors.

use canter_vectors::Corrections;

use super::{VectorField, VectorIndex, VectorShape, centroids, width_of_places};
use crate::FormatError;
use crate::codec::bits::BitWriter;
use crate::version::VECTORS_NAME;

/// One cluster, to be written.
#[derive(Clone, Debug, Default)]
pub struct VectorClusterParts {
    /// Codes, one after the other.
    pub codes: Vec<u8>,
    /// Corrections of each code.
    pub corrections: Vec<Corrections>,
    /// Places of its vectors among the exact vectors, ascending.
    pub places: Vec<u32>,
}

/// The vectors of a field, to be written.
#[derive(Clone, Debug)]
pub struct VectorFieldParts {
    /// What the vectors are.
    pub shape: VectorShape,
    /// Documents that have a vector, ascending.
    pub docs: Vec<u32>,
    /// Exact vectors of these documents, one after the other.
    pub exact: Vec<u8>,
    /// Stored centroid of each cluster, as [`VectorFieldParts::push_centroid`] makes it.
    pub centroids: Vec<u8>,
    /// Clusters.
    pub clusters: Vec<VectorClusterParts>,
}

impl VectorFieldParts {
    /// Rounds a rotated centroid to what is stored, and appends it. Returns what readers will see, which codes are
    /// relative to.
    pub fn push_centroid(&mut self, centroid: &[f32]) -> Vec<f32> {
        let from = self.centroids.len();
        let bits = self.shape.centroid_bits;
        centroids::write(&mut self.centroids, centroid, bits);
        let written = self.centroids.get(from..).unwrap_or_default();
        centroids::read(written, self.shape.rotated_dims(), bits)
    }
}

/// Vectors of a split that have been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenVectors {
    /// Bytes of the index, which belong in the head.
    pub index: Vec<u8>,
    /// Bytes of the vectors.
    pub vectors: Vec<u8>,
}

/// Writes the vectors of a split of `num_docs` documents. Fields without vectors are left out.
///
/// # Errors
/// Fields, documents or places do not ascend, or lengths do not fit each other.
pub fn write_vectors(
    num_docs: u32,
    fields: &[VectorFieldParts],
) -> Result<WrittenVectors, FormatError> {
    let mut vectors = Vec::new();
    let mut described: Vec<VectorField> = Vec::new();
    for parts in fields.iter().filter(|parts| !parts.docs.is_empty()) {
        let last = described.last().map(|last| last.shape().field);
        if last.is_some_and(|last| last >= parts.shape.field) {
            return Err(refused("fields are written in order"));
        }
        let field = describe(num_docs, parts, vectors.len() as u64)?;
        for cluster in &parts.clusters {
            write_cluster(&field, parts, cluster, &mut vectors)?;
        }
        if let Some(presence) = field.presence() {
            presence.write(&parts.docs, &mut vectors);
        }
        vectors.extend_from_slice(&parts.exact);
        if field.range().end != vectors.len() as u64 {
            return Err(refused("vectors have other lengths than their shape says"));
        }
        described.push(field);
    }
    let index = VectorIndex::new(num_docs, described).write();
    // What is written can be read: the reader knows every rule.
    VectorIndex::open(&index, vectors.len() as u64)?;
    Ok(WrittenVectors { index, vectors })
}

fn describe(
    num_docs: u32,
    parts: &VectorFieldParts,
    start: u64,
) -> Result<VectorField, FormatError> {
    let is_known = parts.docs.last().is_some_and(|doc| *doc < num_docs);
    if !is_known || !parts.docs.is_sorted_by(|one, next| one < next) {
        return Err(refused("documents are written in order"));
    }
    let num = |num: usize| u32::try_from(num).map_err(|_| refused("too many vectors"));
    let counts = parts
        .clusters
        .iter()
        .map(|cluster| num(cluster.places.len()));
    let counts: Vec<u32> = counts.collect::<Result<_, _>>()?;
    let field = VectorField::new(
        parts.shape.clone(),
        [num_docs, num(parts.docs.len())?],
        counts,
        parts.centroids.clone(),
        start,
    );
    field.ok_or_else(|| refused("too many vectors"))
}

fn write_cluster(
    field: &VectorField,
    parts: &VectorFieldParts,
    cluster: &VectorClusterParts,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    let coded_len = cluster.codes.len() as u64 + 8 * cluster.corrections.len() as u64;
    let num = cluster.places.len() as u64;
    if coded_len != num * parts.shape.coded_len() {
        return Err(refused("codes have another length than their shape says"));
    }
    if !cluster.places.is_sorted_by(|one, next| one < next) {
        return Err(refused("vectors of a cluster are written in order"));
    }
    out.extend_from_slice(&cluster.codes);
    for corrections in &cluster.corrections {
        if !corrections.factor.is_finite() || !corrections.offset.is_finite() {
            return Err(refused("a correction of a code is not finite"));
        }
        out.extend_from_slice(&corrections.factor.to_le_bytes());
        out.extend_from_slice(&corrections.offset.to_le_bytes());
    }
    let docs = cluster.places.iter().map(|place| {
        let place = usize::try_from(*place).ok();
        place.and_then(|place| parts.docs.get(place)).copied()
    });
    let docs: Option<Vec<u32>> = docs.collect();
    let docs = docs.ok_or_else(|| refused("a place behind all vectors"))?;
    out.extend(packed(&docs, width_of_places(field.num_docs())));
    if field.presence().is_some() {
        out.extend(packed(
            &cluster.places,
            width_of_places(field.num_vectors()),
        ));
    }
    Ok(())
}

fn packed(numbers: &[u32], width: u32) -> Vec<u8> {
    let mut bits = BitWriter::default();
    for number in numbers {
        bits.push(u64::from(*number), width);
    }
    bits.into_bytes()
}

fn refused(problem: &str) -> FormatError {
    FormatError::new(VECTORS_NAME, problem)
}
