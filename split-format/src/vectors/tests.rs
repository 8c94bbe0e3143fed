//! Vectors are read as they were written, each range is known before its bytes, and damage is an error.

use std::collections::BTreeSet;

use canter_vectors::{CodeWidth, Corrections, Element, Similarity};
use proptest::prelude::*;

use super::*;
use crate::FormatError;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn shape() -> impl Strategy<Value = VectorShape> {
    let element = prop::sample::select(vec![Element::Float, Element::Byte, Element::Bit]);
    let similarity = prop::sample::select(Similarity::ALL.to_vec());
    let mut widths = vec![None];
    widths.extend(CodeWidth::ALL.map(Some));
    let codes = prop::sample::select(widths);
    let centroid_bits = prop::sample::select(vec![4u32, 8]);
    (
        element,
        similarity,
        1u32..150,
        any::<u64>(),
        codes,
        centroid_bits,
    )
        .prop_map(
            |(element, similarity, dims, seed, codes, centroid_bits)| VectorShape {
                field: 0,
                element,
                similarity,
                dims,
                seed: if codes.is_some() { seed } else { 0 },
                codes,
                centroid_bits: if codes.is_some() { centroid_bits } else { 8 },
            },
        )
}

/// Random bytes from a seed.
fn random(seed: u64, len: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let bytes = (0..len).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    bytes.collect()
}

/// A field with vectors of some of `num_docs` documents.
fn field(num_docs: u32) -> impl Strategy<Value = VectorFieldParts> {
    let docs = proptest::collection::btree_set(0..num_docs, 1..=60);
    let docs = prop_oneof![docs, Just((0..num_docs).collect::<BTreeSet<u32>>())];
    (shape(), docs, 1usize..6, any::<u64>()).prop_map(|(shape, docs, num_clusters, seed)| {
        let num_clusters = if shape.codes.is_some() {
            num_clusters
        } else {
            1
        };
        parts(shape, docs.into_iter().collect(), num_clusters, seed)
    })
}

fn parts(shape: VectorShape, docs: Vec<u32>, num_clusters: usize, seed: u64) -> VectorFieldParts {
    let mut parts = VectorFieldParts {
        exact: random(seed, shape.stored_len() * docs.len() as u64),
        shape,
        docs,
        centroids: Vec::new(),
        clusters: Vec::new(),
    };
    let num_vectors = parts.docs.len() as u32;
    for cluster in 0..num_clusters {
        let is_in = |rank: &u32| (*rank as usize + seed as usize % 7) % num_clusters == cluster;
        let mut ranks: Vec<u32> = (0..num_vectors).filter(is_in).collect();
        if ranks.is_empty() {
            continue;
        }
        // Any order is right.
        let middle = seed as usize % ranks.len();
        ranks.rotate_left(middle);
        let mut of_cluster = VectorClusterParts {
            ranks,
            ..VectorClusterParts::default()
        };
        if let Some(width) = parts.shape.codes {
            let dims = parts.shape.rotated_dims();
            let len = (width.code_len(dims) * of_cluster.ranks.len()) as u64;
            of_cluster.codes = random(seed + 1, len);
            let corrections = of_cluster.ranks.iter().map(|rank| Corrections {
                factor: *rank as f32 * 0.5,
                offset: -(*rank as f32),
            });
            of_cluster.corrections = corrections.collect();
            of_cluster.spread = cluster as f32 * 0.25;
            let centroid = random(seed + cluster as u64, dims as u64);
            let centroid = centroid.iter().map(|byte| f32::from(*byte) / 256.0 - 0.5);
            let stored = parts.shape.stored_centroid(&centroid.collect::<Vec<f32>>());
            parts.centroids.extend(stored);
        }
        parts.clusters.push(of_cluster);
    }
    parts
}

fn split() -> impl Strategy<Value = (u32, Vec<VectorFieldParts>)> {
    (1u32..200).prop_flat_map(|num_docs| {
        let fields = proptest::collection::vec(field(num_docs), 0..3);
        fields.prop_map(move |mut fields| {
            for (number, field) in (0..).zip(&mut fields) {
                field.shape.field = number * 3;
            }
            (num_docs, fields)
        })
    })
}

fn slice(bytes: &[u8], range: std::ops::Range<u64>) -> &[u8] {
    &bytes[range.start as usize..range.end as usize]
}

