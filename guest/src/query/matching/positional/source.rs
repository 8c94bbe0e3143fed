//! Sources of intervals: a condition whose words are terms.

use tantivy::Term;
use tantivy::schema::Field;

use super::combine::{Interval, any_of, ordered, phrase, repeated, unordered};
use super::relate::related;
use crate::query::build::TermAutomaton;
use crate::query::tree::Relation;
use crate::{ErrorKind, SearchError};

/// Maximum number of combinations of alternatives of different lengths.
const MAX_COMBINATIONS: usize = 1_024;

/// The terms of a leaf: an occurrence of any of them is an interval.
#[derive(Clone, Debug)]
pub(in crate::query) enum LeafTerms {
    /// A term.
    Term(Term),
    /// The terms of a field that an automaton accepts.
    Accepted(Field, TermAutomaton),
}

/// Intervals of a document. The constructors keep apart alternatives of different lengths where a shorter one would hide a
/// longer one that alone meets the condition around it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::query) enum Source {
    /// The positions of a leaf.
    Leaf(usize),
    /// Any of these; without any, no interval.
    Any(Vec<Source>),
    /// These, each right behind the one before.
    Phrase(Vec<Source>),
    /// These in this order, without overlaps.
    Ordered(Vec<Source>),
    /// These in any order.
    Unordered(Vec<Source>),
    /// As many as this, one behind the other.
    Repeated(Box<Source>, usize),
    /// Those with at most this number of gaps.
    MaxGaps(Box<Source>, u32),
    /// The same with positions before and after.
    Extended(Box<Source>, u32, u32),
    /// Those that end before a position.
    First(Box<Source>, u32),
    /// Those of the first that have a relation with one of the second.
    Related(Box<Source>, Relation, Box<Source>),
}

impl Source {
    /// Creates a source without intervals.
    pub(in crate::query) fn nothing() -> Self {
        Self::Any(Vec::new())
    }

    /// Creates the union.
    pub(in crate::query) fn any(sources: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::with_capacity(sources.len());
        let mut add = |source: Self| {
            if !flat.contains(&source) {
                flat.push(source);
            }
        };
        for source in sources {
            match source {
                Self::Any(sources) => sources.into_iter().for_each(&mut add),
                source => add(source),
            }
        }
        match flat.pop() {
            Some(only) if flat.is_empty() => only,
            Some(last) => {
                flat.push(last);
                Self::Any(flat)
            }
            None => Self::Any(flat),
        }
    }

    /// Creates a phrase.
    ///
    /// # Errors
    /// There are too many combinations of alternatives.
    pub(in crate::query) fn phrase(sources: Vec<Self>) -> Result<Self, SearchError> {
        Ok(Self::any(combinations(&sources, Self::Phrase)?))
    }

    /// Creates an ordered combination.
    pub(in crate::query) fn ordered(sources: Vec<Self>) -> Self {
        let flat = sources.into_iter().flat_map(|source| match source {
            Self::Ordered(sources) => sources,
            source => vec![source],
        });
        only_or(flat.collect(), Self::Ordered)
    }

    /// Creates a combination in any order. Equal parts are different occurrences if `is_distinct`.
    pub(in crate::query) fn unordered(sources: Vec<Self>, is_distinct: bool) -> Self {
        let mut counted: Vec<(Self, usize)> = Vec::with_capacity(sources.len());
        for source in sources {
            let parts = match source {
                Self::Unordered(sources) => sources,
                source => vec![source],
            };
            for part in parts {
                match counted.iter_mut().find(|(known, _)| *known == part) {
                    Some((_, num)) if is_distinct => *num += 1,
                    _ => counted.push((part, 1)),
                }
            }
        }
        let parts = counted.into_iter().map(|(source, num)| match num {
            1 => source,
            num => Self::Repeated(Box::new(source), num),
        });
        only_or(parts.collect(), Self::Unordered)
    }

    /// Creates a source of the intervals with at most `max` gaps.
    ///
    /// # Errors
    /// There are too many combinations of alternatives.
    pub(in crate::query) fn with_max_gaps(self, max: u32) -> Result<Self, SearchError> {
        self.for_each_alternative(|source| Self::MaxGaps(Box::new(source), max))
    }

    /// Creates a source of the intervals that end before the position `end`.
    ///
    /// # Errors
    /// There are too many combinations of alternatives.
    pub(in crate::query) fn within_first(self, end: u32) -> Result<Self, SearchError> {
        self.for_each_alternative(|source| Self::First(Box::new(source), end))
    }

    /// Creates a source of the intervals that have a relation with one of `other`.
    ///
    /// # Errors
    /// There are too many combinations of alternatives.
    pub(in crate::query) fn related(
        self,
        relation: Relation,
        other: Self,
    ) -> Result<Self, SearchError> {
        self.for_each_alternative(|source| {
            Self::Related(Box::new(source), relation, Box::new(other.clone()))
        })
    }

