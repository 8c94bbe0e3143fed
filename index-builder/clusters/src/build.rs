//! The whole way, from exact vectors to what is written.

use canter_split_format::{VectorFieldParts, VectorShape};
use canter_vectors::CodeWidth;

use crate::balance::{self, Cluster};
use crate::centroids::{self, Groups, Rows};
use crate::encode::{NothingKept, encode_all};
use crate::order;
use crate::prepared::Prepared;
use crate::random::Random;

/// Number of vectors of the sample for each cluster.
const SAMPLE_LEN: usize = 48;

/// How a field's vectors are divided and encoded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Width of codes.
    pub codes: CodeWidth,
    /// Seed of the rotation and of the starts, which all splits of an index should share: merges compare their centroids.
    pub seed: u64,
    /// Number of bits of a centroid's numbers: 4 or 8.
    pub centroid_bits: u32,
    /// Number of vectors that a cluster should have.
    pub cluster_len: usize,
    /// Fields with up to this many vectors have one cluster.
    pub max_flat: usize,
    /// Exact vectors of up to this many bytes have no codes: reading all of them costs one small read.
    pub max_plain_len: usize,
    /// Number of threads.
    pub num_threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            codes: CodeWidth::Two,
            seed: 0x6361_6e74_6572_0002,
            centroid_bits: 4,
            cluster_len: 512,
            max_flat: 2_048,
            max_plain_len: 64 * 1024,
            num_threads: 1,
        }
    }
}

/// The vectors of a field.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// What they are. Codes, centroids and seed are set by the options.
    pub shape: VectorShape,
    /// Documents that have a vector, ascending.
    pub docs: Vec<u32>,
    /// Their vectors, one after the other, as [`canter_vectors::Element::store`] makes them.
    pub exact: Vec<u8>,
}

/// Divides vectors into clusters, and encodes them.
pub fn build(vectors: Vectors, options: &Options) -> VectorFieldParts {
    let Vectors {
        mut shape,
        docs,
        exact,
    } = vectors;
    let is_plain = exact.len() <= options.max_plain_len;
    shape.codes = (!is_plain).then_some(options.codes);
    shape.centroid_bits = if is_plain { 8 } else { options.centroid_bits };
    shape.seed = if is_plain { 0 } else { options.seed };
    let clusters = match is_plain {
        true => vec![Cluster {
            centroid: Vec::new(),
            ranks: (0..docs.len() as u32).collect(),
            kept: None,
        }],
        false => clusters(&Prepared::new(&shape, &exact), options),
    };
    encode_all(
        shape,
        docs,
        exact,
        clusters,
        &NothingKept,
        options.num_threads,
    )
}

fn clusters(vectors: &Prepared<'_>, options: &Options) -> Vec<Cluster> {
    let num_clusters = match vectors.len() <= options.max_flat {
        true => 1,
        false => vectors.len().div_ceil(options.cluster_len.max(1)),
    };
    let mut random = Random::new(options.seed);
    let mut sample = Rows::new(vectors.num_dims());
    for rank in random.distinct(num_clusters.max(8) * SAMPLE_LEN, vectors.len()) {
        sample.push(&vectors.get(rank));
    }
    let num_threads = options.num_threads;
    let centroids = centroids::centroids(&sample, num_clusters, &mut random, num_threads);
    let centroids = Groups::new(&centroids, &mut random, num_threads);
    let clusters = balance::assign(vectors, &centroids, num_threads);
    if num_clusters == 1 {
        return clusters;
    }
    let size = options.cluster_len.max(1);
    let balanced = balance::balance(vectors, clusters, size, &mut random, num_threads);
    order::chain(balanced)
}
