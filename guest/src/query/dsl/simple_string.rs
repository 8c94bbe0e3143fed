//! `simple_query_string`: a language in which every text is a valid query.
//!
//! `+` is and, `|` is or, `-` is not, quotes delimit a phrase, `*` at the end is a prefix, `~1` allows edits,
//! brackets group, `\` escapes the next character. Operators without a meaning in their place are skipped.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-simple-query-string-query>.

use super::Reader;
use super::params::{Params, wrong};
use super::settings::{effective, min_should, needs_all, weighed};
use crate::ErrorKind;
use crate::SearchError;
use crate::query::grammar::Cursor;
use crate::query::tree::{
    BoolNode, Combine, Edits, Factor, Fuzziness, InFields, Leaf, Match, QueryNode, Role, Words,
};

/// Operators with their names in `flags`.
const FLAGS: [(&str, &str); 10] = [
    ("AND", "+"),
    ("OR", "|"),
    ("NOT", "-"),
    ("PREFIX", "*"),
    ("PHRASE", "\""),
    ("PRECEDENCE", "()"),
    ("ESCAPE", "\\"),
    ("WHITESPACE", " "),
    ("FUZZY", "~"),
    ("SLOP", "s"),
];

impl Reader<'_> {
    /// Parses the clause, see the module.
    pub(super) fn simple_query_string(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let text = params.needed("query")?.text;
        let names = params.texts("fields")?;
        let fields = weighed(&format!("{}.fields", params.path), names)?;
        let needs_all = needs_all(&mut params, "default_operator")?.unwrap_or(false);
        let min_should = min_should(&mut params)?;
        let operators = operators(&mut params)?;
        let is_lenient = params.flag("lenient")?.unwrap_or(false);
        let prefix_len = params.count("fuzzy_prefix_length")?.unwrap_or(0);
        let has_transpositions = params.flag("fuzzy_transpositions")?.unwrap_or(true);
        params.flag("analyze_wildcard")?;
        params.count("fuzzy_max_expansions")?;
        params.ignore(&["auto_generate_synonyms_phrase_query", "quote_field_suffix"]);
        let boost = params.boost()?;
        let path = params.path.clone();
        params.finish()?;
        let mut parser = Parser {
            cursor: Cursor::new(&text),
            operators: &operators,
            default: match needs_all {
                true => Role::Must,
                false => Role::Should,
            },
            depth: 0,
            max_depth: self.limits.max_query_depth,
            leaf: &|matched| {
                let matched = Match {
                    fuzziness: matched.fuzziness.map(|fuzziness| Fuzziness {
                        prefix_len: usize::try_from(prefix_len).unwrap_or(usize::MAX),
                        has_transpositions,
                        ..fuzziness
                    }),
                    is_lenient,
                    ..matched
                };
                QueryNode::Fields(InFields {
                    fields: fields.clone(),
                    combine: Combine::Best(Factor(1.0)),
                    leaf: Leaf::Match(matched),
                    is_lenient,
                })
            },
        };
        let node = parser.group().map_err(|error| error.at(&path))?;
        let mut node = node.unwrap_or(QueryNode::Nothing);
        if let (QueryNode::Bool(node), Some(_)) = (&mut node, &min_should)
            && node.clauses.iter().any(|(role, _)| *role == Role::Should)
        {
            node.min_should = effective(min_should, &node.clauses);
        }
        Ok(node.boosted(boost))
    }
}

/// Returns the operators that a request allows, as characters.
fn operators(params: &mut Params<'_>) -> Result<String, SearchError> {
    let all = || FLAGS.iter().map(|(_, characters)| *characters).collect();
    let Some(flags) = params.text("flags")? else {
        return Ok(all());
    };
    let flags = flags.to_ascii_uppercase();
    let mut operators = String::new();
    for flag in flags
        .split('|')
        .map(str::trim)
        .filter(|flag| !flag.is_empty())
    {
        let known = FLAGS
            .iter()
            .find(|(name, _)| *name == flag || (flag == "NEAR" && *name == "SLOP"));
        match (flag, known) {
            ("ALL", _) => return Ok(all()),
            ("NONE", _) => {}
            (_, Some((_, characters))) => operators.push_str(characters),
            (_, None) => {
                let names: Vec<&str> = FLAGS.iter().map(|(name, _)| *name).collect();
                return Err(wrong(
                    &format!("{}.flags", params.path),
                    format!(
                        "{flag:?} is not known; there are ALL, NONE, NEAR, {}",
                        names.join(", ")
                    ),
                ));
            }
        }
    }
    Ok(operators)
}

/// Parser of a query.
struct Parser<'a> {
    cursor: Cursor<'a>,
    operators: &'a str,
    default: Role,
    depth: usize,
    max_depth: usize,
    leaf: &'a dyn Fn(Match) -> QueryNode,
}

/// State of a group: everything parsed so far, and how its parts are combined.
#[derive(Default)]
struct Group {
    so_far: Option<QueryNode>,
    /// The role of the last parts, if there are two of them.
    last: Option<Role>,
    /// The role of the next part.
    next: Option<Role>,
    is_negated: bool,
}

