//! `suggest` with `completion`: inputs of documents that begin with a text, the most important ones first.
//!
//! See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/search-suggesters>. Dictionaries have the inputs with
//! their weights and contexts ([`CompletionEntry`]); the documents of those that are shown are then searched for.

use std::collections::BTreeSet;

use canter_aggregations::check_name;
use canter_doc_mapper::{Completion, CompletionContext, CompletionEntry, DocMapper, FieldKind};
use canter_geo::read_points;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::options::Options;
use super::types::{By, Completing, Near};
use crate::SearchError;
use crate::api::elastic::about::fields::mapper_of;
use crate::api::elastic::composed::answer::{Answer, Hit};
use crate::api::elastic::given::body::{Body, as_written, wrong};
use crate::api::elastic::given::params::UrlParams;
use crate::api::elastic::search::read::read_search;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::leaf::{ScoredTerms, WantedEntries, find_entries, keep_best};
use crate::plan::{plan_search, read_manifest_if_there};
use crate::query::{AUTO, QueryNode, TermAutomaton, edits_of, lucene_expression};
use crate::request::{AskedIndexes, GivenQuery, Question};
use crate::search::run_search;

/// Maximum number of options.
const MAX_SIZE: u64 = 1_000;

/// Maximum length of the text of a fuzzy completion, in characters: the automaton has a kilobyte for each.
const MAX_FUZZY_LEN: usize = 1_000;

/// Number of searches for documents that run at once; each may use its share of the memory.
const AT_ONCE: usize = 16;

/// Maximum number of entries whose documents are searched for; those of lower score are left out. Entries whose documents
/// are deleted, or are suggested already, would otherwise cost thousands of searches.
const MAX_SEARCHED: usize = 512;

/// Reads the options of `completion`.
///
/// # Errors
/// If one is unknown or invalid.
pub(super) fn read_completing(
    name: String,
    text: Option<String>,
    regex: Option<String>,
    mut options: Options,
    source: Option<&Value>,
    settings: &ApiSettings,
) -> Result<Completing, SearchError> {
    let field = options.text("field")?;
    let field =
        field.ok_or_else(|| wrong(&options.path, "the required field option is missing"))?;
    check_name(&options.path, &field)?;
    let fuzzy = options.given.shift_remove("fuzzy");
    let by = match (&regex, fuzzy) {
        (None, Some(Value::Object(fuzzy))) => By::Near(Near::read(&options.path, fuzzy)?),
        (None, Some(Value::Bool(true))) => By::Near(Near::read(&options.path, Map::new())?),
        (None, None | Some(Value::Bool(false) | Value::Null)) => By::Prefix,
        (Some(_), None) => By::Regex,
        _ => {
            return Err(wrong(
                &options.path,
                "fuzzy is an object, and not beside regex",
            ));
        }
    };
    read_regex(&mut options)?;
    let size = options.count("size", 5, MAX_SIZE)?;
    options.count("shard_size", 0, u64::MAX)?;
    let skips_duplicates = options.flag("skip_duplicates")?;
    if options.text("analyzer")?.is_some() {
        let what =
            "this is not supported: leave it out, the text is cut as the inputs of the field are";
        return Err(wrong(&format!("{}.analyzer", options.path), what));
    }
    let contexts = match options.given.shift_remove("contexts") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(contexts)) => contexts,
        Some(_) => return Err(wrong(&options.path, "contexts must be an object")),
    };
    let text = regex.or(text);
    let text = text.ok_or_else(|| wrong(&options.path, "there is no text"))?;
    if matches!(by, By::Near(_)) {
        check_fuzzy_len(&options.path, &text)?;
    }
    options.finish("contexts, field, fuzzy, regex, size, skip_duplicates")?;
    let mut body = json!({"size": size, "track_total_hits": false});
    if let Some(source) = source {
        crate::root::put(&mut body, "_source", source.clone());
    }
    let map = body.as_object().cloned().unwrap_or_default();
    let hits = read_search(Body { map }, &mut UrlParams::of("")?, false, settings)?;
    Ok(Completing {
        name,
        text,
        field,
        size: usize::try_from(size).unwrap_or(usize::MAX),
        skips_duplicates,
        by,
        contexts,
        hits: hits.question,
    })
}

