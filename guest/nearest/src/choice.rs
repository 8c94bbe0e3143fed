//! Which clusters to read, of those of all splits.

/// A cluster of a split, by the closeness of its centroid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedCluster {
    /// Closeness of its centroid.
    pub closeness: f32,
    /// Which of the splits it is in.
    pub split: usize,
    /// Which of the split's clusters it is.
    pub cluster: usize,
    /// Number of its vectors.
    pub num_vectors: u32,
}

/// How much to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Minimum number of clusters.
    pub min_clusters: usize,
    /// Number of vectors to look at that a filter accepts, if there are enough clusters.
    pub min_accepted: u32,
    /// Share of the vectors that a filter accepts; 1 without a filter.
    pub accepted_share: f32,
    /// Maximum number of clusters, whatever is accepted.
    pub max_clusters: usize,
}

/// Chooses clusters, the closest first. The result is sorted by split and cluster, so that neighbours in the file
/// are neighbours in it.
pub fn choose(mut clusters: Vec<RankedCluster>, effort: Effort) -> Vec<RankedCluster> {
    canter_sorting::sort_by(&mut clusters, |one: &RankedCluster, other| {
        let closer = other.closeness.total_cmp(&one.closeness);
        closer.then((one.split, one.cluster).cmp(&(other.split, other.cluster)))
    });
    let mut accepted = 0.0;
    let mut num = 0;
    for cluster in &clusters {
        let is_enough = num >= effort.min_clusters && accepted >= f64::from(effort.min_accepted);
        if is_enough || num >= effort.max_clusters {
            break;
        }
        accepted += f64::from(cluster.num_vectors) * f64::from(effort.accepted_share);
        num += 1;
    }
    clusters.truncate(num);
    canter_sorting::sort_by(&mut clusters, |one: &RankedCluster, other| {
        (one.split, one.cluster).cmp(&(other.split, other.cluster))
    });
    clusters
}
