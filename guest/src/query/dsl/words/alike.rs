//! `more_like_this`: documents with the words that are typical of others.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-mlt-query>.

use canter_aggregations::check_name;
use serde_json::Value;

use crate::SearchError;
use crate::query::dsl::Reader;
use crate::query::dsl::params::{Params, given_at, wrong};
use crate::query::dsl::settings::min_should;
use crate::query::tree::{Alike, Example, Factor, Leaf, MinShould, QueryNode, Share};

/// Maximum number of texts and documents of a clause.
const MAX_EXAMPLES: usize = 100;

/// Maximum number of words that a clause may choose for a field.
const MAX_WORDS: u32 = 1_024;

impl Reader<'_> {
    /// Parses `more_like_this`.
    pub(in crate::query::dsl) fn more_like_this(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let fields = params.texts("fields")?;
        for field in &fields {
            check_name(&params.path, field)?;
        }
        let (like, unlike) = (
            examples(&mut params, "like")?,
            examples(&mut params, "unlike")?,
        );
        if like.is_empty() {
            let what = "more_like_this requires 'like' to be specified";
            return Err(wrong(&params.path, what));
        }
        let max_words = params.count("max_query_terms")?.unwrap_or(25);
        if !(1..=MAX_WORDS).contains(&max_words) {
            let what = format!("this must be between 1 and {MAX_WORDS}");
            return Err(wrong(&format!("{}.max_query_terms", params.path), what));
        }
        self.count(usize::try_from(max_words).unwrap_or(usize::MAX))?;
        let alike = Alike {
            fields,
            like,
            unlike,
            max_words,
            min_term_freq: params.count("min_term_freq")?.unwrap_or(2),
            min_doc_freq: params.count("min_doc_freq")?.unwrap_or(5),
            max_doc_freq: params.count("max_doc_freq")?.unwrap_or(u32::MAX),
            min_word_len: params.count("min_word_length")?.unwrap_or(0),
            max_word_len: params
                .count("max_word_length")?
                .filter(|max| *max > 0)
                .unwrap_or(u32::MAX),
            stop_words: params.texts("stop_words")?,
            analyzer: params.text("analyzer")?,
            min_should: min_should(&mut params)?.unwrap_or_else(|| MinShould {
                rules: vec![(0, Share::Percent(30))],
            }),
            boost_terms: Factor(params.factor("boost_terms")?.unwrap_or(0.0)),
            includes_like: params.flag("include")?.unwrap_or(false),
            is_strict: params.flag("fail_on_unsupported_field")?.unwrap_or(true),
        };
        let boost = params.boost()?;
        params.finish()?;
        Ok(QueryNode::Leaf(Leaf::Alike(Box::new(alike))).boosted(boost))
    }
}

/// Takes texts and documents: one or a list.
fn examples(params: &mut Params<'_>, name: &'static str) -> Result<Vec<Example>, SearchError> {
    let path = format!("{}.{name}", params.path);
    let list = match params.get(name) {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    if list.len() > MAX_EXAMPLES {
        let what = format!("there may be {MAX_EXAMPLES} texts and documents");
        return Err(wrong(&path, what));
    }
    list.iter().map(|one| example(&path, one)).collect()
}

fn example(path: &str, value: &Value) -> Result<Example, SearchError> {
    match value {
        Value::String(text) => Ok(Example::Text(text.clone())),
        Value::Object(_) => {
            let mut params = Params::of(path, value)?;
            let index = params.text("_index")?;
            let id = params.get("_id").map(|id| given_at(path, id)).transpose()?;
            let doc = params.get("doc");
            if params.get("routing").is_some() {
                return Err(wrong(path, "routing is not supported"));
            }
            params.finish()?;
            match (id, doc) {
                (Some(id), None) => Ok(Example::Id { index, id: id.text }),
                (None, Some(Value::Object(doc))) => {
                    let text = serde_json::to_string(doc).unwrap_or_default();
                    Ok(Example::Document(text))
                }
                _ => Err(wrong(path, "a document has either _id or doc, an object")),
            }
        }
        _ => Err(wrong(
            path,
            "these must be texts or objects with _id or doc",
        )),
    }
}
