//! `highlight`: passages of hits in which matches are marked.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::api::elastic::given::body::{Body, as_written, wrong};
use crate::api::settings::ApiSettings;
use crate::query::QueryNode;
use crate::request::{Boundary, Fragmenter, GivenQuery, Highlight, Marks};

/// Default maximum length of a passage of `highlight`, in characters.
const DEFAULT_FRAGMENT: usize = 100;

/// Default maximum number of passages of a document.
const DEFAULT_PASSAGES: usize = 5;

/// Maximum number of fields whose words are marked in another.
const MAX_FIELDS: usize = 100;

/// Longer than any text.
const MAX_FRAGMENT: usize = u32::MAX as usize;

/// Characters at which passages are cut by default.
const BOUNDS: &str = ".,!? \t\n";

/// Default number of characters among which a boundary is looked for.
const SCANNED: usize = 20;

/// Takes the highlighting. See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/highlighting>.
///
/// # Errors
/// If it is invalid.
pub(in crate::api::elastic) fn highlight(
    body: &mut Body,
    settings: &ApiSettings,
) -> Result<Option<Highlight>, SearchError> {
    let json = body.take("highlight");
    json.map(|json| read_highlight(json, settings)).transpose()
}

/// Parses the highlighting.
///
/// # Errors
/// If it is invalid.
pub(in crate::api::elastic) fn read_highlight(
    json: Value,
    settings: &ApiSettings,
) -> Result<Highlight, SearchError> {
    let Value::Object(mut json) = json else {
        return Err(wrong("highlight", "this must be a JSON object"));
    };
    let fields = match json.shift_remove("fields") {
        Some(Value::Object(fields)) => fields.into_iter().collect(),
        // A list defines an order.
        Some(Value::Array(list)) => {
            let objects = list.into_iter().filter_map(|field| match field {
                Value::Object(field) => Some(field),
                _ => None,
            });
            objects.flatten().collect()
        }
        _ => Vec::new(),
    };
    let usual = marks("highlight", json, None, settings)?;
    let fields = fields.into_iter().map(|(name, own)| match own {
        Value::Object(own) => {
            let path = format!("highlight.fields.{name}");
            let marks = marks(&path, own, Some(&usual), settings)?;
            Ok((name, marks))
        }
        _ => Err(wrong(
            "highlight.fields",
            "this must be an object whose keys are names of fields, with {} or settings behind each",
        )),
    });
    let fields: Vec<_> = fields.collect::<Result<_, _>>()?;
    match fields.is_empty() {
        true => Err(wrong("highlight.fields", "this must name a field")),
        false => Ok(Highlight { fields }),
    }
}

/// Settings of passages that have not been read yet.
struct Given<'p> {
    path: &'p str,
    json: Map<String, Value>,
}

impl Given<'_> {
    fn wrong(&self, key: &str, what: &str) -> SearchError {
        wrong(&format!("{}.{key}", self.path), what)
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.json.shift_remove(key).filter(|value| !value.is_null())
    }

    /// Takes the first of a list of texts.
    fn tag(&mut self, key: &str) -> Result<Option<String>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(tags)) if matches!(tags.as_slice(), [Value::String(_), ..]) => {
                Ok(tags.first().and_then(Value::as_str).map(str::to_owned))
            }
            Some(_) => Err(self.wrong(key, "this must be a list of texts")),
        }
    }

    fn count(&mut self, key: &str) -> Result<Option<usize>, SearchError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let count = as_written(value).as_u64();
        let count = count.ok_or_else(|| self.wrong(key, "this must be a whole number"))?;
        Ok(Some(usize::try_from(count).unwrap_or(usize::MAX)))
    }

    fn flag(&mut self, key: &str) -> Result<Option<bool>, SearchError> {
        match self.take(key).map(as_written) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.wrong(key, "this must be true or false")),
        }
    }

    /// Takes one of several words, as its place among them.
    fn choice(&mut self, key: &str, words: &[&str]) -> Result<Option<usize>, SearchError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let text = value.as_str().unwrap_or_default();
        let place = words.iter().position(|word| *word == text);
        match place {
            Some(place) => Ok(Some(place)),
            None => {
                let what = format!("this must be {}", words.join(" or "));
                Err(self.wrong(key, &what))
            }
        }
    }

    /// Takes where passages may begin and end; `None` if nothing is said of it.
    fn boundary(&mut self, fragmenter: Fragmenter) -> Result<Option<Boundary>, SearchError> {
        let characters = match self.take("boundary_chars") {
            None => None,
            Some(Value::String(characters)) => Some(characters),
            Some(_) => return Err(self.wrong("boundary_chars", "this must be text")),
        };
        let most = self.count("boundary_max_scan")?;
        self.take("boundary_scanner_locale");
        let chosen = self.choice("boundary_scanner", &["sentence", "word", "chars"])?;
        Ok(match chosen {
            Some(0) => Some(Boundary::Sentence),
            Some(1) => Some(Boundary::Word),
            None if fragmenter != Fragmenter::Vectors => None,
            _ => Some(Boundary::Characters {
                characters: characters.unwrap_or_else(|| BOUNDS.to_owned()),
                most: most.unwrap_or(SCANNED),
            }),
        })
    }

    fn query(&mut self, settings: &ApiSettings) -> Result<Option<QueryNode>, SearchError> {
        let Some(query) = self.take("highlight_query") else {
            return Ok(None);
        };
        let query = GivenQuery::of(&query)?;
        query.parse(settings.now_ms, &settings.limits).map(Some)
    }

    /// Takes the names of fields whose words are marked, too.
    fn matched_fields(&mut self) -> Result<Vec<String>, SearchError> {
        let names = match self.take("matched_fields") {
            None => return Ok(Vec::new()),
            Some(Value::Array(names)) => names,
            Some(name) => vec![name],
        };
        let names: Option<Vec<String>> = names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect();
        match names.filter(|names| names.len() <= MAX_FIELDS) {
            Some(names) => Ok(names),
            None => Err(self.wrong("matched_fields", "this must be a list of at most 100 names")),
        }
    }

    /// Refuses what is left.
    fn finish(&self) -> Result<(), SearchError> {
        let Some(key) = self.json.keys().next() else {
            return Ok(());
        };
        Err(wrong(
            self.path,
            format!(
                "{key:?} is not known or not supported; there are boundary_chars, boundary_max_scan, \
                 boundary_scanner, boundary_scanner_locale, encoder, fields, force_source, fragment_offset, \
                 fragment_size, fragmenter, highlight_query, matched_fields, max_analyzed_offset, max_analyzer_offset, \
                 no_match_size, number_of_fragments, order, phrase_limit, post_tags, pre_tags, require_field_match, \
                 tags_schema, type"
            ),
        ))
    }
}

