//! Whether a pattern may accept a word, judged by the bytes that words may have: no identifier of digits ends in `timeout`,
//! so that no document need be read to tell.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::ByteClasses;
use tantivy_fst::Automaton;

use super::verdict::{Verdict, verdict};
use crate::query::TermAutomaton;

/// Maximum number of states that are walked: a larger automaton may accept.
const MAX_STATES: usize = 10_000;

/// What may follow the stubs of a block, and what is known about the patterns of a query for it.
pub(super) struct Rests {
    bytes: ByteClasses,
    /// For each pattern, whether states lead to an accepted word.
    known: BTreeMap<usize, BTreeMap<u64, bool>>,
}

impl Rests {
    pub(super) fn new(bytes: ByteClasses) -> Self {
        Self {
            bytes,
            known: BTreeMap::new(),
        }
    }

    /// Keeps what is known if the next block has the same bytes.
    pub(super) fn turn_to(&mut self, bytes: ByteClasses) {
        if self.bytes != bytes {
            *self = Self::new(bytes);
        }
    }

    /// Returns what the pattern at this place of the query says about the word of a stub.
    pub(super) fn verdict(
        &mut self,
        place: usize,
        automaton: &TermAutomaton,
        stub: &[u8],
        is_whole: bool,
    ) -> Verdict {
        let known = self.known.entry(place).or_default();
        let bytes = self.bytes;
        match automaton {
            TermAutomaton::Regex(regex) => {
                let key = |state: &Option<usize>| state.map_or(0, |state| state as u64 + 1);
                let (verdict, state) = verdict(regex.as_ref(), stub, is_whole);
                verdict.unless_open(|| leads_on(regex.as_ref(), state, key, bytes, known))
            }
            TermAutomaton::Near(near) => {
                let (verdict, state) = verdict(near.as_ref(), stub, is_whole);
                verdict.unless_open(|| {
                    leads_on(near.as_ref(), state, |state| state.key(), bytes, known)
                })
            }
            // Their words are looked up one by one.
            TermAutomaton::OneOf(terms) => verdict(terms.as_ref(), stub, is_whole).0,
            TermAutomaton::AtAnyPath(terms) => verdict(terms.as_ref(), stub, is_whole).0,
            TermAutomaton::InValues(_) => Verdict::Open,
        }
    }

    /// Returns whether the pattern may accept any word of these bytes.
    pub(super) fn may_accept(bytes: ByteClasses, automaton: &TermAutomaton) -> bool {
        Self::new(bytes).verdict(0, automaton, b"", false) != Verdict::None
    }
}

/// Returns whether an automaton accepts in this state, or may after more of these bytes. `key` tells states apart.
fn leads_on<A: Automaton>(
    automaton: &A,
    state: A::State,
    key: impl Fn(&A::State) -> u64,
    bytes: ByteClasses,
    known: &mut BTreeMap<u64, bool>,
) -> bool {
    let start = key(&state);
    if let Some(leads) = known.get(&start) {
        return *leads;
    }
    let bytes: Vec<u8> = bytes.bytes().collect();
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        let is_known = known.get(&key(&state)).copied();
        let is_accepted = automaton.is_match(&state) || automaton.will_always_match(&state);
        if is_accepted || is_known == Some(true) || seen.len() > MAX_STATES {
            known.insert(start, true);
            return true;
        }
        if is_known == Some(false) || !automaton.can_match(&state) {
            continue;
        }
        for byte in &bytes {
            let next = automaton.accept(&state, *byte);
            if seen.insert(key(&next)) {
                open.push(next);
            }
        }
    }
    // All of them lead only to each other.
    known.extend(seen.into_iter().map(|state| (state, false)));
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tantivy_fst::Regex;

    use super::*;

    fn regex(pattern: &str) -> TermAutomaton {
        TermAutomaton::Regex(Arc::new(Regex::new(pattern).unwrap()))
    }

    /// Returns the verdict about words that begin with this stub and go on with these bytes.
    fn verdict(automaton: &TermAutomaton, stub: &str, bytes: &[u8]) -> Verdict {
        Rests::new(ByteClasses::of(bytes)).verdict(0, automaton, stub.as_bytes(), false)
    }

    #[test]
    fn words_of_digits_have_no_letters() {
        let timeout = regex(".*timeout.*");
        assert_eq!(verdict(&timeout, "10737", b"0123456789"), Verdict::None);
        assert_eq!(verdict(&timeout, "", b"0123456789abcdef"), Verdict::None);
        assert_eq!(verdict(&timeout, "7timeo", b"ut"), Verdict::Open);
        assert_ne!(verdict(&timeout, "7timeout", b""), Verdict::None);
        assert_eq!(verdict(&timeout, "7timeou", b"1"), Verdict::None);
        assert_eq!(verdict(&regex(".*123"), "9", b"4"), Verdict::Open);
    }

    proptest! {
        #[test]
        fn a_verdict_is_that_of_all_words_that_begin_so(
            words in prop::collection::vec(("[am1]{0,3}", "[am1é]{0,4}"), 1..8),
            pattern in "[am1.é]{0,3}(\\.\\*)?[am1]{0,3}",
        ) {
            let automaton = regex(&pattern);
            let rests: String = words.iter().map(|(_, rest)| rest.as_str()).collect();
            let mut known = Rests::new(ByteClasses::of(rests.as_bytes()));
            for (stub, rest) in &words {
                let verdict = known.verdict(0, &automaton, stub.as_bytes(), false);
                let is_accepted = automaton.takes(format!("{stub}{rest}").as_bytes());
                prop_assert!(verdict != Verdict::None || !is_accepted);
                prop_assert!(verdict != Verdict::All || is_accepted);
                let whole = known.verdict(0, &automaton, stub.as_bytes(), true);
                prop_assert_eq!(whole == Verdict::All, automaton.takes(stub.as_bytes()));
            }
        }
    }
}
