//! Splits of vectors, searched through what is written of them, and the plain comparison of all vectors.

use canter_clusters::{Options, Vectors, build};
use canter_split_format::{
    VectorFieldParts, VectorIndex, VectorShape, WrittenVectors, write_vectors,
};
use canter_vectors::{Element, ExactQuery, Similarity};

use crate::{Candidates, Choice, Effort, Nearest, Search};

/// Number of the field in all tests.
pub(crate) const FIELD: u32 = 3;

/// What is compared how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) element: Element,
    pub(crate) similarity: Similarity,
    pub(crate) dims: usize,
}

/// A split: its documents, of which some have a vector.
pub(crate) struct Split {
    /// Documents with their stored vectors.
    pub(crate) stored: Vec<(u32, Vec<u8>)>,
    pub(crate) written: WrittenVectors,
    pub(crate) index: VectorIndex,
}

impl Split {
    pub(crate) fn new(
        kind: Kind,
        num_docs: u32,
        stored: Vec<(u32, Vec<u8>)>,
        options: &Options,
    ) -> Self {
        let parts = build(vectors_of(kind, &stored), options);
        Self::of_parts(num_docs, stored, &parts)
    }

    /// Writes vectors that were divided already.
    pub(crate) fn of_parts(
        num_docs: u32,
        stored: Vec<(u32, Vec<u8>)>,
        parts: &VectorFieldParts,
    ) -> Self {
        let written = write_vectors(num_docs, std::slice::from_ref(parts)).unwrap();
        let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
        Self {
            stored,
            written,
            index,
        }
    }
}

/// Returns what a split's vectors are built from.
fn vectors_of(kind: Kind, stored: &[(u32, Vec<u8>)]) -> Vectors {
    Vectors {
        shape: VectorShape {
            field: FIELD,
            element: kind.element,
            similarity: kind.similarity,
            dims: kind.dims as u32,
            seed: 0,
            codes: None,
            centroid_bits: 8,
        },
        docs: stored.iter().map(|(doc, _)| *doc).collect(),
        exact: stored
            .iter()
            .flat_map(|(_, stored)| stored.clone())
            .collect(),
    }
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) num_clusters: usize,
    /// Ranges of clusters, of which neighbours are one.
    pub(crate) cluster_ranges: usize,
    pub(crate) cluster_bytes: u64,
    /// Ranges of exact vectors, of which near ones are one.
    pub(crate) exact_ranges: usize,
    pub(crate) exact_bytes: u64,
}

impl Cost {
    pub(crate) fn add(&mut self, other: Self) {
        self.num_clusters += other.num_clusters;
        self.cluster_ranges += other.cluster_ranges;
        self.cluster_bytes += other.cluster_bytes;
        self.exact_ranges += other.exact_ranges;
        self.exact_bytes += other.exact_bytes;
    }

    /// Returns what each of `num` searches took, in words.
    pub(crate) fn mean(&self, num: usize) -> String {
        let mean = |sum: u64| sum as f64 / num as f64;
        format!(
            "{:.1} clusters in {:.1} requests, {:.2} MB; exact vectors in {:.1} requests, {:.2} MB",
            mean(self.num_clusters as u64),
            mean(self.cluster_ranges as u64),
            mean(self.cluster_bytes) / 1e6,
            mean(self.exact_ranges as u64),
            mean(self.exact_bytes) / 1e6
        )
    }
}

/// Two ranges this near are read as one.
const MAX_GAP: u64 = 128 * 1024;

/// Returns how many ranges are read, and how many bytes.
fn coalesced(ranges: &mut [(usize, std::ops::Range<u64>)]) -> (usize, u64) {
    ranges.sort_by_key(|(split, range)| (*split, range.start));
    let (mut num, mut bytes) = (0, 0);
    let mut last: Option<(usize, u64)> = None;
    for (split, range) in ranges.iter() {
        let gap =
            last.filter(|(of, end)| of == split && range.start.saturating_sub(*end) <= MAX_GAP);
        match gap {
            Some((_, end)) => bytes += range.end - end,
            None => {
                num += 1;
                bytes += range.end - range.start;
            }
        }
        last = Some((*split, range.end));
    }
    (num, bytes)
}

/// Searches the splits as a guest does.
pub(crate) fn search(
    splits: &[Split],
    query: &ExactQuery,
    (k, num_candidates): (usize, usize),
    effort: Effort,
    accepts: &dyn Fn(usize, u32) -> bool,
) -> (Vec<Nearest>, Cost) {
    let searches = splits.iter().enumerate();
    let searches = searches.filter_map(|(ord, split)| {
        split
            .index
            .field(FIELD)
            .map(|field| (ord, Search::new(ord, field, query)))
    });
    let searches: std::collections::BTreeMap<usize, Search<'_>> = searches.collect();
    let clusters = searches.values().flat_map(Search::clusters).collect();
    let mut candidates = Candidates::new(num_candidates);
    let mut ranges = Vec::new();
    let mut choice = Choice::new(clusters);
    let mut chosen = choice.first(effort);
    while !chosen.is_empty() {
        for of in &chosen {
            let search = &searches[&of.split];
            let range = search.cluster_range(of.cluster);
            let bytes = &splits[of.split].written.vectors[range.start as usize..range.end as usize];
            assert!(search.check_of(&range).content(bytes).is_ok());
            ranges.push((of.split, range));
            let accepts = |doc| accepts(of.split, doc);
            let scanned = search.scan(of.cluster, bytes, accepts, &mut candidates);
            scanned.unwrap();
        }
        chosen = match candidates.lacks_some() {
            true => choice.more(),
            false => Vec::new(),
        };
    }
    let num_clusters = ranges.len();
    let (cluster_ranges, cluster_bytes) = coalesced(&mut ranges);
    ranges.clear();
    let mut found = Vec::new();
    for candidate in candidates.into_places() {
        let search = &searches[&candidate.split];
        let range = search.exact_range(&candidate);
        let stored =
            &splits[candidate.split].written.vectors[range.start as usize..range.end as usize];
        found.push(search.score(&candidate, stored));
        ranges.push((candidate.split, range));
    }
    let (exact_ranges, exact_bytes) = coalesced(&mut ranges);
    let cost = Cost {
        num_clusters,
        cluster_ranges,
        cluster_bytes,
        exact_ranges,
        exact_bytes,
    };
    (Nearest::best(found, k), cost)
}

/// Compares the query with every vector.
pub(crate) fn brute_force(
    splits: &[Split],
    query: &ExactQuery,
    k: usize,
    accepts: &dyn Fn(usize, u32) -> bool,
) -> Vec<Nearest> {
    let mut found = Vec::new();
    for (ord, split) in splits.iter().enumerate() {
        for (doc, stored) in split.stored.iter().filter(|(doc, _)| accepts(ord, *doc)) {
            let alike = query.alike(stored);
            found.push(Nearest {
                score: query.score(alike),
                alike,
                split: ord,
                doc: *doc,
            });
        }
    }
    found.sort_by(|one, other| {
        let better = other.score.partial_cmp(&one.score).unwrap();
        better
            .then(one.split.cmp(&other.split))
            .then(one.doc.cmp(&other.doc))
    });
    found.truncate(k);
    found
}

/// Returns the share of the nearest that was found.
pub(crate) fn recall(found: &[Nearest], expected: &[Nearest]) -> f64 {
    let is_found = |nearest: &&Nearest| {
        found
            .iter()
            .any(|of| (of.split, of.doc) == (nearest.split, nearest.doc))
    };
    expected.iter().filter(is_found).count() as f64 / expected.len().max(1) as f64
}
