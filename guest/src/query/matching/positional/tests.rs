//! Intervals of generated documents, compared with those that a plain search of all choices finds.

use proptest::prelude::*;

use super::combine::Interval;
use super::source::Source;
use crate::query::tree::Relation;

/// Spans of positions.
type Spans = Vec<(u32, u32)>;

fn spans(intervals: &[Interval]) -> Spans {
    let spans = intervals
        .iter()
        .map(|interval| (interval.start, interval.end));
    spans.collect()
}

/// Returns the spans without those around another one.
fn minimal(spans: impl IntoIterator<Item = (u32, u32)>) -> Spans {
    let all: std::collections::BTreeSet<(u32, u32)> = spans.into_iter().collect();
    let is_minimal = |(start, end): &(u32, u32)| {
        !all.iter()
            .any(|other| other != &(*start, *end) && *start <= other.0 && other.1 <= *end)
    };
    all.iter().copied().filter(is_minimal).collect()
}

/// Returns every choice of one position of each list.
fn choices(lists: &[Vec<u32>]) -> Vec<Vec<u32>> {
    lists.iter().fold(vec![Vec::new()], |chosen, list| {
        let with = chosen.iter().flat_map(|before| {
            list.iter().map(|position| {
                let mut all = before.clone();
                all.push(*position);
                all
            })
        });
        with.collect()
    })
}

fn around(choice: &[u32]) -> (u32, u32) {
    (*choice.iter().min().unwrap(), *choice.iter().max().unwrap())
}

fn leaves(num: usize) -> Vec<Source> {
    (0..num).map(Source::Leaf).collect()
}

fn lists() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let list = prop::collection::btree_set(0u32..14, 0..5);
    let list = list.prop_map(|set| set.into_iter().collect::<Vec<u32>>());
    prop::collection::vec(list, 1..4)
}