fn check_field(
    field: &VectorField,
    parts: &VectorFieldParts,
    num_docs: u32,
    vectors: &[u8],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(field.shape(), &parts.shape);
    prop_assert_eq!(field.num_vectors() as usize, parts.docs.len());
    prop_assert_eq!(field.num_clusters(), parts.clusters.len());
    let is_sound = |range: &std::ops::Range<u64>| {
        field
            .check_of(range)
            .content(slice(vectors, range.clone()))
            .is_ok()
    };
    let mut place = 0;
    for (ord, expected) in parts.clusters.iter().enumerate() {
        let range = field.cluster_range(ord);
        prop_assert!(is_sound(&range));
        let bytes = slice(vectors, range);
        let cluster = field.open_cluster(ord, bytes).unwrap();
        let docs = expected.ranks.iter().map(|rank| parts.docs[*rank as usize]);
        prop_assert!(cluster.placed().eq(docs.zip(place..)));
        place += expected.ranks.len() as u32;
        prop_assert_eq!(field.spread(ord), expected.spread);
        prop_assert_eq!(cluster.codes().codes, &expected.codes);
        let corrections = expected.corrections.iter();
        let corrections =
            corrections.flat_map(|of| [of.factor.to_le_bytes(), of.offset.to_le_bytes()]);
        prop_assert_eq!(
            cluster.codes().corrections,
            corrections.collect::<Vec<_>>().concat()
        );
        // Not the bytes of the cluster.
        if let Some((_, others)) = bytes.split_first() {
            prop_assert!(field.open_cluster(ord, others).is_err());
        }
    }
    for doc in 0..num_docs + 2 {
        let range = field.places_range(doc);
        prop_assert!(range.is_empty() || is_sound(&range));
        let place = field.place_of(doc, slice(vectors, range)).unwrap();
        let rank = parts.docs.binary_search(&doc).ok();
        prop_assert_eq!(place.is_some(), rank.is_some());
        if let Some((place, rank)) = place.zip(rank) {
            let len = parts.shape.stored_len() as usize;
            let range = field.exact_range(place);
            prop_assert!(is_sound(&range));
            let expected = &parts.exact[rank * len..][..len];
            prop_assert_eq!(field.exact(slice(vectors, range)), expected);
        }
    }
    prop_assert_eq!(field.exact_range(field.num_vectors()), 0..0);
    prop_assert_eq!(field.cluster_range(field.num_clusters()), 0..0);
    Ok(())
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn vectors_are_read_as_they_were_written((num_docs, fields) in split()) {
        let written = write_vectors(num_docs, &fields).unwrap();
        let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
        prop_assert_eq!(index.write(), written.index);
        // Sealing anew changes nothing.
        let mut sealed = written.vectors.clone();
        index.seal(&mut sealed);
        prop_assert!(sealed == written.vectors);
        prop_assert_eq!(index.num_docs(), num_docs);
        prop_assert_eq!(index.fields().len(), fields.len());
        for parts in &fields {
            let field = index.field(parts.shape.field).unwrap();
            check_field(field, parts, num_docs, &written.vectors)?;
        }
        prop_assert!(index.field(1).is_none());
    }

    #[test]
    fn a_damaged_index_describes_what_it_has_the_bytes_for(
        (num_docs, fields) in split(),
        faults in proptest::collection::vec(any::<(prop::sample::Index, u8)>(), 1..4),
    ) {
        let written = write_vectors(num_docs, &fields).unwrap();
        let mut bytes = written.index;
        for (at, value) in faults {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let Ok(index) = VectorIndex::open(&bytes, written.vectors.len() as u64) else {
            return Ok(());
        };
        prop_assert_eq!(VectorIndex::open(&index.write(), index.vectors_len()).unwrap(), index.clone());
        for field in index.fields() {
            use_all(field, index.num_docs(), &written.vectors)?;
        }
    }

    #[test]
    fn damaged_vectors_are_errors_or_documents_of_the_split(
        (num_docs, fields) in split(),
        faults in proptest::collection::vec(any::<(prop::sample::Index, u8)>(), 1..6),
    ) {
        let mut written = write_vectors(num_docs, &fields).unwrap();
        for (at, value) in faults {
            if !written.vectors.is_empty() {
                let at = at.index(written.vectors.len());
                written.vectors[at] = value;
            }
        }
        let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
        for field in index.fields() {
            use_all(field, num_docs, &written.vectors)?;
        }
    }

    #[test]
    fn any_bytes_as_an_index_are_answered(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..5], 0..200)) {
        let index = [&2u32.to_le_bytes()[..], &bytes].concat();
        let _ = VectorIndex::open(&index, bytes.len() as u64);
    }
}

