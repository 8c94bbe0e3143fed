//! Loops over documents, positions and bits, without branches that depend on the contents of
//! documents.
//!
//! Each iteration processes several documents, because WebAssembly checks for interruption in each
//! one.
//!
//! This module uses nothing else of the crate: `tests/kernels` compiles it separately.

/// Number of words in a window.
pub(crate) const NUM_WORDS: usize = 128;

/// Number of documents in one iteration.
const AT_ONCE: usize = 16;

/// Sets the bits of ascending documents, which lie between `first` and the end of the window. The
/// word of the first document keeps its bits, and later words are replaced: lists are marked from
/// start to end.
#[inline(never)]
pub(crate) fn mark(docs: &[u32], first: u32, words: &mut [u64; NUM_WORDS]) {
    let Some(start) = docs.first() else {
        return;
    };
    let mut at = place(*start, first).0;
    let mut word = words.get(at).copied().unwrap_or_default();
    // The word is kept in a register: reading it back would wait for the previous store.
    let mut mark = |doc: u32| {
        let (next, bit) = place(doc, first);
        let kept = if next == at { word } else { 0 };
        at = next;
        word = kept | 1 << bit;
        if let Some(to) = words.get_mut(at % NUM_WORDS) {
            *to = word;
        }
    };
    let (rounds, rest) = docs.as_chunks::<AT_ONCE>();
    for round in rounds {
        round.iter().for_each(|doc| mark(*doc));
    }
    rest.iter().for_each(|doc| mark(*doc));
}

/// Returns the word of a document, and its bit in that word.
#[inline(always)]
fn place(doc: u32, first: u32) -> (usize, u32) {
    let place = doc.wrapping_sub(first);
    ((place / 64) as usize % NUM_WORDS, place % 64)
}

/// Fills `docs` with the documents whose bits are set, as many as fit.
#[inline(never)]
pub(crate) fn list(words: &[u64], first: u32, docs: &mut [u32]) {
    let mut room = docs;
    let mut base = first;
    for word in words {
        let mut left = *word;
        let num_docs = (left.count_ones() as usize).min(room.len());
        let (here, rest) = room.split_at_mut(num_docs);
        let mut next = |doc: &mut u32| {
            *doc = base.wrapping_add(left.trailing_zeros());
            left &= left.wrapping_sub(1);
        };
        let (rounds, others) = here.as_chunks_mut::<4>();
        for round in rounds {
            round.iter_mut().for_each(&mut next);
        }
        others.iter_mut().for_each(next);
        room = rest;
        base = base.wrapping_add(64);
    }
}

/// Writes the ordinals of the given documents whose bits are set, and returns their number. All
/// documents lie between `first` and the end of the window.
#[inline(never)]
pub(crate) fn select(
    docs: &[u32],
    first: u32,
    words: &[u64; NUM_WORDS],
    ords: &mut [u8; 128],
) -> usize {
    let (mut num_found, mut ord) = (0, 0u8);
    let mut look_at = |doc: u32| {
        let (at, bit) = place(doc, first);
        let word = words.get(at).copied().unwrap_or_default();
        if let Some(to) = ords.get_mut(num_found % 128) {
            *to = ord;
        }
        ord = ord.wrapping_add(1);
        num_found += usize::from(word >> bit & 1 == 1);
    };
    let (rounds, rest) = docs.as_chunks::<AT_ONCE>();
    for round in rounds {
        round.iter().for_each(|doc| look_at(*doc));
    }
    rest.iter().for_each(|doc| look_at(*doc));
    num_found
}

/// Returns the number of a block's ascending documents that are before `doc`.
#[inline(never)]
pub(crate) fn rank(docs: &[u32; 128], doc: u32) -> usize {
    let mut at = 0;
    for step in [64, 32, 16, 8, 4, 2, 1] {
        let is_before = docs.get(at + step - 1).is_some_and(|there| *there < doc);
        at += if is_before { step } else { 0 };
    }
    // Seven steps distinguish 128 positions; the last document is checked separately.
    at + usize::from(docs.get(at).is_some_and(|there| *there < doc))
}

/// Replaces each number by the value at that index, among up to 128 values of one byte each. The
/// result for an index out of range is arbitrary.
#[inline(never)]
pub(crate) fn look_up(values: &[u8], numbers: &mut [u32; 128]) {
    let mut table = [0; 128];
    for (to, value) in table.iter_mut().zip(values) {
        *to = u32::from(*value);
    }
    let (rounds, _) = numbers.as_chunks_mut::<AT_ONCE>();
    for number in rounds.iter_mut().flatten() {
        *number = table.get((*number % 128) as usize).copied().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn marked_documents_are_listed(
            first in (0u32..1000).prop_map(|first| first * 64),
            places in proptest::collection::btree_set(0u32..8192, 0..600),
            marked in proptest::collection::btree_set(0u32..8192, 0..600),
            cut in 0usize..600,
        ) {
            let docs: Vec<u32> = places.iter().map(|place| first + place).collect();
            let mut words = [0; NUM_WORDS];
            let (before, behind) = docs.split_at(cut.min(docs.len()));
            mark(before, first, &mut words);
            mark(behind, first, &mut words);
            let mut found = vec![0; docs.len()];
            list(&words, first, &mut found);
            prop_assert_eq!(&found, &docs);
            prop_assert_eq!(words.iter().map(|word| word.count_ones()).sum::<u32>() as usize, docs.len());

            let wanted: Vec<u32> = marked.iter().map(|place| first + place).collect();
            let mut words = [0; NUM_WORDS];
            mark(&wanted, first, &mut words);
            for docs in docs.chunks(128) {
                let mut ords = [0; 128];
                let num_found = select(docs, first, &words, &mut ords);
                let found: Vec<u32> = ords[..num_found].iter().map(|ord| docs[usize::from(*ord)]).collect();
                let expected: Vec<u32> = docs.iter().copied().filter(|doc| wanted.contains(doc)).collect();
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn numbers_are_looked_up_among_values(
            values in proptest::collection::vec(any::<u8>(), 1..129),
            numbers in proptest::collection::vec(any::<u32>(), 128),
        ) {
            let ords: Vec<u32> = numbers.iter().map(|number| number % values.len() as u32).collect();
            let mut found: [u32; 128] = ords.clone().try_into().unwrap();
            look_up(&values, &mut found);
            let expected = ords.iter().map(|ord| u32::from(values[*ord as usize]));
            prop_assert!(found.iter().copied().eq(expected));
        }

        #[test]
        fn ranks_count_what_stands_before(
            gaps in proptest::collection::vec(1u32..9, 128),
            doc in 0u32..1100,
        ) {
            let docs = gaps.iter().scan(0, |doc, gap| {
                *doc += gap;
                Some(*doc)
            });
            let block: [u32; 128] = docs.collect::<Vec<_>>().try_into().unwrap();
            let before = block.iter().filter(|there| **there < doc).count();
            prop_assert_eq!(rank(&block, doc), before);
        }
    }
}
