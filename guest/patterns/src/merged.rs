//! Patterns that differ in one word, which is a value without a digit.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::pattern::SLOT;

/// Number of different words at one place of otherwise equal patterns from which on they are values.
const MIN_WORDS: usize = 5;

/// Minimum number of words that other places must have, so that the pattern still says what happened: at the front of
/// a pattern, where programs write what they are about, and elsewhere.
const MIN_OTHERS_IN_FRONT: usize = 3;
const MIN_OTHERS: usize = 2;

/// Maximum number of rounds: each may make patterns equal that differ in a second word.
const MAX_ROUNDS: usize = 4;

/// Maximum number of words of a pattern that is compared with others.
const MAX_WORDS: usize = 64;

/// A place, and the hash of the other words of a pattern.
type Context = (usize, u64);

/// Returns for each of these distinct patterns the one that it belongs to: itself, or one with more values.
pub fn merged(patterns: &[&str]) -> Vec<String> {
    let mut all: Vec<Vec<&str>> = patterns
        .iter()
        .map(|pattern| pattern.split(' ').collect())
        .collect();
    for _ in 0..MAX_ROUNDS {
        let mut contexts: BTreeMap<Context, Vec<&str>> = BTreeMap::new();
        for (context, word) in all.iter().flat_map(|words| contexts_of(words)) {
            let words = contexts.entry(context).or_default();
            if words.len() < MIN_WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
        let mut is_changed = false;
        for words in &mut all {
            let varies = |(context, _): (Context, &str)| {
                let words = contexts.get(&context);
                let varies = words.is_some_and(|words| words.len() >= MIN_WORDS);
                varies.then_some(context.0)
            };
            let places: Vec<usize> = contexts_of(words).filter_map(varies).collect();
            is_changed |= !places.is_empty();
            for place in places {
                if let Some(word) = words.get_mut(place) {
                    *word = SLOT;
                }
            }
        }
        if !is_changed {
            break;
        }
    }
    all.into_iter().map(|words| words.join(" ")).collect()
}

/// Returns the places of a pattern that may have a value, with the word there.
fn contexts_of<'w, 'p>(
    words: &'w [&'p str],
) -> impl Iterator<Item = (Context, &'p str)> + use<'w, 'p> {
    let is_fixed = |word: &str| !word.contains(SLOT);
    let num_fixed = words.iter().filter(|word| is_fixed(word)).count();
    let hashed = words.iter().enumerate();
    // A sum, from which one word can be taken away.
    let sum = hashed.fold(0u64, |sum, (place, word)| {
        sum.wrapping_add(hash_of(place, word))
    });
    let places = words.iter().enumerate();
    let places = places.filter(move |(place, word)| {
        let min_others = match place {
            0 => MIN_OTHERS_IN_FRONT,
            _ => MIN_OTHERS,
        };
        words.len() <= MAX_WORDS && is_fixed(word) && num_fixed > min_others
    });
    places.map(move |(place, word)| {
        let others = sum.wrapping_sub(hash_of(place, word));
        ((place, others), *word)
    })
}

fn hash_of(place: usize, word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (place, word).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_with_many_words_is_a_value() {
        let names = ["root", "eve", "bob", "al", "kim"];
        let texts = names.map(|name| format!("session opened for {name} by cron"));
        let patterns: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(
            merged(&patterns)
                .iter()
                .all(|pattern| pattern == "session opened for <*> by cron")
        );
        assert_eq!(merged(&patterns[..4]), patterns[..4]);
        assert!(merged(&[]).is_empty());
    }

    #[test]
    fn what_a_pattern_is_about_stays() {
        let programs = ["crond", "sshd", "ntpd", "cups", "gpm"];
        let texts = programs.map(|program| format!("{program} startup succeeded"));
        let patterns: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(merged(&patterns), patterns);
        let words = ["a <*>", "b <*>", "c <*>", "d <*>", "e <*>"];
        assert_eq!(merged(&words), words);
    }

    #[test]
    fn several_places_become_values_in_rounds() {
        let mut texts = Vec::new();
        for name in ["a", "b", "c", "d", "e"] {
            for host in ["v", "w", "x", "y", "z"] {
                texts.push(format!("login of {name} at {host} failed"));
            }
        }
        let patterns: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(
            merged(&patterns)
                .iter()
                .all(|pattern| pattern == "login of <*> at <*> failed")
        );
    }
}