/// Reads all that there is; nothing may be outside of its bounds.
fn use_all(field: &VectorField, num_docs: u32, vectors: &[u8]) -> Result<(), TestCaseError> {
    prop_assert!(field.range().end <= vectors.len() as u64);
    for centroid in field.centroids() {
        prop_assert!(centroid.iter().all(|number| number.is_finite()));
    }
    for ord in 0..field.num_clusters() {
        let Ok(cluster) = field.open_cluster(ord, slice(vectors, field.cluster_range(ord))) else {
            continue;
        };
        prop_assert!((0.0..f32::INFINITY).contains(&field.spread(ord)));
        let docs = cluster.docs();
        prop_assert!(docs.iter().all(|doc| *doc < num_docs));
        prop_assert!(
            cluster
                .placed()
                .all(|(_, place)| !field.exact_range(place).is_empty())
        );
        prop_assert_eq!(docs.len() as u32, field.num_vectors_of(ord));
    }
    for doc in 0..num_docs.min(300) {
        if let Ok(Some(place)) = field.place_of(doc, slice(vectors, field.places_range(doc))) {
            prop_assert!(!field.exact_range(place).is_empty());
        }
    }
    Ok(())
}

fn small(codes: Option<CodeWidth>) -> VectorFieldParts {
    let shape = VectorShape {
        field: 4,
        element: Element::Float,
        similarity: Similarity::Cosine,
        dims: 3,
        seed: if codes.is_some() { 7 } else { 0 },
        codes,
        centroid_bits: 8,
    };
    let num_clusters = if codes.is_some() { 2 } else { 1 };
    parts(shape, vec![1, 2, 5, 6, 9], num_clusters, 1)
}

/// Index of the small field, where each part begins, by name.
fn error_of(change: impl Fn(&mut Vec<u8>)) -> String {
    let written = write_vectors(10, &[small(Some(CodeWidth::One))]).unwrap();
    let mut bytes = written.index;
    change(&mut bytes);
    let opened: Result<VectorIndex, FormatError> =
        VectorIndex::open(&bytes, written.vectors.len() as u64);
    opened.unwrap_err().to_string()
}

