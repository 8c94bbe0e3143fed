//! Several fields' vectors in one, without training: the clusters of the largest stay.
//!
//! ```text
//!   largest source      its clusters, with their centroids and codes
//!   another source      of each cluster the near ones of the largest; each vector to the closest of these
//!   too large, small    divided, dissolved, as in a new field
//! ```
//!
//! Only vectors whose centroid is another one than before are encoded again.

use canter_split_format::{FormatError, VectorField, VectorFieldParts, VectorShape};
use canter_vectors::Corrections;

use crate::balance::{self, Cluster};
use crate::build::{Options, Vectors, build};
use crate::encode::{Kept, encode_all};
use crate::order;
use crate::parallel;
use crate::prepared::Prepared;
use crate::random::Random;
use crate::refine::centroids_of;

/// Number of clusters of the largest source that a vector of another one is compared with.
const NUM_NEAR: usize = 8;

/// Vectors that are merged.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What the index says of them.
    pub field: &'a VectorField,
    /// Bytes of the split's file of vectors.
    pub vectors: &'a [u8],
    /// What becomes of each document: its new id, or nothing.
    pub new_docs: &'a [Option<u32>],
}

impl<'a> Source<'a> {
    fn bytes(&self, range: std::ops::Range<u64>) -> Result<&'a [u8], FormatError> {
        let start = usize::try_from(range.start).ok();
        let end = usize::try_from(range.end).ok();
        let bytes = start
            .zip(end)
            .and_then(|(start, end)| self.vectors.get(start..end));
        bytes.ok_or_else(|| FormatError {
            component: "vectors",
            problem: "the file of vectors is shorter than its index says".to_owned(),
        })
    }

    fn new_doc(&self, doc: u32) -> Option<u32> {
        self.new_docs.get(doc as usize).copied().flatten()
    }
}

/// Vectors of all sources, in the order of their new documents.
struct Gathered {
    docs: Vec<u32>,
    exact: Vec<u8>,
    /// Of each source, of each place, the rank of its vector among all that are left, in the order of documents.
    new_ranks: Vec<Vec<Option<u32>>>,
}

