//! How near two words are, as Lucene's spell checker says.

#[expect(clippy::cast_precision_loss, reason = "words are short")]
fn float(number: usize) -> f64 {
    number as f64
}

/// Returns how similar a term is to a word: 1 less the number of edits for each character of the shorter one.
pub(super) fn similarity(word: &str, term: &str) -> f64 {
    let (word, term): (Vec<char>, Vec<char>) = (word.chars().collect(), term.chars().collect());
    let shorter = word.len().min(term.len());
    match shorter {
        0 => 0.0,
        shorter => 1.0 - float(edits(&word, &term)) / float(shorter),
    }
}

/// Returns the number of insertions, deletions, substitutions and transpositions of neighbours between two words.
fn edits(left: &[char], right: &[char]) -> usize {
    let (mut before, mut last): (Vec<usize>, Vec<usize>) =
        (Vec::new(), (0..=right.len()).collect());
    let mut previous = None;
    for (row, c) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        let mut beside = None;
        for (column, other) in right.iter().enumerate() {
            let at =
                |list: &[usize], place: usize| list.get(place).copied().unwrap_or(usize::MAX / 2);
            let cost = usize::from(c != other);
            let mut best = (at(&last, column) + cost)
                .min(at(&last, column + 1) + 1)
                .min(at(&line, column) + 1);
            if previous == Some(other) && beside == Some(c) {
                best = best.min(at(&before, column.wrapping_sub(1)) + 1);
            }
            line.push(best);
            beside = Some(other);
        }
        before = std::mem::replace(&mut last, line);
        previous = Some(c);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_people_make_them() {
        for (left, right, expected) in [
            ("amsterdma", "amsterdam", 1),
            ("meetpu", "meetup", 1),
            ("kitten", "sitting", 3),
            ("abc", "abc", 0),
            ("", "ab", 2),
            ("abcd", "acbd", 1),
            ("ab", "ba", 1),
            ("tehn", "then", 1),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            assert_eq!(
                edits(&chars(left), &chars(right)),
                expected,
                "{left} {right}"
            );
        }
        assert!((similarity("amsterdma", "amsterdam") - (1.0 - 1.0 / 9.0)).abs() < 1e-9);
    }
}
