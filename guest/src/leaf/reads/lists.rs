//! Posting lists of one term or of many: a range of terms, or all terms that a pattern matches.
//!
//! The postings of a dictionary's block are stored together, with their positions after them, so many terms need
//! some ranges of a file with gaps between. tantivy would read everything from the first to the last.

use std::ops::{Bound, Range};

use futures_util::future::try_join_all;
use tantivy::directory::FileSlice;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::{HasLen as _, Term};
use tantivy_fst::Automaton;

use crate::query::{ListFiles, ListKind, TermAutomaton, TermRange, ValueClause};
use crate::split::OpenSplit;

/// Maximum gap between two lists that are read together, in bytes.
const MAX_GAP: usize = 128 << 10;

/// Maximum gap, in bytes, between dictionary blocks that are read together: about what arrives in the time of one
/// request to an object store. Whether a block has any of the terms is known only from its bytes.
const MAX_DICTIONARY_GAP: usize = 4 << 20;

/// Maximum number of ranges that are read for the lists of a field; the ranges with the smallest gaps are joined.
const MAX_RANGES: usize = 16;

/// Loads the posting list of a term, if it exists.
pub(super) async fn load_term(
    split: &OpenSplit,
    term: &Term,
    positions: bool,
) -> tantivy::Result<()> {
    let Some(info) = split.terms.load(split.segment(), term).await? else {
        return Ok(());
    };
    let mut wanted = Wanted::default();
    wanted.add(split, term.field(), &info, positions);
    wanted.load(split, term.field()).await
}

/// Loads the blocks of a dictionary that may have terms of a range.
pub(in crate::leaf) async fn load_blocks(
    split: &OpenSplit,
    range: &TermRange,
) -> tantivy::Result<()> {
    let inverted_index = split.segment().inverted_index(range.field)?;
    let bounds = (value_of(&range.lower), value_of(&range.upper));
    let blocks = inverted_index.terms().file_slice_for_range(bounds, None);
    blocks.read_bytes_async().await?;
    Ok(())
}

/// Loads the posting lists of a range of terms.
pub(super) async fn load_range(split: &OpenSplit, range: &TermRange) -> tantivy::Result<()> {
    let inverted_index = split.segment().inverted_index(range.field)?;
    let terms = inverted_index.terms();
    let (lower, upper) = (value_of(&range.lower), value_of(&range.upper));
    load_blocks(split, range).await?;
    let found = match lower {
        Bound::Included(term) => terms.range().ge(term),
        Bound::Excluded(term) => terms.range().gt(term),
        Bound::Unbounded => terms.range(),
    };
    let found = match upper {
        Bound::Included(term) => found.le(term),
        Bound::Excluded(term) => found.lt(term),
        Bound::Unbounded => found,
    };
    let mut found = found.into_stream()?;
    let mut wanted = Wanted::default();
    while found.advance() {
        wanted.add(split, range.field, found.value(), range.positions);
    }
    drop(found);
    wanted.load(split, range.field).await
}

fn value_of(bound: &Bound<Term>) -> Bound<&[u8]> {
    bound.as_ref().map(Term::serialized_value_bytes)
}

/// Loads the blocks of a dictionary that may have terms that an automaton accepts.
pub(super) async fn load_dictionary<A>(
    split: &OpenSplit,
    field: Field,
    automaton: &A,
) -> tantivy::Result<()>
where
    A: Automaton + Clone,
    A::State: Clone,
{
    let inverted_index = split.segment().inverted_index(field)?;
    let terms = inverted_index.terms().search(automaton.clone());
    let terms = terms.without_keys();
    drop(
        terms
            .into_stream_async_merging_holes(MAX_DICTIONARY_GAP)
            .await?,
    );
    Ok(())
}

/// Loads the postings of the terms that an automaton accepts.
pub(super) async fn load_matching<A>(
    split: &OpenSplit,
    field: Field,
    automaton: &A,
    positions: bool,
) -> tantivy::Result<()>
where
    A: Automaton + Clone,
    A::State: Clone,
{
    load_dictionary(split, field, automaton).await?;
    let inverted_index = split.segment().inverted_index(field)?;
    let mut wanted = Wanted::default();
    let found = inverted_index.terms().search(automaton.clone());
    // Going through the blocks skips the gaps that were read with them.
    let mut found = found.without_keys().into_stream()?;
    while let Some(info) = found.next_without_key() {
        wanted.add(split, field, info, positions);
    }
    drop(found);
    wanted.load(split, field).await
}

/// Returns the range of all terms of a field.
pub(in crate::leaf) fn all_terms(field: Field) -> TermRange {
    TermRange {
        field,
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        positions: false,
    }
}

