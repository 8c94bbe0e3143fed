//! Clusters of vectors: the same whatever the threads do, of about equal size, and without a vector lost.

use canter_split_format::{VectorFieldParts, VectorIndex, VectorShape, write_vectors};
use canter_vectors::{CodeWidth, Element, Similarity};
use proptest::prelude::*;

use super::*;
use crate::prepared::Prepared;
use crate::random::Random;

fn shape(element: Element, similarity: Similarity, dims: u32) -> VectorShape {
    VectorShape {
        field: 1,
        element,
        similarity,
        dims,
        seed: 0,
        codes: None,
        centroid_bits: 8,
    }
}

/// Vectors of bytes around `num_centers` centers, the first of which has half of them.
fn vectors(num: usize, dims: usize, num_centers: usize, similarity: Similarity) -> Vectors {
    let mut random = Random::new(3);
    let mut number = |end: usize| random.below(end) as f32;
    let centers: Vec<Vec<f32>> = (0..num_centers)
        .map(|_| (0..dims).map(|_| number(200) - 100.0).collect())
        .collect();
    let mut exact = Vec::new();
    for _ in 0..num {
        let center = match number(2) as usize {
            0 => 0,
            _ => number(num_centers) as usize,
        };
        let numbers: Vec<f32> = centers[center]
            .iter()
            .map(|center| center + number(20))
            .collect();
        exact.extend(Element::Byte.store(&numbers, dims, similarity).unwrap());
    }
    Vectors {
        shape: shape(Element::Byte, similarity, dims as u32),
        docs: (0..num as u32).map(|doc| doc * 2).collect(),
        exact,
    }
}

fn options(cluster_len: usize, num_threads: usize) -> Options {
    Options {
        cluster_len,
        max_flat: 100,
        num_threads,
        ..Options::default()
    }
}

fn written(parts: &VectorFieldParts) -> Vec<u8> {
    let num_docs = parts.docs.last().unwrap() + 1;
    let written = write_vectors(num_docs, std::slice::from_ref(parts)).unwrap();
    VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
    [written.index, written.vectors].concat()
}

/// Returns how often each vector is in a cluster.
fn times(parts: &VectorFieldParts) -> Vec<usize> {
    let mut counts = vec![0; parts.docs.len()];
    for place in parts.clusters.iter().flat_map(|cluster| &cluster.ranks) {
        counts[*place as usize] += 1;
    }
    counts
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let vectors = vectors(3_000, 48, 20, Similarity::Cosine);
    let expected = written(&build(vectors.clone(), &options(128, 1)));
    for num_threads in [2, 3, 7] {
        let found = written(&build(vectors.clone(), &options(128, num_threads)));
        assert!(found == expected, "{num_threads} threads make other bytes");
    }
    let other = Options {
        seed: 10,
        ..options(128, 1)
    };
    assert!(written(&build(vectors, &other)) != expected);
}

#[test]
fn clusters_are_of_about_equal_size() {
    for similarity in [
        Similarity::Cosine,
        Similarity::L2Norm,
        Similarity::MaxInnerProduct,
    ] {
        let parts = build(vectors(6_000, 32, 10, similarity), &options(100, 2));
        assert!(times(&parts).iter().all(|count| *count == 1));
        let sizes: Vec<usize> = parts
            .clusters
            .iter()
            .map(|cluster| cluster.ranks.len())
            .collect();
        // Those of dissolved clusters are added to what may have been twice as large as it should be.
        assert!(
            sizes.iter().all(|size| (12..=300).contains(size)),
            "{similarity:?}: {sizes:?}"
        );
        assert!(
            (50..=180).contains(&sizes.len()),
            "{similarity:?}: {} clusters",
            sizes.len()
        );
    }
}

#[test]
fn equal_vectors_are_divided_all_the_same() {
    let exact = Element::Byte
        .store(&[7.0; 64], 64, Similarity::L2Norm)
        .unwrap();
    let vectors = Vectors {
        shape: shape(Element::Byte, Similarity::L2Norm, 64),
        docs: (0..2_000).collect(),
        exact: exact.repeat(2_000),
    };
    let parts = build(vectors, &options(100, 2));
    assert!(times(&parts).iter().all(|count| *count == 1));
    assert!(
        parts
            .clusters
            .iter()
            .all(|cluster| cluster.ranks.len() <= 200)
    );
    written(&parts);
}

#[test]
fn few_vectors_are_one_cluster_and_very_few_have_no_codes() {
    let flat = build(
        vectors(2_000, 64, 5, Similarity::L2Norm),
        &Options::default(),
    );
    assert_eq!(flat.clusters.len(), 1);
    assert_eq!(flat.shape.codes, Some(CodeWidth::Two));
    written(&flat);
    let plain = build(
        vectors(1_000, 64, 5, Similarity::L2Norm),
        &Options::default(),
    );
    assert_eq!((plain.clusters.len(), plain.shape.codes), (1, None));
    assert_eq!(times(&plain), vec![1; 1_000]);
    written(&plain);
}

