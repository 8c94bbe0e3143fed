//! Requests about indexes: their fields, configs and sizes, and whether a query suits them.

use canter_names::Listed;
use canter_protocol::HttpResponse;
use canter_split_format::ManifestFile;
use serde_json::{Map, Value, json};

use super::caps::{WantedCaps, add_mapping, add_objects};
use super::dynamic::dynamic_fields;
use super::fields::{Described, add_whole_values, described_by, mapper_of, widest_first};
use super::table::counts;
use crate::api::elastic::errors::elastic_response;
use crate::api::indexes::manifests;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::limits::TimeFilter;
use crate::plan::check_query;
use crate::request::{AskedIndexes, ElasticHits, Question};
use crate::root::put;
use crate::search::{no_index, run_search};
use crate::{ErrorKind, SearchError};

/// The name and the manifest of an index.
pub(in crate::api::elastic) type Found = (String, ManifestFile);

/// Returns the description of an index with this config, whose documents have these fields besides.
pub(in crate::api::elastic) type Describing<'a> =
    dyn Fn(&Value, &[Described]) -> Result<Value, SearchError> + Sync + 'a;

/// Returns an object that describes the fields of each index, by its config and what documents have besides.
pub(in crate::api::elastic) async fn of_fields(
    found: Vec<Found>,
    settings: &ApiSettings,
    exchange: &Exchange,
    of: &Describing<'_>,
) -> Result<Value, SearchError> {
    let mut entries = Map::new();
    for (name, mut file) in found {
        let mapper = mapper_of(&file.manifest.index_config)?;
        let mut of_documents = Vec::new();
        // The list of fields reveals documents that the caller may not see.
        if settings.forced_filter.is_none() {
            let of_index = exchange.of_index(&name);
            let time = TimeFilter::default();
            of_documents = dynamic_fields(&mut file, &mapper, time, &of_index).await?;
            widest_first(&mut of_documents);
        }
        let described = of(&file.manifest.index_config, &of_documents)?;
        entries.insert(name, described);
    }
    Ok(entries.into())
}

/// Returns the settings of an index in the form of Elasticsearch's.
pub(in crate::api::elastic) fn settings_of(name: &str, is_flat: bool) -> Value {
    const VALUES: [(&str, &str); 2] = [("number_of_shards", "1"), ("number_of_replicas", "0")];
    let names = [("provided_name", name), ("uuid", name)];
    let values = VALUES.into_iter().chain(names);
    let prefix = if is_flat { "index." } else { "" };
    let values = values.map(|(key, value)| (format!("{prefix}{key}"), Value::from(value)));
    let values = Value::Object(values.collect());
    match is_flat {
        true => json!({ "settings": values }),
        false => json!({"settings": {"index": values}}),
    }
}

/// Returns the sizes of indexes.
pub(in crate::api::elastic) fn stats(found: &[Found], settings: &ApiSettings) -> Value {
    let mut all = [0; 4];
    let stats = found.iter().map(|(name, file)| {
        let own = counts(file, settings);
        let own = own.map(|(live, deleted, bytes)| [live, deleted, bytes, file.num_splits()]);
        for (sum, own) in all.iter_mut().zip(own.unwrap_or_default()) {
            *sum += own;
        }
        (name.clone(), totals(own))
    });
    let indices: Map<String, Value> = stats.collect();
    let sees_all = settings.forced_filter.is_none();
    json!({
        "_shards": {"total": indices.len(), "successful": indices.len(), "failed": 0},
        "_all": totals(sees_all.then_some(all)),
        "indices": indices,
    })
}

/// Returns the fields of indexes that may hold documents that `filter` matches.
///
/// # Errors
/// If the contents of an index cannot be read.
pub(in crate::api::elastic) async fn caps_of(
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
        add_mapping(&mut fields_of, &file.manifest.index_config);
        let of_index = exchange.of_index(&name);
        // The list of fields reveals documents that the caller may not see, and so do the contents of splits.
        let sees_all = settings.forced_filter.is_none();
        if sees_all {
            fields_of.extend(dynamic_fields(&mut file, &mapper, wanted.time, &of_index).await?);
        }
        add_whole_values(&mut fields_of, names, &mapper);
        add_objects(&mut fields_of, names, &mapper);
        let is_shown = match filter {
            Some(question) => holds(&name, question, exchange).await?,
            None => true,
        };
        if is_shown {
            all.push((name, fields_of));
        }
    }
    Ok(all)
}