impl Group {
    fn push(&mut self, node: QueryNode, default: Role) {
        let node = match std::mem::take(&mut self.is_negated) {
            true => QueryNode::Bool(BoolNode {
                clauses: vec![(Role::MustNot, node), (Role::Should, QueryNode::All)],
                min_should: None,
            }),
            false => node,
        };
        let Some(so_far) = self.so_far.take() else {
            self.so_far = Some(node);
            self.next = None;
            return;
        };
        let role = self.next.take().unwrap_or(default);
        let mut clauses = match so_far {
            QueryNode::Bool(group) if self.last == Some(role) => group.clauses,
            other => vec![(role, other)],
        };
        clauses.push((role, node));
        self.last = Some(role);
        self.so_far = Some(QueryNode::Bool(BoolNode {
            clauses,
            min_should: None,
        }));
    }
}

impl Parser<'_> {
    fn is(&self, operator: char) -> bool {
        self.operators.contains(operator)
    }

    /// Parses a group up to its closing bracket or the end.
    fn group(&mut self) -> Result<Option<QueryNode>, SearchError> {
        if self.depth > self.max_depth {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the query nests deeper than the limit of {}",
                    self.max_depth
                ),
            ));
        }
        let mut group = Group::default();
        while let Some(first) = self.cursor.peek() {
            match first {
                '(' if self.is('(') => {
                    self.cursor.bump();
                    self.depth += 1;
                    let inner = self.group()?;
                    self.depth -= 1;
                    match inner {
                        Some(inner) => group.push(inner, self.default),
                        None => group.is_negated = false,
                    }
                }
                ')' if self.is('(') => {
                    self.cursor.bump();
                    if self.depth > 0 {
                        break;
                    }
                }
                '"' if self.is('"') => {
                    self.cursor.bump();
                    if let Some(node) = self.phrase() {
                        group.push(node, self.default);
                    }
                }
                '+' if self.is('+') => {
                    self.cursor.bump();
                    group.next = group.next.or(group.so_far.as_ref().map(|_| Role::Must));
                }
                '|' if self.is('|') => {
                    self.cursor.bump();
                    group.next = group.next.or(group.so_far.as_ref().map(|_| Role::Should));
                }
                '-' if self.is('-') => {
                    self.cursor.bump();
                    group.is_negated ^= true;
                }
                c if c.is_whitespace() && self.is(' ') => drop(self.cursor.bump()),
                _ => {
                    let node = self.word();
                    group.push(node, self.default);
                }
            }
        }
        Ok(group.so_far)
    }

    /// Parses a phrase after an opening quote. An unclosed quote is ignored.
    fn phrase(&mut self) -> Option<QueryNode> {
        let mut cursor = self.cursor;
        let text = match self.is('\\') {
            true => cursor.quoted('"')?,
            false => {
                let text = cursor.take_while(|c| c != '"');
                cursor.eat('"').then(|| text.to_owned())?
            }
        };
        self.cursor = cursor;
        let slop = match self.is('s') {
            true => self.tail_number(),
            false => None,
        };
        Some((self.leaf)(Match {
            field: None,
            text,
            analyzer: None,
            words: Words::Phrase {
                slop: slop.flatten().unwrap_or(0),
            },
            fuzziness: None,
            is_all_without_words: false,
            is_lenient: false,
        }))
    }

    /// Parses `~2` or `~` at the current position.
    fn tail_number(&mut self) -> Option<Option<u32>> {
        if !self.cursor.eat('~') {
            return None;
        }
        let digits = self.cursor.take_while(|c| c.is_ascii_digit());
        Some(digits.parse().ok())
    }

    fn word(&mut self) -> QueryNode {
        let mut text = String::new();
        let mut near = None;
        let mut goes_on = false;
        while let Some(c) = self.cursor.peek() {
            let ends = match c {
                '"' | '|' | '+' | '(' | ')' => self.is(c),
                c => c.is_whitespace() && self.is(' '),
            };
            if ends {
                break;
            }
            if c == '~' && self.is('~') && !text.is_empty() {
                let before = self.cursor;
                let number = self.tail_number();
                let is_over = self
                    .cursor
                    .peek()
                    .is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '|' | '+' | '(' | ')'));
                if is_over {
                    near = number.map(|number| number.unwrap_or(2).min(2));
                    break;
                }
                self.cursor = before;
            }
            self.cursor.bump();
            match c {
                '\\' if self.is('\\') => {
                    if let Some(escaped) = self.cursor.bump() {
                        text.push(escaped);
                        goes_on = false;
                        continue;
                    }
                }
                c => text.push(c),
            }
            goes_on = c == '*' && self.is('*');
        }
        if goes_on {
            text.pop();
        }
        let words = match (goes_on && !text.is_empty(), self.default) {
            (true, _) => Words::Prefix {
                needs_all: true,
                min_should: None,
            },
            (false, Role::Must) => Words::All,
            (false, _) => Words::Some(None),
        };
        (self.leaf)(Match {
            field: None,
            text,
            analyzer: None,
            words,
            fuzziness: near.map(|edits| Fuzziness {
                edits: Edits::Most(u8::try_from(edits).unwrap_or(2)),
                prefix_len: 0,
                has_transpositions: true,
            }),
            is_all_without_words: false,
            is_lenient: false,
        })
    }
}
