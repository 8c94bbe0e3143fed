//! Random fields and queries: what is found is what a plain comparison finds, where the effort says that it must be.

use canter_clusters::Options;
use canter_vectors::{CodeWidth, Element, ExactQuery, Similarity};
use proptest::prelude::*;

use super::oracle::{Kind, Split, brute_force, search};
use crate::{Effort, Nearest};

/// A vector's numbers: small, so that many are alike.
type Numbers = Vec<i8>;

fn kind() -> impl Strategy<Value = Kind> {
    let float = prop::sample::select(vec![
        Similarity::Cosine,
        Similarity::L2Norm,
        Similarity::MaxInnerProduct,
    ]);
    let byte = prop::sample::select(Similarity::ALL.to_vec());
    let kinds = prop_oneof![
        float.prop_map(|similarity| (Element::Float, similarity)),
        byte.prop_map(|similarity| (Element::Byte, similarity)),
        Just((Element::Bit, Similarity::L2Norm)),
    ];
    (kinds, 1usize..40).prop_map(|((element, similarity), num)| Kind {
        element,
        similarity,
        dims: if element == Element::Bit {
            8 * num
        } else {
            num
        },
    })
}

fn numbers(kind: Kind) -> impl Strategy<Value = Numbers> {
    let num = if kind.element == Element::Bit {
        kind.dims / 8
    } else {
        kind.dims
    };
    // Not all zeros, which have no direction.
    proptest::collection::vec(-9i8..=9, num).prop_map(|mut numbers| {
        if let Some(first) = numbers.first_mut() {
            *first = if *first == 0 { 5 } else { *first };
        }
        numbers
    })
}

fn floats(numbers: &Numbers) -> Vec<f32> {
    numbers.iter().copied().map(f32::from).collect()
}

/// Splits of documents, each with a vector or without.
fn splits(kind: Kind) -> impl Strategy<Value = Vec<Split>> {
    let documents =
        proptest::collection::vec(proptest::option::weighted(0.8, numbers(kind)), 1..120);
    let code = prop::sample::select(CodeWidth::ALL.to_vec());
    let options = (code, prop::sample::select(vec![4u32, 8]), 1usize..40);
    let split =
        (documents, options).prop_map(move |(documents, (codes, centroid_bits, cluster_len))| {
            let options = Options {
                codes,
                centroid_bits,
                cluster_len,
                max_flat: 10,
                max_plain_len: 200,
                num_threads: 1,
                seed: 42,
            };
            let num_docs = documents.len() as u32;
            let stored = (0..).zip(&documents).filter_map(|(doc, numbers)| {
                let stored =
                    kind.element
                        .store(&floats(numbers.as_ref()?), kind.dims, kind.similarity);
                Some((doc, stored.unwrap()))
            });
            Split::new(kind, num_docs, stored.collect(), &options)
        });
    proptest::collection::vec(split, 1..4)
}

fn case() -> impl Strategy<Value = (Kind, Vec<Split>, ExactQuery)> {
    kind().prop_flat_map(|kind| {
        (splits(kind), numbers(kind)).prop_map(move |(splits, numbers)| {
            let query =
                ExactQuery::new(&floats(&numbers), kind.dims, kind.element, kind.similarity);
            (kind, splits, query.unwrap())
        })
    })
}

/// Everything is read and compared.
const ALL: Effort = Effort {
    min_clusters: usize::MAX,
    max_clusters: usize::MAX,
    slack: 0.0,
    min_accepted: u32::MAX,
    accepted_share: 1.0,
};

impl std::fmt::Debug for Split {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stored.fmt(out)
    }
}