/// Merges the vectors of one field.
///
/// # Errors
/// The bytes of a source are damaged, or its vectors are others than those of the first.
pub fn merge(sources: &[Source<'_>], options: &Options) -> Result<VectorFieldParts, FormatError> {
    let gathered = gather(sources)?;
    let largest = (0..sources.len()).max_by_key(|ord| {
        let live = gathered.new_ranks[*ord].iter().flatten().count();
        (live, std::cmp::Reverse(*ord))
    });
    let Some(base) = largest else {
        return Err(FormatError {
            component: "vectors",
            problem: "there is nothing to merge".to_owned(),
        });
    };
    let shape = sources[base].field.shape().clone();
    for source in sources {
        if !is_alike(&shape, source.field.shape()) {
            return Err(FormatError {
                component: "vectors",
                problem: "vectors of other dimensions, types or similarities cannot be merged"
                    .to_owned(),
            });
        }
    }
    let has_clusters = !gathered.docs.is_empty()
        && sources[base].field.num_clusters() > 1
        && shape.codes == Some(options.codes)
        && shape.centroid_bits == options.centroid_bits
        && shape.seed == options.seed;
    if !has_clusters {
        let vectors = Vectors {
            shape,
            docs: gathered.docs,
            exact: gathered.exact,
        };
        return Ok(build(vectors, options));
    }
    let kept = KeptClusters::open(&sources[base], &gathered.new_ranks[base])?;
    let vectors = Prepared::new(&shape, &gathered.exact);
    let clusters = assign(sources, base, &vectors, &gathered, &kept, options)?;
    let size = options.cluster_len.max(1);
    let mut random = Random::new(shape.seed);
    let balanced = balance::balance(&vectors, clusters, size, &mut random, options.num_threads);
    let ordered = order::chain(balanced);
    let Gathered { docs, exact, .. } = gathered;
    Ok(encode_all(
        shape,
        docs,
        exact,
        ordered,
        &kept,
        options.num_threads,
    ))
}

fn is_alike(one: &VectorShape, other: &VectorShape) -> bool {
    (one.element, one.similarity, one.dims) == (other.element, other.similarity, other.dims)
}

/// Reads which documents have a vector, and puts the vectors in the order of new documents.
fn gather(sources: &[Source<'_>]) -> Result<Gathered, FormatError> {
    let mut all = Vec::new();
    let mut new_ranks = Vec::new();
    for (ord, source) in sources.iter().enumerate() {
        let num_vectors = source.field.num_vectors();
        new_ranks.push(vec![None; num_vectors as usize]);
        for cluster in 0..source.field.num_clusters() {
            let bytes = source.bytes(source.field.cluster_range(cluster))?;
            let cluster = source.field.open_cluster(cluster, bytes)?;
            for (doc, place) in cluster.placed() {
                if let Some(new_doc) = source.new_doc(doc) {
                    all.push((new_doc, ord, place));
                }
            }
        }
    }
    all.sort_unstable();
    let mut docs = Vec::with_capacity(all.len());
    let mut exact = Vec::new();
    for (new_rank, (doc, ord, place)) in (0u32..).zip(all) {
        docs.push(doc);
        let source = &sources[ord];
        let stored = source.bytes(source.field.exact_range(place))?;
        exact.extend_from_slice(source.field.exact(stored));
        new_ranks[ord][place as usize] = Some(new_rank);
    }
    Ok(Gathered {
        docs,
        exact,
        new_ranks,
    })
}

/// Puts every vector into a cluster of the largest source.
fn assign(
    sources: &[Source<'_>],
    base: usize,
    vectors: &Prepared<'_>,
    gathered: &Gathered,
    kept: &KeptClusters<'_>,
    options: &Options,
) -> Result<Vec<Cluster>, FormatError> {
    let clusters = kept
        .clusters
        .iter()
        .enumerate()
        .map(|(ord, cluster)| Cluster {
            centroid: vectors.rotated_back(&cluster.centroid),
            ranks: cluster.new_ranks.iter().flatten().copied().collect(),
            kept: Some(ord),
        });
    let mut clusters: Vec<Cluster> = clusters.collect();
    let all = centroids_of(&clusters, vectors.num_dims());
    let others = sources.iter().enumerate().filter(|(ord, _)| *ord != base);
    for (ord, source) in others {
        let is_comparable = source.field.shape().seed == options.seed;
        let centroids: Vec<Vec<f32>> = source.field.centroids().collect();
        for cluster in 0..source.field.num_clusters() {
            let centroid = centroids.get(cluster).filter(|_| is_comparable);
            let near = match centroid {
                Some(centroid) => all.nearest(&vectors.rotated_back(centroid), NUM_NEAR),
                None => (0..clusters.len()).collect(),
            };
            let rows = all.some(&near);
            let bytes = source.bytes(source.field.cluster_range(cluster))?;
            let opened = source.field.open_cluster(cluster, bytes)?;
            let new_ranks = opened.placed();
            let new_ranks =
                new_ranks.filter_map(|(_, place)| gathered.new_ranks[ord][place as usize]);
            let new_ranks: Vec<u32> = new_ranks.collect();
            let closest = parallel::map(new_ranks.len(), options.num_threads, |of| {
                near[rows.closest(&vectors.get(new_ranks[of] as usize))]
            });
            for (rank, cluster) in new_ranks.iter().zip(closest) {
                clusters[cluster].ranks.push(*rank);
            }
        }
    }
    for cluster in &mut clusters {
        cluster.ranks.sort_unstable();
    }
    Ok(clusters)
}

/// The clusters of the largest source, with their codes.
struct KeptClusters<'a> {
    clusters: Vec<KeptCluster<'a>>,
    code_len: usize,
}

struct KeptCluster<'a> {
    stored: &'a [u8],
    centroid: Vec<f32>,
    codes: &'a [u8],
    corrections: &'a [u8],
    /// New rank of each vector that is left, in the order of codes.
    new_ranks: Vec<Option<u32>>,
}

impl<'a> KeptClusters<'a> {
    fn open(source: &Source<'a>, new_ranks: &[Option<u32>]) -> Result<Self, FormatError> {
        let field = source.field;
        let mut clusters = Vec::new();
        for (ord, centroid) in field.centroids().enumerate() {
            let opened = field.open_cluster(ord, source.bytes(field.cluster_range(ord))?)?;
            clusters.push(KeptCluster {
                stored: field.stored_centroid(ord),
                centroid,
                codes: opened.codes().codes,
                corrections: opened.codes().corrections,
                new_ranks: opened
                    .placed()
                    .map(|(_, place)| new_ranks[place as usize])
                    .collect(),
            });
        }
        let shape = field.shape();
        let code_len = shape
            .codes
            .map_or(0, |codes| codes.code_len(shape.rotated_dims()));
        Ok(Self { clusters, code_len })
    }
}

impl Kept for KeptClusters<'_> {
    fn centroid(&self, cluster: usize) -> Option<(&[u8], &[f32])> {
        let cluster = self.clusters.get(cluster)?;
        Some((cluster.stored, &cluster.centroid))
    }

    fn code(&self, cluster: usize, rank: u32) -> Option<(&[u8], Corrections)> {
        let cluster = self.clusters.get(cluster)?;
        let ord = cluster.new_ranks.iter().position(|of| *of == Some(rank))?;
        let code = cluster
            .codes
            .get(ord * self.code_len..)?
            .get(..self.code_len)?;
        let (factor, offset) = cluster.corrections.get(ord * 8..)?.get(..8)?.split_at(4);
        let number = |bytes: &[u8]| bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes));
        let corrections = Corrections {
            factor: number(factor)?,
            offset: number(offset)?,
        };
        Some((code, corrections))
    }
}
