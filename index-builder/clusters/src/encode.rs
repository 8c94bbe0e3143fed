//! From clusters to what is written of them.

use canter_split_format::{VectorClusterParts, VectorFieldParts, VectorShape};
use canter_vectors::{CodeWidth, Corrections, Encoder, distance};

use crate::balance::Cluster;
use crate::order;
use crate::parallel;
use crate::prepared::Prepared;

/// Codes and centroids that are there already.
pub(crate) trait Kept: Sync {
    /// Returns the stored centroid of a cluster, and its rotated numbers.
    fn centroid(&self, cluster: usize) -> Option<(&[u8], &[f32])>;

    /// Returns the code of a vector, if it was made for this cluster.
    fn code(&self, cluster: usize, rank: u32) -> Option<(&[u8], Corrections)>;
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
    let vectors = Prepared::new(&shape, &exact);
    let encoded = parallel::map_one_by_one(clusters.len(), num_threads, |ord| {
        let cluster = &clusters[ord];
        match shape.codes {
            Some(width) => encode(&shape, width, &vectors, cluster, kept),
            None => {
                let ranks = cluster.ranks.clone();
                let parts = VectorClusterParts {
                    ranks,
                    ..VectorClusterParts::default()
                };
                (Vec::new(), parts)
            }
        }
    });
    let (centroids, clusters): (Vec<Vec<u8>>, Vec<_>) = encoded.into_iter().unzip();
    VectorFieldParts {
        shape,
        docs,
        exact,
        centroids: centroids.concat(),
        clusters,
    }
}

/// Encodes the vectors of a cluster. Returns its stored centroid, too.
fn encode(
    shape: &VectorShape,
    width: CodeWidth,
    vectors: &Prepared<'_>,
    cluster: &Cluster,
    kept: &impl Kept,
) -> (Vec<u8>, VectorClusterParts) {
    let (stored, centroid) = match cluster.kept.and_then(|cluster| kept.centroid(cluster)) {
        Some((stored, numbers)) => (stored.to_vec(), numbers.to_vec()),
        None => {
            let stored = shape.stored_centroid(&vectors.rotation().rotate(&cluster.centroid));
            let centroid = shape.centroid(&stored);
            (stored, centroid)
        }
    };
    let encoder = Encoder::new(width, shape.similarity.space());
    let (ranks, rows) = order::within(vectors, &cluster.ranks);
    let mut sum = 0f64;
    let mut parts = VectorClusterParts::default();
    for (ord, rank) in ranks.iter().enumerate() {
        let vector = rows.get(ord);
        sum += f64::from(distance(vector, &cluster.centroid));
        if let Some((code, corrections)) = cluster.kept.and_then(|of| kept.code(of, *rank)) {
            parts.codes.extend_from_slice(code);
            parts.corrections.push(corrections);
            continue;
        }
        let mut residual = vectors.rotation().rotate(vector);
        for (number, centroid) in residual.iter_mut().zip(&centroid) {
            *number -= centroid;
        }
        let corrections = encoder.encode(&residual, &centroid, &mut parts.codes);
        parts.corrections.push(corrections);
    }
    let spread = (sum / ranks.len().max(1) as f64).sqrt() as f32;
    // Squares of huge numbers have no sum: such a cluster is as wide as can be said.
    parts.spread = if spread.is_finite() { spread } else { f32::MAX };
    parts.ranks = ranks;
    (stored, parts)
}
