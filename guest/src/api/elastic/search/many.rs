//! `_msearch`: many searches in one request, each with a line for its indexes and a line for its body.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-msearch>.

use canter_names::read_json;
use canter_protocol::{Budget, HttpRequest};
use futures_util::future::join_all;
use serde_json::{Map, Value};

use super::of_indexes::read_search_of;
use super::read::Search;
use super::run::found_nothing;
use crate::SearchError;
use crate::api::elastic::composed::run::run_whole;
use crate::api::elastic::errors::{Stage, error_body};
use crate::api::elastic::given::names::ALL;
use crate::api::elastic::given::params::{Common, UrlParams};
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::request::AskedIndexes;

/// Maximum number of searches in one request.
const MAX_SEARCHES: usize = 500;

/// Number of searches that run at once; each may use its share of the memory.
const AT_ONCE: usize = 4;

/// Beginning of the message about a total that is to be exact and is not, which refuses all searches of a list.
const INEXACT: &str = "[rest_total_hits_as_int]";

/// A search of a list, or its error; `None` if it has no index.
pub(crate) type OneOfMany = Result<Option<(AskedIndexes, Box<Search>)>, SearchError>;

/// Parses the searches. An error in one search is its answer and does not affect the others. Each search may override
/// the URL's parameters.
///
/// # Errors
/// If the lines are not in pairs, or there are too many.
pub(in crate::api::elastic) fn read_many(
    request: &HttpRequest,
    index: Option<&str>,
    of_all: &UrlParams,
    settings: &ApiSettings,
) -> Result<Vec<OneOfMany>, SearchError> {
    let lines = request.body.split(|byte| *byte == b'\n');
    let mut lines: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let (pairs, rest) = lines.as_chunks::<2>();
    if !rest.is_empty() || pairs.is_empty() {
        return Err(SearchError::invalid(
            "each search needs two lines, one for its header (which may be {}) and one for its body",
        ));
    }
    if pairs.len() > MAX_SEARCHES {
        return Err(SearchError::new(
            crate::ErrorKind::Limit,
            format!(
                "{} searches in one request are more than {MAX_SEARCHES}",
                pairs.len()
            ),
        ));
    }
    let of_all = of_all.written();
    let searches = pairs
        .iter()
        .map(|[header, body]| read_one(header, body, index, &of_all, settings));
    let searches: Vec<OneOfMany> = searches.collect();
    let mut errors = searches.iter().filter_map(|search| search.as_ref().err());
    match errors.find(|error| error.message.starts_with(INEXACT)) {
        Some(error) => Err(error.clone()),
        None => Ok(searches),
    }
}

/// Takes the parameters that are each search's own.
pub(in crate::api::elastic) fn know_those_of_each(params: &mut UrlParams) {
    for name in [
        "_source",
        "_source_includes",
        "_source_excludes",
        "extra_filters",
    ] {
        params.text(name);
    }
}

fn read_one(
    header: &[u8],
    body: &[u8],
    index: Option<&str>,
    of_all: &str,
    settings: &ApiSettings,
) -> OneOfMany {
    let header = match header {
        [] => Map::new(),
        header => match read_json(header) {
            Ok(Value::Object(header)) => header,
            Ok(_) => return Err(SearchError::invalid("the header must be a JSON object")),
            Err(error) => return Err(SearchError::invalid(error.of("the header"))),
        },
    };
    let mut params = UrlParams::of(of_all)?;
    for (key, value) in &header {
        params.put(key, value)?;
    }
    let common = Common {
        // Applies to all answers together.
        is_pretty: false,
        ..params.common()?
    };
    let mut names = index.unwrap_or(ALL).to_owned();
    for key in ["indices", "index"] {
        if let Some(given) = params.text(key) {
            given.clone_into(&mut names);
        }
    }
    let search = read_search_of(&names, body, &mut params, &common, settings)?;
    Ok(search.map(|(indexes, search)| (indexes, Box::new(search))))
}

/// Returns the time that all of them may take together, if each sets a limit: the maximum of those that run at once,
/// summed over the batches.
pub(in crate::api::elastic) fn budget_of(searches: &[OneOfMany]) -> Budget {
    let mut deadline_ms: Option<u64> = None;
    for some in searches.chunks(AT_ONCE) {
        let searches = some.iter().flatten().flatten();
        let asked = searches.map(|(_, search)| search.budget.deadline_ms);
        match asked.reduce(|left, right| Some(left?.max(right?))) {
            Some(Some(longest_ms)) => {
                deadline_ms = Some(deadline_ms.unwrap_or(0).saturating_add(longest_ms));
            }
            Some(None) => return Budget::default(),
            // An invalid search, or one without an index, takes no time.
            None => {}
        }
    }
    Budget {
        deadline_ms,
        ..Budget::default()
    }
}

/// Runs the searches, several at once, and joins their answers. `total_is_number` is for those without an index.
pub(in crate::api::elastic) async fn run_many(
    searches: Vec<OneOfMany>,
    total_is_number: bool,
    exchange: &Exchange,
) -> String {
    let mut responses = Vec::with_capacity(searches.len());
    let mut searches = searches.into_iter().peekable();
    while searches.peek().is_some() {
        let some: Vec<OneOfMany> = searches.by_ref().take(AT_ONCE).collect();
        let num = some.len() as u64;
        let some = some.into_iter();
        let some = some.map(|search| answer(search, num, total_is_number, exchange));
        responses.extend(join_all(some).await);
    }
    let took_ms = exchange.report().elapsed_us / 1_000;
    format!(
        "{{\"took\":{took_ms},\"responses\":[{}]}}",
        responses.join(",")
    )
}

async fn answer(
    search: OneOfMany,
    at_once: u64,
    total_is_number: bool,
    exchange: &Exchange,
) -> String {
    let with_status = |json: String| match json.strip_suffix('}') {
        Some(json) => format!("{json},\"status\":200}}"),
        None => json,
    };
    let (indexes, search) = match search {
        Ok(Some(search)) => search,
        Ok(None) => return with_status(found_nothing(false, total_is_number)),
        Err(error) => return error_body(&error, Stage::Reading, false).1.to_string(),
    };
    let mut search = *search;
    let Search {
        question,
        aggregated,
        composed,
        ..
    } = &mut search;
    let of_groups = composed.groups.iter_mut().map(|group| &mut group.question);
    for question in std::iter::once(question).chain(aggregated).chain(of_groups) {
        question.limits.max_resident_bytes /= at_once.max(1);
    }
    let asked = indexes.clone();
    match run_whole(search, indexes, exchange).await {
        Err(error) if asked.allows(&error) => with_status(found_nothing(false, total_is_number)),
        Ok(json) => with_status(json),
        Err(error) => {
            let is_late = exchange.report().timed_out;
            error_body(&error, Stage::Searching, is_late).1.to_string()
        }
    }
}
