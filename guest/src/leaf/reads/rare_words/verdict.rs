//! Whether the words of a stub are meant: none, all, or only their documents tell.

use std::ops::Bound;

use tantivy_fst::Automaton;

use crate::query::TermAutomaton;

/// What a clause says about all words that begin with a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// None of them is meant.
    None,
    /// All of them are.
    All,
    /// It depends on the rest of the word.
    Open,
}

impl Verdict {
    fn of_word(is_meant: bool) -> Self {
        match is_meant {
            true => Self::All,
            false => Self::None,
        }
    }

    /// Keeps the verdict of an open word, if its rest may be accepted.
    pub(super) fn unless_open(self, may_be_accepted: impl FnOnce() -> bool) -> Self {
        match self == Self::Open && !may_be_accepted() {
            true => Self::None,
            false => self,
        }
    }

    /// Returns the verdict of a range. A stub that is not whole stands for itself and for all that begins with it.
    pub(super) fn of_range(
        (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
        stub: &[u8],
        is_whole: bool,
    ) -> Self {
        let from_lower = match lower {
            Bound::Unbounded => Self::All,
            Bound::Included(word) if stub >= word => Self::All,
            Bound::Excluded(word) if stub > word => Self::All,
            Bound::Included(word) | Bound::Excluded(word) => match word.starts_with(stub) {
                true if !is_whole => Self::Open,
                _ => Self::None,
            },
        };
        let to_upper = match upper {
            Bound::Unbounded => Self::All,
            Bound::Included(word) if is_whole => Self::of_word(stub <= word),
            Bound::Excluded(word) if is_whole => Self::of_word(stub < word),
            Bound::Excluded(word) if stub == word => Self::None,
            Bound::Included(word) | Bound::Excluded(word) => match word.starts_with(stub) {
                true => Self::Open,
                false => Self::of_word(stub < word),
            },
        };
        match (from_lower, to_upper) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::All, Self::All) => Self::All,
            _ => Self::Open,
        }
    }
}

/// Returns the verdict of an automaton, and its state behind the stub.
pub(super) fn verdict<A: Automaton>(
    automaton: &A,
    stub: &[u8],
    is_whole: bool,
) -> (Verdict, A::State) {
    let mut state = automaton.start();
    for byte in stub {
        if !automaton.can_match(&state) {
            return (Verdict::None, state);
        }
        state = automaton.accept(&state, *byte);
    }
    if is_whole {
        return (Verdict::of_word(automaton.is_match(&state)), state);
    }
    let verdict = match (
        automaton.can_match(&state),
        automaton.will_always_match(&state),
    ) {
        (_, true) => Verdict::All,
        (true, false) => Verdict::Open,
        (false, false) => Verdict::None,
    };
    (verdict, state)
}

/// Returns whether an automaton may accept a word from `from` on and before `to`.
pub(super) fn may_accept_between(
    automaton: &TermAutomaton,
    from: &[u8],
    to: Option<&[u8]>,
) -> bool {
    match automaton {
        TermAutomaton::Regex(regex) => may_accept(regex.as_ref(), from, to),
        TermAutomaton::Near(near) => may_accept(near.as_ref(), from, to),
        TermAutomaton::OneOf(terms) => may_accept(terms.as_ref(), from, to),
        TermAutomaton::AtAnyPath(terms) => may_accept(terms.as_ref(), from, to),
        // Fields of whole values have no rare words.
        TermAutomaton::InValues(_) => true,
    }
}

fn may_accept<A: Automaton>(automaton: &A, from: &[u8], to: Option<&[u8]>) -> bool {
    let num_same = |to: &[u8]| {
        from.iter()
            .zip(to)
            .take_while(|(one, other)| one == other)
            .count()
    };
    let both = to.map_or(0, num_same);
    let mut state = automaton.start();
    for byte in from.iter().take(both) {
        state = automaton.accept(&state, *byte);
    }
    if !automaton.can_match(&state) {
        return false;
    }
    let (low, high) = (from.get(both..), to.and_then(|to| to.get(both..)));
    let (low, high) = (low.unwrap_or_default(), high.unwrap_or_default());
    let next = |state: &A::State, byte: u8| automaton.accept(state, byte);
    let any = |state: &A::State, mut bytes: std::ops::Range<u16>| {
        bytes.any(|byte| {
            let byte = u8::try_from(byte).unwrap_or(u8::MAX);
            automaton.can_match(&next(state, byte))
        })
    };
    // Words that begin with neither: between the bytes in which both differ.
    let first_low = low.first().map_or(0, |byte| u16::from(*byte) + 1);
    let first_high = match to {
        Some(_) => high.first().map_or(0, |byte| u16::from(*byte)),
        None => 256,
    };
    if any(&state, first_low..first_high.max(first_low)) {
        return true;
    }
    // Words that begin like `from`, and are above it.
    if let Some((first, rest)) = low.split_first() {
        let mut above = next(&state, *first);
        for byte in rest {
            if !automaton.can_match(&above) {
                break;
            }
            if any(&above, u16::from(*byte) + 1..256) {
                return true;
            }
            above = next(&above, *byte);
        }
        if automaton.can_match(&above) {
            return true;
        }
    } else if automaton.is_match(&state) {
        return true;
    }
    // Words that begin like `to`, and are below it.
    let Some((first, rest)) = high.split_first() else {
        return false;
    };
    let mut below = next(&state, *first);
    for byte in rest {
        if !automaton.can_match(&below) {
            return false;
        }
        if automaton.is_match(&below) || any(&below, 0..u16::from(*byte)) {
            return true;
        }
        below = next(&below, *byte);
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy_fst::Regex;

    use super::*;

    fn words() -> impl Strategy<Value = String> {
        "[ab1]{0,5}"
    }

    proptest! {
        #[test]
        fn a_verdict_is_that_of_all_words_that_begin_so(
            stub in words(),
            rest in words(),
            (lower, upper) in (words(), words()),
            kinds in (0..3, 0..3),
        ) {
            let bound = |kind: i32, word| match kind {
                0 => Bound::Included(word),
                1 => Bound::Excluded(word),
                _ => Bound::Unbounded,
            };
            let range = (bound(kinds.0, lower.as_bytes()), bound(kinds.1, upper.as_bytes()));
            let word = format!("{stub}{rest}");
            let contains = |word: &str| std::ops::RangeBounds::<[u8]>::contains::<[u8]>(&range, word.as_bytes());
            let verdict = Verdict::of_range(range, stub.as_bytes(), false);
            prop_assert!(verdict != Verdict::None || !contains(&word));
            prop_assert!(verdict != Verdict::All || contains(&word));
            let whole = Verdict::of_range(range, stub.as_bytes(), true);
            prop_assert_eq!(whole, Verdict::of_word(contains(&stub)));
        }

        #[test]
        fn no_accepted_word_is_between_words_between_which_there_may_be_none(
            mut bounds in prop::array::uniform3(words()),
            pattern in "[ab1.]{0,3}(\\.\\*)?[ab1]{0,2}",
        ) {
            bounds.sort();
            let [from, word, to] = bounds.each_ref().map(String::as_bytes);
            let automaton = TermAutomaton::Regex(std::sync::Arc::new(Regex::new(&pattern).unwrap()));
            if automaton.takes(word) {
                prop_assert!(may_accept_between(&automaton, from, None));
                prop_assert!(word >= to || may_accept_between(&automaton, from, Some(to)));
            }
        }
    }
}