/// Returns the settings of a request that gives none.
fn usual_marks() -> Marks {
    Marks {
        tags: ("<em>".to_owned(), "</em>".to_owned()),
        fragmenter: Fragmenter::Unified,
        boundary: Boundary::Sentence,
        max_chars: DEFAULT_FRAGMENT,
        num_passages: DEFAULT_PASSAGES,
        by_score: false,
        query: None,
        matched_fields: Vec::new(),
        max_analyzed: None,
        marks_any_field: false,
        escapes: false,
        max_chars_without_match: 0,
    }
}

/// Parses settings of passages, for all fields or for one, which inherits those of all.
fn marks(
    path: &str,
    json: Map<String, Value>,
    usual: Option<&Marks>,
    settings: &ApiSettings,
) -> Result<Marks, SearchError> {
    let mut given = Given { path, json };
    let mut marks = usual.cloned().unwrap_or_else(usual_marks);
    for (tag, own) in [
        (given.tag("pre_tags")?, &mut marks.tags.0),
        (given.tag("post_tags")?, &mut marks.tags.1),
    ] {
        if let Some(tag) = tag {
            *own = tag;
        }
    }
    match given.choice("type", &["unified", "plain", "fvh"])? {
        Some(0) => marks.fragmenter = Fragmenter::Unified,
        Some(1) => marks.fragmenter = Fragmenter::Plain,
        Some(_) => marks.fragmenter = Fragmenter::Vectors,
        None => {}
    }
    if let Some(boundary) = given.boundary(marks.fragmenter)? {
        marks.boundary = boundary;
    }
    if let Some(max_chars) = given.count("fragment_size")? {
        marks.max_chars = max_chars.min(MAX_FRAGMENT);
    }
    if let Some(num_passages) = given.count("number_of_fragments")? {
        marks.num_passages = num_passages;
    }
    if let Some(max_chars) = given.count("no_match_size")? {
        marks.max_chars_without_match = max_chars;
    }
    if let Some(order) = given.choice("order", &["none", "score"])? {
        marks.by_score = order == 1;
    }
    if let Some(needs_field) = given.flag("require_field_match")? {
        marks.marks_any_field = !needs_field;
    }
    if let Some(encoder) = given.choice("encoder", &["default", "html"])? {
        marks.escapes = encoder == 1;
    }
    for key in ["max_analyzed_offset", "max_analyzer_offset"] {
        marks.max_analyzed = given.count(key)?.or(marks.max_analyzed);
    }
    if let Some(query) = given.query(settings)? {
        marks.query = Some(query);
    }
    if given.json.contains_key("matched_fields") {
        marks.matched_fields = given.matched_fields()?;
    }
    // These change nothing here.
    given.flag("force_source")?;
    given.choice("fragmenter", &["simple", "span"])?;
    given.choice("tags_schema", &["default"])?;
    for key in ["fragment_offset", "phrase_limit"] {
        given.count(key)?;
    }
    given.finish()?;
    Ok(marks)
}