    /// Creates a source of intervals that are longer by these numbers of positions.
    pub(in crate::query) fn extended(self, before: u32, after: u32) -> Self {
        match (before, after) {
            (0, 0) => self,
            (before, after) => Self::Extended(Box::new(self), before, after),
        }
    }

    fn for_each_alternative(&self, make: impl Fn(Self) -> Self) -> Result<Self, SearchError> {
        let alternatives = self.alternatives()?.into_iter();
        Ok(Self::any(alternatives.map(make).collect()))
    }

    /// Returns the sources whose union has the same intervals. None hides those of another, except for intervals of one
    /// position.
    fn alternatives(&self) -> Result<Vec<Self>, SearchError> {
        Ok(match self {
            Self::Any(sources) => {
                let (short, mut apart): (Vec<Self>, Vec<Self>) =
                    sources.iter().cloned().partition(|one| one.min_len() == 1);
                if !short.is_empty() {
                    apart.insert(0, Self::any(short));
                }
                apart
            }
            Self::Ordered(sources) => combinations(sources, Self::Ordered)?,
            Self::Unordered(sources) => combinations(sources, Self::Unordered)?,
            other => vec![other.clone()],
        })
    }

    /// Returns the minimum length of an interval, in positions.
    pub(super) fn min_len(&self) -> u32 {
        let sum = |sources: &[Self]| {
            let lens = sources.iter().map(Self::min_len);
            lens.fold(0, u32::saturating_add)
        };
        match self {
            Self::Leaf(_) => 1,
            Self::Any(sources) => sources.iter().map(Self::min_len).min().unwrap_or(1),
            Self::Phrase(sources) | Self::Ordered(sources) | Self::Unordered(sources) => {
                sum(sources)
            }
            Self::Repeated(source, _)
            | Self::MaxGaps(source, _)
            | Self::First(source, _)
            | Self::Related(source, ..) => source.min_len(),
            Self::Extended(source, before, after) => {
                let added = before.saturating_add(*after);
                source.min_len().saturating_add(added)
            }
        }
    }

    /// Returns the intervals of a document, given the positions of each leaf; with `is_minimal`, none that contains
    /// another one.
    pub(super) fn intervals(&self, leaves: &[Vec<u32>], is_minimal: bool) -> Vec<Interval> {
        let of = |source: &Self| source.intervals(leaves, is_minimal);
        let all = |sources: &[Self]| -> Vec<Vec<Interval>> { sources.iter().map(of).collect() };
        match self {
            Self::Leaf(ord) => {
                let positions = leaves.get(*ord).map(Vec::as_slice).unwrap_or_default();
                positions.iter().map(|at| Interval::at(*at)).collect()
            }
            Self::Any(sources) => any_of(all(sources), is_minimal),
            Self::Phrase(sources) => phrase(&all(sources)),
            Self::Ordered(sources) => ordered(&all(sources), is_minimal),
            Self::Unordered(sources) => unordered(&all(sources), is_minimal),
            Self::Repeated(source, num) => repeated(&of(source), *num),
            Self::MaxGaps(source, max) => {
                let mut found = of(source);
                found.retain(|interval| interval.gaps <= i64::from(*max));
                found
            }
            Self::Extended(source, before, after) => {
                let extended = of(source).into_iter().map(|interval| Interval {
                    gaps: interval.gaps,
                    ..Interval::without_gaps(
                        interval.start.saturating_sub(*before),
                        interval.end.saturating_add(*after),
                    )
                });
                extended.collect()
            }
            Self::First(source, end) => {
                let mut found = of(source);
                found.retain(|interval| interval.end < *end);
                found
            }
            Self::Related(source, relation, other) => related(of(source), *relation, &of(other)),
        }
    }
}

fn only_or(mut sources: Vec<Source>, make: fn(Vec<Source>) -> Source) -> Source {
    match sources.pop() {
        Some(only) if sources.is_empty() => only,
        last => {
            sources.extend(last);
            make(sources)
        }
    }
}

/// Returns a source for each choice of one alternative of each part.
fn combinations(
    parts: &[Source],
    make: fn(Vec<Source>) -> Source,
) -> Result<Vec<Source>, SearchError> {
    let mut chosen: Vec<Vec<Source>> = vec![Vec::with_capacity(parts.len())];
    for part in parts {
        let alternatives = part.alternatives()?;
        if chosen.len().saturating_mul(alternatives.len()) > MAX_COMBINATIONS {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the alternatives of different lengths have more than {MAX_COMBINATIONS} combinations"
                ),
            ));
        }
        let with = chosen.iter().flat_map(|before| {
            alternatives.iter().map(|alternative| {
                let mut all = before.clone();
                all.push(alternative.clone());
                all
            })
        });
        chosen = with.collect();
    }
    Ok(chosen
        .into_iter()
        .map(|parts| only_or(parts, make))
        .collect())
}