/// Neighbours in the file are nearer to each other than clusters at random are.
#[test]
fn near_clusters_are_neighbours() {
    let parts = build(vectors(6_000, 32, 40, Similarity::L2Norm), &options(50, 2));
    let written = write_vectors(12_000, &[parts]).unwrap();
    let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
    let centroids: Vec<Vec<f32>> = index.fields()[0].centroids().collect();
    let mean = |pairs: Vec<(usize, usize)>| {
        let distances = pairs.iter().map(|(one, other)| {
            canter_vectors::distance(&centroids[*one], &centroids[*other]).sqrt()
        });
        distances.sum::<f32>() / pairs.len() as f32
    };
    let num = centroids.len();
    let neighbours = mean((1..num).map(|place| (place - 1, place)).collect());
    let others = mean(
        (0..num)
            .map(|place| (place, (place * 7 + num / 2) % num))
            .collect(),
    );
    assert!(neighbours < 0.5 * others, "{neighbours} and {others}");
}

/// A cluster stores close vectors side by side: the mean distance of neighbours is far below that of vectors at random.
#[test]
fn near_vectors_are_neighbours_in_a_cluster() {
    let options = Options {
        max_plain_len: 0,
        ..Options::default()
    };
    let parts = build(vectors(2_000, 32, 20, Similarity::L2Norm), &options);
    let [cluster] = &parts.clusters[..] else {
        panic!("{} clusters", parts.clusters.len());
    };
    let prepared = Prepared::new(&parts.shape, &parts.exact);
    let stored: Vec<Vec<f32>> = cluster
        .ranks
        .iter()
        .map(|rank| prepared.get(*rank as usize))
        .collect();
    let mean = |apart: usize| {
        let pairs = stored.iter().zip(stored.iter().cycle().skip(apart));
        let distances = pairs.map(|(one, other)| canter_vectors::distance(one, other).sqrt());
        distances.sum::<f32>() / stored.len() as f32
    };
    assert!(mean(1) < 0.6 * mean(777), "{} and {}", mean(1), mean(777));
    // What the index says of the cluster's width is true.
    let centroid = parts.shape.centroid(&parts.centroids);
    let square = |vector: &Vec<f32>| {
        let rotated = prepared.rotation().rotate(vector);
        f64::from(canter_vectors::distance(&rotated, &centroid))
    };
    let spread = (stored.iter().map(square).sum::<f64>() / stored.len() as f64).sqrt() as f32;
    assert!(
        (cluster.spread - spread).abs() < 0.02 * spread,
        "{} and {spread}",
        cluster.spread
    );
}

/// A source with its file, of which every fifth document is deleted; documents of source `ord` of `num` are between those of
/// the others.
struct Owned {
    index: VectorIndex,
    vectors: Vec<u8>,
    new_docs: Vec<Option<u32>>,
}

fn sources(parts: &[VectorFieldParts], is_deleted: impl Fn(u32) -> bool) -> Vec<Owned> {
    let num = parts.len() as u32;
    let sources = (0..).zip(parts).map(|(ord, parts)| {
        let num_docs = parts.docs.last().unwrap() + 1;
        let written = write_vectors(num_docs, std::slice::from_ref(parts)).unwrap();
        let new_docs = (0..num_docs).map(|doc| (!is_deleted(doc)).then_some(doc * num + ord));
        Owned {
            index: VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap(),
            vectors: written.vectors,
            new_docs: new_docs.collect(),
        }
    });
    sources.collect()
}

fn merged(sources: &[Owned], options: &Options) -> VectorFieldParts {
    let sources = sources.iter().map(|source| Source {
        field: &source.index.fields()[0],
        vectors: &source.vectors,
        new_docs: &source.new_docs,
    });
    merge(&sources.collect::<Vec<_>>(), options).unwrap()
}

/// Checks that each code is what encoding its vector gives, whether it was kept or not.
fn check_codes(parts: &VectorFieldParts) {
    let written =
        write_vectors(parts.docs.last().unwrap() + 1, std::slice::from_ref(parts)).unwrap();
    let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
    let field = &index.fields()[0];
    let Some(width) = parts.shape.codes else {
        return;
    };
    let encoder = canter_vectors::Encoder::new(width, parts.shape.similarity.space());
    let vectors = Prepared::new(&parts.shape, &parts.exact);
    for (cluster, centroid) in parts.clusters.iter().zip(field.centroids()) {
        let mut codes = Vec::new();
        for (rank, corrections) in cluster.ranks.iter().zip(&cluster.corrections) {
            let vector = vectors.get(*rank as usize);
            let mut residual = vectors.rotation().rotate(&vector);
            residual
                .iter_mut()
                .zip(&centroid)
                .for_each(|(number, of)| *number -= of);
            assert_eq!(
                *corrections,
                encoder.encode(&residual, &centroid, &mut codes)
            );
        }
        assert!(codes == cluster.codes);
    }
}

