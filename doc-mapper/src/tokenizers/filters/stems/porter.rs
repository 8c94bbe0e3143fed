//! Porter's stemmer with the two departures that its author published later (`bli` and `logi`), as Lucene's
//! `PorterStemFilter` has it: the stemmer of Elasticsearch's `english` analyzer. The stems are those of
//! <https://tartarus.org/martin/PorterStemmer/>.

/// Reduces a lowercase word to its stem. Words of one or two characters are unchanged; what is no letter from a to z
/// counts as a consonant.
pub(super) fn stem(word: &mut String) {
    const MIN_CHARS: usize = 3;
    if word.chars().nth(MIN_CHARS - 1).is_none() {
        return;
    }
    plurals(word);
    past_tense(word);
    if word.ends_with('y') && has_vowel(before(word, 1)) {
        replace(word, 1, "i");
    }
    replace_first(word, &STEP_2, 0);
    replace_first(word, &STEP_3, 0);
    drop_endings(word);
    final_letters(word);
}

/// Endings and what they become where the stem has a vowel followed by a consonant.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Endings that are dropped where the stem has that twice. `ement` and `ment` come before `ent`.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

fn before(word: &str, len: usize) -> &str {
    word.get(..word.len().saturating_sub(len))
        .unwrap_or_default()
}

fn replace(word: &mut String, len: usize, by: &str) {
    word.truncate(word.len().saturating_sub(len));
    word.push_str(by);
}

/// Replaces the first of these endings that the word has, if its stem has more than `least` times a vowel followed by a
/// consonant.
fn replace_first(word: &mut String, endings: &[(&str, &str)], least: usize) {
    let found = endings.iter().find(|(ending, _)| word.ends_with(ending));
    if let Some((ending, by)) = found
        && measure(before(word, ending.len())) > least
    {
        replace(word, ending.len(), by);
    }
}

/// `caresses` → `caress`, `ponies` → `poni`, `cats` → `cat`.
fn plurals(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        replace(word, 2, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        replace(word, 1, "");
    }
}

/// `agreed` → `agree`, `plastered` → `plaster`, `hopping` → `hop`, `filing` → `file`.
fn past_tense(word: &mut String) {
    if word.ends_with("eed") {
        if measure(before(word, 3)) > 0 {
            replace(word, 1, "");
        }
        return;
    }
    let endings = ["ed", "ing"];
    let found = endings.iter().find(|ending| word.ends_with(**ending));
    let Some(ending) = found.filter(|ending| has_vowel(before(word, ending.len()))) else {
        return;
    };
    replace(word, ending.len(), "");
    if ["at", "bl", "iz"]
        .iter()
        .any(|ending| word.ends_with(ending))
    {
        word.push('e');
    } else if ends_double(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn drop_endings(word: &mut String) {
    let Some(ending) = STEP_4.iter().find(|ending| word.ends_with(**ending)) else {
        return;
    };
    let stem = before(word, ending.len());
    let is_dropped = *ending != "ion" || stem.ends_with(['s', 't']);
    if is_dropped && measure(stem) > 1 {
        replace(word, ending.len(), "");
    }
}

fn final_letters(word: &mut String) {
    if word.ends_with('e') {
        let stem = before(word, 1);
        let parts = measure(stem);
        if parts > 1 || (parts == 1 && !ends_short(stem)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

/// Returns for each letter whether it is a consonant: `y` is one at the start and behind a vowel.
fn consonants(word: &str) -> impl Iterator<Item = bool> {
    let mut before = false;
    word.chars().map(move |char| {
        before = match char {
            'a' | 'e' | 'i' | 'o' | 'u' => false,
            'y' => !before,
            _ => true,
        };
        before
    })
}

/// Returns the number of times that a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    let behind = consonants(word).skip(1);
    let pairs = consonants(word).zip(behind);
    pairs.filter(|pair| *pair == (false, true)).count()
}

fn has_vowel(word: &str) -> bool {
    consonants(word).any(|is_consonant| !is_consonant)
}

/// Returns whether a word ends with the same consonant twice.
fn ends_double(word: &str) -> bool {
    let mut last = word.chars().rev();
    let is_same = last.next().zip(last.next()).is_some_and(|(a, b)| a == b);
    is_same && consonants(word).last() == Some(true)
}

/// Returns whether a word ends with consonant, vowel and a consonant that is none of w, x and y.
fn ends_short(word: &str) -> bool {
    let Some(skipped) = word.chars().count().checked_sub(3) else {
        return false;
    };
    consonants(word).skip(skipped).eq([true, false, true]) && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_porters() {
        // Made with NLTK's `PorterStemmer(mode="MARTIN_EXTENSIONS")`.
        let expect = include_str!("porter_stems.txt").lines();
        let mut num = 0;
        for line in expect {
            let (word, expect) = line.split_once(' ').unwrap();
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expect, "{word}");
            num += 1;
        }
        assert!(num > 1_000);
    }

    #[test]
    fn what_is_no_letter_is_a_consonant() {
        for (word, expect) in [
            ("is", "is"),
            ("a", "a"),
            ("", ""),
            ("és", "és"),
            ("blk123s", "blk123"),
            ("runner's", "runner'"),
            ("cafés", "café"),
            ("日本語", "日本語"),
            ("aéé\u{3000}\u{3000}ed", "aéé\u{3000}"),
        ] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expect, "{word}");
        }
    }
}
