//! Parts of words such as `Wi-Fi` and `PowerShot500`, as Lucene's `WordDelimiterGraphFilter` finds them.

use tantivy::tokenizer::Token;

use super::several::Ahead;
use crate::tokenizers::definition::Delimiter;

/// Kinds of characters, as sets.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const ALPHA: u8 = LOWER | UPPER;
const DIGIT: u8 = 4;

/// Returns the kind of a character; 0 for what stands between parts.
fn kind_of(char: char) -> u8 {
    match char {
        _ if char.is_uppercase() => UPPER,
        // Others that have no capital are letters of no case.
        _ if char.is_alphabetic() => match char.to_uppercase().eq([char]) {
            true => ALPHA,
            false => LOWER,
        },
        _ if char.is_numeric() => DIGIT,
        _ => 0,
    }
}

/// A token made of a word: some of its bytes, and the nodes that it is between.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    text: String,
    start: usize,
    end: usize,
    from: usize,
    to: usize,
}

/// Parts that are to be joined.
#[derive(Default)]
struct Joined {
    text: String,
    start: usize,
    end: usize,
    from: usize,
    kind: u8,
    num: usize,
}

impl Joined {
    fn add(&mut self, word: &str, piece: &Piece, position: usize) {
        if self.num == 0 {
            (self.start, self.from, self.kind) = (piece.start, position, piece.kind);
        }
        self.text
            .push_str(word.get(piece.start..piece.end).unwrap_or_default());
        self.end = piece.end;
        self.num += 1;
    }
}

/// Run of characters of one kind.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: usize,
    end: usize,
    kind: u8,
}

/// Divides a word.
fn pieces_of(options: &Delimiter, word: &str) -> Vec<Piece> {
    let chars: Vec<(usize, char, u8)> = word
        .char_indices()
        .map(|(at, char)| (at, char, kind_of(char)))
        .collect();
    let kind = |nth: usize| chars.get(nth).map_or(0, |(_, _, kind)| *kind);
    let place = |nth: usize| chars.get(nth).map_or(word.len(), |(at, ..)| *at);
    // Whether `'s` stands here, behind a letter and before what is none.
    let is_possessive = |nth: usize| {
        let at = |nth: usize| chars.get(nth).map(|(_, char, _)| *char);
        options.drops_possessive
            && nth > 0
            && at(nth) == Some('\'')
            && matches!(at(nth + 1), Some('s' | 'S'))
            && kind(nth - 1) & ALPHA != 0
            && kind(nth + 2) == 0
    };
    let is_break = |last: u8, next: u8| {
        let letters = last & ALPHA != 0 && next & ALPHA != 0;
        let changes =
            (last & ALPHA != 0 && next & DIGIT != 0) || (last & DIGIT != 0 && next & ALPHA != 0);
        !(next & last != 0
            || (letters && !options.splits_on_case)
            || (last == UPPER && next & ALPHA != 0)
            || (changes && !options.splits_on_numerics))
    };
    let (mut pieces, mut nth) = (Vec::new(), 0);
    while nth < chars.len() {
        if kind(nth) == 0 {
            nth += if is_possessive(nth) { 2 } else { 1 };
            continue;
        }
        let start = nth;
        nth += 1;
        while kind(nth) != 0 && !is_break(kind(nth - 1), kind(nth)) {
            nth += 1;
        }
        pieces.push(Piece {
            start: place(start),
            end: place(nth),
            kind: match kind(start) {
                LOWER | UPPER => ALPHA,
                kind => kind,
            },
        });
    }
    pieces
}

/// Returns the tokens that a word becomes, in order; none if it is dropped, and `None` if it stays.
fn parts_of(options: &Delimiter, word: &str) -> Option<Vec<Part>> {
    let pieces = pieces_of(options, word);
    let is_all = |piece: &Piece| piece.start == 0 && piece.end == word.len();
    if pieces.first().is_some_and(is_all)
        || options.protected.binary_search(&word.to_owned()).is_ok()
    {
        return None;
    }
    if pieces.is_empty() {
        return (!options.preserve_original).then(Vec::new);
    }
    let mut made = Made::default();
    match pieces.as_slice() {
        [one] => made.push(word, one),
        pieces => made.of_pieces(options, word, pieces),
    }
    if options.preserve_original {
        made.next = made.next.max(1);
        made.parts.push(Part {
            text: word.to_owned(),
            start: 0,
            end: word.len(),
            from: 0,
            to: made.next,
        });
    }
    // The longer of two that begin alike comes first.
    canter_sorting::sort_by(&mut made.parts, |a, b| {
        a.from.cmp(&b.from).then(b.to.cmp(&a.to))
    });
    Some(made.parts)
}

/// Tokens of a word so far.
#[derive(Default)]
struct Made {
    parts: Vec<Part>,
    next: usize,
    /// Number of pieces that were joined last.
    last_num: usize,
}

impl Made {
    fn push(&mut self, word: &str, piece: &Piece) {
        self.parts.push(Part {
            text: word
                .get(piece.start..piece.end)
                .unwrap_or_default()
                .to_owned(),
            start: piece.start,
            end: piece.end,
            from: self.next,
            to: self.next + 1,
        });
        self.next += 1;
    }

    fn push_joined(&mut self, joined: Joined) {
        self.parts.push(Part {
            text: joined.text,
            start: joined.start,
            end: joined.end,
            from: joined.from,
            to: self.next,
        });
    }

