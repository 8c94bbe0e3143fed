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
use crate::k_means::Rows;
use crate::order;
use crate::parallel;
use crate::random::Random;
use crate::refine::nearest;
use crate::rotated::Rotated;

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
    /// Of each source the new place of each of its vectors.
    new_places: Vec<Vec<Option<u32>>>,
}

/// Merges the vectors of one field.
///
/// # Errors
/// The bytes of a source are damaged, or its vectors are others than those of the first.
pub fn merge(sources: &[Source<'_>], options: &Options) -> Result<VectorFieldParts, FormatError> {
    let gathered = gather(sources)?;
    let largest = (0..sources.len()).max_by_key(|ord| {
        let live = gathered.new_places[*ord].iter().flatten().count();
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
    let kept = KeptClusters::open(&sources[base], &gathered.new_places[base])?;
    let clusters = assign(sources, base, &shape, &gathered, &kept, options.num_threads)?;
    let vectors = Rotated::new(&shape, &gathered.exact);
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
    let mut new_places = Vec::new();
    for (ord, source) in sources.iter().enumerate() {
        let num_vectors = source.field.num_vectors();
        new_places.push(vec![None; num_vectors as usize]);
        let mut is_known = vec![false; num_vectors as usize];
        for cluster in 0..source.field.num_clusters() {
            let bytes = source.bytes(source.field.cluster_range(cluster))?;
            let cluster = source.field.open_cluster(cluster, bytes)?;
            for (doc, place) in cluster.docs().iter().zip(cluster.places()) {
                let was_known = std::mem::replace(&mut is_known[*place as usize], true);
                if let Some(new_doc) = source.new_doc(*doc).filter(|_| !was_known) {
                    all.push((new_doc, ord, *place));
                }
            }
        }
    }
    all.sort_unstable();
    let mut docs = Vec::with_capacity(all.len());
    let mut exact = Vec::new();
    for (new_place, (doc, ord, place)) in (0u32..).zip(all) {
        docs.push(doc);
        let source = &sources[ord];
        exact.extend_from_slice(source.bytes(source.field.exact_range(place))?);
        new_places[ord][place as usize] = Some(new_place);
    }
    Ok(Gathered {
        docs,
        exact,
        new_places,
    })
}

/// Puts every vector into a cluster of the largest source.
fn assign(
    sources: &[Source<'_>],
    base: usize,
    shape: &VectorShape,
    gathered: &Gathered,
    kept: &KeptClusters<'_>,
    num_threads: usize,
) -> Result<Vec<Cluster>, FormatError> {
    let clusters = kept
        .clusters
        .iter()
        .enumerate()
        .map(|(ord, cluster)| Cluster {
            centroid: cluster.centroid.clone(),
            places: cluster.new_places.iter().flatten().copied().collect(),
            kept: Some(ord),
        });
    let mut clusters: Vec<Cluster> = clusters.collect();
    let vectors = Rotated::new(shape, &gathered.exact);
    let others = sources.iter().enumerate().filter(|(ord, _)| *ord != base);
    for (ord, source) in others {
        let is_comparable = source.field.shape().seed == shape.seed;
        let centroids: Vec<Vec<f32>> = source.field.centroids().collect();
        for cluster in 0..source.field.num_clusters() {
            let centroid = centroids.get(cluster).filter(|_| is_comparable);
            let near = match centroid {
                Some(centroid) => nearest(&clusters, centroid, NUM_NEAR),
                None => (0..clusters.len()).collect(),
            };
            let mut rows = Rows::new(vectors.num_dims());
            for ord in &near {
                rows.push(&clusters[*ord].centroid);
            }
            let bytes = source.bytes(source.field.cluster_range(cluster))?;
            let opened = source.field.open_cluster(cluster, bytes)?;
            let new_places = opened.places().iter();
            let new_places =
                new_places.filter_map(|place| gathered.new_places[ord][*place as usize]);
            let new_places: Vec<u32> = new_places.collect();
            let closest = parallel::map(new_places.len(), num_threads, |of| {
                near[rows.closest(&vectors.get(new_places[of] as usize))]
            });
            for (place, cluster) in new_places.iter().zip(closest) {
                clusters[cluster].places.push(*place);
            }
        }
    }
    for cluster in &mut clusters {
        cluster.places.sort_unstable();
        // A vector in two clusters of its source may come to one.
        cluster.places.dedup();
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
    /// New place of each vector that is left, in the order of codes.
    new_places: Vec<Option<u32>>,
}

impl<'a> KeptClusters<'a> {
    fn open(source: &Source<'a>, new_places: &[Option<u32>]) -> Result<Self, FormatError> {
        let field = source.field;
        let mut clusters = Vec::new();
        for (ord, centroid) in field.centroids().enumerate() {
            let opened = field.open_cluster(ord, source.bytes(field.cluster_range(ord))?)?;
            let places = opened.places().iter();
            clusters.push(KeptCluster {
                stored: field.stored_centroid(ord),
                centroid,
                codes: opened.codes().codes,
                corrections: opened.codes().corrections,
                new_places: places.map(|place| new_places[*place as usize]).collect(),
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

    fn code(&self, cluster: usize, place: u32) -> Option<(&[u8], Corrections)> {
        let cluster = self.clusters.get(cluster)?;
        let ord = cluster
            .new_places
            .iter()
            .position(|of| *of == Some(place))?;
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
