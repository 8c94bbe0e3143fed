//! Calls of Elasticsearch's API, and running them.

use canter_names::FilterPath;
use canter_protocol::{Budget, HttpResponse, Outcome};
use serde_json::{Map, Value, json};

use super::about::analyze::WantedWords;
use super::about::caps::{WantedCaps, field_caps};
use super::about::cluster;
use super::about::explained::Form;
use super::about::fields::{Described, field_mappings, mapper_of, mappings};
use super::about::indexes::{Found, caps_of, of_fields, present, settings_of, stats, validate};
use super::about::table::Table;
use super::composed::lookup::{Lookups, look_up};
use super::composed::run::run_whole;
use super::documents::WantedDocuments;
use super::errors::{Stage, elastic_response, elastic_text, error_response, to_elastic};
use super::search::many::{OneOfMany, budget_of, run_many};
use super::search::pit;
use super::search::read::Search;
use super::search::run::{found_nothing, in_background};
use super::search::scroll::{end_scrolls, resume};
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Question};
use crate::root::{pretty, to_json};
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
    /// Searches indexes once values of other documents are known.
    LookedUp(Box<Lookups>),
    /// Opens a point in time.
    PointInTime {
        which: Which,
        keep_alive_ms: u64,
        /// True if the answer is in OpenSearch's form.
        of_opensearch: bool,
    },
    /// Shows the open points in time.
    PointsInTime,
    /// Ends points in time, or all.
    EndOfPointsInTime {
        ids: Option<Vec<String>>,
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
        /// True if the total of a search without an index is a bare number.
        total_is_number: bool,
    },
    /// Looks up documents by their ids.
    Documents(Box<WantedDocuments>),
    /// Validates a query for these indexes.
    Validate {
        indexes: AskedIndexes,
        question: Result<Box<Question>, SearchError>,
        /// The text of the query, if the answer shows it, and why it is invalid.
        explained_as: Option<String>,
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
    /// Returns the settings of indexes.
    Settings {
        which: Which,
        /// True if the names of settings are whole paths.
        is_flat: bool,
    },
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
            && search.aggregated.is_empty()
        {
            // Another module writes its answer.
            if let Some(shown) = &mut search.question.elastic {
                shown.filter_path = Some(filter);
            }
            return self;
        }
        Self::Filtered(Box::new(self), filter)
    }

    /// Returns a search, or with `counts` a count, without an index.
    pub(super) fn nothing(counts: bool, total_is_number: bool) -> Self {
        Self::Answered(elastic_text(200, found_nothing(counts, total_is_number)))
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
            Self::PointsInTime => {
                let answer = pit::open_points(settings, exchange).await;
                Outcome::Http(elastic_response(200, &answer))
            }
            Self::EndOfPointsInTime { ids, of_opensearch } => {
                let ended = pit::end(ids.as_deref(), settings, exchange).await;
                let answer = pit::ended(&ended, of_opensearch);
                Outcome::Http(elastic_response(200, &answer))
            }
            Self::Search { indexes, search } => {
                search_indexes(*search, indexes, max_leaves, exchange).await
            }
            Self::LookedUp(lookups) => {
                search_looked_up(&lookups, settings, max_leaves, exchange).await
            }
            Self::Many {
                searches,
                is_pretty,
                total_is_number,
            } => Outcome::Http(answer_many(searches, is_pretty, total_is_number, exchange).await),
            Self::Documents(wanted) => Outcome::Http(wanted.run(exchange).await),
            about => Outcome::Http(
                about
                    .about_indexes(settings, exchange)
                    .await
                    .unwrap_or_else(|error| error_response(&error, Stage::Searching, false)),
            ),
        }
    }

    /// Opens a point in time, divides texts into words, or checks a query.
    async fn opened(
        &self,
        settings: &ApiSettings,
        exchange: &Exchange,
    ) -> Result<HttpResponse, SearchError> {
        match self {
            Self::PointInTime {
                which,
                keep_alive_ms,
                of_opensearch,
            } => {
                let id = pit::open(&which.indexes, *keep_alive_ms, settings, exchange).await?;
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
            Self::Validate {
                indexes,
                question,
                explained_as,
            } => {
                validate(
                    indexes,
                    question,
                    explained_as.as_deref(),
                    settings,
                    exchange,
                )
                .await
            }
            _ => Err(SearchError::internal("nothing is opened")),
        }
    }

    /// Describes an index by its config, and the fields that documents have besides.
    fn described(&self, config: &Value, others: &[Described]) -> Result<Value, SearchError> {
        Ok(match self {
            Self::Mapping {
                field: Some(field), ..
            } => json!({"mappings": field_mappings(config, others, field)?}),
            Self::Mapping { .. } => json!({"mappings": mappings(config, others)?}),
            _ => json!({
                "aliases": {},
                "mappings": mappings(config, others)?,
                "settings": {"index": {"number_of_shards": "1", "number_of_replicas": "0"}},
            }),
        })
    }

    async fn about_indexes(
        self,
        settings: &ApiSettings,
        exchange: &Exchange,
    ) -> Result<HttpResponse, SearchError> {
        let which = match &self {
            Self::Validate { .. } | Self::PointInTime { .. } | Self::Analyze { .. } => {
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
            | Self::Settings { which, .. }
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
            Self::Mapping { .. } | Self::Index(_) => {
                let of = |config: &Value, others: &[Described]| self.described(config, others);
                of_fields(found, settings, exchange, &of).await?
            }
            Self::Settings { is_flat, .. } => {
                let names = found.iter().map(|(name, _)| name);
                let settings = names.map(|name| (name.clone(), settings_of(name, *is_flat)));
                settings.collect::<Map<String, Value>>().into()
            }
            Self::CatIndices { table, .. } => return Ok(table.of_these(&found, settings)),
            _ => stats(&found, settings),
        };
        Ok(elastic_text(200, to_json(&answer, which.is_pretty)?))
    }
}

/// Runs a search once the values of other documents in it are looked up.
async fn search_looked_up(
    lookups: &Lookups,
    settings: &ApiSettings,
    max_leaves: u32,
    exchange: &Exchange,
) -> Outcome {
    let found = look_up(&lookups.body, settings, exchange).await;
    match found.and_then(|body| lookups.search(&body, settings)) {
        Ok((indexes, search)) => search_indexes(search, indexes, max_leaves, exchange).await,
        Err(error) => to_elastic::<Searched>(Err(error), exchange),
    }
}

/// Runs several searches of one request.
async fn answer_many(
    searches: Vec<OneOfMany>,
    is_pretty: bool,
    total_is_number: bool,
    exchange: &Exchange,
) -> HttpResponse {
    let mut answers = run_many(searches, total_is_number, exchange).await;
    if is_pretty {
        answers = pretty(&answers);
    }
    elastic_text(200, answers)
}

/// Runs a search.
async fn search_indexes(
    mut search: Search,
    indexes: AskedIndexes,
    max_leaves: u32,
    exchange: &Exchange,
) -> Outcome {
    let asked = indexes.clone();
    let shown = search.question.elastic.as_ref();
    let pit_id = shown.and_then(|shown| shown.pit_id.clone());
    let is_open = match pit::check_open(pit_id.as_deref(), exchange).await {
        Ok(()) => resume(&mut search.question, exchange).await,
        error => error,
    };
    if let Err(error) = is_open {
        return to_elastic::<Searched>(Err(error), exchange);
    }
    let shown = search.question.elastic.as_ref();
    let (counts, total_is_number) = shown.map_or((false, false), |shown| {
        (shown.is_count, shown.total_is_number)
    });
    let is_one = search.aggregated.is_empty() && search.composed.is_empty();
    let end = match is_one {
        true => run_plan(search.question, indexes, max_leaves, exchange.clone()).await,
        false => run_whole(search, indexes, exchange)
            .await
            .map(Searched::Answer),
    };
    match end {
        Err(error) if asked.allows(&error) => {
            let nothing = found_nothing(counts, total_is_number);
            Outcome::Http(elastic_text(200, nothing))
        }
        end => to_elastic(end, exchange),
    }
}