/// Takes the options of `regex`.
fn read_regex(options: &mut Options) -> Result<(), SearchError> {
    let path = format!("{}.regex", options.path);
    let given = match options.given.shift_remove("regex") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(wrong(&path, "this must be a JSON object")),
    };
    let mut own = Options { path, given };
    let flags = own.text("flags")?;
    if flags.is_some_and(|flags| !flags.eq_ignore_ascii_case("ALL")) {
        let what = "this can only be ALL: write \\ before an operator that is a character";
        return Err(wrong(&format!("{}.flags", own.path), what));
    }
    // An automaton has a limit of its own.
    own.count("max_determinized_states", 0, u64::MAX)?;
    own.finish("flags, max_determinized_states")
}

/// Refuses a text whose automaton would be too large.
fn check_fuzzy_len(path: &str, text: &str) -> Result<(), SearchError> {
    match text.chars().count() {
        0..=MAX_FUZZY_LEN => Ok(()),
        len => Err(wrong(
            path,
            format!(
                "the text of a fuzzy completion may have {MAX_FUZZY_LEN} characters, this one has {len}"
            ),
        )),
    }
}

impl Near {
    fn read(path: &str, given: Map<String, Value>) -> Result<Self, SearchError> {
        let path = format!("{path}.fuzzy");
        let mut options = Options { path, given };
        let edits = match options.given.shift_remove("fuzziness").map(as_written) {
            None => AUTO,
            Some(Value::String(text)) => edits_of(&options.path, &text)?,
            Some(value) => edits_of(&options.path, &value.to_string())?,
        };
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let near = Self {
            edits,
            min_length: len(options.count("min_length", 3, 1_000)?),
            prefix_length: len(options.count("prefix_length", 1, 1_000)?),
            has_transpositions: options.flag_or("transpositions", true)?,
        };
        // Edits are always of characters, and an automaton has a limit of its own.
        options.flag("unicode_aware")?;
        options.count("max_determinized_states", 0, u64::MAX)?;
        options.finish("fuzziness, min_length, prefix_length, transpositions, unicode_aware")?;
        Ok(near)
    }

    fn edits_of(&self, text: &str) -> u8 {
        match text.chars().count() < self.min_length {
            true => 0,
            false => self.edits.of_word(text),
        }
    }
}

/// Returns the suggestions by their names.
///
/// # Errors
/// If an index cannot be read, or a field has no completions.
pub(super) async fn complete(
    completing: &[Completing],
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Map<String, Value>, SearchError> {
    let found = indexes.names.iter();
    let found = found.map(|name| of_index(name, completing, of, exchange));
    let mut entries: Vec<ScoredTerms> = completing.iter().map(|_| Vec::new()).collect();
    for found in join_all(found).await {
        for (entries, own) in entries.iter_mut().zip(found?) {
            entries.extend(own);
        }
    }
    let has_typed_keys = of
        .elastic
        .as_ref()
        .is_some_and(|shown| shown.has_typed_keys);
    let mut answer = Map::new();
    for (own, mut entries) in completing.iter().zip(entries) {
        keep_best(&mut entries);
        let options = own.options(entries, of, indexes, exchange).await?;
        let name = match has_typed_keys {
            true => format!("completion#{}", own.name),
            false => own.name.clone(),
        };
        let len = own.text.encode_utf16().count();
        let entry = json!({"text": own.text, "offset": 0, "length": len, "options": options});
        answer.insert(name, json!([entry]));
    }
    Ok(answer)
}

/// Returns the entries of an index for each suggestion.
async fn of_index(
    name: &str,
    completing: &[Completing],
    of: &Question,
    exchange: &Exchange,
) -> Result<Vec<ScoredTerms>, SearchError> {
    let exchange = exchange.of_index(name);
    // The search reports an index that is not there, unless it may be absent.
    let Some(file) = read_manifest_if_there(&exchange, &of.limits).await? else {
        return Ok(Vec::new());
    };
    let mapper = mapper_of(&file.manifest.index_config)?;
    let wanted = completing.iter().map(|own| own.wanted(&mapper));
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
    // Nothing tells before a split is opened whether it has an entry, so these are all splits.
    let question = Question {
        query: QueryNode::All,
        max_hits: 1,
        aggregations: None,
        ..of.clone()
    };
    let plan = plan_search(file, &question, &exchange).await?;
    let Some(index) = plan.indexes.into_iter().next() else {
        return Ok(Vec::new());
    };
    let sources = plan.splits.into_iter().map(|split| split.source).collect();
    find_entries(index, sources, &wanted, &exchange).await
}

/// Returns the options of a field that is a completion.
fn completion_of<'m>(mapper: &'m DocMapper, field: &str) -> Result<&'m Completion, SearchError> {
    let kind = mapper.kind_of(field);
    match kind {
        Some(FieldKind::Text(text)) => text.completion.as_deref(),
        _ => None,
    }
    .ok_or_else(|| {
        let what = match mapper.fields().iter().any(|own| own.path() == field) {
            true => format!("Field [{field}] is not a completion suggest field"),
            false => format!("no mapping found for field [{field}]"),
        };
        wrong("suggest", what)
    })
}

