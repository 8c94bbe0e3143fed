//! Recall, bytes and time on a mixture. The short form is a test; `CANTER_VECTORS=100000` with `--nocapture` prints a table of
//! what the long form measures.

#![expect(
    clippy::disallowed_methods,
    reason = "a measurement needs a clock, and its long form settings"
)]

use std::time::Instant;

use canter_clusters::{Options, Source, merge};
use canter_vectors::{CodeWidth, Element, ExactQuery, Similarity};

use super::mixture::Mixture;
use super::oracle::{Cost, Kind, Split, brute_force, recall, search};
use crate::{Effort, Nearest};

const DIMS: usize = 384;
const NUM_SPLITS: usize = 4;
const K: usize = 10;
/// Number of candidates for as many hits.
const NUM_CANDIDATES: usize = 30;

struct Corpus {
    kind: Kind,
    stored: Vec<Vec<u8>>,
    queries: Vec<ExactQuery>,
}

fn corpus(num: usize, num_queries: usize) -> Corpus {
    let kind = Kind {
        element: Element::Float,
        similarity: Similarity::Cosine,
        dims: DIMS,
    };
    let mut mixture = Mixture::new(1, DIMS, (num / 100).clamp(10, 2_000));
    let store = |numbers: Vec<f32>| kind.element.store(&numbers, DIMS, kind.similarity).unwrap();
    let stored = (0..num).map(|_| store(mixture.next())).collect();
    let queries = (0..num_queries)
        .map(|_| ExactQuery::new(&mixture.next(), DIMS, kind.element, kind.similarity).unwrap());
    Corpus {
        kind,
        stored,
        queries: queries.collect(),
    }
}

fn splits(corpus: &Corpus, options: &Options) -> Vec<Split> {
    let chunks = corpus
        .stored
        .chunks(corpus.stored.len().div_ceil(NUM_SPLITS));
    let splits = chunks.map(|stored| {
        let num_docs = stored.len() as u32;
        let stored = (0..).zip(stored.iter().cloned()).collect();
        Split::new(corpus.kind, num_docs, stored, options)
    });
    splits.collect()
}

/// Returns the effort to read a number of clusters.
fn of_clusters(num_clusters: usize) -> Effort {
    Effort {
        min_clusters: num_clusters,
        max_clusters: num_clusters,
        slack: 0.0,
        min_accepted: 0,
        accepted_share: 1.0,
    }
}

/// Returns the effort of a search, where a filter takes one in `every` documents.
fn of_search(splits: &[Split], every: u32) -> Effort {
    let num_docs: usize = splits.iter().map(|split| split.stored.len()).sum();
    let num_docs = num_docs as u64;
    Effort::new(NUM_CANDIDATES, 0, num_docs / u64::from(every), num_docs)
}

/// Number of vectors of the long forms.
fn num_vectors() -> usize {
    let set = std::env::var("CANTER_VECTORS").ok();
    set.and_then(|num| num.parse().ok()).unwrap_or(100_000)
}

