//! Parameters in URLs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use canter_names::FilterPath;
use canter_protocol::HttpRequest;
use serde_json::Value;

use crate::SearchError;

/// The parameters of a URL: each is taken by name, and the remaining ones are refused by name.
pub(in crate::api::elastic) struct UrlParams {
    given: BTreeMap<String, String>,
    known: Vec<&'static str>,
}

/// Parameters that affect the layout of an answer or its routing in a cluster, but not its contents.
const WITHOUT_EFFECT: [&str; 15] = [
    "allow_partial_search_results",
    "batched_reduce_size",
    "ccs_minimize_roundtrips",
    "error_trace",
    "human",
    "ignore_throttled",
    "local",
    "master_timeout",
    "max_concurrent_searches",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "preference",
    "request_cache",
    "routing",
    "search_type",
];

/// Keys permitted in the header of a search among many.
const OF_HEADER: [&str; 13] = [
    "allow_no_indices",
    "allow_partial_search_results",
    "ccs_minimize_roundtrips",
    "expand_wildcards",
    "ignore_throttled",
    "ignore_unavailable",
    "index",
    "indices",
    "max_concurrent_shard_requests",
    "preference",
    "request_cache",
    "routing",
    "search_type",
];

/// Numbers without an effect, with Elasticsearch's own names for them, and how large they are at least.
const AT_LEAST: [(&str, &str, u64); 4] = [
    ("batched_reduce_size", "batchedReduceSize", 2),
    ("pre_filter_shard_size", "preFilterShardSize", 1),
    ("max_concurrent_searches", "maxConcurrentSearchRequests", 1),
    (
        "max_concurrent_shard_requests",
        "maxConcurrentShardRequests",
        1,
    ),
];

/// All search types return the same hits.
const SEARCH_TYPES: [&str; 2] = ["query_then_fetch", "dfs_query_then_fetch"];

/// # Errors
/// If it is none of these words.
fn check_choice(name: &str, text: &str, words: &[&str]) -> Result<(), SearchError> {
    match words.contains(&text) {
        true => Ok(()),
        false => Err(SearchError::invalid(format!(
            "{name}: {text:?} is not known; there are {}",
            words.join(", ")
        ))),
    }
}

/// Parses a time such as `10s` into milliseconds.
///
/// # Errors
/// If it is invalid.
pub(in crate::api::elastic) fn read_duration(name: &str, text: &str) -> Result<u64, SearchError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let ms = text.split_at_checked(digits).and_then(|(number, unit)| {
        let number: u64 = number.parse().ok()?;
        Some(match unit {
            "nanos" => number / 1_000_000,
            "micros" => number / 1_000,
            unit => number.checked_mul(match unit {
                "ms" => 1,
                "s" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return None,
            })?,
        })
    });
    ms.ok_or_else(|| {
        SearchError::invalid(format!(
            "{name}: {text:?} is no time; write one such as 10s or 500ms"
        ))
    })
}

/// Returns the request with the body that a parameter contains, if it has none itself.
pub(in crate::api::elastic) fn with_source<'r>(
    request: &'r HttpRequest,
    params: &mut UrlParams,
) -> Result<Cow<'r, HttpRequest>, SearchError> {
    let source = params.take_body()?.filter(|_| request.body.is_empty());
    Ok(match source {
        None => Cow::Borrowed(request),
        Some(source) => Cow::Owned(HttpRequest {
            body: source.into_bytes(),
            ..request.clone()
        }),
    })
}