impl Completing {
    /// Returns what to look for in the dictionaries of an index.
    fn wanted<'w>(&'w self, mapper: &DocMapper) -> Result<WantedEntries<'w>, SearchError> {
        let options = completion_of(mapper, &self.field)?;
        let analyzer = mapper.tokenizers().get(&options.analyzer);
        let key = analyzer.map(|mut analyzer| options.key(&mut analyzer, &self.text));
        let key = key.unwrap_or_default();
        let automaton = match &self.by {
            By::Prefix => TermAutomaton::begins_with(&key)?,
            By::Near(near) => {
                // An analyzer may make a longer text of it.
                check_fuzzy_len("suggest", &key)?;
                let edits = near.edits_of(&key);
                let exact = near.prefix_length;
                TermAutomaton::begins_near(&key, exact, edits, near.has_transpositions)?
            }
            By::Regex => TermAutomaton::begins_like(&lucene_expression("suggest", &self.text)?)?,
        };
        let contexts = self.contexts(options)?;
        let score = move |entry: &CompletionEntry<'_>| {
            let weight = f64::from(entry.weight);
            let Some((name, value)) = entry.context else {
                return Some(weight);
            };
            let fitting = contexts.iter().filter(|own| own.takes(name, value));
            let boosts = fitting.map(|own| own.boost);
            boosts.reduce(f64::max).map(|boost| weight * boost)
        };
        Ok(WantedEntries {
            field: &self.field,
            automaton,
            score: Box::new(score),
        })
    }

    /// Reads the contexts, whose forms the mapping decides.
    fn contexts(&self, options: &Completion) -> Result<Vec<WantedContext>, SearchError> {
        let mut wanted = Vec::new();
        for (name, given) in &self.contexts {
            let Some(context) = options.context(name) else {
                let what = format!(
                    "Unknown context name [{name}], must be one of those of [{}]",
                    self.field
                );
                return Err(wrong("suggest", what));
            };
            let given = match given {
                Value::Array(given) if !is_point(given) => given.as_slice(),
                given => std::slice::from_ref(given),
            };
            for given in given {
                wanted.push(WantedContext::read(context, given)?);
            }
        }
        match wanted.is_empty() && !options.contexts.is_empty() {
            true => Err(wrong(
                "suggest",
                "Missing mandatory contexts in context query",
            )),
            false => Ok(wanted),
        }
    }

    /// Returns the options for entries, the best ones first.
    async fn options(
        &self,
        entries: ScoredTerms,
        of: &Question,
        indexes: &AskedIndexes,
        exchange: &Exchange,
    ) -> Result<Vec<Value>, SearchError> {
        let mut options = Vec::new();
        let mut documents = BTreeSet::new();
        let mut inputs: BTreeSet<String> = BTreeSet::new();
        let mut entries = entries.into_iter();
        let mut num_searched = 0;
        while options.len() < self.size && num_searched < MAX_SEARCHED {
            let is_new = |(_, term): &(f64, String)| {
                let entry = CompletionEntry::read(term);
                !(self.skips_duplicates && entry.is_some_and(|entry| inputs.contains(entry.input)))
            };
            let some = entries.by_ref().filter(is_new).take(AT_ONCE);
            let some: ScoredTerms = some.collect();
            if some.is_empty() {
                break;
            }
            num_searched += some.len();
            let searches = some.iter().map(async |(score, term)| {
                let query = json!({"term": {&self.field: {"value": term}}});
                let mut question = Question {
                    query: GivenQuery::of(&query)?.parse(None, &of.limits)?,
                    pinned: of.pinned.clone(),
                    ..self.hits.clone()
                };
                question.limits.max_resident_bytes /= AT_ONCE as u64;
                let answer = run_search(question, indexes.clone(), exchange.clone()).await?;
                Ok::<_, SearchError>((*score, term, Answer::parse(&answer)?))
            });
            for found in join_all(searches).await {
                let (score, term, answer) = found?;
                let Some(entry) = CompletionEntry::read(term) else {
                    continue;
                };
                for hit in &answer.hits {
                    let is_new = options.len() < self.size
                        && !documents.contains(&hit.place())
                        && !(self.skips_duplicates && inputs.contains(entry.input));
                    if is_new {
                        documents.insert(hit.place());
                        inputs.insert(entry.input.to_owned());
                        options.push(option(&entry, score, hit));
                    }
                }
            }
        }
        Ok(options)
    }
}