    fn of_pieces(&mut self, options: &Delimiter, word: &str, pieces: &[Piece]) {
        let generates = |kind: u8| match kind & ALPHA {
            0 => options.has_numbers,
            _ => options.has_words,
        };
        let (mut run, mut all) = (Joined::default(), Joined::default());
        for piece in pieces {
            if run.num > 0 && run.kind & piece.kind == 0 {
                let is_generated = generates(run.kind);
                self.end_run(std::mem::take(&mut run), is_generated);
            }
            let joins = match piece.kind & ALPHA {
                0 => options.joins_numbers,
                _ => options.joins_words,
            };
            if joins {
                run.add(word, piece, self.next);
            }
            if options.joins_all {
                all.add(word, piece, self.next);
            }
            if generates(piece.kind) {
                self.push(word, piece);
            }
        }
        if run.num > 0 {
            let is_generated = generates(run.kind);
            self.end_run(run, is_generated);
        }
        if all.num > self.last_num {
            if self.next == all.from {
                self.next += 1;
            }
            self.push_joined(all);
        }
    }

    /// Writes pieces that were joined, unless it is one that is a part, too.
    fn end_run(&mut self, run: Joined, is_generated: bool) {
        if self.next == run.from {
            self.next += 1;
        }
        self.last_num = run.num;
        if run.num != 1 || !is_generated {
            self.push_joined(run);
        }
    }
}

/// Where a text has got to.
#[derive(Default)]
pub(super) struct DelimiterProgress {
    next_in: usize,
    next_position: usize,
    /// Positions that words without parts have left.
    left: usize,
}

impl DelimiterProgress {
    /// Writes what a token becomes.
    pub(super) fn advance(&mut self, options: &Delimiter, token: Token, ahead: &mut Ahead) {
        self.left += (token.position + 1).saturating_sub(self.next_in);
        self.next_in = token.position + 1;
        let base = (self.next_position + self.left).saturating_sub(1);
        let Some(parts) = parts_of(options, &token.text) else {
            (self.next_position, self.left) = (base + 1, 0);
            ahead.due.push_back(Token {
                position: base,
                ..token
            });
            return;
        };
        // A token that is another text than the original has one place.
        let is_original = token.offset_to.saturating_sub(token.offset_from) == token.text.len();
        for part in parts {
            (self.next_position, self.left) = (base + part.from + 1, 0);
            let (mut offset_from, mut offset_to) = (token.offset_from, token.offset_to);
            if is_original {
                offset_to = offset_from + part.end;
                offset_from += part.start;
            }
            ahead.due.push_back(Token {
                text: part.text,
                offset_from,
                offset_to,
                position: base + part.from,
                position_length: part.to - part.from,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Delimiter {
        Delimiter {
            has_words: true,
            has_numbers: true,
            joins_words: false,
            joins_numbers: false,
            joins_all: false,
            preserve_original: false,
            splits_on_case: true,
            splits_on_numerics: true,
            drops_possessive: true,
            protected: Vec::new(),
        }
    }

    fn check(options: &Delimiter, word: &str, expect: Option<&[(&str, usize, usize)]>) {
        let parts = parts_of(options, word);
        let parts = parts.map(|parts| {
            let parts = parts.into_iter();
            parts
                .map(|part| (part.text, part.from, part.to))
                .collect::<Vec<_>>()
        });
        let owned = |(text, from, to): &(&str, usize, usize)| ((*text).to_owned(), *from, *to);
        let expect = expect.map(|parts| parts.iter().map(owned).collect::<Vec<_>>());
        assert_eq!(parts, expect, "{word}");
    }

    /// As in Elasticsearch's documentation of the filter, and Lucene's of its options.
    #[test]
    fn words_are_divided_as_documented() {
        check(
            &options(),
            "Neil's-Super-Duper-XL500--42+AutoCoder",
            Some(&[
                ("Neil", 0, 1),
                ("Super", 1, 2),
                ("Duper", 2, 3),
                ("XL", 3, 4),
                ("500", 4, 5),
                ("42", 5, 6),
                ("Auto", 6, 7),
                ("Coder", 7, 8),
            ]),
        );
        check(&options(), "plain", None);
        check(&options(), "--", Some(&[]));
        check(&options(), "O'Neil's", Some(&[("O", 0, 1), ("Neil", 1, 2)]));
        check(
            &options(),
            "ÄrgerÜber日本",
            Some(&[("Ärger", 0, 1), ("Über日本", 1, 2)]),
        );
        let joined = Delimiter {
            joins_words: true,
            ..options()
        };
        check(
            &joined,
            "super-duper-xl-500",
            Some(&[
                ("superduperxl", 0, 3),
                ("super", 0, 1),
                ("duper", 1, 2),
                ("xl", 2, 3),
                ("500", 3, 4),
            ]),
        );
        let all = Delimiter {
            joins_all: true,
            preserve_original: true,
            ..options()
        };
        check(
            &all,
            "PowerShot-500",
            Some(&[
                ("PowerShot500", 0, 3),
                ("PowerShot-500", 0, 3),
                ("Power", 0, 1),
                ("Shot", 1, 2),
                ("500", 2, 3),
            ]),
        );
        let only_joined = Delimiter {
            has_words: false,
            has_numbers: false,
            joins_all: true,
            ..options()
        };
        check(&only_joined, "wi-fi-4", Some(&[("wifi4", 0, 1)]));
        let whole = Delimiter {
            splits_on_case: false,
            splits_on_numerics: false,
            ..options()
        };
        check(
            &whole,
            "j2se-TestCase",
            Some(&[("j2se", 0, 1), ("TestCase", 1, 2)]),
        );
        let protected = Delimiter {
            protected: vec!["Wi-Fi".to_owned()],
            ..options()
        };
        check(&protected, "Wi-Fi", None);
    }
}
