//! Which clusters to read, of those of all splits.
//!
//! ```text
//!   closeness  ▲   centroid ──┬── reach        what the closest of the cluster's vectors may well be
//!              │              │ RISE × spread
//!              │   ◀ best reach
//!              │   │ slack × spread
//!              │   ◀ clusters with less reach are not read
//! ```
//!
//! A wide cluster may have close vectors although its centroid is far, and where few clusters come close, few are read.

use std::collections::VecDeque;

/// A cluster of a split, by how close its vectors may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedCluster {
    /// Closeness that some of its vectors may have.
    pub reach: f32,
    /// What one spread of its vectors makes of closeness.
    pub spread: f32,
    /// Which of the splits it is in.
    pub split: usize,
    /// Which of the split's clusters it is.
    pub cluster: usize,
    /// Number of its vectors.
    pub num_vectors: u32,
    /// Whether it is all that there is of the split: it is read in any case.
    pub is_whole: bool,
}

/// How much to read, beside clusters that are all of a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Minimum number of clusters.
    pub min_clusters: usize,
    /// Maximum number of clusters, whatever is accepted.
    pub max_clusters: usize,
    /// How much less reach than the best cluster others may have, as a multiple of its spread.
    pub slack: f32,
    /// Number of vectors to look at that a filter accepts, if there are enough clusters.
    pub min_accepted: u32,
    /// Share of the vectors that a filter accepts; 1 without a filter.
    pub accepted_share: f32,
}

/// Minimum number of clusters, and one for some of the candidates that a request names.
const MIN_CLUSTERS: usize = 16;
const CANDIDATES_OF_CLUSTER: u32 = 4;

/// Maximum number of clusters that reach decides on, and of those that a filter or a request demands.
const MAX_REACHED: usize = 128;
const MAX_DEMANDED: usize = 1_024;

/// Slack without a filter, and more for each halving of the documents by one: the nearest of those that are left are
/// farther away (docs/decisions/vectors.md).
const SLACK: f32 = 0.16;
const SLACK_OF_HALVING: f32 = 0.014;

/// Number of vectors that a filter accepts to look at, for each candidate; of rare ones, this part of all.
const ACCEPTED_OF_CANDIDATE: usize = 25;
const PART_OF_RARE: u64 = 3;

impl Effort {
    /// Returns how much to read for `num_candidates` candidates, where a request names `considered` and a filter accepts
    /// `num_accepted` of `num_docs` documents.
    pub fn new(num_candidates: usize, considered: u32, num_accepted: u64, num_docs: u64) -> Self {
        let num_docs = num_docs.max(1);
        let num_accepted = num_accepted.clamp(1, num_docs);
        let least = usize::try_from(considered / CANDIDATES_OF_CLUSTER).unwrap_or(usize::MAX);
        let min_accepted = num_candidates.saturating_mul(ACCEPTED_OF_CANDIDATE);
        let min_accepted = (min_accepted as u64).min(num_accepted / PART_OF_RARE);
        let min_clusters = least.clamp(MIN_CLUSTERS, MAX_DEMANDED);
        let max_clusters = match num_accepted < num_docs {
            true => MAX_DEMANDED,
            false => MAX_REACHED.max(min_clusters),
        };
        let num_halvings = (num_docs / num_accepted).ilog2();
        Self {
            min_clusters,
            max_clusters,
            slack: SLACK + SLACK_OF_HALVING * number(num_halvings.into()),
            min_accepted: u32::try_from(min_accepted).unwrap_or(u32::MAX),
            accepted_share: number(num_accepted) / number(num_docs),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for shares")]
fn number(whole: u64) -> f32 {
    whole as f32
}

/// Clusters that were not chosen yet, those with the most reach first.
#[derive(Clone, Debug)]
pub struct Choice {
    whole: Vec<RankedCluster>,
    left: VecDeque<RankedCluster>,
    num_chosen: usize,
}

impl Choice {
    /// Ranks clusters.
    pub fn new(clusters: Vec<RankedCluster>) -> Self {
        let (whole, mut left): (Vec<_>, Vec<RankedCluster>) =
            clusters.into_iter().partition(|cluster| cluster.is_whole);
        canter_sorting::sort_by(&mut left, |one: &RankedCluster, other| {
            let closer = other.reach.total_cmp(&one.reach);
            closer.then((one.split, one.cluster).cmp(&(other.split, other.cluster)))
        });
        Self {
            whole,
            left: left.into(),
            num_chosen: 0,
        }
    }

    /// Chooses the clusters to read first. The result is sorted by split and cluster, so that neighbours in the file are
    /// neighbours in it.
    pub fn first(&mut self, effort: Effort) -> Vec<RankedCluster> {
        let best = self.left.front();
        let least_reach = best.map_or(0.0, |best| best.reach - effort.slack * best.spread);
        let mut accepted = 0.0;
        let mut num = 0;
        for cluster in &self.left {
            let is_enough = num >= effort.min_clusters
                && accepted >= f64::from(effort.min_accepted)
                && cluster.reach < least_reach;
            if is_enough || num >= effort.max_clusters {
                break;
            }
            accepted += f64::from(cluster.num_vectors) * f64::from(effort.accepted_share);
            num += 1;
        }
        self.take(num)
    }

    /// Chooses as many clusters as were chosen before, where these had too few candidates: a filter may take only documents that
    /// are far from the query. Returns nothing if all were chosen.
    pub fn more(&mut self) -> Vec<RankedCluster> {
        self.take(self.num_chosen.max(MIN_CLUSTERS))
    }

    fn take(&mut self, num: usize) -> Vec<RankedCluster> {
        self.num_chosen = self.num_chosen.saturating_add(num);
        let mut chosen = std::mem::take(&mut self.whole);
        chosen.extend(self.left.drain(..num.min(self.left.len())));
        canter_sorting::sort_by(&mut chosen, |one: &RankedCluster, other| {
            (one.split, one.cluster).cmp(&(other.split, other.cluster))
        });
        chosen
    }
}
