//! From clusters to what is written of them.

use canter_split_format::{VectorClusterParts, VectorFieldParts, VectorShape};
use canter_vectors::{Corrections, Encoder};

use crate::balance::Cluster;
use crate::parallel;
use crate::rotated::Rotated;

/// Codes and centroids that are there already.
pub(crate) trait Kept: Sync {
    /// Returns the stored centroid of a cluster.
    fn centroid(&self, cluster: usize) -> Option<(&[u8], &[f32])>;

    /// Returns the code of a vector, if it was made for this cluster.
    fn code(&self, cluster: usize, place: u32) -> Option<(&[u8], Corrections)>;
}

/// No codes and centroids.
pub(crate) struct NothingKept;

impl Kept for NothingKept {
    fn centroid(&self, _: usize) -> Option<(&[u8], &[f32])> {
        None
    }

    fn code(&self, _: usize, _: u32) -> Option<(&[u8], Corrections)> {
        None
    }
}

/// Encodes the vectors of all clusters.
pub(crate) fn encode_all(
    shape: VectorShape,
    docs: Vec<u32>,
    exact: Vec<u8>,
    clusters: Vec<Cluster>,
    kept: &impl Kept,
    num_threads: usize,
) -> VectorFieldParts {
    let mut parts = VectorFieldParts {
        shape,
        docs,
        exact: Vec::new(),
        centroids: Vec::new(),
        clusters: Vec::new(),
    };
    for cluster in clusters {
        let encoded = encode(&mut parts, &exact, cluster, kept, num_threads);
        parts.clusters.push(encoded);
    }
    parts.exact = exact;
    parts
}

/// Appends a cluster's centroid, and encodes its vectors.
fn encode(
    parts: &mut VectorFieldParts,
    exact: &[u8],
    cluster: Cluster,
    kept: &impl Kept,
    num_threads: usize,
) -> VectorClusterParts {
    let mut encoded = VectorClusterParts {
        places: cluster.places,
        ..VectorClusterParts::default()
    };
    let Some(width) = parts.shape.codes else {
        return encoded;
    };
    let stored = cluster.kept.and_then(|cluster| kept.centroid(cluster));
    let centroid = match stored {
        Some((bytes, numbers)) => {
            parts.centroids.extend_from_slice(bytes);
            numbers.to_vec()
        }
        None => parts.push_centroid(&cluster.centroid),
    };
    let vectors = Rotated::new(&parts.shape, exact);
    let encoder = Encoder::new(width, parts.shape.similarity.space());
    let codes = parallel::map(encoded.places.len(), num_threads, |ord| {
        let place = encoded.places[ord];
        if let Some((code, corrections)) = cluster.kept.and_then(|of| kept.code(of, place)) {
            return (code.to_vec(), corrections);
        }
        let mut residual = vectors.get(place as usize);
        for (number, centroid) in residual.iter_mut().zip(&centroid) {
            *number -= centroid;
        }
        let mut code = Vec::new();
        let corrections = encoder.encode(&residual, &centroid, &mut code);
        (code, corrections)
    });
    for (code, corrections) in codes {
        encoded.codes.extend(code);
        encoded.corrections.push(corrections);
    }
    encoded
}