/// Returns an option as JSON.
fn option(entry: &CompletionEntry<'_>, score: f64, hit: &Hit) -> Value {
    let mut option = json!({"text": entry.input});
    for key in ["_index", "_id"] {
        crate::root::put(&mut option, key, hit.value(key));
    }
    crate::root::put(&mut option, "_score", score.into());
    let source = hit.value("_source");
    if !source.is_null() {
        crate::root::put(&mut option, "_source", source);
    }
    if let Some((name, value)) = entry.context {
        crate::root::put(&mut option, "contexts", json!({name: [value]}));
    }
    option
}

/// A context that is asked for.
struct WantedContext {
    name: String,
    values: Vec<String>,
    is_prefix: bool,
    boost: f64,
}

/// Returns whether a list is a point, as GeoJSON has it.
fn is_point(list: &[Value]) -> bool {
    list.len() == 2 && list.iter().all(Value::is_number)
}

impl WantedContext {
    fn read(context: &CompletionContext, given: &Value) -> Result<Self, SearchError> {
        let path = format!("suggest.contexts.{}", context.name);
        let (value, given) = match given
            .as_object()
            .filter(|given| given.contains_key("context"))
        {
            None => (given.clone(), Map::new()),
            Some(given) => {
                let mut given = given.clone();
                (given.shift_remove("context").unwrap_or_default(), given)
            }
        };
        let mut options = Options { path, given };
        let boost = options.number("boost", 1.0)?;
        let mut is_prefix = options.flag("prefix")?;
        let values = match context.geohash {
            None => match value {
                Value::String(text) => vec![text],
                Value::Number(_) | Value::Bool(_) => vec![value.to_string()],
                _ => {
                    return Err(wrong(
                        &options.path,
                        "a category is text, a number or a boolean",
                    ));
                }
            },
            Some(letters) => {
                let letters = options.count("precision", letters.into(), 12)?.max(1);
                let letters = u32::try_from(letters)
                    .unwrap_or(12)
                    .min(context.geohash.unwrap_or(12));
                is_prefix = true;
                let mut values = Vec::new();
                let read = read_points(&value, &mut |point| {
                    values.extend(cells_around(point, letters))
                });
                read.map_err(|problem| wrong(&options.path, problem))?;
                values
            }
        };
        options.finish("boost, context, precision, prefix")?;
        Ok(Self {
            name: context.name.clone(),
            values,
            is_prefix,
            boost,
        })
    }

    fn takes(&self, name: &str, value: &str) -> bool {
        let mut values = self.values.iter();
        let fits = |own: &String| match self.is_prefix {
            true => value.starts_with(own.as_str()),
            false => value == own,
        };
        name == self.name && values.any(fits)
    }
}

/// Returns the cell of a point and those around it.
fn cells_around(point: canter_geo::Point, letters: u32) -> Vec<String> {
    let bits = 5 * letters;
    let size = |degrees: f64, bits: u32| degrees / (0..bits).fold(1.0, |cells, _| cells * 2.0);
    let (height, width) = (size(180.0, bits / 2), size(360.0, bits.div_ceil(2)));
    let mut cells = Vec::new();
    for lat in [-height, 0.0, height] {
        for lon in [-width, 0.0, width] {
            let lat = (point.lat + lat).clamp(-90.0, 90.0);
            let lon = match point.lon + lon {
                lon if lon < -180.0 => lon + 360.0,
                lon if lon > 180.0 => lon - 360.0,
                lon => lon,
            };
            let cell = canter_geo::Point::new(lat, lon);
            cells.extend(cell.map(|cell| CompletionContext::geohash_of(cell.code(), letters)));
        }
    }
    cells
}
