//! Calls of Elasticsearch's API, and running them.

use canter_names::FilterPath;
use canter_protocol::{Budget, HttpResponse, Outcome};
use canter_split_format::ManifestFile;
use serde_json::{Map, Value, json};

use super::about::analyze::WantedWords;
use super::about::cluster;
use super::about::dynamic::dynamic_fields;
use super::about::explained::Form;
use super::about::fields::{
    Described, WantedCaps, add_whole_values, described_by, field_caps, field_mappings, mapper_of,
    mappings,
};
use super::about::table::{Table, counts};
use super::documents::WantedDocuments;
use super::errors::{Stage, elastic_response, elastic_text, error_response, to_elastic};
use super::search::many::{OneOfMany, budget_of, run_many};
use super::search::pit;
use super::search::read::Search;
use super::search::run::{found_nothing, in_background, search_both};
use super::search::scroll::{end_scrolls, ended};
use crate::api::indexes::manifests;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::plan::{check_query, plan_search};
use crate::request::{AskedIndexes, Question};
use crate::root::{pretty, put, to_json};
use crate::search::{Searched, no_index, run_plan, run_search};
use crate::{ErrorKind, SearchError};

/// Maximum size of an answer of `_field_caps`, in bytes.
const MAX_FIELD_CAPS: usize = 1 << 20;

/// The indexes of a request.
#[derive(Debug)]
pub(crate) struct Which {
    pub(super) indexes: AskedIndexes,
    pub(super) is_pretty: bool,
}

/// The call that a request makes.
#[derive(Debug)]
pub(crate) enum ElasticCall {
    /// The answer is known already.
    Answered(HttpResponse),
    /// Searches indexes, or counts in them.
    Search {
        indexes: AskedIndexes,
        search: Box<Search>,
    },
    /// Opens a point in time.
    PointInTime {
        which: Which,
        /// True if the answer is in OpenSearch's form.
        of_opensearch: bool,
    },
    /// Ends scrolls.
    EndOfScrolls(Vec<String>),
    /// A search, answered at once in the form of one that ran in the background.
    Async { call: Box<ElasticCall>, now_ms: i64 },
    /// A search whose answer is written in another form.
    Rewritten {
        indexes: AskedIndexes,
        question: Box<Question>,
        form: Form,
    },
    /// Divides texts into words.
    Analyze { which: Which, wanted: WantedWords },
    /// Runs several searches.
    Many {
        searches: Vec<OneOfMany>,
        is_pretty: bool,
    },
    /// Looks up documents by their ids.
    Documents(Box<WantedDocuments>),
    /// Validates a query for these indexes.
    Validate {
        indexes: AskedIndexes,
        question: Result<Box<Question>, SearchError>,
    },
    /// Returns the fields of indexes; with patterns, the matching ones.
    Mapping { which: Which, field: Option<String> },
    /// Returns the capabilities of fields.
    FieldCaps {
        which: Which,
        fields: Vec<String>,
        /// The fields to report.
        wanted: WantedCaps,
        /// Restricts the answer to indexes that may hold documents of this search.
        filter: Option<Box<Question>>,
    },
    /// Returns the complete description of indexes.
    Index(Which),
    /// Returns a table of indexes.
    CatIndices { which: Which, table: Table },
    /// Returns the sizes of indexes.
    Stats(Which),
    /// Resolves names to indexes.
    Resolve(Which),
    /// Any of these, with only parts of its answer.
    Filtered(Box<ElasticCall>, FilterPath),
}

impl ElasticCall {
    pub(super) fn search(indexes: AskedIndexes, search: Search) -> Self {
        Self::Search {
            indexes,
            search: Box::new(search),
        }
    }

    /// Returns the same call, with only some parts of its answer.
    pub(super) fn filtered(mut self, filter_path: Option<FilterPath>) -> Self {
        let Some(filter) = filter_path else {
            return self;
        };
        if let Self::Search { search, .. } = &mut self
            && search.aggregated.is_none()
        {
            // Another module may write its answer.
            if let Some(shown) = &mut search.question.elastic {
                shown.filter_path = Some(filter);
            }
            return self;
        }
        Self::Filtered(Box::new(self), filter)
    }

