//! Merging of several buckets of one aggregation into one, with their sub-aggregations.

use super::{Buckets, Dropped, Metric, Node};

/// Merges sub-aggregations of buckets: `map` gives the new index below `len` of each bucket, if
/// any.
pub(crate) fn fold(nodes: &[Node], map: &[Option<u32>], len: usize) -> Vec<Node> {
    let of_node = |node: &Node| match node {
        Node::Buckets(buckets) => Node::Buckets(fold_buckets(buckets, map, len)),
        Node::Metric(metric) => Node::Metric(Metric {
            is_date: metric.is_date,
            states: metric.states.fold(map, len),
        }),
    };
    nodes.iter().map(of_node).collect()
}

fn fold_buckets(buckets: &Buckets, map: &[Option<u32>], len: usize) -> Buckets {
    // New parent bucket, id, and old index.
    let mut rows: Vec<(u32, u32, usize)> = Vec::new();
    for (parent, into) in map.iter().enumerate() {
        let Some(into) = *into else {
            continue;
        };
        for place in buckets.of(parent) {
            let id = buckets.ids.get(place).copied().unwrap_or_default();
            rows.push((into, id, place));
        }
    }
    canter_sorting::sort(&mut rows);
    let mut offsets = Vec::with_capacity(len.saturating_add(1));
    let mut inner: Vec<Option<u32>> = vec![None; buckets.ids.len()];
    let mut ids = Vec::new();
    let mut counts = Vec::new();
    let mut equal = rows
        .chunk_by(|left, right| (left.0, left.1) == (right.0, right.1))
        .peekable();
    for parent in 0..len {
        offsets.push(u32::try_from(ids.len()).unwrap_or(u32::MAX));
        let is_this = |chunk: &&[(u32, u32, usize)]| {
            let first = chunk.first();
            first.is_some_and(|(into, ..)| *into as usize == parent)
        };
        while let Some(chunk) = equal.next_if(is_this) {
            let bucket = u32::try_from(ids.len()).ok();
            let mut count = 0u64;
            for (_, _, place) in chunk {
                count = count.saturating_add(buckets.count(*place));
                if let Some(inner) = inner.get_mut(*place) {
                    *inner = bucket;
                }
            }
            ids.extend(chunk.first().map(|(_, id, _)| *id));
            counts.push(count);
        }
    }
    offsets.push(u32::try_from(ids.len()).unwrap_or(u32::MAX));
    let mut dropped = Vec::new();
    if !buckets.dropped.is_empty() {
        dropped = vec![Dropped::default(); len];
        for (found, into) in buckets.dropped.iter().zip(map) {
            if let Some(sum) = into.and_then(|into| dropped.get_mut(into as usize)) {
                sum.max_doc_count = sum.max_doc_count.saturating_add(found.max_doc_count);
                sum.doc_count = sum.doc_count.saturating_add(found.doc_count);
            }
        }
    }
    let num_buckets = ids.len();
    Buckets {
        keys: buckets.keys.clone(),
        offsets,
        ids,
        counts,
        dropped,
        inside: fold(&buckets.inside, &inner, num_buckets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::partial::Metrics;

    #[test]
    fn buckets_that_become_one_add_up_with_all_that_is_inside() {
        let counts = |counts: &[u64]| {
            let states = Metrics::Counts(counts.to_vec());
            Node::Metric(Metric {
                is_date: false,
                states,
            })
        };
        // Three parent buckets, with the terms a and b, only b, and a and c.
        let terms = Buckets {
            keys: ["a", "b", "c"]
                .map(|text| Key::Text(text.to_owned()))
                .to_vec(),
            offsets: vec![0, 2, 3, 5],
            ids: vec![0, 1, 1, 0, 2],
            counts: vec![1, 2, 3, 4, 5],
            dropped: Vec::new(),
            inside: vec![counts(&[10, 20, 30, 40, 50])],
        };
        let folded = fold(&[Node::Buckets(terms)], &[Some(1), Some(1), Some(0)], 2);
        let Some(Node::Buckets(found)) = folded.first() else {
            panic!("{folded:?}");
        };
        assert_eq!(found.offsets, [0, 2, 4]);
        assert_eq!(found.ids, [0, 2, 0, 1]);
        assert_eq!(found.counts, [4, 5, 1, 5]);
        let Some(Node::Metric(metric)) = found.inside.first() else {
            panic!("{found:?}");
        };
        assert!(matches!(&metric.states, Metrics::Counts(counts) if *counts == [40, 50, 10, 50]));
    }
}
