//! Clauses whose text is cut into words, on one field.

use serde_json::Value;

use super::Reader;
use super::leaf;
use super::params::{Params, given, wrong};
use super::settings::{fuzziness, min_should, needs_all, rewrite};
use crate::SearchError;
use crate::query::tree::{Fuzziness, Leaf, Match, QueryNode, Words};

/// What is said of the one field of a clause: its name, and its parameters or the text alone.
pub(super) enum OfField<'j> {
    /// `{"field": "text"}`
    Text(String, String),
    /// `{"field": {"query": "text", ...}}`
    Params(String, Params<'j>),
}

/// The one field of a clause.
///
/// # Errors
/// If there are more or none, or it has no value.
pub(super) fn of_field<'j>(params: &Params<'j>) -> Result<OfField<'j>, SearchError> {
    let (name, value) = params.only_other()?;
    let path = format!("{}.{name}", params.path);
    canter_aggregations::check_name(&params.path, name)?;
    Ok(match value {
        Value::Object(_) => OfField::Params(name.clone(), Params::of(&path, value)?),
        value => {
            let text = given(value).ok_or_else(|| {
                wrong(
                    &path,
                    "this must be a text, or an object with the key query",
                )
            })?;
            OfField::Text(name.clone(), text.text)
        }
    })
}

/// A clause as it is without parameters.
fn plain(field: Option<String>, text: String, words: Words) -> Match {
    Match {
        field,
        text,
        words,
        fuzziness: None,
        is_all_without_words: false,
        is_lenient: false,
    }
}

/// Parameters that all of these clauses have.
struct Common {
    text: String,
    is_all_without_words: bool,
    is_lenient: bool,
    boost: f32,
}

fn common(params: &mut Params<'_>) -> Result<Common, SearchError> {
    let all = params.choice("zero_terms_query", &[("none", false), ("all", true)])?;
    Ok(Common {
        text: params.needed("query")?.text,
        is_all_without_words: all.unwrap_or(false),
        is_lenient: params.flag("lenient")?.unwrap_or(false),
        boost: params.boost()?,
    })
}

impl Common {
    fn leaf(self, field: String, words: Words, fuzziness: Option<Fuzziness>) -> QueryNode {
        let matched = Match {
            field: Some(field),
            text: self.text,
            words,
            fuzziness,
            is_all_without_words: self.is_all_without_words,
            is_lenient: self.is_lenient,
        };
        leaf(Leaf::Match(matched), self.boost)
    }
}

impl Reader<'_> {
    /// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query>.
    pub(super) fn match_words(params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, mut params) = match of_field(&params)? {
            OfField::Params(field, params) => (field, params),
            OfField::Text(field, text) => {
                return Ok(leaf(
                    Leaf::Match(plain(Some(field), text, Words::Some(None))),
                    1.0,
                ));
            }
        };
        let common = common(&mut params)?;
        let words = words(&mut params)?;
        let fuzziness = fuzziness(&mut params, "fuzzy_transpositions", None)?;
        params.ignore(&["auto_generate_synonyms_phrase_query"]);
        rewrite(&mut params, "fuzzy_rewrite")?;
        params.finish()?;
        Ok(common.leaf(field, words, fuzziness))
    }

    /// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query-phrase>.
    pub(super) fn match_phrase(params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, mut params) = match of_field(&params)? {
            OfField::Params(field, params) => (field, params),
            OfField::Text(field, text) => {
                let words = Words::Phrase { slop: 0 };
                return Ok(leaf(Leaf::Match(plain(Some(field), text, words)), 1.0));
            }
        };
        let common = common(&mut params)?;
        let slop = params.count("slop")?.unwrap_or(0);
        params.finish()?;
        Ok(common.leaf(field, Words::Phrase { slop }, None))
    }

    /// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query-phrase-prefix>.
    pub(super) fn match_phrase_prefix(params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, mut params) = match of_field(&params)? {
            OfField::Params(field, params) => (field, params),
            OfField::Text(field, text) => {
                let matched = plain(Some(field), text, Words::PhrasePrefix);
                return Ok(leaf(Leaf::Match(matched), 1.0));
            }
        };
        let common = common(&mut params)?;
        no_slop(&mut params)?;
        params.count("max_expansions")?;
        params.finish()?;
        Ok(common.leaf(field, Words::PhrasePrefix, None))
    }

    /// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-bool-prefix-query>.
    pub(super) fn match_bool_prefix(params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, mut params) = match of_field(&params)? {
            OfField::Params(field, params) => (field, params),
            OfField::Text(field, text) => {
                let words = Words::Prefix {
                    needs_all: false,
                    min_should: None,
                };
                return Ok(leaf(Leaf::Match(plain(Some(field), text, words)), 1.0));
            }
        };
        let common = common(&mut params)?;
        let words = prefix_words(&mut params)?;
        let fuzziness = fuzziness(&mut params, "fuzzy_transpositions", None)?;
        rewrite(&mut params, "fuzzy_rewrite")?;
        params.finish()?;
        Ok(common.leaf(field, words, fuzziness))
    }
}

/// How many words must be there: `operator` and `minimum_should_match`.
pub(super) fn words(params: &mut Params<'_>) -> Result<Words, SearchError> {
    let needs_all = needs_all(params, "operator")?;
    let min_should = min_should(params)?;
    Ok(match needs_all {
        Some(true) => Words::All,
        _ => Words::Some(min_should),
    })
}

/// The same where the last word may go on.
pub(super) fn prefix_words(params: &mut Params<'_>) -> Result<Words, SearchError> {
    Ok(Words::Prefix {
        needs_all: needs_all(params, "operator")?.unwrap_or(false),
        min_should: min_should(params)?,
    })
}

/// Refuses words between those of a phrase whose last may go on.
pub(super) fn no_slop(params: &mut Params<'_>) -> Result<(), SearchError> {
    match params.count("slop")? {
        None | Some(0) => Ok(()),
        Some(_) => Err(wrong(
            &params.path,
            "slop is not supported where the last word may go on",
        )),
    }
}