    /// Returns a search, or with `counts` a count, without an index.
    pub(super) fn nothing(counts: bool) -> Self {
        Self::Answered(elastic_text(200, found_nothing(counts).to_owned()))
    }

    /// Returns the budget that the request sets for its host.
    pub(in crate::api) fn budget(&self) -> Budget {
        match self {
            Self::Search { search, .. } => search.budget,
            Self::Many { searches, .. } => budget_of(searches),
            Self::Filtered(call, _) | Self::Async { call, .. } => call.budget(),
            _ => Budget::default(),
        }
    }

    /// Runs the call. Ends with a response, or with a plan that is still to be carried out.
    pub(in crate::api) async fn run(
        self,
        settings: &ApiSettings,
        max_leaves: u32,
        exchange: &Exchange,
    ) -> Outcome {
        match self {
            Self::Filtered(call, filter) => {
                match Box::pin(call.run(settings, max_leaves, exchange)).await {
                    Outcome::Http(mut response) => {
                        let body = String::from_utf8_lossy(&response.body);
                        response.body = filter.apply_to_text(&body).into_bytes();
                        Outcome::Http(response)
                    }
                    outcome => outcome,
                }
            }
            Self::Answered(response) => Outcome::Http(response),
            Self::Async { call, now_ms } => {
                // Only a session that answers itself can write the answer in this form.
                match Box::pin(call.run(settings, 1, exchange)).await {
                    Outcome::Http(response) if response.status == 200 => {
                        Outcome::Http(in_background(&response, now_ms))
                    }
                    outcome => outcome,
                }
            }
            Self::Rewritten {
                indexes,
                question,
                form,
            } => Outcome::Http(
                match run_search(*question, indexes, exchange.clone()).await {
                    Ok(answer) => form.write(&answer),
                    Err(error) => error_response(&error, Stage::Searching, false),
                },
            ),
            Self::EndOfScrolls(ids) => Outcome::Http(end_scrolls(&ids, exchange).await),
            Self::Search { indexes, search } => {
                search_indexes(*search, indexes, max_leaves, exchange).await
            }
            Self::Many {
                searches,
                is_pretty,
            } => {
                let answers = run_many(searches, exchange).await;
                let answers = match is_pretty {
                    true => pretty(&answers),
                    false => answers,
                };
                Outcome::Http(elastic_text(200, answers))
            }
            Self::Documents(wanted) => Outcome::Http(wanted.run(exchange).await),
            about => Outcome::Http(
                about
                    .about_indexes(settings, exchange)
                    .await
                    .unwrap_or_else(|error| error_response(&error, Stage::Searching, false)),
            ),
        }
    }

    /// Opens a point in time, or divides texts into words.
    async fn opened(
        &self,
        settings: &ApiSettings,
        exchange: &Exchange,
    ) -> Result<HttpResponse, SearchError> {
        match self {
            Self::PointInTime {
                which,
                of_opensearch,
            } => {
                let id = pit::open(&which.indexes, &settings.limits, exchange).await?;
                let shards = json!({"total": 1, "successful": 1, "skipped": 0, "failed": 0});
                let answer = match of_opensearch {
                    false => json!({"id": id, "_shards": shards}),
                    true => {
                        json!({"pit_id": id, "_shards": shards, "creation_time": settings.now_ms})
                    }
                };
                Ok(elastic_response(200, &answer))
            }
            Self::Analyze { which, wanted } => {
                let found = present(&which.indexes, settings, exchange).await?;
                let first = found.into_iter().next();
                let (_, file) = first.ok_or_else(|| no_index(&which.indexes.names.join(",")))?;
                let mapper = mapper_of(&file?.manifest.index_config)?;
                let answer = wanted.answer(Some(&mapper))?;
                Ok(elastic_text(200, to_json(&answer, which.is_pretty)?))
            }
            _ => Err(SearchError::internal("nothing is opened")),
        }
    }