#[test]
fn what_lies_is_named() {
    // u32 version, num_docs, num_fields, field, element, similarity, dims, code bits, seed, centroid bits,
    // num_vectors, num_clusters, group of counts, group of first documents.
    let cases: [(usize, u8, &str); 17] = [
        (0, 9, "version 9 is unknown"),
        (0, 1, "it was built by an earlier version of Canter"),
        (4, 4, "5 vectors in a split of 4 documents"),
        (5, 99, "a count of 99 cannot fit"),
        (7, 3, "element type 3 is unknown"),
        (8, 4, "similarity 4 is unknown"),
        (9, 0, "vectors of 0 dimensions"),
        (9, 4, "bytes of vectors, of which there are"),
        (10, 3, "codes of 3 bits"),
        (19, 5, "centroids of 5 bits"),
        (
            20,
            7,
            "its clusters have 5 vectors, of which the field has 7",
        ),
        (
            20,
            2,
            "a cluster without vectors, or with more than the field has",
        ),
        (
            20,
            4,
            "its clusters have 5 vectors, of which the field has 4",
        ),
        (20, 0, "0 vectors in a split"),
        (21, 99, "a count of 99 cannot fit"),
        (21, 0, "0 clusters"),
        (25, 10, "its documents are not in order"),
    ];
    for (at, value, expected) in cases {
        let problem = error_of(|bytes| bytes[at] = value);
        assert!(problem.contains(expected), "byte {at} = {value}: {problem}");
    }
    assert!(error_of(|bytes| bytes.push(0)).contains("too many"));
    assert!(error_of(|bytes| bytes.truncate(30)).contains("cannot fit"));
    let negative = error_of(|bytes| {
        let at = bytes.len() - 2 * 68 - 8;
        bytes[at..at + 4].copy_from_slice(&(-1f32).to_le_bytes());
    });
    assert!(
        negative.contains("is negative, or not finite"),
        "{negative}"
    );
    // The scale of the first centroid.
    let infinite = error_of(|bytes| {
        let at = bytes.len() - 2 * 68;
        bytes[at..at + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    });
    assert!(
        infinite.contains("the scale of a centroid is not finite"),
        "{infinite}"
    );
}

#[test]
fn a_cluster_that_lies_is_named() {
    let parts = small(Some(CodeWidth::One));
    let written = write_vectors(10, std::slice::from_ref(&parts)).unwrap();
    let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
    let field = index.field(4).unwrap();
    let num = field.num_vectors_of(0) as usize;
    let sound = slice(&written.vectors, field.cluster_range(0));
    assert!(field.open_cluster(0, sound).is_ok());
    let check = |at: usize, value: &[u8], expected: &str| {
        let mut bytes = sound.to_vec();
        bytes[at..at + value.len()].copy_from_slice(value);
        let problem = field.open_cluster(0, &bytes).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    check(
        4 + 8 * num,
        &f32::NAN.to_le_bytes(),
        "a correction of a code is not finite",
    );
    check(
        4 + 16 * num,
        &[0xff],
        "a cluster has a document that the split has not",
    );
    let other = field.open_cluster(1, &sound[1..]).unwrap_err().to_string();
    assert!(other.contains("cluster 1 has another length"), "{other}");
}

#[test]
fn writers_are_refused_what_readers_would_not_find() {
    let refused = |change: &dyn Fn(&mut VectorFieldParts), expected: &str| {
        let mut parts = small(Some(CodeWidth::One));
        change(&mut parts);
        let problem = write_vectors(10, &[parts]).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    refused(
        &|parts| parts.docs.swap(0, 1),
        "documents are written in order",
    );
    refused(
        &|parts| parts.docs[4] = 10,
        "documents are written in order",
    );
    refused(
        &|parts| parts.clusters[1].ranks = vec![1, 2, 4],
        "a vector is in no cluster",
    );
    refused(
        &|parts| {
            parts.clusters[0].codes.pop();
        },
        "codes have another length",
    );
    refused(
        &|parts| {
            parts.exact.pop();
        },
        "other lengths than their shape says",
    );
    refused(
        &|parts| parts.clusters[1].ranks = vec![0, 2, 9],
        "a vector behind all vectors",
    );
    refused(
        &|parts| {
            parts.centroids.pop();
        },
        "vectors",
    );
    refused(
        &|parts| parts.clusters[0].corrections[0].factor = f32::INFINITY,
        "not finite",
    );
    refused(
        &|parts| {
            parts.clusters.pop();
        },
        "more or fewer vectors than the field",
    );
    let twice = [small(None), small(None)];
    assert!(write_vectors(10, &twice).is_err());
}

/// Codes cost what `canter-vectors` says, and 8 bytes; a place costs its bits.
#[test]
fn sizes_are_what_the_format_promises() {
    let shape = VectorShape {
        field: 0,
        element: Element::Float,
        similarity: Similarity::Cosine,
        dims: 384,
        seed: 1,
        codes: Some(CodeWidth::Two),
        centroid_bits: 4,
    };
    let all = parts(shape.clone(), (0..2_000).collect(), 4, 1);
    let written = write_vectors(2_000, &[all]).unwrap();
    let exact = |num: usize| num * (4 + 384 * 4);
    // 4 centroids.
    assert!(
        written.index.len() < 4 * 200 + 40,
        "{}",
        written.index.len()
    );
    // 11 bits for a document or a place.
    let of_clusters = 2_000 * (96 + 8) + 4 * (4 + 688);
    let of_places = 4 + 1_408 + 4 + 1_342;
    assert_eq!(
        written.vectors.len(),
        of_clusters + of_places + exact(2_000)
    );
    let half = parts(shape, (0..1_000).map(|rank| rank * 2).collect(), 1, 1);
    let written = write_vectors(2_000, &[half]).unwrap();
    let of_cluster = 4 + 1_000 * (96 + 8) + 1_375;
    let of_places = 4 + 1_375 + 1_250;
    assert_eq!(written.vectors.len(), of_cluster + of_places + exact(1_000));
}

/// Of several blocks of places, the one that may have a document is read alone.
#[test]
fn a_place_takes_one_short_read() {
    let shape = VectorShape {
        field: 0,
        element: Element::Byte,
        similarity: Similarity::L2Norm,
        dims: 2,
        seed: 0,
        codes: None,
        centroid_bits: 8,
    };
    for step in [1, 3] {
        let docs: Vec<u32> = (0..5_000).map(|rank| 1 + rank * step).collect();
        let num_docs = if step == 1 { 5_001 } else { 20_000 };
        let parts = parts(shape.clone(), docs, 1, 1);
        let written = write_vectors(num_docs, std::slice::from_ref(&parts)).unwrap();
        let index = VectorIndex::open(&written.index, written.vectors.len() as u64).unwrap();
        let field = index.field(0).unwrap();
        check_field(field, &parts, num_docs, &written.vectors).unwrap();
        let lens = (0..num_docs).map(|doc| field.places_range(doc));
        assert!(lens.map(|range| range.end - range.start).max().unwrap() <= 4 + 2 * 2_048);
    }
}
