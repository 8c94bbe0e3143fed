//! Queries: from a query string or the query DSL to a tree, and from the tree to a tantivy query and the list of its
//! reads.

mod build;
mod columns;
mod dsl;
mod grammar;
mod matching;
mod needs;
mod required_tags;
mod required_terms;
mod scan;
mod time_bounds;
mod tree;

pub(crate) use build::{
    BuiltQuery, QueryShape, TermAutomaton, ValueClause, any_text, build_for_split, build_nested,
    build_query, is_metadata, named_in, no_words, start_of_texts, text_in, tokenizer_named,
    vectors_at, word_term, words_in,
};
pub(crate) use dsl::{NAME, edits_of, lucene_expression, parse_dsl, parse_named};
pub(crate) use grammar::{KqlOptions, parse_kql, parse_query, parse_query_at};
pub(crate) use matching::{ListFiles, ListKind, POSITIONS, POSTINGS, TermInfos, compile};
pub(crate) use needs::{Needs, TermRange};
pub(crate) use required_tags::{RequiredTag, lowercase, required_tags};
pub(crate) use required_terms::{RequiredTerms, required_terms};
pub(crate) use scan::{Answers, Clause, DocTerms, FieldClause, NestedClause, Scan};
pub(crate) use time_bounds::{time_bounds, without_time};
pub(crate) use tree::{
    AUTO, Alike, Edits, Example, Factor, FoundIn, Fused, Nearest, QueryNode, TypicalWord,
};