/// Returns for how long this thread has computed, where the system tells, and else a time.
fn cpu_seconds(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told
        .as_deref()
        .and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

/// Returns the mean recall of all queries, and prints what they took.
fn measure(
    splits: &[Split],
    queries: &[ExactQuery],
    expected: &[Vec<Nearest>],
    (effort, num_candidates): (Effort, usize),
) -> f64 {
    let mut sum = 0.0;
    let mut all = Cost::default();
    let start = Instant::now();
    let before = cpu_seconds(start);
    for (query, expected) in queries.iter().zip(expected) {
        let (found, cost) = search(splits, query, (K, num_candidates), effort, &|_, _| true);
        sum += recall(&found, expected);
        all.add(cost);
    }
    let num = queries.len();
    let ms = (cpu_seconds(start) - before) * 1e3 / num as f64;
    let mean = sum / num as f64;
    println!(
        "at least {} clusters, {num_candidates} candidates: recall {mean:.3}, {}, {ms:.2} ms",
        effort.min_clusters,
        all.mean(num)
    );
    mean
}

fn expected(splits: &[Split], corpus: &Corpus) -> Vec<Vec<Nearest>> {
    let queries = corpus.queries.iter();
    queries
        .map(|query| brute_force(splits, query, K, &|_, _| true))
        .collect()
}

#[test]
fn most_of_the_nearest_are_found() {
    let corpus = corpus(8_000, 40);
    let options = Options {
        cluster_len: 64,
        max_flat: 100,
        ..Options::default()
    };
    let splits = splits(&corpus, &options);
    let expected = expected(&splits, &corpus);
    let all = splits
        .iter()
        .map(|split| split.index.fields()[0].num_clusters())
        .sum();
    // Every cluster is read: only codes can be wrong.
    assert!(measure(&splits, &corpus.queries, &expected, (of_clusters(all), 30)) > 0.99);
    assert!(
        measure(
            &splits,
            &corpus.queries,
            &expected,
            (of_clusters(all / 10), 30)
        ) > 0.9
    );
    // All vectors are compared: nothing can be.
    assert_eq!(
        measure(
            &splits,
            &corpus.queries,
            &expected,
            (of_clusters(all), 8_000)
        ),
        1.0
    );
}

#[test]
#[ignore = "the long form of the test above, which prints what docs/decisions/vectors.md shows"]
fn table_of_recall() {
    let corpus = corpus(num_vectors(), 200);
    let mut truth: Option<Vec<Vec<Nearest>>> = None;
    for (codes, centroid_bits, cluster_len) in [
        (CodeWidth::One, 8, 512),
        (CodeWidth::Two, 8, 512),
        (CodeWidth::Two, 4, 512),
        (CodeWidth::Four, 4, 512),
        (CodeWidth::Two, 4, 256),
        (CodeWidth::Two, 4, 1_024),
    ] {
        let options = Options {
            codes,
            centroid_bits,
            cluster_len,
            ..Options::default()
        };
        let start = Instant::now();
        let before = cpu_seconds(start);
        let splits = splits(&corpus, &options);
        let seconds = cpu_seconds(start) - before;
        let num_clusters: usize = splits
            .iter()
            .map(|split| split.index.fields()[0].num_clusters())
            .sum();
        let bytes = splits
            .iter()
            .map(|split| split.written.vectors.len() + split.written.index.len());
        let bytes = bytes.sum::<usize>() as f64 / corpus.stored.len() as f64 - 4.0 * DIMS as f64;
        let head: usize = splits.iter().map(|split| split.written.index.len()).sum();
        println!(
            "\n{codes:?}, centroids of {centroid_bits} bits, {cluster_len} a cluster: {num_clusters} clusters, \
             {seconds:.1} s, {bytes:.1} bytes a vector, {head} bytes of heads"
        );
        let truth = truth.get_or_insert_with(|| expected(&splits, &corpus));
        let efforts = [16, 32, 64].map(|num| of_clusters(num * 512 / cluster_len));
        for effort in efforts.into_iter().chain([of_search(&splits, 1)]) {
            for num_candidates in [15, NUM_CANDIDATES] {
                measure(&splits, &corpus.queries, truth, (effort, num_candidates));
            }
        }
    }
}

/// Divides the vectors into `num` splits, and merges these into one; returns the splits, the merged one, and how long the merge
/// took.
fn merged(corpus: &Corpus, num: usize, options: &Options) -> (Vec<Split>, Split, f64) {
    let parts = corpus.stored.chunks(corpus.stored.len().div_ceil(num));
    let splits: Vec<Split> = parts
        .map(|stored| {
            let num_docs = stored.len() as u32;
            let stored = (0..).zip(stored.iter().cloned()).collect();
            Split::new(corpus.kind, num_docs, stored, options)
        })
        .collect();
    let mut next = 0..;
    let new_docs: Vec<Vec<Option<u32>>> = splits
        .iter()
        .map(|split| next.by_ref().take(split.stored.len()).map(Some).collect())
        .collect();
    let sources = splits
        .iter()
        .zip(&new_docs)
        .map(|(split, new_docs)| Source {
            field: &split.index.fields()[0],
            vectors: &split.written.vectors,
            new_docs,
        });
    let sources: Vec<Source<'_>> = sources.collect();
    let start = Instant::now();
    let before = cpu_seconds(start);
    let parts = merge(&sources, options).unwrap();
    let seconds = cpu_seconds(start) - before;
    let stored = (0..).zip(corpus.stored.iter().cloned()).collect();
    let whole = Split::of_parts(corpus.stored.len() as u32, stored, &parts);
    (splits, whole, seconds)
}

fn built(corpus: &Corpus, options: &Options) -> (Split, f64) {
    let stored = (0..).zip(corpus.stored.iter().cloned()).collect();
    let start = Instant::now();
    let before = cpu_seconds(start);
    let split = Split::new(corpus.kind, corpus.stored.len() as u32, stored, options);
    (split, cpu_seconds(start) - before)
}

#[test]
fn a_merge_loses_little() {
    let corpus = corpus(8_000, 40);
    let options = Options {
        cluster_len: 64,
        max_flat: 100,
        ..Options::default()
    };
    let (_, merged, _) = merged(&corpus, 8, &options);
    let (built, _) = built(&corpus, &options);
    let expected = expected(std::slice::from_ref(&built), &corpus);
    let recall = |split: &Split| {
        measure(
            std::slice::from_ref(split),
            &corpus.queries,
            &expected,
            (of_clusters(16), NUM_CANDIDATES),
        )
    };
    let (of_merged, of_built) = (recall(&merged), recall(&built));
    assert!(
        of_merged > of_built - 0.03,
        "{of_merged} instead of {of_built}"
    );
}

#[test]
#[ignore = "the long form of the test above, which prints what docs/decisions/vectors.md shows"]
fn table_of_merges() {
    let corpus = corpus(num_vectors(), 200);
    let options = Options::default();
    let (built, of_build) = built(&corpus, &options);
    println!(
        "built in {of_build:.1} s: {} clusters",
        built.index.fields()[0].num_clusters()
    );
    let expected = expected(std::slice::from_ref(&built), &corpus);
    for num_clusters in [8, 16, 32] {
        measure(
            std::slice::from_ref(&built),
            &corpus.queries,
            &expected,
            (of_clusters(num_clusters), NUM_CANDIDATES),
        );
    }
    for num in [8, 2] {
        let (_, merged, seconds) = merged(&corpus, num, &options);
        println!(
            "{num} merged in {seconds:.1} s, {:.0} % of {of_build:.1} s: {} clusters",
            100.0 * seconds / of_build,
            merged.index.fields()[0].num_clusters()
        );
        for num_clusters in [8, 16, 32] {
            measure(
                std::slice::from_ref(&merged),
                &corpus.queries,
                &expected,
                (of_clusters(num_clusters), NUM_CANDIDATES),
            );
        }
    }
}

#[test]
#[ignore = "prints what docs/decisions/vectors.md shows"]
fn table_of_filters() {
    let corpus = corpus(num_vectors(), 100);
    let splits = splits(
        &corpus,
        &Options {
            num_threads: 2,
            ..Options::default()
        },
    );
    for every in [1, 10, 100, 1_000] {
        let accepts = |split: usize, doc: u32| {
            (doc.wrapping_mul(0x9e37_79b1) >> 7) % every == split as u32 % every
        };
        let effort = of_search(&splits, every);
        let mut sum = 0.0;
        let mut all = Cost::default();
        for query in &corpus.queries {
            let expected = brute_force(&splits, query, K, &accepts);
            let (found, cost) = search(&splits, query, (K, NUM_CANDIDATES), effort, &accepts);
            sum += recall(&found, &expected);
            all.add(cost);
        }
        let num = corpus.queries.len();
        println!(
            "one in {every}: recall {:.3}, {}",
            sum / num as f64,
            all.mean(num)
        );
    }
}
