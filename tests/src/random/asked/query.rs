//! Query as a tree and as text in the query language.

use crate::random::schema::Setup;

/// Tree of clauses.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf(Leaf),
    /// `a AND b`.
    And(Vec<Node>),
    /// `a OR b`.
    Or(Vec<Node>),
    /// `a +b -c`: clauses side by side.
    Side(Vec<(Sign, Node)>),
    /// `NOT a`.
    Not(Box<Node>),
    /// `field:(a OR b)`: several values of one field.
    Group {
        field: usize,
        values: Vec<String>,
        all: bool,
    },
    /// `a^2`.
    Boost(Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    None,
    Plus,
    Minus,
}

#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    All,
    /// Word or phrase, in the default search fields if no field is named.
    Words {
        fields: Vec<usize>,
        is_named: bool,
        text: String,
        quoted: bool,
        slop: u32,
        prefix: bool,
    },
    /// Wildcard pattern or regular expression.
    Pattern {
        field: usize,
        pieces: Vec<Piece>,
        is_regex: bool,
    },
    Range {
        field: usize,
        lower: Bound,
        upper: Bound,
    },
    Set {
        field: usize,
        elements: Vec<String>,
    },
    Exists {
        field: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Char(char),
    /// Any single character.
    Any,
    /// Any text.
    Rest,
    /// One of these characters.
    Class(Vec<char>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    Open,
    Included(String),
    Excluded(String),
}

impl Node {
    /// Returns the query as text, with the names `paths` for the fields.
    pub(crate) fn text(&self, paths: &[&str]) -> String {
        let child = |node: &Node| match node {
            Node::Leaf(_) | Node::Group { .. } | Node::Boost(_) => node.text(paths),
            _ => format!("({})", node.text(paths)),
        };
        let joined =
            |nodes: &[Node], by: &str| nodes.iter().map(child).collect::<Vec<_>>().join(by);
        match self {
            Node::Leaf(leaf) => leaf.text(paths),
            Node::And(nodes) => joined(nodes, " AND "),
            Node::Or(nodes) => joined(nodes, " OR "),
            Node::Side(nodes) => {
                let signed = nodes.iter().map(|(sign, node)| {
                    let sign = match sign {
                        Sign::None => "",
                        Sign::Plus => "+",
                        Sign::Minus => "-",
                    };
                    format!("{sign}{}", child(node))
                });
                signed.collect::<Vec<_>>().join(" ")
            }
            Node::Not(node) => format!("NOT {}", child(node)),
            Node::Group { field, values, all } => {
                let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                let by = if *all { " AND " } else { " OR " };
                format!("{}:({})", paths[*field], values.join(by))
            }
            Node::Boost(node) => match node.as_ref() {
                // A range with one end would take it for a part of the bound.
                Node::Leaf(range @ Leaf::Range { .. }) => format!("({})^2.5", range.text(paths)),
                node => format!("{}^2.5", child(node)),
            },
        }
    }
}

impl Node {
    /// Returns the kind of the query, without its values.
    pub(crate) fn signature(&self, setup: &Setup) -> String {
        let joined = |nodes: &[Node]| {
            let parts: Vec<String> = nodes.iter().map(|node| node.signature(setup)).collect();
            parts.join(" ")
        };
        match self {
            Node::Leaf(leaf) => leaf.signature(setup),
            Node::And(nodes) => format!("And({})", joined(nodes)),
            Node::Or(nodes) => format!("Or({})", joined(nodes)),
            Node::Side(nodes) => {
                let parts: Vec<String> = nodes
                    .iter()
                    .map(|(sign, node)| format!("{sign:?} {}", node.signature(setup)))
                    .collect();
                format!("Side({})", parts.join(" "))
            }
            Node::Not(node) => format!("Not({})", node.signature(setup)),
            Node::Group { field, .. } => format!("Group {}", setup.fields[*field].signature()),
            Node::Boost(node) => format!("Boost({})", node.signature(setup)),
        }
    }
}

impl Leaf {
    fn signature(&self, setup: &Setup) -> String {
        let kind = |field: &usize| setup.fields[*field].signature();
        match self {
            Leaf::All => "All".to_owned(),
            Leaf::Words {
                fields,
                is_named,
                quoted,
                slop,
                prefix,
                ..
            } => format!(
                "Words{}{}{}{} {}",
                if *is_named { "" } else { " unnamed" },
                if *quoted { " quoted" } else { "" },
                if *slop > 0 { " slop" } else { "" },
                if *prefix { " prefix" } else { "" },
                fields.first().map(kind).unwrap_or_default()
            ),
            Leaf::Pattern {
                field, is_regex, ..
            } => {
                format!(
                    "{} {}",
                    if *is_regex { "Regex" } else { "Wildcard" },
                    kind(field)
                )
            }
            Leaf::Range { field, .. } => format!("Range {}", kind(field)),
            Leaf::Set { field, .. } => format!("Set {}", kind(field)),
            Leaf::Exists { field } => format!("Exists {}", kind(field)),
        }
    }

    fn text(&self, paths: &[&str]) -> String {
        match self {
            Leaf::All => "*".to_owned(),
            Leaf::Words {
                fields,
                is_named,
                text,
                quoted: is_quoted,
                slop,
                prefix,
            } => {
                let name = match (is_named, fields.first()) {
                    (true, Some(field)) => format!("{}:", paths[*field]),
                    _ => String::new(),
                };
                let value = match is_quoted {
                    true => quoted(text),
                    false => bare(text),
                };
                let tail = match (slop, prefix) {
                    (_, true) => "*".to_owned(),
                    (0, _) => String::new(),
                    (slop, _) => format!("~{slop}"),
                };
                format!("{name}{value}{tail}")
            }
            Leaf::Pattern {
                field,
                pieces,
                is_regex,
            } => {
                let pattern: String = match is_regex {
                    true => pieces.iter().map(regex_piece).collect(),
                    false => wildcard(pieces),
                };
                match is_regex {
                    true => format!("{}:/{pattern}/", paths[*field]),
                    false => format!("{}:{pattern}", paths[*field]),
                }
            }
            Leaf::Range {
                field,
                lower,
                upper,
            } => {
                format!("{}:{}", paths[*field], range(lower, upper))
            }
            Leaf::Set { field, elements } => {
                let elements: Vec<String> =
                    elements.iter().map(|element| quoted(element)).collect();
                format!("{}: IN [{}]", paths[*field], elements.join(" "))
            }
            Leaf::Exists { field } => format!("{}:*", paths[*field]),
        }
    }
}

fn range(lower: &Bound, upper: &Bound) -> String {
    match (lower, upper) {
        (Bound::Included(lower), Bound::Open) => format!(">={lower}"),
        (Bound::Excluded(lower), Bound::Open) => format!(">{lower}"),
        (Bound::Open, Bound::Included(upper)) => format!("<={upper}"),
        (Bound::Open, Bound::Excluded(upper)) => format!("<{upper}"),
        _ => {
            let (open, from) = match lower {
                Bound::Open => ('[', "*"),
                Bound::Included(text) => ('[', text.as_str()),
                Bound::Excluded(text) => ('{', text.as_str()),
            };
            let (close, to) = match upper {
                Bound::Open => (']', "*"),
                Bound::Included(text) => (']', text.as_str()),
                Bound::Excluded(text) => ('}', text.as_str()),
            };
            format!("{open}{from} TO {to}{close}")
        }
    }
}

/// Returns whether a text can be a bound of a range, where nothing can be escaped.
pub(crate) fn can_be_bound(text: &str) -> bool {
    let is_bad = |c: char| c.is_whitespace() || "{}[]()\"'`*\\^".contains(c);
    !text.is_empty() && text.len() < 1_000 && !text.contains(is_bad) && !text.starts_with('-')
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns whether a character must be escaped with a backslash in an unquoted word.
fn needs_escape(c: char, is_first: bool) -> bool {
    c.is_whitespace() || "^`:{}\"'[]()\\".contains(c) || (is_first && c == '-')
}

/// Returns whether a text can be written without quotes.
pub(crate) fn can_be_bare(text: &str) -> bool {
    // Only special characters can be escaped. These are not special, but have a meaning at the
    // start.
    let is_operator = |c: char| "+<>/!~".contains(c);
    !text.is_empty()
        && !["AND", "OR", "NOT", "IN"].contains(&text)
        && !text.starts_with(is_operator)
        && !text.contains(['*', '?', '\0'])
}

fn bare(text: &str) -> String {
    // Negative numbers need no escape.
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    if text.strip_prefix('-').is_some_and(|number| {
        number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(is_digit)
    }) {
        return text.to_owned();
    }
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        if needs_escape(c, at == 0) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn wildcard(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let mut rest = pieces[at..].iter();
        let is_before_wildcard = rest
            .find(|piece| !matches!(piece, Piece::Char('\\')))
            .is_some_and(|piece| !matches!(piece, Piece::Char(c) if !"*?".contains(*c)));
        match piece {
            // Before a wildcard, a backslash needs another level of escaping.
            Piece::Char('\\') if is_before_wildcard => out.push_str(r"\\\\"),
            Piece::Char(c) => {
                if needs_escape(*c, out.is_empty()) || "*?".contains(*c) {
                    out.push('\\');
                }
                out.push(*c);
            }
            Piece::Any | Piece::Class(_) => out.push('?'),
            Piece::Rest => out.push('*'),
        }
    }
    out
}

pub(crate) fn regex_piece(piece: &Piece) -> String {
    match piece {
        Piece::Char(c) if c.is_ascii_punctuation() => format!("\\{c}"),
        Piece::Char(c) => c.to_string(),
        Piece::Any => ".".to_owned(),
        Piece::Rest => ".*".to_owned(),
        Piece::Class(chars) => format!("[{}]", chars.iter().collect::<String>()),
    }
}
