//! What can be told of a query from its text, before it is parsed: how deep it nests, since the grammar recurses
//! at every bracket and every `NOT`, and a stack that is used up cannot be caught; how many terms it has; and the
//! same query with spaces wherever it has whitespace between its parts, and without backslashes that the grammar
//! would leave in words.
//!
//! The grammar takes a tab for a part of a field's name: it reads on to the end of the text at every word,
//! and takes minutes for what takes milliseconds with spaces.
//!
//! The text is cut as tantivy's grammar cuts it (quotes, expressions between slashes, ranges, sets, words), so
//! that a bracket within them is none. Where the grammar can go no further, whatever follows counts as if it
//! only opened: no text is deeper than it is said to be.

use std::ops::Range;

use super::values::{
    QUOTED, len_of_half_range, len_of_quoted, len_of_range, len_of_regex, len_of_set, len_of_word,
    quoted_in, stand_in,
};

/// What there is to know of a query before it is parsed.
#[derive(Debug)]
pub(super) struct Outline {
    /// The most that is open at once: groups, and negations that wait for what they negate.
    pub(super) depth: usize,
    /// Words, phrases, ranges, sets and expressions. Never more than the parsed query has, unless it does not
    /// parse or repeats itself: the grammar drops a clause that is there already.
    pub(super) num_leaves: usize,
    /// The query with a space for each whitespace character that is not in quotes, escaped or in an expression.
    /// Backslashes are gone where they only say that the next character is itself, which the grammar knows of some
    /// characters only; [`MARK`] stands for those without which that character would be an operator. Ends of ranges have
    /// [`QUOTED`] before them for their quotes, and stand-ins for characters that would end them.
    pub(super) text: String,
}

/// Stands before a character that is no operator. No text has it: Unicode sets it aside for programs.
pub(super) const MARK: char = '\u{FDD0}';

pub(super) fn outline_of(query: &str) -> Outline {
    let text = text_of(query);
    let (openers, nots) = (text.rest.matches('('), text.rest.matches("NOT"));
    let unread = openers.count() + nots.count();
    Outline {
        depth: match unread {
            0 => text.deepest,
            _ => text.deepest.max(text.depth + unread),
        },
        num_leaves: text.num_leaves + text.rest.split_whitespace().count(),
        text: text.cleaned(),
    }
}

/// `query`, read as far as the grammar goes.
fn text_of(query: &str) -> Text<'_> {
    let mut text = Text {
        query,
        rest: query,
        groups: Vec::new(),
        num_nots: 0,
        depth: 0,
        deepest: 0,
        num_leaves: 0,
        verbatim: Vec::new(),
        escapes: Vec::new(),
        quoted_ends: Vec::new(),
    };
    while text.take_leaf().is_some() {}
    text
}

struct Text<'q> {
    query: &'q str,
    rest: &'q str,
    /// For each open group the negations that wait for it.
    groups: Vec<usize>,
    /// Negations that wait for the next leaf.
    num_nots: usize,
    depth: usize,
    deepest: usize,
    num_leaves: usize,
    /// Where whitespace means itself: in words, phrases, expressions and sets.
    verbatim: Vec<Range<usize>>,
    /// Backslashes that the grammar would leave, and whether a mark must stand there instead.
    escapes: Vec<(usize, bool)>,
    /// Ends of ranges in quotes, with these.
    quoted_ends: Vec<Range<usize>>,
}

/// Of these the grammar takes the backslash away itself, or it means that they are no wildcard.
fn keeps_backslash(escaped: char) -> bool {
    escaped.is_whitespace() || "^`:{}\"'[]()\\-*?".contains(escaped)
}

