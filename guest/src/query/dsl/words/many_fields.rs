//! `multi_match`: a text in several fields.

use super::full_text::{no_slop, prefix_words, words};
use crate::SearchError;
use crate::query::dsl::Reader;
use crate::query::dsl::params::{Params, wrong};
use crate::query::dsl::settings::{fuzziness, rewrite, weighed};
use crate::query::tree::{Combine, Factor, InFields, Leaf, Match, QueryNode, Words};

/// The types of the clause.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Best,
    Most,
    Cross,
    Phrase,
    PhrasePrefix,
    BoolPrefix,
}

const KINDS: [(&str, Kind); 6] = [
    ("best_fields", Kind::Best),
    ("most_fields", Kind::Most),
    ("cross_fields", Kind::Cross),
    ("phrase", Kind::Phrase),
    ("phrase_prefix", Kind::PhrasePrefix),
    ("bool_prefix", Kind::BoolPrefix),
];

impl Reader<'_> {
    /// Parses `combined_fields`: the fields count as one. See
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-combined-fields-query>.
    pub(in crate::query::dsl) fn combined_fields(
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let text = params.needed("query")?.text;
        let names = params.texts("fields")?;
        if names.is_empty() {
            return Err(wrong(&params.path, "fields is missing"));
        }
        let fields = weighed(&format!("{}.fields", params.path), names)?;
        for (name, _) in &fields {
            canter_aggregations::check_name(&params.path, name)?;
        }
        let words = words(&mut params)?;
        let all = params.choice("zero_terms_query", &[("none", false), ("all", true)])?;
        params.ignore(&["auto_generate_synonyms_phrase_query"]);
        let boost = params.boost()?;
        params.finish()?;
        let matched = Match {
            field: None,
            text,
            analyzer: None,
            words,
            fuzziness: None,
            is_all_without_words: all.unwrap_or(false),
            is_lenient: false,
        };
        Ok(QueryNode::Fields(InFields {
            fields,
            combine: Combine::Cross(Factor(0.0)),
            leaf: Leaf::Match(matched),
            is_lenient: false,
        })
        .boosted(boost))
    }

    /// Parses `multi_match`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query>.
    pub(in crate::query::dsl) fn multi_match(
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let text = params.needed("query")?.text;
        let names = params.texts("fields")?;
        let fields = weighed(&format!("{}.fields", params.path), names)?;
        for (name, _) in &fields {
            canter_aggregations::check_name(&params.path, name)?;
        }
        let kind = params.choice("type", &KINDS)?.unwrap_or(Kind::Best);
        let words = match kind {
            Kind::Best | Kind::Most | Kind::Cross => words(&mut params)?,
            Kind::Phrase => Words::Phrase {
                slop: params.count("slop")?.unwrap_or(0),
            },
            Kind::PhrasePrefix => {
                no_slop(&mut params)?;
                params.count("max_expansions")?;
                Words::PhrasePrefix
            }
            Kind::BoolPrefix => {
                for name in ["slop", "cutoff_frequency"] {
                    if params.get(name).is_some() {
                        let what = format!("[{name}] not allowed for type [bool_prefix]");
                        return Err(wrong(&params.path, what));
                    }
                }
                prefix_words(&mut params)?
            }
        };
        let analyzer = params.text("analyzer")?;
        let fuzziness = match kind {
            Kind::Best | Kind::Most | Kind::BoolPrefix => {
                fuzziness(&mut params, "fuzzy_transpositions", None)?
            }
            _ => None,
        };
        let others = params.factor("tie_breaker")?;
        if others.is_some_and(|others| others > 1.0) {
            return Err(wrong(&params.path, "tie_breaker must be at most 1"));
        }
        let all = params.choice("zero_terms_query", &[("none", false), ("all", true)])?;
        let is_lenient = params.flag("lenient")?.unwrap_or(false);
        params.ignore(&["auto_generate_synonyms_phrase_query"]);
        rewrite(&mut params, "fuzzy_rewrite")?;
        let boost = params.boost()?;
        params.finish()?;
        let combine = match (kind, others) {
            (Kind::Most | Kind::BoolPrefix, None) => Combine::Sum,
            (Kind::Cross, others) => Combine::Cross(Factor(others.unwrap_or(0.0))),
            (_, others) => Combine::Best(Factor(others.unwrap_or(0.0))),
        };
        let matched = Match {
            field: None,
            text,
            analyzer,
            words,
            fuzziness,
            is_all_without_words: all.unwrap_or(false),
            is_lenient,
        };
        Ok(QueryNode::Fields(InFields {
            fields,
            combine,
            leaf: Leaf::Match(matched),
            is_lenient,
        })
        .boosted(boost))
    }
}