    async fn about_indexes(
        self,
        settings: &ApiSettings,
        exchange: &Exchange,
    ) -> Result<HttpResponse, SearchError> {
        let which = match &self {
            Self::Validate { indexes, question } => {
                return validate(indexes, question, settings, exchange).await;
            }
            Self::PointInTime { .. } | Self::Analyze { .. } => {
                return self.opened(settings, exchange).await;
            }
            Self::Resolve(which) => {
                let found = present(&which.indexes, settings, exchange).await?;
                let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
                let answer = to_json(&cluster::resolved(&names), which.is_pretty)?;
                return Ok(elastic_text(200, answer));
            }
            Self::Mapping { which, .. }
            | Self::FieldCaps { which, .. }
            | Self::CatIndices { which, .. }
            | Self::Index(which)
            | Self::Stats(which) => which,
            _ => return Err(SearchError::internal("no index is asked about")),
        };
        let found = present(&which.indexes, settings, exchange).await?;
        let found = found.into_iter();
        let found = found.map(|(name, manifest)| manifest.map(|file| (name.to_owned(), file)));
        let found = found.collect::<Result<Vec<Found>, _>>()?;
        let answer = match &self {
            Self::FieldCaps {
                fields,
                wanted,
                filter,
                ..
            } => {
                let filter = filter.as_deref();
                let caps = caps_of(found, fields, wanted, filter, settings, exchange).await?;
                let answer = to_json(&field_caps(&caps, fields, wanted), which.is_pretty)?;
                return match answer.len() <= MAX_FIELD_CAPS {
                    true => Ok(elastic_text(200, answer)),
                    false => Err(SearchError::new(
                        ErrorKind::Limit,
                        "the indexes have more fields than an answer may hold: name some of them, as in fields=a,b*",
                    )),
                };
            }
            Self::Mapping { field: None, .. } => {
                of_configs(&found, &|config| Ok(json!({"mappings": mappings(config)?})))?
            }
            Self::Mapping {
                field: Some(field), ..
            } => of_configs(&found, &|config| {
                Ok(json!({"mappings": field_mappings(config, field)?}))
            })?,
            Self::Index(_) => of_configs(&found, &|config| {
                Ok(json!({
                    "aliases": {},
                    "mappings": mappings(config)?,
                    "settings": {"index": {"number_of_shards": "1", "number_of_replicas": "0"}},
                }))
            })?,
            Self::CatIndices { table, .. } => return Ok(table.of_these(&found, settings)),
            _ => stats(&found, settings),
        };
        Ok(elastic_text(200, to_json(&answer, which.is_pretty)?))
    }
}

/// Runs a search.
async fn search_indexes(
    search: Search,
    indexes: AskedIndexes,
    max_leaves: u32,
    exchange: &Exchange,
) -> Outcome {
    let Search {
        question,
        aggregated,
        ..
    } = search;
    let shared = exchange.clone();
    let asked = indexes.clone();
    if let Some(error) = ended(&question, exchange).await {
        return to_elastic::<Searched>(Err(error), exchange);
    }
    let counts = question.elastic.as_ref().map(|shown| shown.is_count);
    let end = match aggregated {
        Some(aggregated) => {
            let both = search_both(question, aggregated, indexes, shared).await;
            both.map(Searched::Answer)
        }
        None => run_plan(question, indexes, max_leaves, shared).await,
    };
    match end {
        Err(error) if asked.allows(&error) => {
            let nothing = found_nothing(counts.unwrap_or(false));
            Outcome::Http(elastic_text(200, nothing.to_owned()))
        }
        end => to_elastic(end, exchange),
    }
}

/// The name and the manifest of an index.
type Found = (String, ManifestFile);

/// Returns an object that describes the config of each index.
fn of_configs(
    found: &[Found],
    of: &dyn Fn(&Value) -> Result<Value, SearchError>,
) -> Result<Value, SearchError> {
    let entries = found.iter();
    let entries = entries.map(|(name, file)| Ok((name.clone(), of(&file.manifest.index_config)?)));
    let entries = entries.collect::<Result<Map<String, Value>, SearchError>>();
    entries.map(Value::Object)
}

/// Returns the sizes of indexes.
fn stats(found: &[Found], settings: &ApiSettings) -> Value {
    let stats = found.iter().map(|(name, file)| {
        let total = totals(file, settings);
        (name.clone(), json!({"primaries": total, "total": total}))
    });
    let indices: Map<String, Value> = stats.collect();
    json!({
        "_shards": {"total": indices.len(), "successful": indices.len(), "failed": 0},
        "indices": indices,
    })
}