/// Returns the existing indexes among these, each with its manifest or the error of reading it.
///
/// # Errors
/// If a required index does not exist.
pub(in crate::api::elastic) async fn present<'i>(
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

/// Reports whether a query is valid for each of these indexes, and why it is not; where it is, with the text that
/// explains it, if one is wanted. A failure to find that out is an error.
pub(in crate::api::elastic) async fn validate(
    indexes: &AskedIndexes,
    question: &Result<Box<Question>, SearchError>,
    explained_as: Option<&str>,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<HttpResponse, SearchError> {
    let (mut why, mut explained): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let found = present(indexes, settings, exchange).await?;
    let num = found.len();
    for (index, manifest) in found {
        let checked = match (question, manifest) {
            (Err(problem), _) => Err(problem.clone()),
            (Ok(question), Ok(file)) => check_query(&file, index, question),
            (Ok(_), Err(error)) => return Err(error),
        };
        match checked {
            Ok(()) => explained.extend(
                explained_as
                    .map(|text| json!({"index": index, "valid": true, "explanation": text})),
            ),
            Err(problem) if matches!(problem.kind, ErrorKind::Invalid | ErrorKind::Limit) => {
                why.push(json!({"index": index, "valid": false, "error": problem.message}));
            }
            Err(error) => return Err(error),
        }
    }
    let shards = json!({"total": num, "successful": num, "failed": 0});
    let mut answer = json!({"_shards": shards, "valid": why.is_empty()});
    if let (Err(problem), true) = (question, explained_as.is_some()) {
        put(&mut answer, "error", problem.message.as_str().into());
    }
    explained.extend(why);
    if !explained.is_empty() {
        put(&mut answer, "explanations", explained.into());
    }
    Ok(elastic_response(200, &answer))
}

/// Returns a query as text: a condition on one value as a query string has it, anything else as it was sent.
pub(in crate::api::elastic) fn explanation(query: &Value) -> String {
    let only = |object: &Value| {
        let mut entries = object.as_object()?.iter();
        let first = entries.next().filter(|_| entries.next().is_none())?;
        Some((first.0.clone(), first.1.clone()))
    };
    let short = || {
        let (kind, clause) = only(query)?;
        match (kind.as_str(), &clause) {
            ("match_all", Value::Object(options)) if options.is_empty() => Some("*:*".to_owned()),
            ("query_string", clause) => Some(only(clause)?.1.as_str()?.to_owned()),
            ("term" | "match", clause) => match only(clause)? {
                (field, Value::String(text)) => Some(format!("{field}:{text}")),
                (field, value @ (Value::Number(_) | Value::Bool(_))) => {
                    Some(format!("{field}:{value}"))
                }
                _ => None,
            },
            _ => None,
        }
    };
    short().unwrap_or_else(|| query.to_string())
}

/// Returns whether an index holds a hit. An index that lacks a field of the query holds none.
async fn holds(name: &str, question: &Question, exchange: &Exchange) -> Result<bool, SearchError> {
    let listed = Listed {
        name: name.to_owned(),
        is_named: false,
    };
    let indexes = AskedIndexes::of(vec![listed], false, true);
    let shown = ElasticHits {
        is_count: true,
        ..ElasticHits::default()
    };
    let question = Question {
        max_hits: 0,
        elastic: Some(shown),
        ..question.clone()
    };
    match run_search(question, indexes, exchange.clone()).await {
        Ok(answer) => {
            let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
            Ok(answer.get("count").and_then(Value::as_u64) != Some(0))
        }
        Err(error) if error.kind == ErrorKind::Invalid => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns sizes as Elasticsearch shows them, unless they are hidden.
fn totals(sizes: Option<[u64; 4]>) -> Value {
    let total = match sizes {
        Some([num_live, num_deleted, num_bytes, num_splits]) => json!({
            "docs": {"count": num_live, "deleted": num_deleted},
            "store": {"size_in_bytes": num_bytes},
            "segments": {"count": num_splits},
        }),
        None => json!({}),
    };
    json!({"primaries": total, "total": total})
}
