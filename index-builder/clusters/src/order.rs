//! The order of clusters in the file: near ones are neighbours, so that what a query reads is few ranges.

use canter_vectors::distance;

use crate::balance::Cluster;

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
