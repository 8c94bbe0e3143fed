//! Writer of a split's vectors.

use canter_vectors::Corrections;

use super::field::StoredClusters;
use super::places::Places;
use super::{VectorField, VectorIndex, VectorShape, packed, width_of_places, write_piece};
use crate::FormatError;
use crate::version::VECTORS_NAME;

/// One cluster, to be written.
#[derive(Clone, Debug, Default)]
pub struct VectorClusterParts {
    /// Codes, one after the other.
    pub codes: Vec<u8>,
    /// Corrections of each code.
    pub corrections: Vec<Corrections>,
    /// How far its vectors are from the centroid: the square root of the mean square of the distance.
    pub spread: f32,
    /// Which of the field's vectors these are, counted in the order of documents; neighbours should be close to each
    /// other.
    pub ranks: Vec<u32>,
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
    /// Stored centroid of each cluster, as [`VectorShape::stored_centroid`] makes it.
    pub centroids: Vec<u8>,
    /// Clusters, in one of which each vector is.
    pub clusters: Vec<VectorClusterParts>,
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
            write_cluster(&parts.shape, num_docs, &parts.docs, cluster, &mut vectors)?;
        }
        let places = places_of(parts)?;
        field
            .places()
            .write_blocks(&parts.docs, &places, &mut vectors);
        write_exact(parts, &mut vectors)?;
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
        .map(|cluster| num(cluster.ranks.len()));
    let counts: Vec<u32> = counts.collect::<Result<_, _>>()?;
    let num_vectors = num(parts.docs.len())?;
    let spreads = parts.clusters.iter().map(|cluster| cluster.spread);
    let stored = match parts.shape.codes {
        Some(_) => StoredClusters {
            spreads: spreads.collect(),
            centroids: parts.centroids.clone(),
        },
        None => StoredClusters::default(),
    };
    let field = VectorField::new(
        parts.shape.clone(),
        [num_docs, num_vectors],
        counts,
        Places::of_docs(num_docs, num_vectors, &parts.docs),
        stored,
        start,
    );
    field.ok_or_else(|| refused("the clusters have more or fewer vectors than the field"))
}

/// Returns the place of each vector among the exact ones, which stand in the order of clusters.
fn places_of(parts: &VectorFieldParts) -> Result<Vec<u32>, FormatError> {
    let mut places = vec![None; parts.docs.len()];
    let ranks = parts.clusters.iter().flat_map(|cluster| &cluster.ranks);
    for (place, rank) in (0u32..).zip(ranks) {
        let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
        if let Some(of_rank) = places.get_mut(rank) {
            *of_rank = Some(place);
        }
    }
    let places: Option<Vec<u32>> = places.into_iter().collect();
    places.ok_or_else(|| refused("a vector is in no cluster"))
}

fn write_cluster(
    shape: &VectorShape,
    num_docs: u32,
    docs: &[u32],
    cluster: &VectorClusterParts,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    let coded_len = cluster.codes.len() as u64 + 8 * cluster.corrections.len() as u64;
    if coded_len != cluster.ranks.len() as u64 * shape.coded_len() {
        return Err(refused("codes have another length than their shape says"));
    }
    let mut corrections = cluster.corrections.iter();
    if !corrections.all(|of| of.factor.is_finite() && of.offset.is_finite()) {
        return Err(refused("a correction of a code is not finite"));
    }
    let docs = cluster.ranks.iter().map(|rank| {
        let rank = usize::try_from(*rank).ok();
        rank.and_then(|rank| docs.get(rank)).copied()
    });
    let docs: Option<Vec<u32>> = docs.collect();
    let docs = docs.ok_or_else(|| refused("a vector behind all vectors"))?;
    write_piece(out, |out| {
        out.extend_from_slice(&cluster.codes);
        for corrections in &cluster.corrections {
            out.extend_from_slice(&corrections.factor.to_le_bytes());
            out.extend_from_slice(&corrections.offset.to_le_bytes());
        }
        out.extend(packed(&docs, width_of_places(num_docs)));
    });
    Ok(())
}

/// Appends the exact vectors, in the order of clusters.
fn write_exact(parts: &VectorFieldParts, out: &mut Vec<u8>) -> Result<(), FormatError> {
    let len = usize::try_from(parts.shape.stored_len()).unwrap_or(usize::MAX);
    let stored = |rank: u32| {
        let start = usize::try_from(rank).ok()?.checked_mul(len)?;
        parts.exact.get(start..start.checked_add(len)?)
    };
    if Some(parts.exact.len()) != parts.docs.len().checked_mul(len) {
        return Err(refused("vectors have other lengths than their shape says"));
    }
    for rank in parts.clusters.iter().flat_map(|cluster| &cluster.ranks) {
        let vector = stored(*rank).unwrap_or_default();
        write_piece(out, |out| out.extend_from_slice(vector));
    }
    Ok(())
}

fn refused(problem: &str) -> FormatError {
    FormatError::new(VECTORS_NAME, problem)
}
