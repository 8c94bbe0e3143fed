//! The order of clusters in the file, and of vectors in a cluster: near ones are neighbours, so that what a query reads is few
//! ranges.

use canter_vectors::{distance, dot};

use crate::balance::Cluster;
use crate::centroids::Rows;
use crate::prepared::Prepared;

/// Orders clusters along a chain: each is followed by the closest of those that are left.
pub(crate) fn chain(clusters: Vec<Cluster>) -> Vec<Cluster> {
    let mut rest = clusters;
    let mut ordered: Vec<Cluster> = Vec::with_capacity(rest.len());
    // The first is one at the edge: the longest.
    let length =
        |cluster: &Cluster| distance(&cluster.centroid, &vec![0.0; cluster.centroid.len()]);
    let lengths: Vec<f32> = rest.iter().map(length).collect();
    let first = (0..lengths.len()).max_by(|one, other| {
        lengths[*one]
            .total_cmp(&lengths[*other])
            .then(other.cmp(one))
    });
    let mut next = first;
    while let Some(place) = next {
        let cluster = rest.swap_remove(place);
        let distances = rest
            .iter()
            .map(|other| distance(&cluster.centroid, &other.centroid));
        next = distances
            .enumerate()
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .map(|(place, _)| place);
        ordered.push(cluster);
    }
    ordered
}

/// Parts of this many vectors are not divided further.
const PART_LEN: usize = 32;

/// Orders the vectors of a cluster so that close ones are neighbours: the exact ones that a query reads are then few
/// ranges. Returns their ranks and the vectors, in this order.
pub(crate) fn within(vectors: &Prepared<'_>, ranks: &[u32]) -> (Vec<u32>, Rows) {
    let mut rows = Rows::new(vectors.num_dims());
    for rank in ranks {
        rows.push(&vectors.get(*rank as usize));
    }
    let mut places: Vec<usize> = (0..ranks.len()).collect();
    let mut waiting = vec![&mut places[..]];
    while let Some(part) = waiting.pop() {
        if part.len() > PART_LEN {
            let (one, other) = halve(&rows, part);
            waiting.extend([one, other]);
        }
    }
    let ranks = places.iter().map(|place| ranks[*place]).collect();
    (ranks, rows.some(&places))
}

/// Orders a part along the line between two vectors that are far from each other, and divides it in the middle.
fn halve<'p>(rows: &Rows, part: &'p mut [usize]) -> (&'p mut [usize], &'p mut [usize]) {
    let farthest = |from: usize| {
        let distances = part
            .iter()
            .map(|place| (distance(rows.get(from), rows.get(*place)), *place));
        let farthest = distances.max_by(|one, other| one.0.total_cmp(&other.0));
        farthest.map_or(from, |(_, place)| place)
    };
    let one = farthest(part[0]);
    let other = farthest(one);
    let line: Vec<f32> = rows
        .get(one)
        .iter()
        .zip(rows.get(other))
        .map(|(one, other)| other - one)
        .collect();
    let mut along: Vec<(f32, usize)> = part
        .iter()
        .map(|place| (dot(&line, rows.get(*place)), *place))
        .collect();
    along.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    for (place, (_, next)) in part.iter_mut().zip(along) {
        *place = next;
    }
    part.split_at_mut(part.len() / 2)
}
