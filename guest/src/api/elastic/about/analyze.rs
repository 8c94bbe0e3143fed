//! `_analyze`: the words of a text.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-indices-analyze>.

use canter_doc_mapper::config::CustomTokenizer;
use canter_doc_mapper::tokenizers::{length_of, tokenizers};
use canter_doc_mapper::{DocMapper, FieldKind};
use serde_json::{Map, Value, json};
use tantivy::tokenizer::TextAnalyzer;

use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::query::{named_in, tokenizer_named};

/// Number of positions between two texts, as between the values of a list.
const GAP: usize = 100;

/// Maximum number of words in an answer, as in Elasticsearch.
const MAX_TOKENS: usize = 10_000;

/// Texts to analyze.
#[derive(Debug)]
pub(crate) struct WantedWords {
    /// The field whose analyzer counts.
    field: Option<String>,
    analyzer: Option<String>,
    normalizer: Option<String>,
    /// Parts that make an analyzer.
    tokenizer: Option<Value>,
    filters: Vec<Value>,
    char_filters: Vec<Value>,
    texts: Vec<String>,
}

impl WantedWords {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// If there is no text, or it asks for what is not supported.
    pub(in crate::api::elastic) fn read(mut body: Body) -> Result<Self, SearchError> {
        let mut name = |key: &str| match body.take(key) {
            None => Ok(None),
            Some(Value::String(name)) => Ok(Some(name)),
            Some(_) => Err(wrong(key, "this must be a name")),
        };
        let (field, analyzer) = (name("field")?, name("analyzer")?);
        let normalizer = name("normalizer")?;
        let texts = match body.take("text") {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts
                .into_iter()
                .map(|text| match text {
                    Value::String(text) => Ok(text),
                    _ => Err(wrong("text", "this must be a text or a list of texts")),
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(wrong("text", "this must be a text or a list of texts")),
        };
        let tokenizer = body.take("tokenizer");
        let mut list = |key: &str| match body.take(key) {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        let (filters, char_filters) = (list("filter"), list("char_filter"));
        body.only(
            "explain",
            &[json!(false)],
            "the words are shown after all filters",
        )?;
        body.finish()?;
        Ok(Self {
            field,
            analyzer,
            normalizer,
            tokenizer,
            filters,
            char_filters,
            texts,
        })
    }

    /// Returns the answer. `mapper` is that of the index, if one is named.
    ///
    /// # Errors
    /// If there is no such field or analyzer.
    pub(in crate::api::elastic) fn answer(
        &self,
        mapper: Option<&DocMapper>,
    ) -> Result<Value, SearchError> {
        let mut analyzer = match &self.analyzer {
            None if self.has_parts() => self.of_parts()?,
            _ => self.named(mapper)?,
        };
        tokens(&mut analyzer, &self.texts)
    }

    /// Returns the analyzer of a field, or that of a name.
    fn named(&self, mapper: Option<&DocMapper>) -> Result<TextAnalyzer, SearchError> {
        let name = match (&self.analyzer, &self.normalizer, &self.field) {
            (Some(analyzer), ..) => analyzer.clone(),
            (None, Some(normalizer), _) if normalizer == "lowercase" => "raw_lowercase".to_owned(),
            (None, Some(normalizer), _) => format!("normalizer.{normalizer}"),
            (None, None, Some(field)) => match mapper {
                Some(mapper) => tokenizer_of(mapper, field)?.to_owned(),
                None => {
                    return Err(wrong(
                        "field",
                        "this is for the analyzer of an index's field",
                    ));
                }
            },
            (None, None, None) => "standard".to_owned(),
        };
        let found = match mapper {
            Some(mapper) => named_in(mapper, &name).ok().map(|(_, found)| found),
            None => tokenizers().get(tokenizer_named(&name)),
        };
        found
            .ok_or_else(|| SearchError::invalid(format!("failed to find global analyzer [{name}]")))
    }

    fn has_parts(&self) -> bool {
        self.tokenizer.is_some() || !self.filters.is_empty() || !self.char_filters.is_empty()
    }

    /// Returns an analyzer that is made of parts, which have the forms that they have in the config of an index.
    fn of_parts(&self) -> Result<TextAnalyzer, SearchError> {
        let keyword = json!("keyword");
        let mut whole = part("tokenizer", self.tokenizer.as_ref().unwrap_or(&keyword))?;
        let mut filters: Vec<Value> = Vec::new();
        for filter in &self.filters {
            let mut filter = part("filter", filter)?;
            // One without options is a name.
            let is_name = filter.len() == 1 && !has_options(&filter);
            filters.push(match filter.remove("type") {
                Some(name) if is_name => name,
                kind => {
                    filter.extend(kind.map(|kind| ("type".to_owned(), kind)));
                    Value::Object(filter)
                }
            });
        }
        let kind = whole
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let more = match kind {
            "ngram" | "edge_ngram" => {
                json!({"prefix_only": kind.starts_with("edge"), "type": "grams"})
            }
            "lowercase" => {
                filters.insert(0, "lowercase".into());
                json!({"type": "letter"})
            }
            _ => json!({}),
        };
        whole.extend(more.as_object().cloned().unwrap_or_default());
        whole.extend([
            ("name".to_owned(), "_analyze".into()),
            ("filters".to_owned(), filters.into()),
            ("char_filters".to_owned(), self.char_filters.clone().into()),
        ]);
        let whole = Value::Object(whole);
        let made = CustomTokenizer::from_json(&whole);
        let made = made.map_err(|error| SearchError::invalid(error.to_string()))?;
        made.analyzer().map_err(SearchError::invalid)
    }
}

/// Returns a part of an analyzer with its `type`, and the lengths of grams that are not given.
///
/// # Errors
/// It is neither a name nor an object.
fn part(key: &str, given: &Value) -> Result<Map<String, Value>, SearchError> {
    let mut part = match given {
        Value::String(name) => Map::from_iter([("type".to_owned(), name.as_str().into())]),
        Value::Object(options) => options.clone(),
        _ => return Err(wrong(key, "this is a name, or an object with its type")),
    };
    let keeps = part.get("preserve_original") == Some(&Value::Bool(true));
    if part.get("type") == Some(&json!("asciifolding"))
        && part.shift_remove("preserve_original").is_some()
    {
        let name = if keeps {
            "folded_beside"
        } else {
            "asciifolding"
        };
        part.insert("type".to_owned(), name.into());
    }
    let kind = part.get("type").and_then(Value::as_str);
    if matches!(kind, Some("ngram" | "edge_ngram")) {
        for (key, default) in [("min_gram", 1), ("max_gram", 2)] {
            part.entry(key).or_insert_with(|| default.into());
        }
    }
    Ok(part)
}

/// Returns whether a filter without options has defaults.
fn has_options(filter: &Map<String, Value>) -> bool {
    let kind = filter.get("type").and_then(Value::as_str);
    matches!(
        kind,
        Some(
            "stop"
                | "stemmer"
                | "length"
                | "shingle"
                | "word_delimiter_graph"
                | "truncate"
                | "limit"
                | "elision"
        )
    )
}

fn tokenizer_of<'m>(mapper: &'m DocMapper, field: &str) -> Result<&'m str, SearchError> {
    let whole_values = || mapper.whole_values(field);
    let resolved = mapper.resolve(field).or_else(whole_values);
    Ok(match resolved.map(|field| field.kind) {
        Some(FieldKind::Text(text)) => &text.tokenizer,
        Some(FieldKind::Json(json)) => &json.tokenizer,
        // A value is one word.
        Some(_) => "raw",
        None => {
            return Err(SearchError::invalid(format!(
                "the field {field:?} does not exist in this index"
            )));
        }
    })
}

fn tokens(analyzer: &mut TextAnalyzer, texts: &[String]) -> Result<Value, SearchError> {
    let mut tokens: Vec<Value> = Vec::new();
    let (mut first_position, mut first_offset) = (0, 0);
    for text in texts {
        let utf16 = |end: usize| {
            let before = text.get(..end).unwrap_or_default();
            first_offset + before.encode_utf16().count()
        };
        let mut last = None;
        let mut stream = analyzer.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let is_number = token.text.bytes().all(|byte| byte.is_ascii_digit());
            let mut shown = json!({
                "token": token.text,
                "start_offset": utf16(token.offset_from),
                "end_offset": utf16(token.offset_to),
                "type": if is_number { "<NUM>" } else { "<ALPHANUM>" },
                "position": first_position + token.position,
            });
            let length = length_of(token);
            if length > 1 {
                shown["positionLength"] = length.into();
            }
            tokens.push(shown);
            last = Some(token.position);
            if tokens.len() > MAX_TOKENS {
                return Err(SearchError::new(
                    crate::ErrorKind::Limit,
                    format!("the texts have more than {MAX_TOKENS} words"),
                ));
            }
        }
        first_position += last.map_or(0, |last| last + 1) + GAP;
        first_offset = utf16(text.len()) + 1;
    }
    Ok(json!({ "tokens": tokens }))
}