/// Returns whether a filter that takes some documents takes this one.
fn is_accepted(split: usize, doc: u32, salt: u32) -> bool {
    (doc * 7 + split as u32 * 3 + salt) % 5 < 2
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exact_is_what_a_plain_comparison_finds((_, splits, query) in case(), k in 1usize..20) {
        let (found, _) = search(&splits, &query, (k, 1_000), ALL, &|_, _| true);
        prop_assert_eq!(found, brute_force(&splits, &query, k, &|_, _| true));
    }

    #[test]
    fn documents_that_do_not_count_are_no_candidates(
        (_, splits, query) in case(),
        k in 1usize..20,
        salt in 0u32..5,
    ) {
        // As many candidates as hits: a document that does not count would take the place of one that does.
        let accepts = |split, doc| is_accepted(split, doc, salt);
        let accepted = splits.iter().enumerate();
        let accepted = accepted.map(|(ord, split)| split.stored.iter().filter(|(doc, _)| accepts(ord, *doc)).count());
        let num_accepted: usize = accepted.sum();
        let (found, _) = search(&splits, &query, (k, num_accepted), ALL, &accepts);
        prop_assert_eq!(found, brute_force(&splits, &query, k, &accepts));
    }

    #[test]
    fn what_is_found_has_its_true_score(
        (_, splits, query) in case(),
        (k, num_candidates, num_clusters) in (1usize..20, 1usize..30, 1usize..6),
    ) {
        let effort = Effort {
            min_clusters: num_clusters,
            max_clusters: num_clusters,
            slack: 0.0,
            min_accepted: 0,
            accepted_share: 1.0,
        };
        let (found, _) = search(&splits, &query, (k, num_candidates), effort, &|_, _| true);
        let all = brute_force(&splits, &query, usize::MAX, &|_, _| true);
        prop_assert!(found.len() <= k.min(num_candidates));
        prop_assert!(found.is_sorted_by(|one, next| one.score >= next.score));
        for nearest in &found {
            let same = |of: &&Nearest| (of.split, of.doc) == (nearest.split, nearest.doc);
            prop_assert_eq!(all.iter().find(same), Some(nearest));
        }
    }
}

#[test]
fn enough_clusters_are_chosen_for_a_filter() {
    let clusters: Vec<crate::RankedCluster> = (0..100)
        .map(|cluster| crate::RankedCluster {
            reach: -(((cluster * 37) % 100) as f32),
            spread: 2.0,
            split: cluster % 3,
            cluster: cluster / 3,
            num_vectors: 50,
            is_whole: false,
        })
        .collect();
    let chosen_of = |min_clusters, slack, min_accepted, accepted_share, max_clusters| {
        let effort = Effort {
            min_clusters,
            max_clusters,
            slack,
            min_accepted,
            accepted_share,
        };
        let chosen = crate::Choice::new(clusters.clone()).first(effort);
        assert!(chosen.is_sorted_by_key(|of| (of.split, of.cluster)));
        let least = chosen
            .iter()
            .map(|of| of.reach)
            .fold(f32::INFINITY, f32::min);
        let num = chosen.len();
        // The closest ones.
        assert!(num == 0 || least == -(num as f32 - 1.0));
        num
    };
    let chosen = |min_clusters, min_accepted, accepted_share, max_clusters| {
        chosen_of(
            min_clusters,
            0.0,
            min_accepted,
            accepted_share,
            max_clusters,
        )
    };
    // Those within the slack, which is so many spreads of the best.
    assert_eq!(chosen_of(1, 4.5, 0, 1.0, 50), 10);
    assert_eq!(chosen_of(1, 4.5, 0, 1.0, 7), 7);
    assert_eq!(chosen_of(20, 4.5, 0, 1.0, 50), 20);
    assert_eq!(chosen(4, 100, 1.0, 50), 4);
    assert_eq!(chosen(1, 100, 1.0, 50), 2);
    assert_eq!(chosen(1, 100, 0.1, 50), 20);
    assert_eq!(chosen(1, 100, 0.001, 50), 50);
    assert_eq!(chosen(0, 0, 1.0, 50), 1);
    assert_eq!(chosen(200, 0, 1.0, 200), 100);
}

/// A filter takes documents of a cluster that is far from the query.
#[test]
fn clusters_are_read_until_there_are_candidates() {
    let kind = Kind {
        element: Element::Float,
        similarity: Similarity::L2Norm,
        dims: 2,
    };
    let options = Options {
        cluster_len: 8,
        max_flat: 10,
        max_plain_len: 0,
        ..Options::default()
    };
    let stored = (0..1_000u32).map(|doc| {
        let numbers = [doc as f32, (doc % 7) as f32];
        (
            doc,
            kind.element.store(&numbers, 2, kind.similarity).unwrap(),
        )
    });
    let splits = [Split::new(kind, 1_000, stored.collect(), &options)];
    let query = ExactQuery::new(&[0.0, 0.0], 2, kind.element, kind.similarity).unwrap();
    let accepts = |_, doc| doc >= 950;
    let effort = Effort::new(20, 0, 50, 1_000);
    let (found, _) = search(&splits, &query, (10, 20), effort, &accepts);
    assert_eq!(found, brute_force(&splits, &query, 10, &accepts));
}
