//! Centroids in groups, so that a vector is compared with few of them.
//!
//! ```text
//!   vector ──▶ the closest of √n leaders ──▶ the closest of the 4 √n centroids that are near this leader
//! ```
//!
//! Groups overlap, since a vector at the border of one may be closest to a centroid of another. A few vectors get a
//! centroid that is not the closest; that depends on the vector and the centroids alone.

use super::k_means;
use super::rows::Rows;
use crate::parallel;
use crate::random::Random;

/// Up to this many centroids are compared one by one.
const MAX_PLAIN: usize = 64;

/// Number of groups that a centroid is in, on average.
const OVERLAP: usize = 4;

/// Centroids in groups.
pub(crate) struct Groups<'a> {
    all: &'a Rows,
    /// The mean of each group's own centroids; none of few centroids.
    leaders: Rows,
    /// Places of each leader's centroids, with their numbers.
    groups: Vec<(Vec<usize>, Rows)>,
}

impl<'a> Groups<'a> {
    /// Divides centroids into groups.
    pub(crate) fn new(all: &'a Rows, random: &mut Random, num_threads: usize) -> Self {
        let mut leaders = Rows::new(all.num_dims());
        if all.len() > MAX_PLAIN {
            leaders = k_means::centroids(all, all.len().isqrt(), random, num_threads);
        }
        let num_members = all.len().div_ceil(leaders.len().max(1)) * OVERLAP;
        let groups = parallel::map(leaders.len(), num_threads, |leader| {
            let members = all.nearest(leaders.get(leader), num_members);
            let rows = all.some(&members);
            (members, rows)
        });
        Self {
            all,
            leaders,
            groups,
        }
    }

    /// Returns the centroids.
    pub(crate) fn all(&self) -> &Rows {
        self.all
    }

    /// Returns a centroid that is closest to a vector, or nearly so; 0 if there is none.
    pub(crate) fn closest(&self, vector: &[f32]) -> usize {
        match self.groups.get(self.leaders.closest(vector)) {
            Some((members, rows)) => members[rows.closest(vector)],
            None => self.all.closest(vector),
        }
    }
}