/// Loads the postings of the whole values of which a clause is true.
pub(super) async fn load_values(
    split: &OpenSplit,
    field: Field,
    clause: &dyn ValueClause<TermAutomaton>,
) -> tantivy::Result<()> {
    load_blocks(split, &all_terms(field)).await?;
    let inverted_index = split.segment().inverted_index(field)?;
    let mut wanted = Wanted::default();
    let mut takes = clause.test();
    let mut values = inverted_index.terms().range().into_stream()?;
    while values.advance() {
        if takes(values.key()) {
            wanted.add(split, field, values.value(), false);
        }
    }
    drop((values, takes));
    wanted.load(split, field).await
}

/// Posting lists of some terms of a field.
#[derive(Default)]
struct Wanted {
    postings: Ranges,
    positions: Ranges,
}

impl Wanted {
    fn add(&mut self, split: &OpenSplit, field: Field, info: &TermInfo, positions: bool) {
        if split.is_added(field, &info.postings_range) {
            return;
        }
        self.postings.add(&info.postings_range);
        if positions {
            self.positions.add(&info.positions_range);
        }
    }

    async fn load(self, split: &OpenSplit, field: Field) -> tantivy::Result<()> {
        let mut files = ListFiles::new(&split.searcher);
        let postings = files.of_field(ListKind::Postings, field)?;
        let mut loads = reads(postings, self.postings.joined());
        let positions = self.positions.joined();
        if !positions.is_empty() {
            loads.extend(reads(
                files.of_field(ListKind::Positions, field)?,
                positions,
            ));
        }
        try_join_all(loads.iter().map(FileSlice::read_bytes_async)).await?;
        Ok(())
    }
}

/// Returns the slices for the ranges that lie inside a field's lists; other ranges are damage, which the search finds
/// when it reads them.
fn reads(lists: Option<FileSlice>, ranges: Vec<Range<usize>>) -> Vec<FileSlice> {
    let Some(lists) = lists else {
        return Vec::new();
    };
    let is_inside = |range: &Range<usize>| range.end <= lists.len();
    let inside = ranges.into_iter().filter(is_inside);
    inside.map(|range| lists.slice(range)).collect()
}

/// Ranges of a file, by start.
#[derive(Default)]
struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Appends a range, or extends the last one if the gap is small.
    fn add(&mut self, range: &Range<usize>) {
        match self.0.last_mut() {
            Some(last) if range.start < last.start || range.end < range.start => {}
            Some(last) if range.start <= last.end.saturating_add(MAX_GAP) => {
                last.end = last.end.max(range.end);
            }
            _ if range.is_empty() => {}
            _ => self.0.push(range.clone()),
        }
    }

    /// Returns the ranges, joined until there are few enough.
    fn joined(self) -> Vec<Range<usize>> {
        let mut ranges = self.0;
        let mut gap = MAX_GAP;
        while ranges.len() > MAX_RANGES {
            gap = gap.saturating_mul(2);
            let mut fewer: Vec<Range<usize>> = Vec::new();
            for range in ranges {
                match fewer.last_mut() {
                    Some(last) if range.start <= last.end.saturating_add(gap) => {
                        last.end = range.end;
                    }
                    _ => fewer.push(range),
                }
            }
            ranges = fewer;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_GAP, MAX_RANGES, Ranges};

    #[test]
    fn near_ranges_are_one_and_there_are_never_many() {
        let check = |ranges: &[(usize, usize)], expected: &[(usize, usize)]| {
            let mut all = Ranges::default();
            ranges
                .iter()
                .for_each(|(start, end)| all.add(&(*start..*end)));
            let joined = all.joined().into_iter();
            let joined: Vec<_> = joined.map(|range| (range.start, range.end)).collect();
            assert_eq!(joined, expected);
        };
        check(&[], &[]);
        check(&[(5, 5)], &[]);
        check(&[(0, 10), (10, 12), (100, 110)], &[(0, 110)]);
        let far = MAX_GAP + 111;
        check(
            &[(0, 10), (20, 110), (far, far + 5)],
            &[(0, 110), (far, far + 5)],
        );
        // Damage: backwards.
        check(&[(50, 60), (10, 20)], &[(50, 60)]);

        let many: Vec<_> = (0..100).map(|nth| nth * far * (1 + nth % 3)).collect();
        let mut all = Ranges::default();
        let mut sorted = many.clone();
        sorted.sort_unstable();
        for start in &sorted {
            all.add(&(*start..*start + 10));
        }
        let joined = all.joined();
        assert!(joined.len() <= MAX_RANGES);
        for start in sorted {
            assert!(joined.iter().any(|range| range.contains(&start)));
        }
    }
}
