//! Counting by the manifest: the number of matching documents of a split decides which splits stay unopened
//! although they hold hits.

use canter_doc_mapper::config::Normalizer;
use canter_doc_mapper::{DocMapper, FieldKind};
use canter_split_format::{TimeRange, Totals};
use tantivy::Term;

use crate::query::{QueryShape, lowercase};
use crate::request::SortOrder;

/// Maximum length of an indexed value; longer ones are in columns but not in postings.
const MAX_VALUE_LEN: usize = 255;

/// A query whose hits can be counted from what is known about a split.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Countable {
    /// Every document matches.
    All,
    /// No document matches.
    Nothing,
    /// Documents with this value of a field that heads may roll up.
    Value {
        /// The field's name in the schema.
        field: String,
        value: String,
        /// True if the value stands for all of its spellings in capitals.
        is_folded: bool,
    },
}

impl Countable {
    /// Returns `None` if only a split itself can count the hits.
    pub(super) fn of_shape(shape: &QueryShape, mapper: &DocMapper) -> Option<Self> {
        match shape {
            QueryShape::All => Some(Self::All),
            QueryShape::Nothing => Some(Self::Nothing),
            QueryShape::Term(term) => value_of(term, mapper),
            QueryShape::Other => None,
        }
    }

    /// Counts the matches among `num_docs` documents, `num_deleted` of which are deleted; `None` if the number is
    /// unknown.
    pub(super) fn count(
        &self,
        num_docs: u64,
        num_deleted: u64,
        totals: Option<&Totals>,
    ) -> Option<u64> {
        match self {
            Self::All => Some(num_docs.saturating_sub(num_deleted)),
            Self::Nothing => Some(0),
            Self::Value { .. } if num_deleted > 0 => None,
            Self::Value {
                field,
                value,
                is_folded: false,
            } => {
                let counts = totals?.get(field)?;
                Some(counts.get(value).copied().unwrap_or(0))
            }
            Self::Value { field, value, .. } => {
                let counts = totals?.get(field)?.iter();
                let spelled = counts.filter(|(other, _)| lowercase(other) == *value);
                Some(spelled.map(|(_, count)| count).sum())
            }
        }
    }
}

/// Returns the value that a term stands for, if the column holds values as they were written, and the postings do, or have
/// them in lowercase.
fn value_of(term: &Term, mapper: &DocMapper) -> Option<Countable> {
    let fields = mapper.fields();
    let field = fields.iter().find(|field| field.field == term.field())?;
    let is_folded = match field.kind {
        FieldKind::Text(text) if field.fast == Some(Normalizer::Raw) => {
            match text.tokenizer.as_str() {
                "raw" => false,
                "lowercase" => true,
                _ => return None,
            }
        }
        _ => return None,
    };
    let value = term.value();
    let value = value
        .as_str()
        .filter(|value| value.len() <= MAX_VALUE_LEN)?;
    Some(Countable::Value {
        field: field.name.to_owned(),
        value: value.to_owned(),
        is_folded,
    })
}

/// A split or page that may hold hits, and its time range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) time_range: Option<TimeRange>,
    /// Number of hits, if known.
    pub(super) num_hits: Option<u64>,
}

