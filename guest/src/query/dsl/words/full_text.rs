//! Full-text clauses on one field.

use serde_json::Value;

use crate::SearchError;
use crate::query::dsl::Reader;
use crate::query::dsl::leaf;
use crate::query::dsl::params::{Params, given, wrong};
use crate::query::dsl::settings::{fuzziness, min_should, needs_all, rewrite};
use crate::query::tree::{Fuzziness, Leaf, Match, QueryNode, Words};

/// The field of a clause: its name, and its parameters or only the text.
pub(in crate::query::dsl) enum OfField<'j> {
    /// `{"field": "text"}`
    Text(String, String),
    /// `{"field": {"query": "text", ...}}`
    Params(String, Params<'j>),
}

/// Returns the only field of a clause.
///
/// # Errors
/// If there are several or none, or it has no value.
pub(in crate::query::dsl) fn of_field<'j>(params: &Params<'j>) -> Result<OfField<'j>, SearchError> {
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

/// Returns a clause without parameters.
fn plain(field: Option<String>, text: String, words: Words) -> Match {
    Match {
        field,
        text,
        analyzer: None,
        words,
        fuzziness: None,
        is_all_without_words: false,
        is_lenient: false,
    }
}

/// Parameters that all of these clauses share.
struct Common {
    text: String,
    analyzer: Option<String>,
    is_all_without_words: bool,
    is_lenient: bool,
    boost: f32,
}

fn common(params: &mut Params<'_>) -> Result<Common, SearchError> {
    let all = params.choice("zero_terms_query", &[("none", false), ("all", true)])?;
    Ok(Common {
        text: params.needed("query")?.text,
        analyzer: params.text("analyzer")?,
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
            analyzer: self.analyzer,
            words,
            fuzziness,
            is_all_without_words: self.is_all_without_words,
            is_lenient: self.is_lenient,
        };
        leaf(Leaf::Match(matched), self.boost)
    }
}

impl Reader<'_> {
    /// Parses `match`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query>.
    pub(in crate::query::dsl) fn match_words(params: Params<'_>) -> Result<QueryNode, SearchError> {
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

    /// Parses `match_phrase`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query-phrase>.
    pub(in crate::query::dsl) fn match_phrase(
        params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
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

    /// Parses `match_phrase_prefix`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-query-phrase-prefix>.
    pub(in crate::query::dsl) fn match_phrase_prefix(
        params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
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

    /// Parses `match_bool_prefix`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-match-bool-prefix-query>.
    pub(in crate::query::dsl) fn match_bool_prefix(
        params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
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

/// Takes the number of words that must match: `operator` and `minimum_should_match`.
pub(in crate::query::dsl) fn words(params: &mut Params<'_>) -> Result<Words, SearchError> {
    let needs_all = needs_all(params, "operator")?;
    let min_should = min_should(params)?;
    Ok(match needs_all {
        Some(true) => Words::All,
        _ => Words::Some(min_should),
    })
}

/// Takes the number of words that must match, where the last word is a prefix.
pub(in crate::query::dsl) fn prefix_words(params: &mut Params<'_>) -> Result<Words, SearchError> {
    Ok(Words::Prefix {
        needs_all: needs_all(params, "operator")?.unwrap_or(false),
        min_should: min_should(params)?,
    })
}

/// Refuses a slop in a phrase whose last word is a prefix.
pub(in crate::query::dsl) fn no_slop(params: &mut Params<'_>) -> Result<(), SearchError> {
    match params.count("slop")? {
        None | Some(0) => Ok(()),
        Some(_) => Err(wrong(
            &params.path,
            "slop is not supported where the last word may go on",
        )),
    }
}
