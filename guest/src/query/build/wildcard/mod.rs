//! Wildcards (`wor*`, `w?rd`) and regular expressions (`/wor.*/`), both automata over a dictionary.

mod compiled;
mod patterns;

pub(super) use compiled::compiled;
pub(super) use patterns::{
    ANY_TEXT, BareWord, Pattern, any_character, automaton, build_prefix, build_regex,
    build_wildcard, expression_of, find_automaton, literal_expression, of_path,
};
