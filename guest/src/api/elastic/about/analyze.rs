//! `_analyze`: the words of a text.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-indices-analyze>.

use canter_doc_mapper::tokenizers::tokenizers;
use canter_doc_mapper::{DocMapper, FieldKind};
use serde_json::{Value, json};
use tantivy::tokenizer::TextAnalyzer;

use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::query::tokenizer_named;

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
    texts: Vec<String>,
}

impl WantedWords {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// If there is no text, or it asks for parts of an analyzer.
    pub(in crate::api::elastic) fn read(mut body: Body) -> Result<Self, SearchError> {
        let mut name = |key: &str| match body.take(key) {
            None => Ok(None),
            Some(Value::String(name)) => Ok(Some(name)),
            Some(_) => Err(wrong(
                key,
                "this must be a name; analyzers are not put together here",
            )),
        };
        let (field, analyzer, tokenizer) = (name("field")?, name("analyzer")?, name("tokenizer")?);
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
        let nothing = [json!([]), json!(false)];
        for key in ["filter", "char_filter", "normalizer", "explain"] {
            body.only(key, &nothing, "analyzers are not put together here")?;
        }
        body.finish()?;
        Ok(Self {
            field,
            analyzer: analyzer.or(tokenizer),
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
        let name = match (&self.analyzer, &self.field, mapper) {
            (Some(analyzer), ..) => analyzer.as_str(),
            (None, Some(field), Some(mapper)) => tokenizer_of(mapper, field)?,
            (None, Some(_), None) => {
                return Err(wrong(
                    "field",
                    "this is for the analyzer of an index's field",
                ));
            }
            (None, None, _) => "standard",
        };
        let own = tokenizer_named(name);
        let manager = mapper.map_or_else(tokenizers, DocMapper::tokenizers);
        let mut analyzer = manager.get(own).ok_or_else(|| {
            SearchError::invalid(format!("failed to find global analyzer [{name}]"))
        })?;
        tokens(&mut analyzer, &self.texts)
    }
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
            tokens.push(json!({
                "token": token.text,
                "start_offset": utf16(token.offset_from),
                "end_offset": utf16(token.offset_to),
                "type": if is_number { "<NUM>" } else { "<ALPHANUM>" },
                "position": first_position + token.position,
            }));
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
