//! Whether a pattern may accept a word, judged by the bytes that words may have: no identifier of digits ends in `timeout`,
//! so that no document need be read to tell.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::ByteClasses;
use tantivy_fst::Automaton;

use crate::query::TermAutomaton;

/// Maximum number of states that are walked: a larger automaton may accept.
const MAX_STATES: usize = 10_000;

/// What may follow the stubs of a block, and what is known about the patterns of a query for it.
pub(super) struct Rests {
    bytes: ByteClasses,
    /// For each pattern, whether states lead to an accepted word.
    known: Vec<BTreeMap<u64, bool>>,
}

impl Rests {
    pub(super) fn new(bytes: ByteClasses) -> Self {
        Self {
            bytes,
            known: Vec::new(),
        }
    }

    /// Keeps what is known if the next block has the same bytes.
    pub(super) fn turn_to(&mut self, bytes: ByteClasses) {
        if self.bytes != bytes {
            *self = Self::new(bytes);
        }
    }

    /// Returns whether the pattern at this place of the query may accept a word that begins so.
    pub(super) fn may_follow(
        &mut self,
        place: usize,
        automaton: &TermAutomaton,
        begin: &[u8],
    ) -> bool {
        if self.known.len() <= place {
            self.known.resize_with(place + 1, BTreeMap::new);
        }
        let Some(known) = self.known.get_mut(place) else {
            return true;
        };
        match automaton {
            TermAutomaton::Regex(regex) => {
                let key = |state: &Option<usize>| state.map_or(0, |state| state as u64 + 1);
                leads_on(regex.as_ref(), begin, key, self.bytes, known)
            }
            TermAutomaton::Near(near) => {
                leads_on(near.as_ref(), begin, |state| state.key(), self.bytes, known)
            }
            // Their words are looked up one by one.
            TermAutomaton::OneOf(_) | TermAutomaton::AtAnyPath(_) => true,
        }
    }
}

/// Returns whether an automaton accepts `begin`, or may after more of these bytes. `key` tells states apart.
fn leads_on<A: Automaton>(
    automaton: &A,
    begin: &[u8],
    key: impl Fn(&A::State) -> u64,
    bytes: ByteClasses,
    known: &mut BTreeMap<u64, bool>,
) -> bool {
    let mut state = automaton.start();
    for byte in begin {
        state = automaton.accept(&state, *byte);
    }
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

    fn may_follow(automaton: &TermAutomaton, begin: &str, bytes: &[u8]) -> bool {
        Rests::new(ByteClasses::of(bytes)).may_follow(0, automaton, begin.as_bytes())
    }

    #[test]
    fn words_of_digits_have_no_letters() {
        let timeout = regex(".*timeout.*");
        assert!(!may_follow(&timeout, "10737", b"0123456789"));
        assert!(!may_follow(&timeout, "", b"0123456789abcdef"));
        assert!(may_follow(&timeout, "7timeo", b"ut"));
        assert!(may_follow(&timeout, "7timeout", b""));
        assert!(!may_follow(&timeout, "7timeou", b"1"));
        assert!(may_follow(&regex(".*123"), "9", b"4"));
    }

    proptest! {
        #[test]
        fn a_word_that_is_accepted_may_follow(
            words in prop::collection::vec(("[am1]{0,3}", "[am1é]{0,4}"), 1..8),
            pattern in "[am1.é]{0,3}(\\.\\*)?[am1]{0,3}",
        ) {
            let automaton = regex(&pattern);
            let rests: String = words.iter().map(|(_, rest)| rest.as_str()).collect();
            let mut known = Rests::new(ByteClasses::of(rests.as_bytes()));
            for (begin, rest) in &words {
                let is_accepted = automaton.takes(format!("{begin}{rest}").as_bytes());
                prop_assert!(known.may_follow(0, &automaton, begin.as_bytes()) || !is_accepted);
            }
        }
    }
}