impl UrlParams {
    /// Parses the part of a URL after the question mark.
    ///
    /// # Errors
    /// If a parameter is given twice.
    pub(in crate::api::elastic) fn of(query: &str) -> Result<Self, SearchError> {
        let mut given = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if given
                .insert(name.clone().into_owned(), value.into_owned())
                .is_some()
            {
                return Err(SearchError::invalid(format!("{name} is given twice")));
            }
        }
        Ok(Self {
            given,
            known: WITHOUT_EFFECT.to_vec(),
        })
    }

    /// Takes the body of a request that cannot have one, from the parameters `source` and `source_content_type`.
    ///
    /// # Errors
    /// If it is not JSON.
    pub(in crate::api::elastic) fn take_body(&mut self) -> Result<Option<String>, SearchError> {
        let source = self.given.remove("source");
        let kind = self.given.remove("source_content_type");
        let is_json = |kind: &String| kind.contains("json");
        match kind.filter(|kind| !is_json(kind)) {
            Some(kind) => Err(SearchError::invalid(format!(
                "source_content_type: {kind:?} is not supported; there is application/json"
            ))),
            None => Ok(source),
        }
    }

    /// Sets a key from the header of a search among many, which overrides the URL's parameters.
    ///
    /// # Errors
    /// If a header has no such key, or the value is invalid.
    pub(in crate::api::elastic) fn put(
        &mut self,
        key: &str,
        value: &Value,
    ) -> Result<(), SearchError> {
        let text = match value {
            Value::Null => return Ok(()),
            Value::String(text) => Some(text.clone()),
            Value::Array(texts) => {
                let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
                texts.map(|texts| texts.join(","))
            }
            Value::Object(_) => None,
            value => Some(value.to_string()),
        };
        match text.filter(|_| OF_HEADER.contains(&key)) {
            Some(text) => {
                self.given.insert(key.to_owned(), text);
                Ok(())
            }
            None => Err(SearchError::invalid(format!(
                "key [{key}] is not supported in the metadata section"
            ))),
        }
    }

    /// Returns whether the URL has a parameter that is not taken yet.
    pub(in crate::api::elastic) fn gives(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Returns all parameters as a query string.
    pub(in crate::api::elastic) fn written(&self) -> String {
        let mut written = form_urlencoded::Serializer::new(String::new());
        written.extend_pairs(&self.given);
        written.finish()
    }

    /// Takes a parameter as text.
    pub(in crate::api::elastic) fn text(&mut self, name: &'static str) -> Option<&str> {
        self.known.push(name);
        self.given.get(name).map(String::as_str)
    }

    /// Takes a parameter as text, so that nothing else reads it.
    pub(in crate::api::elastic) fn take(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        self.given.remove(name)
    }

    /// Takes a parameter that must be one of `words`.
    pub(in crate::api::elastic) fn choice(
        &mut self,
        name: &'static str,
        words: &[&str],
    ) -> Result<Option<&str>, SearchError> {
        let text = self.text(name);
        text.map_or(Ok(()), |text| check_choice(name, text, words))?;
        Ok(text)
    }

    /// Returns whether a table is to be JSON instead of text.
    pub(in crate::api::elastic) fn is_json(&mut self) -> Result<bool, SearchError> {
        Ok(self.choice("format", &["json", "text"])? == Some("json"))
    }

    /// Takes a time such as `10s`, in milliseconds.
    pub(in crate::api::elastic) fn duration(
        &mut self,
        name: &'static str,
    ) -> Result<Option<u64>, SearchError> {
        let text = self.text(name);
        text.map(|text| read_duration(name, text)).transpose()
    }

    /// Takes true or false; a flag without a value is true.
    pub(in crate::api::elastic) fn flag(
        &mut self,
        name: &'static str,
    ) -> Result<Option<bool>, SearchError> {
        match self.text(name) {
            None => Ok(None),
            Some("true" | "") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(SearchError::invalid(format!(
                "{name}: this must be true or false"
            ))),
        }
    }

    /// Takes a whole number, 0 or more.
    pub(in crate::api::elastic) fn count(
        &mut self,
        name: &'static str,
    ) -> Result<Option<u64>, SearchError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let count = text.parse();
        count.map(Some).map_err(|_| {
            SearchError::invalid(format!("{name}: this must be a whole number, 0 or more"))
        })
    }

    /// Takes names separated by commas.
    pub(in crate::api::elastic) fn names(&mut self, name: &'static str) -> Option<Vec<String>> {
        let names = self.text(name)?.split(',');
        let names = names.map(|name| name.trim().to_owned());
        Some(names.filter(|name| !name.is_empty()).collect())
    }

    /// Takes the parameters that all requests accept.
    pub(in crate::api::elastic) fn common(&mut self) -> Result<Common, SearchError> {
        self.choice("search_type", &SEARCH_TYPES)?;
        for (name, own, least) in AT_LEAST {
            if self.count(name)?.is_some_and(|count| count < least) {
                let what = format!("{own} must be >= {least}");
                return Err(SearchError::invalid(what));
            }
        }
        let mut expands_patterns = true;
        if let Some(words) = self.text("expand_wildcards") {
            for word in words.split(',') {
                check_choice(
                    "expand_wildcards",
                    word,
                    &["open", "closed", "hidden", "none", "all"],
                )?;
            }
            let mut words = words.split(',');
            expands_patterns = words.any(|word| matches!(word, "open" | "all"));
        }
        let filter_path = self.text("filter_path").map(FilterPath::parse).transpose();
        Ok(Common {
            filter_path: filter_path.map_err(SearchError::invalid)?,
            allows_none: self.flag("allow_no_indices")?.unwrap_or(true),
            expands_patterns,
            is_pretty: self.flag("pretty")?.unwrap_or(false),
            ignores_unavailable: self.flag("ignore_unavailable")?.unwrap_or(false),
        })
    }

    /// Refuses the remaining parameters.
    pub(in crate::api::elastic) fn finish(mut self) -> Result<(), SearchError> {
        let unknown = self
            .given
            .keys()
            .find(|name| !self.known.contains(&name.as_str()));
        let Some(unknown) = unknown.cloned() else {
            return Ok(());
        };
        canter_sorting::sort(&mut self.known);
        self.known.dedup();
        Err(SearchError::invalid(format!(
            "request contains an unrecognized parameter: {unknown:?}; there are {}",
            self.known.join(", ")
        )))
    }
}

/// Parameters that all requests accept.
#[derive(Clone, Debug)]
pub(in crate::api::elastic) struct Common {
    /// The parts of the answer that are wanted.
    pub(in crate::api::elastic) filter_path: Option<FilterPath>,
    /// True if names may match no index at all.
    pub(in crate::api::elastic) allows_none: bool,
    /// True if patterns match open indexes, which all are.
    pub(in crate::api::elastic) expands_patterns: bool,
    pub(in crate::api::elastic) is_pretty: bool,
    /// True if a missing index is ignored.
    pub(in crate::api::elastic) ignores_unavailable: bool,
}