proptest! {
    #[test]
    fn ordered_words_are_the_smallest_ascending_choices(lists in lists()) {
        let source = Source::ordered(leaves(lists.len()));
        let ascends = |choice: &Vec<u32>| choice.is_sorted_by(|one, next| one < next);
        let expected = choices(&lists).into_iter().filter(ascends);
        let expected = minimal(expected.map(|choice| around(&choice)));
        prop_assert_eq!(spans(&source.intervals(&lists, true)), expected);
    }

    #[test]
    fn unordered_words_are_the_smallest_choices(lists in lists()) {
        let source = Source::unordered(leaves(lists.len()), true);
        let expected = minimal(choices(&lists).iter().map(|choice| around(choice)));
        prop_assert_eq!(spans(&source.intervals(&lists, true)), expected);
    }

    #[test]
    fn few_gaps_are_found_if_any_choice_has_them(lists in lists(), max in 0u32..5) {
        let gaps = |choice: &Vec<u32>| {
            let (start, end) = around(choice);
            i64::from(end) - i64::from(start) + 1 - choice.len() as i64
        };
        let is_near = |choice: &Vec<u32>| gaps(choice) <= i64::from(max);
        let ascends = |choice: &Vec<u32>| choice.is_sorted_by(|one, next| one < next);
        let found = |source: Source, is_minimal: bool| {
            let source = source.with_max_gaps(max).unwrap();
            !source.intervals(&lists, is_minimal).is_empty()
        };
        let all = choices(&lists);
        let any_order = all.iter().any(is_near);
        let in_order = all.iter().any(|choice| ascends(choice) && is_near(choice));
        for is_minimal in [true, false] {
            prop_assert_eq!(found(Source::unordered(leaves(lists.len()), true), is_minimal), any_order);
            prop_assert_eq!(found(Source::ordered(leaves(lists.len())), is_minimal), in_order);
        }
    }

    #[test]
    fn a_phrase_is_a_choice_of_neighbours(lists in lists()) {
        let is_phrase = |choice: &Vec<u32>| choice.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let expected = choices(&lists).into_iter().filter(is_phrase);
        let expected: Spans = expected.map(|choice| around(&choice)).collect();
        let source = Source::phrase(leaves(lists.len())).unwrap();
        prop_assert_eq!(spans(&source.intervals(&lists, true)), expected);
    }

    /// Alternatives of one and of two words, each before a third word: the short one must not hide the long one.
    #[test]
    fn alternatives_of_different_lengths_are_all_tried(lists in prop::array::uniform3(
        prop::collection::btree_set(0u32..8, 0..4))) {
        let lists = lists.map(|set| set.into_iter().collect::<Vec<u32>>());
        let [one, two, three] = &lists;
        let long = Source::phrase(leaves(2)).unwrap();
        let either = Source::any(vec![long, Source::Leaf(1)]);
        let source = Source::phrase(vec![either, Source::Leaf(2)]).unwrap();
        let is_before = |at: &u32| three.contains(&(at + 1));
        let expected = minimal(two.iter().filter(|at| is_before(at)).map(|at| (*at, at + 1)));
        prop_assert_eq!(spans(&source.intervals(&lists, true)), expected);

        let only_long = Source::any(vec![Source::phrase(leaves(2)).unwrap(), Source::Leaf(1)]);
        let source = only_long.related(Relation::Containing, Source::Leaf(0)).unwrap();
        let has_long = one.iter().any(|at| two.contains(&(at + 1)));
        let has_both = one.iter().any(|at| two.contains(at));
        prop_assert_eq!(!source.intervals(&lists, true).is_empty(), has_long || has_both);
    }

    #[test]
    fn relations_are_as_they_are_defined(lists in prop::array::uniform4(
        prop::collection::btree_set(0u32..12, 0..5))) {
        let lists = lists.map(|set| set.into_iter().collect::<Vec<u32>>());
        let one = Source::ordered(vec![Source::Leaf(0), Source::Leaf(1)]);
        let other = Source::unordered(vec![Source::Leaf(2), Source::Leaf(3)], true);
        let of = |source: &Source| spans(&source.intervals(&lists, true));
        let (all, others) = (of(&one), of(&other));
        let inside = |(start, end): (u32, u32), (from, to): (u32, u32)| from <= start && end <= to;
        let overlaps = |(start, end): (u32, u32), (from, to): (u32, u32)| start <= to && from <= end;
        type Test<'t> = &'t dyn Fn((u32, u32)) -> bool;
        let any = |test: &dyn Fn((u32, u32)) -> bool| others.iter().any(|other| test(*other));
        let tests: [(Relation, Test<'_>); 8] = [
            (Relation::Containing, &|span| any(&|other| inside(other, span))),
            (Relation::NotContaining, &|span| !any(&|other| inside(other, span))),
            (Relation::ContainedBy, &|span| any(&|other| inside(span, other))),
            (Relation::NotContainedBy, &|span| !any(&|other| inside(span, other))),
            (Relation::Overlapping, &|span| any(&|other| overlaps(span, other))),
            (Relation::NotOverlapping, &|span| !any(&|other| overlaps(span, other))),
            (Relation::Before, &|span| any(&|other| span.1 < other.0)),
            (Relation::After, &|span| any(&|other| other.1 < span.0)),
        ];
        for (relation, test) in tests {
            let source = one.clone().related(relation, other.clone()).unwrap();
            let expected: Spans = all.iter().copied().filter(|span| test(*span)).collect();
            prop_assert_eq!(of(&source), expected, "{:?}", relation);
        }
    }
}

#[test]
fn a_repeated_word_is_two_occurrences() {
    let twice = Source::unordered(vec![Source::Leaf(0), Source::Leaf(0)], true);
    assert_eq!(spans(&twice.intervals(&[vec![3]], true)), []);
    assert_eq!(
        spans(&twice.intervals(&[vec![3, 5, 9]], true)),
        [(3, 5), (5, 9)]
    );
    let near = twice.with_max_gaps(1).unwrap();
    assert_eq!(spans(&near.intervals(&[vec![3, 5, 9]], true)), [(3, 5)]);
}

#[test]
fn spans_begin_at_each_first_word() {
    let near = Source::ordered(leaves(2)).with_max_gaps(3).unwrap();
    let positions = [vec![0, 2], vec![3]];
    assert_eq!(spans(&near.intervals(&positions, true)), [(2, 3)]);
    assert_eq!(spans(&near.intervals(&positions, false)), [(0, 3), (2, 3)]);
}

#[test]
fn too_many_combinations_are_an_error() {
    let either = || {
        let long = Source::phrase(leaves(2)).unwrap();
        Source::any(vec![Source::Leaf(0), long])
    };
    let all = Source::ordered((0..11).map(|_| either()).collect());
    all.with_max_gaps(1).unwrap_err();
    let all = Source::ordered((0..10).map(|_| either()).collect());
    all.with_max_gaps(1).unwrap();
}
