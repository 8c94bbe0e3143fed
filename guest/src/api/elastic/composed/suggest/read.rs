//! The suggestions of a body, and their answers.

use serde_json::{Map, Value};

use super::complete::{complete, read_completing};
use super::options::Options;
use super::terms::{read_suggestion, suggest_terms};
use super::types::Suggestions;
use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Question};

/// Maximum number of suggestions of a request.
const MAX_SUGGESTIONS: usize = 20;

/// Takes the suggestions of a body.
///
/// # Errors
/// If one is invalid or of a kind that there is not.
pub(in crate::api::elastic) fn read_suggestions(
    body: &mut Body,
    settings: &ApiSettings,
) -> Result<Suggestions, SearchError> {
    let given = match body.take("suggest") {
        None => return Ok(Suggestions::default()),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(wrong("suggest", "this must be a JSON object")),
    };
    if settings.forced_filter.is_some() {
        return Err(wrong(
            "suggest",
            "a token with a filter may not have this: dictionaries tell of documents that may not be searched",
        ));
    }
    let mut text_of_all = None;
    let mut named = Vec::new();
    for (name, value) in given {
        match (name.as_str(), value) {
            ("text", Value::String(text)) => text_of_all = Some(text),
            (_, Value::Object(suggestion)) => named.push((name, suggestion)),
            _ => {
                let key = format!("suggest.{name}");
                return Err(wrong(&key, "this must be a JSON object"));
            }
        }
    }
    if named.len() > MAX_SUGGESTIONS {
        let what = format!("there may be {MAX_SUGGESTIONS} of these");
        return Err(wrong("suggest", what));
    }
    let source = body.map.get("_source");
    let mut suggestions = Suggestions::default();
    for (name, given) in named {
        let Given {
            text,
            regex,
            kind,
            options,
        } = Given::read(&name, given)?;
        match kind {
            Kind::Term if regex.is_some() => {
                return Err(wrong(&options.path, "regex is for completions"));
            }
            Kind::Term => {
                let own = read_suggestion(name, text, options, text_of_all.as_deref())?;
                suggestions.terms.push(own);
            }
            Kind::Completion => {
                let text = text.or_else(|| text_of_all.clone());
                let own = read_completing(name, text, regex, options, source, settings)?;
                suggestions.completing.push(own);
            }
        }
    }
    Ok(suggestions)
}

/// Suggesters.
#[derive(Clone, Copy)]
enum Kind {
    Term,
    Completion,
}

/// A suggestion, of whose suggester the options are not read yet.
struct Given {
    text: Option<String>,
    regex: Option<String>,
    kind: Kind,
    options: Options,
}

impl Given {
    fn read(name: &str, given: Map<String, Value>) -> Result<Self, SearchError> {
        let path = format!("suggest.{name}");
        let mut around = Options { path, given };
        let text = around.text("text")?;
        let text = around.text("prefix")?.or(text);
        let regex = around.text("regex")?;
        let Options { path, given } = around;
        let mut kinds = given.into_iter();
        let (kind, suggester, given) = match (kinds.next(), kinds.next()) {
            (Some((name, Value::Object(given))), None) => match name.as_str() {
                "term" => (Kind::Term, name, given),
                "completion" => (Kind::Completion, name, given),
                _ => {
                    let what = format!(
                        "the suggester {name:?} is not supported; there are completion and term"
                    );
                    return Err(wrong(&path, what));
                }
            },
            _ => {
                let what = "this must have text and one of the suggesters completion and term";
                return Err(wrong(&path, what));
            }
        };
        let path = format!("{path}.{suggester}");
        Ok(Self {
            text,
            regex,
            kind,
            options: Options { path, given },
        })
    }
}

/// Returns the value of `suggest` in an answer.
///
/// # Errors
/// If an index cannot be read, or a field has nothing to suggest.
pub(in crate::api::elastic) async fn suggest(
    suggestions: &Suggestions,
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Value, SearchError> {
    let terms = suggest_terms(&suggestions.terms, of, indexes, exchange);
    let completed = complete(&suggestions.completing, of, indexes, exchange);
    let (terms, completed) = futures_util::future::join(terms, completed).await;
    let mut answer = terms?;
    answer.extend(completed?);
    Ok(answer.into())
}