/// Documents with their vectors, of the sources and of what became of them.
fn check_merged(parts: &[VectorFieldParts], sources: &[Owned], merged: &VectorFieldParts) {
    let len = merged.shape.stored_len() as usize;
    let mut expected: Vec<(u32, &[u8])> = Vec::new();
    for (parts, source) in parts.iter().zip(sources) {
        for (doc, vector) in parts.docs.iter().zip(parts.exact.chunks(len)) {
            expected.extend(source.new_docs[*doc as usize].map(|doc| (doc, vector)));
        }
    }
    expected.sort();
    let found = merged.docs.iter().copied().zip(merged.exact.chunks(len));
    assert!(found.eq(expected));
    assert!(times(merged).iter().all(|count| *count == 1));
    check_codes(merged);
}

#[test]
fn merging_keeps_what_is_left_of_all_sources() {
    let options = options(64, 2);
    for sizes in [
        &[2_000, 300, 1][..],
        &[900, 900, 900, 900],
        &[50, 60],
        &[40, 3_000],
    ] {
        let parts: Vec<VectorFieldParts> = sizes
            .iter()
            .map(|num| build(vectors(*num, 48, 12, Similarity::Cosine), &options))
            .collect();
        let sources = sources(&parts, |doc| doc % 5 == 2);
        let found = merged(&sources, &options);
        check_merged(&parts, &sources, &found);
        let sizes = found.clusters.iter().map(|cluster| cluster.ranks.len());
        assert!(sizes.max().unwrap() <= 3 * 64 || found.clusters.len() == 1);
        let again = merged(
            &sources,
            &Options {
                num_threads: 5,
                ..options
            },
        );
        assert!(written(&again) == written(&found));
    }
}

/// The clusters of a large source that a small one is merged into are still there, and their codes are not made again.
#[test]
fn clusters_of_the_largest_source_stay() {
    let options = options(64, 2);
    let large = build(vectors(4_000, 48, 12, Similarity::L2Norm), &options);
    let small = build(vectors(150, 48, 12, Similarity::L2Norm), &options);
    let all = sources(&[large.clone(), small], |_| false);
    let found = merged(&all, &options);
    let centroid_len = large.centroids.len() / large.clusters.len();
    let before: std::collections::BTreeSet<&[u8]> = large.centroids.chunks(centroid_len).collect();
    let kept = found
        .centroids
        .chunks(centroid_len)
        .filter(|centroid| before.contains(centroid));
    assert!(kept.count() * 10 >= large.clusters.len() * 9);
}

#[test]
fn damaged_and_unlike_sources_are_refused() {
    let options = options(64, 1);
    let parts = build(vectors(900, 48, 12, Similarity::L2Norm), &options);
    let other = build(vectors(900, 40, 12, Similarity::L2Norm), &options);
    let refused = |sources: &[Owned], cut: usize| {
        let sources = sources.iter().map(|source| Source {
            field: &source.index.fields()[0],
            vectors: &source.vectors[..source.vectors.len() - cut],
            new_docs: &source.new_docs,
        });
        merge(&sources.collect::<Vec<_>>(), &options)
            .unwrap_err()
            .to_string()
    };
    let unlike = refused(&sources(&[parts.clone(), other], |_| false), 0);
    assert!(unlike.contains("cannot be merged"), "{unlike}");
    let short = refused(&sources(&[parts], |_| false), 1);
    assert!(short.contains("shorter than its index says"), "{short}");
    assert!(refused(&[], 0).contains("nothing to merge"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_vector_is_lost(
        num in 1usize..3_000,
        dims in 8usize..70,
        num_centers in 1usize..9,
        cluster_len in 1usize..300,
        similarity in prop::sample::select(Similarity::ALL.to_vec()),
        codes in prop::sample::select(CodeWidth::ALL.to_vec()),
    ) {
        let options = Options { codes, ..options(cluster_len, 2) };
        let parts = build(vectors(num, dims, num_centers, similarity), &options);
        prop_assert!(times(&parts).iter().all(|count| *count == 1));
        written(&parts);
    }

    #[test]
    fn drawn_numbers_are_different(seed in any::<u64>(), num in 0usize..50, end in 0usize..60) {
        let drawn = Random::new(seed).distinct(num, end);
        prop_assert_eq!(drawn.len(), num.min(end));
        prop_assert!(drawn.is_sorted_by(|one, next| one < next));
        prop_assert!(drawn.last().is_none_or(|last| *last < end));
    }
}