/// Returns `true` for each item that must be searched to find the first `window` hits in order of time. Items of
/// unknown count must be searched; items without hits, or with only later hits than are needed, need not.
pub(super) fn must_look_at(all: &[Counted], window: u64, direction: SortOrder) -> Vec<bool> {
    let mut best_first: Vec<(TimeRange, u64)> = all
        .iter()
        .filter_map(|one| one.time_range.zip(one.num_hits))
        .filter(|(_, num_hits)| *num_hits > 0)
        .collect();
    // Times in the direction of the search: the smallest is the best.
    let best = |range: TimeRange| match direction {
        SortOrder::Descending => !range.end_ns,
        SortOrder::Ascending => range.start_ns,
    };
    let worst = |range: TimeRange| match direction {
        SortOrder::Descending => !range.start_ns,
        SortOrder::Ascending => range.end_ns,
    };
    canter_sorting::sort_by_key(&mut best_first, |(range, _)| best(*range));
    let mut num_found = 0u64;
    let mut bound = i64::MIN;
    for (range, num_hits) in &best_first {
        if num_found >= window {
            break;
        }
        num_found = num_found.saturating_add(*num_hits);
        bound = bound.max(worst(*range));
    }
    let has_enough = num_found >= window;
    all.iter()
        .map(|one| match (one.time_range, one.num_hits) {
            (_, Some(0)) => false,
            (Some(range), Some(_)) => window > 0 && (!has_enough || best(range) <= bound),
            _ => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_folded_value_counts_all_of_its_spellings() {
        let counts = [("ERROR", 3), ("Error", 2), ("error", 1), ("ERRORS", 7)];
        let counts = counts.map(|(value, count)| (value.to_owned(), count));
        let totals: Totals = BTreeMap::from([("level".to_owned(), counts.into_iter().collect())]);
        let count = |is_folded: bool| {
            let (field, value) = ("level".to_owned(), "error".to_owned());
            let asked = Countable::Value {
                field,
                value,
                is_folded,
            };
            asked.count(13, 0, Some(&totals))
        };
        assert_eq!(count(true), Some(6));
        assert_eq!(count(false), Some(1));
    }

    fn counted(start_ns: i64, end_ns: i64, num_hits: Option<u64>) -> Counted {
        Counted {
            time_range: Some(TimeRange { start_ns, end_ns }),
            num_hits,
        }
    }

    fn check(all: &[Counted], window: u64, newest: &[bool], oldest: &[bool]) {
        assert_eq!(must_look_at(all, window, SortOrder::Descending), newest);
        assert_eq!(must_look_at(all, window, SortOrder::Ascending), oldest);
    }

    #[test]
    fn enough_hits_at_one_end_are_enough() {
        let all = [
            counted(0, 9, Some(5)),
            counted(10, 19, Some(5)),
            counted(20, 29, Some(5)),
        ];
        check(&all, 0, &[false, false, false], &[false, false, false]);
        check(&all, 1, &[false, false, true], &[true, false, false]);
        check(&all, 6, &[false, true, true], &[true, true, false]);
        check(&all, 16, &[true, true, true], &[true, true, true]);
    }

    #[test]
    fn what_overlaps_in_time_may_hold_a_better_hit() {
        let all = [
            counted(0, 20, Some(5)),
            counted(20, 29, Some(5)),
            counted(30, 39, Some(0)),
            counted(19, 35, Some(1)),
        ];
        check(
            &all,
            1,
            &[true, true, false, true],
            &[true, true, false, true],
        );
    }

    #[test]
    fn what_is_not_known_is_looked_at() {
        let timeless = Counted {
            time_range: None,
            num_hits: Some(3),
        };
        let all = [counted(0, 9, None), timeless, counted(20, 29, Some(9))];
        check(&all, 0, &[true, true, false], &[true, true, false]);
        check(&all, 2, &[true, true, true], &[true, true, true]);
    }

    /// The first hits are the same with and without the splits that were left out.
    #[test]
    fn nothing_that_is_left_out_could_have_been_shown() {
        use proptest::prelude::*;
        let split = (
            0_i64..30,
            0_i64..12,
            prop::collection::vec(0_i64..12, 0..6),
            any::<bool>(),
        );
        proptest!(|(splits in prop::collection::vec(split, 0..8), window in 0_usize..12, newest in any::<bool>())| {
            let direction = match newest {
                true => SortOrder::Descending,
                false => SortOrder::Ascending,
            };
            let splits: Vec<(Counted, Vec<i64>)> = splits
                .into_iter()
                .map(|(start, len, hits, is_known)| {
                    let hits: Vec<i64> = hits.into_iter().map(|at| start + at.min(len)).collect();
                    let num_hits = is_known.then_some(hits.len() as u64);
                    (counted(start, start + len, num_hits), hits)
                })
                .collect();
            let first = |chosen: &dyn Fn(usize) -> bool| {
                let chosen = splits.iter().enumerate().filter(|(ord, _)| chosen(*ord));
                // A hit is identified by its time and its split: others with the same time must not take its place.
                let mut hits: Vec<(i64, usize)> = chosen
                    .flat_map(|(ord, (_, hits))| hits.iter().map(move |at| (*at, ord)))
                    .collect();
                hits.sort_unstable();
                if newest {
                    hits.reverse();
                }
                hits.truncate(window);
                hits
            };
            let all: Vec<Counted> = splits.iter().map(|(counted, _)| *counted).collect();
            let chosen = must_look_at(&all, window as u64, direction);
            prop_assert_eq!(first(&|ord| chosen[ord]), first(&|_| true));
        });
    }
}