impl<'q> Text<'q> {
    /// Goes past the next bracket, `NOT` or leaf with what is around it; `None` where the text ends, or where
    /// the grammar does.
    fn take_leaf(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            ')' => {
                self.advance(1);
                self.end_leaf();
                self.depth -= self.groups.pop().map_or(0, |num_nots| num_nots + 1);
                self.end_tail();
                return Some(());
            }
            '+' | '-' => {
                self.advance(1);
                return Some(());
            }
            _ => {}
        }
        if let Some(after) = self.rest.strip_prefix("NOT")
            && after.starts_with(char::is_whitespace)
        {
            self.rest = after;
            self.num_nots += 1;
            self.deepen();
            return Some(());
        }
        self.take_field_name();
        if self.rest.starts_with('(') {
            self.advance(1);
            self.groups.push(std::mem::take(&mut self.num_nots));
            self.deepen();
            return Some(());
        }
        let len = self.len_of_value()?;
        let value = self.rest.get(..len).unwrap_or_default();
        if !matches!(value, "AND" | "OR") {
            self.num_leaves += 1;
        }
        let start = self.query.len() - self.rest.len();
        if value.starts_with(['[', '{', '<', '>']) {
            let quoted = quoted_in(value).into_iter();
            let quoted = quoted.map(|range| start + range.start..start + range.end);
            self.quoted_ends.extend(quoted);
        } else {
            self.verbatim.push(start..start + len);
            if !value.starts_with('/') || len_of_regex(value).is_none() {
                self.note_escapes(start, value);
            }
        }
        self.advance(len);
        self.end_leaf();
        self.end_tail();
        Some(())
    }

    /// Finds the backslashes of a word or of the words in a set.
    fn note_escapes(&mut self, start: usize, value: &str) {
        let mut chars = value.char_indices();
        let mut is_first = true;
        while let Some((at, c)) = chars.next() {
            match c {
                '"' | '\'' => {
                    let Some(len) = value.get(at..).and_then(|rest| len_of_quoted(rest, c)) else {
                        return;
                    };
                    while chars.offset() < at + len {
                        chars.next();
                    }
                }
                '\\' => match chars.next() {
                    Some((_, escaped)) if !keeps_backslash(escaped) => {
                        self.escapes.push((start + at, is_first || escaped == '~'));
                    }
                    _ => {}
                },
                _ => {}
            }
            is_first = c.is_whitespace() || c == '[';
        }
    }

    /// The query as the grammar is to read it.
    fn cleaned(&self) -> String {
        let mut cleaned = String::with_capacity(self.query.len());
        let mut kept = self.verbatim.iter().peekable();
        let mut escapes = self.escapes.iter().peekable();
        let mut quoted = self.quoted_ends.iter().peekable();
        let mut is_escaped = false;
        for (at, c) in self.query.char_indices() {
            while quoted.next_if(|range| range.end <= at).is_some() {}
            if let Some(start) = quoted.peek().map(|range| range.start)
                && start <= at
            {
                match c {
                    _ if at == start => cleaned.push(QUOTED),
                    '\\' | '"' if !is_escaped => is_escaped = c == '\\',
                    c => {
                        cleaned.push(stand_in(c));
                        is_escaped = false;
                    }
                }
                continue;
            }
            while kept.next_if(|range| range.end <= at).is_some() {}
            let is_kept = kept.peek().is_some_and(|range| range.start <= at);
            match escapes.next_if(|(place, _)| *place == at) {
                Some((_, true)) => cleaned.push(MARK),
                Some((_, false)) => {}
                None if c.is_whitespace() && !is_kept => cleaned.push(' '),
                None => cleaned.push(c),
            }
        }
        cleaned
    }

    fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    fn deepen(&mut self) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    /// What waited for a leaf has it.
    fn end_leaf(&mut self) {
        self.depth -= std::mem::take(&mut self.num_nots);
    }

    /// Boost, slop and the star of a prefix.
    fn end_tail(&mut self) {
        let is_tail = |c: char| c.is_ascii_digit() || "^~*.".contains(c);
        self.rest = self.rest.trim_start_matches(is_tail);
    }

    /// A name, perhaps with spaces behind it, and a colon.
    fn take_field_name(&mut self) {
        let mut chars = self.rest.char_indices().peekable();
        let mut end = 0;
        while let Some((at, c)) = chars.next() {
            match c {
                // An escape, or in the middle of a name the character itself.
                '\\' => {
                    let is_escaped = |c: char| "+^`:{}\"'[]()!\\* ".contains(c);
                    let escaped = chars.next_if(|(_, c)| is_escaped(*c));
                    if escaped.is_none() && at == 0 {
                        return;
                    }
                    end = at + 1 + escaped.map_or(0, |(_, c)| c.len_utf8());
                }
                '-' if at == 0 => return,
                c if c.is_whitespace() || "+^`:{}\"'[]()!*".contains(c) => break,
                c => end = at + c.len_utf8(),
            }
        }
        if end > 0
            && let Some(after) = self.rest[end..].trim_start().strip_prefix(':')
        {
            self.rest = after.trim_start();
        }
    }

    /// Length of the range, set, expression, phrase or word that begins here.
    fn len_of_value(&self) -> Option<usize> {
        let rest = self.rest;
        let first = rest.chars().next()?;
        match first {
            '[' | '{' => len_of_range(rest),
            '<' | '>' => len_of_half_range(rest),
            '"' | '\'' => len_of_quoted(rest, first),
            '/' => len_of_regex(rest).or_else(|| len_of_word(rest)),
            _ => len_of_set(rest).or_else(|| len_of_word(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tantivy_query_grammar::{UserInputAst, UserInputLeaf};

    use super::*;

    fn depth_of(query: &str) -> usize {
        outline_of(query).depth
    }

    #[test]
    fn a_backslash_makes_any_character_itself() {
        let check = |query: &str, expect: &str| {
            let expect = expect.replace('|', &MARK.to_string());
            assert_eq!(outline_of(query).text, expect, "{query}");
        };
        check("a\\/b wor\\d", "a/b word");
        check("f:\\/a/ \\<3", "f:|/a/ |<3");
        check("\\AND \\+a", "|AND |+a");
        check("a\\~1 a\\b~1", "a|~1 ab~1");
        check(
            "f:IN [x\\/1 \"y\\/2\" \\/z\\w]",
            "f:IN [x/1 \"y\\/2\" |/zw]",
        );
        // The grammar knows these, or they are no escapes.
        for same in [
            "a\\:b\\-c\\\\",
            "a\\*b\\?",
            "a\\ b",
            "\"a\\/b\" 'c\\/d'",
            "/a\\/b/",
            "a\\.b:c",
        ] {
            check(same, same);
        }
    }

    #[test]
    fn whitespace_of_any_kind_is_a_space_but_where_it_means_itself() {
        for (query, spaced) in [
            ("a\tb\nc\u{3000}d", "a b c d"),
            ("a:\tb\tAND\r\n(c)", "a: b AND  (c)"),
            ("a:[1\tTO\t2]\tb", "a:[1 TO 2] b"),
            ("a:>=\t5\tb", "a:>= 5 b"),
            (
                "a:[\"x y\" TO \"(\\\"\"}\tb",
                "a:[\u{FDDF}x\u{FDD1}y TO \u{FDDF}\u{FDD6}\u{FDD8}} b",
            ),
            ("a:>\t\"x\\y]\"\tb", "a:> \u{FDDF}xy\u{FDD5} b"),
            ("a:>\"x\ty\nz\"\tb", "a:>\u{FDDF}x\u{FDDA}y\u{FDDB}z b"),
            ("a:\"x\ty\"\tb", "a:\"x\ty\" b"),
            ("'x\ty'\tb", "'x\ty' b"),
            ("a:/x\ty/\tb", "a:/x\ty/ b"),
            ("a:IN [\"x\ty\"\tz]\tb", "a:IN [\"x\ty\"\tz] b"),
            ("a\\\tb\tc", "a\\\tb c"),
        ] {
            assert_eq!(outline_of(query).text, spaced, "{query:?}");
        }
    }

    #[test]
    fn operators_are_no_leaves() {
        for (query, num_leaves) in [
            ("a AND b OR NOT c", 3),
            ("a:(b c) \"d e\" [1 TO 2]", 4),
            ("a:IN [x y z]", 1),
            ("a:>=5 *", 2),
            ("a\tb\tc", 3),
            ("b [1 TO 2]b \"\"", 4),
            ("[\"a b\" TO \"c d\"] >\"e f\"", 2),
        ] {
            assert_eq!(outline_of(query).num_leaves, num_leaves, "{query}");
        }
    }

    #[test]
    fn groups_and_negations_count_while_they_are_open() {
        for (query, depth) in [
            ("", 0),
            ("a AND b", 0),
            ("(a) (b) (c)", 1),
            ("((a) OR (b AND (c)))", 3),
            ("NOT NOT a NOT b", 2),
            ("NOT (NOT a) NOT b", 3),
            ("(NOT (a b) c) (d)", 3),
            ("-(a) +(b)^2 \"c\"~3 d*", 1),
            ("a:(b c:(d))", 2),
            ("a:[1 TO 2} (b)", 1),
            ("a:IN [\"(\" b '('] (c)", 1),
            ("a:/(b|c)/ (d)", 1),
            ("a:>=5 (b)", 1),
            ("a:[\"(\" TO \"((\"] (b) a:>\"((\"", 1),
            ("a/b (c) d/e", 1),
            ("a\\( \\(b", 0),
        ] {
            assert_eq!(depth_of(query), depth, "{query}");
        }
    }

    /// What is quoted closes no group.
    #[test]
    fn brackets_that_are_none_hide_none() {
        for part in [
            "(\")\" ",
            "(')' ",
            "(/)/ ",
            "(a:/)\\/)/ ",
            "(\\) ",
            "(a\\)b ",
            "(a:IN [\")\"] ",
            "(a:[x' TO y] OR a:[z' TO b] ",
            "(a/ \"/ ) \" ",
            "(a:>'x ",
            "(/\"/ b ",
            "(\"\\\")\" ",
            "NOT ",
            "(a] ",
        ] {
            let query = part.repeat(100);
            assert!(depth_of(&query) >= 99, "{query}");
        }
    }

    fn depth_of_ast(ast: &UserInputAst) -> usize {
        match ast {
            UserInputAst::Clause(clauses) => {
                let depths = clauses.iter().map(|(_, clause)| depth_of_ast(clause));
                1 + depths.max().unwrap_or(0)
            }
            UserInputAst::Boost(inner, _) => depth_of_ast(inner),
            UserInputAst::Leaf(_) => 0,
        }
    }

    fn num_leaves_of_ast(ast: &UserInputAst) -> usize {
        match ast {
            UserInputAst::Clause(clauses) => {
                let clauses = clauses.iter();
                clauses.map(|(_, clause)| num_leaves_of_ast(clause)).sum()
            }
            UserInputAst::Boost(inner, _) => num_leaves_of_ast(inner),
            UserInputAst::Leaf(leaf) => match leaf.as_ref() {
                // A set's elements are clauses too.
                UserInputLeaf::Set { elements, .. } => 1 + elements.len(),
                _ => 1,
            },
        }
    }

    /// Values that differ, of those that are written out; escapes are left out, since some mean nothing.
    fn num_distinct_values(query: &str) -> usize {
        let outline = text_of(query);
        let values = outline
            .verbatim
            .iter()
            .map(|range| query[range.clone()].replace('\\', ""));
        let values: BTreeSet<String> = values
            .filter(|value| !matches!(&**value, "AND" | "OR"))
            .collect();
        values.len()
    }

    proptest! {
        /// Whatever parses is no deeper than its text says. A level of text is at most three of the tree:
        /// the group, its alternatives, and what each requires.
        #[test]
        fn no_tree_is_deeper_than_its_text(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "(", "(", "(", ")", ")", ")", "a", "b ", " ", " AND ", " OR ", "NOT ", "-", "+", "\"", "'",
                    "/", "\\", "a:", "[1 TO 2]", "{x' TO *}", "IN [a 'b']", ">=3", "*", "^2", "~1", "a/b",
                    "\")\"", "'('", "/)/", "\\)",
                ]),
                0..40,
            ),
        ) {
            let query = parts.concat();
            if let Ok(ast) = tantivy_query_grammar::parse_query(query.trim()) {
                let (depth, most) = (depth_of_ast(&ast), 3 * depth_of(&query) + 3);
                prop_assert!(depth <= most, "{query}: {depth} in {most}");
                // Counting early refuses nothing that would be allowed, but what repeats itself.
                let (counted, parsed) = (num_distinct_values(query.trim()), num_leaves_of_ast(&ast));
                prop_assert!(counted <= parsed, "{query}: {counted} counted, {parsed} parsed");
            }
        }
    }
}