/// Returns the fields of indexes that may hold documents that `filter` matches.
///
/// # Errors
/// If the contents of an index cannot be read.
async fn caps_of(
    found: Vec<Found>,
    names: &[String],
    wanted: &WantedCaps,
    filter: Option<&Question>,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<Vec<(String, Vec<Described>)>, SearchError> {
    let mut all = Vec::new();
    for (name, mut file) in found {
        let mapper = mapper_of(&file.manifest.index_config)?;
        let mut fields_of = described_by(&mapper);
        let of_index = exchange.of_index(&name);
        // The list of fields reveals documents that the caller may not see, and so do the contents of splits.
        let sees_all = settings.forced_filter.is_none();
        if sees_all {
            fields_of.extend(dynamic_fields(&mut file, &mapper, wanted.time, &of_index).await?);
        }
        add_whole_values(&mut fields_of, names, &mapper);
        let may_hold = match filter.filter(|_| sees_all) {
            Some(question) => may_hold(file, question, &of_index).await?,
            None => true,
        };
        if may_hold {
            all.push((name, fields_of));
        }
    }
    Ok(all)
}

/// Returns the existing indexes among these, each with its manifest or the error of reading it.
///
/// # Errors
/// If a required index does not exist.
async fn present<'i>(
    indexes: &'i AskedIndexes,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<Vec<(&'i str, Result<ManifestFile, SearchError>)>, SearchError> {
    let mut found = manifests(&indexes.names, settings, exchange).await;
    let is_absent = |manifest: &Result<ManifestFile, SearchError>| {
        let error = manifest.as_ref().err();
        error.is_some_and(|error| error.kind == ErrorKind::NotFound)
    };
    let mut absent = found.iter().filter(|(_, manifest)| is_absent(manifest));
    if let Some((missing, _)) = absent.find(|(name, _)| indexes.requires(name)) {
        return Err(no_index(missing));
    }
    // A pattern does not match an index that has not been created yet.
    found.retain(|(_, manifest)| !is_absent(manifest));
    match found.is_empty() && !indexes.may_be_none() {
        true => Err(no_index(&indexes.names.join(","))),
        false => Ok(found),
    }
}

/// Reports whether a query is valid for each of these indexes, and why it is not. A failure to find that out is an
/// error.
async fn validate(
    indexes: &AskedIndexes,
    question: &Result<Box<Question>, SearchError>,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<HttpResponse, SearchError> {
    let mut why: Vec<Value> = Vec::new();
    let found = present(indexes, settings, exchange).await?;
    let num = found.len();
    for (index, manifest) in found {
        let checked = match (question, manifest) {
            (Err(problem), _) => Err(problem.clone()),
            (Ok(question), Ok(file)) => check_query(&file, index, question),
            (Ok(_), Err(error)) => return Err(error),
        };
        match checked {
            Ok(()) => {}
            Err(problem) if matches!(problem.kind, ErrorKind::Invalid | ErrorKind::Limit) => {
                why.push(json!({"index": index, "valid": false, "error": problem.message}));
            }
            Err(error) => return Err(error),
        }
    }
    let shards = json!({"total": num, "successful": num, "failed": 0});
    let mut answer = json!({"_shards": shards, "valid": why.is_empty()});
    if !why.is_empty() {
        put(&mut answer, "explanations", why.into());
    }
    Ok(elastic_response(200, &answer))
}

/// Returns whether an index may hold a hit, according to its manifest. An index that lacks a field of the query holds
/// none.
async fn may_hold(
    file: ManifestFile,
    question: &Question,
    exchange: &Exchange,
) -> Result<bool, SearchError> {
    match plan_search(file, question, exchange).await {
        Ok(plan) => Ok(!plan.splits.is_empty() || plan.known.num_hits > 0),
        Err(error) if error.kind == ErrorKind::Invalid => Ok(false),
        Err(error) => Err(error),
    }
}

fn totals(file: &ManifestFile, settings: &ApiSettings) -> Value {
    match counts(file, settings) {
        Some((num_live, num_deleted, num_bytes)) => json!({
            "docs": {"count": num_live, "deleted": num_deleted},
            "store": {"size_in_bytes": num_bytes},
            "segments": {"count": file.num_splits()},
        }),
        None => json!({}),
    }
}
