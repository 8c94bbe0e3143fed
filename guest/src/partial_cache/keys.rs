//! Keys of the partial-result cache: hashes of all that an entry depends on.

use std::hash::{Hash, Hasher};

use canter_split_format::{SplitEntry, TimeRange};
use serde_json::Value;

use crate::SearchError;
use crate::limits::{Limits, TimeFilter};
use crate::query::QueryNode;
use crate::request::SearchRequest;
use crate::split::{HeadSource, SearchedIndex};

/// Hex digits of a key: 160 bits, so that no two requests ever share one.
const KEY_LEN: usize = 40;

/// What a query is hashed by.
struct Bytes<'h>(&'h mut blake3::Hasher);

impl Hasher for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        // The key is what the other one comes to.
        0
    }
}

/// Hashes texts one after another; each begins with its length, so that none runs into the next.
#[derive(Clone, Default)]
struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    fn add(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn finish(&self) -> String {
        let hex = self.0.finalize().to_hex();
        hex.get(..KEY_LEN).unwrap_or_default().to_owned()
    }

    /// What every kind of entry depends on: this guest, the query as parsed, and the aggregations with
    /// their keys in order. Requests that differ only in spelling share their entries.
    fn add_request(&mut self, ast: &QueryNode, request: &SearchRequest, limits: &Limits) {
        // Every field is named, so that a new one is thought of here.
        let SearchRequest {
            // In the query as parsed.
            query: _,
            search_field,
            aggs,
            // In the query, too, where one of a caller's own may look the same.
            forced_filter,
            // In the query and the time filter.
            time_bounds: _,
            // Only the whole answer depends on what these say of hits.
            max_hits: _,
            start_offset: _,
            sort_by: _,
            sort: _,
            collapse: _,
            search_after: _,
            scroll: _,
            // It says which splits there are.
            pinned: _,
            min_score,
            elastic: _,
            snippet_fields: _,
            track_total_hits: _,
            // Added for each split, as far as it counts there.
            start_timestamp: _,
            end_timestamp: _,
            // An explanation is not kept, and no list of documents.
            explain: _,
            list_documents: _,
            // It is given with such a list.
            index_name: _,
            // Such an answer is not kept, and nothing of a split depends on it.
            mixes_times: _,
            // In the aggregations as read.
            now_ms: _,
        } = request;
        self.add(&crate::version());
        // Not its `Debug` form: that of the grammar does not escape, so two queries may look the same.
        ast.hash(&mut Bytes(&mut self.0));
        self.add(&format!("{search_field:?}"));
        self.add(&format!("{min_score:?}"));
        // A caller who may see some documents only is shown less of them.
        self.add(forced_filter.as_ref().map_or("", |_| "filtered"));
        let aggs = aggs.clone().map(with_sorted_keys);
        self.add(&aggs.unwrap_or(Value::Null).to_string());
        // All of its fields.
        self.add(&format!("{limits:?}"));
    }

    /// What a query means in an index: its config says it, and its name is what `_index` is compared with.
    fn add_index(&mut self, index: &SearchedIndex) {
        self.add(index.name());
        self.add(&index.config.to_string());
    }

    /// What else the whole answer depends on: which hits it shows, and how.
    fn add_hits(&mut self, request: &SearchRequest) {
        let SearchRequest {
            max_hits,
            start_offset,
            sort_by,
            sort,
            collapse,
            search_after,
            scroll,
            elastic,
            snippet_fields,
            track_total_hits,
            // As above: these are in every key.
            query: _,
            search_field: _,
            aggs: _,
            forced_filter: _,
            start_timestamp: _,
            end_timestamp: _,
            explain: _,
            list_documents: _,
            index_name: _,
            mixes_times: _,
            time_bounds: _,
            min_score: _,
            pinned: _,
            now_ms: _,
        } = request;
        self.add_time_filter(request.time_filter());
        self.add(&format!("{:?}", (start_offset, max_hits)));
        self.add(sort_by.as_deref().unwrap_or_default());
        self.add(&format!(
            "{:?}",
            (sort, collapse, search_after, scroll, elastic)
        ));
        self.add(&format!("{snippet_fields:?}"));
        self.add(&format!("{track_total_hits:?}"));
    }

    fn add_split(&mut self, entry: &SplitEntry) {
        self.add(&entry.id);
        // The head has checksums of all that follows it: this names the split's very bytes.
        self.add(&entry.head_checksum.to_string());
        // Ids are hashes too. Without deletes nothing is added, and ids of splits are no names of objects.
        if let Some(deletes) = &entry.deletes {
            self.add(&deletes.object());
        }
    }

    fn add_time_filter(&mut self, filter: TimeFilter) {
        let TimeFilter { start_ns, end_ns } = filter;
        self.add(&format!("{:?}", (start_ns, end_ns)));
    }
}

/// The key of a request's whole answer; `None` if the host keeps no entries. `answered` names what the answer is
/// of without being among the splits that are opened.
///
/// # Errors
/// If the query cannot be parsed.
pub(crate) fn answer_key<'a>(
    request: &SearchRequest,
    limits: &Limits,
    index: &SearchedIndex,
    splits: impl Iterator<Item = &'a SplitEntry>,
    answered: impl Iterator<Item = &'a str>,
) -> Result<Option<String>, SearchError> {
    if !limits.partial_result_cache || request.list_documents {
        return Ok(None);
    }
    let mut hasher = KeyHasher::default();
    hasher.add_request(&request.parsed_query(limits)?, request, limits);
    hasher.add_hits(request);
    hasher.add_index(index);
    for entry in splits {
        hasher.add_split(entry);
    }
    for name in answered {
        hasher.add("answered");
        hasher.add(name);
    }
    Ok(Some(format!("answer/{}", hasher.finish())))
}

/// Makes the keys of what single splits add to a request.
pub(crate) struct SplitKeys {
    /// By index.
    requests: Vec<KeyHasher>,
    filter: TimeFilter,
}

impl SplitKeys {
    /// `None` if the host keeps no entries, or if the request wants hits: which of a split's documents
    /// are among the hits depends on the other splits.
    pub(crate) fn of_request(
        request: &SearchRequest,
        ast: &QueryNode,
        limits: &Limits,
        indexes: &[SearchedIndex],
    ) -> Option<Self> {
        if !limits.partial_result_cache || request.window() > 0 || request.list_documents {
            return None;
        }
        let mut hasher = KeyHasher::default();
        hasher.add_request(ast, request, limits);
        let of_index = |index: &SearchedIndex| {
            let mut hasher = hasher.clone();
            hasher.add_index(index);
            hasher
        };
        Some(Self {
            requests: indexes.iter().map(of_index).collect(),
            filter: request.time_filter(),
        })
    }

    /// The key of one split. A time filter that the whole split lies within does not count, so that a
    /// dashboard whose time window moves on finds all splits again but those at its ends.
    pub(crate) fn key(&self, source: &HeadSource) -> String {
        let entry = &source.entry;
        let mut hasher = self.requests.get(source.index).cloned().unwrap_or_default();
        hasher.add_split(entry);
        hasher.add_time_filter(clipped(self.filter, entry.time_range));
        format!("split/{}", hasher.finish())
    }
}

/// `filter` without the ends that let all of `range` through.
fn clipped(filter: TimeFilter, range: Option<TimeRange>) -> TimeFilter {
    let Some(range) = range else {
        return filter;
    };
    TimeFilter {
        start_ns: filter.start_ns.filter(|start| *start > range.start_ns),
        end_ns: filter.end_ns.filter(|end| *end <= range.end_ns),
    }
}

fn with_sorted_keys(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_sorted_keys).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields
                .into_iter()
                .map(|(key, value)| (key, with_sorted_keys(value)))
                .collect();
            canter_sorting::sort_by(&mut fields, |(left, _), (right, _)| left.cmp(right));
            Value::Object(fields.into_iter().collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limits() -> Limits {
        Limits {
            partial_result_cache: true,
            ..Limits::default()
        }
    }

    fn entry(id: &str, range: Option<(i64, i64)>) -> SplitEntry {
        let mut entry: SplitEntry = serde_json::from_value(json!({
            // An id has 32 hexadecimal digits.
            "id": format!("{:032x}", id.bytes().fold(0, |number, byte| number << 8 | u128::from(byte))),
            "len": 1000,
            "head_len": 100,
            "head_checksum": "0000000000000005",
            "num_docs": 10,
            "raw_num_bytes": 3000,
        }))
        .unwrap();
        entry.time_range = range.map(|(start_ns, end_ns)| TimeRange { start_ns, end_ns });
        entry
    }

    fn index(name: &str) -> SearchedIndex {
        let prefix = match name {
            "" => String::new(),
            name => format!("{name}/"),
        };
        SearchedIndex {
            prefix,
            config: json!({}),
        }
    }

    fn answer(request: Value, ids: &[&str]) -> String {
        answer_in("", request, ids)
    }

    fn answer_in(name: &str, request: Value, ids: &[&str]) -> String {
        let request = SearchRequest::parse(&request.to_string(), &limits()).unwrap();
        let entries: Vec<SplitEntry> = ids.iter().map(|id| entry(id, None)).collect();
        answer_key(
            &request,
            &limits(),
            &index(name),
            entries.iter(),
            std::iter::empty(),
        )
        .unwrap()
        .unwrap()
    }

    fn split(request: Value, entry: &SplitEntry) -> Option<String> {
        split_in("", request, entry)
    }

    fn split_in(name: &str, request: Value, entry: &SplitEntry) -> Option<String> {
        let request = SearchRequest::parse(&request.to_string(), &limits()).unwrap();
        let ast = request.parsed_query(&limits()).unwrap();
        let index = index(name);
        let keys = SplitKeys::of_request(&request, &ast, &limits(), &[index])?;
        Some(keys.key(&HeadSource {
            index: 0,
            entry: entry.clone(),
            inlined: None,
            packed: None,
        }))
    }

    #[test]
    fn the_spelling_of_a_request_does_not_count() {
        let one =
            json!({"query": "a  AND b:c", "aggs": {"x": {"avg": {"field": "f", "missing": 1}}}});
        let two =
            json!({"aggs": {"x": {"avg": {"missing": 1, "field": "f"}}}, "query": "(a AND b:c)"});
        assert_eq!(answer(one, &["s"]), answer(two, &["s"]));
    }

    #[test]
    fn all_that_an_answer_depends_on_counts() {
        let requests = [
            json!({"query": "a"}),
            json!({"query": "b"}),
            json!({"query": "level:error"}),
            json!({"query": r#"\"level\"\:error"#}),
            json!({"query": "f: IN [a b]"}),
            json!({"query": r#"f: IN ["a\" \"b"]"#}),
            json!({"query": "a", "max_hits": 3}),
            json!({"query": "a", "start_offset": 3}),
            json!({"query": "a", "sort_by": "x"}),
            json!({"query": "a", "search_field": "x"}),
            json!({"query": "a", "snippet_fields": "x"}),
            json!({"query": "a", "forced_filter": "x:y"}),
            json!({"query": "a", "start_timestamp": 3}),
            json!({"query": "a", "end_timestamp": 3}),
            json!({"query": "a", "aggs": {"x": {"avg": {"field": "f"}}}}),
            json!({"query": "a", "aggs": {"y": {"avg": {"field": "f"}}}}),
        ];
        let mut keys: Vec<String> = requests
            .into_iter()
            .map(|request| answer(request, &["s", "t"]))
            .collect();
        keys.push(answer(json!({"query": "a"}), &["s"]));
        keys.push(answer(json!({"query": "a"}), &["st"]));
        keys.push(answer(json!({"query": "a"}), &["t", "s"]));
        let num_keys = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), num_keys);
    }

    /// `_index` is asked for by name, and one index may have two.
    #[test]
    fn the_name_of_the_index_counts() {
        let request = json!({"query": {"term": {"_index": "a"}}, "max_hits": 0});
        let keys = ["", "a", "b"].map(|name| {
            (
                answer_in(name, request.clone(), &["s"]),
                split_in(name, request.clone(), &entry("s", None)).unwrap(),
            )
        });
        assert!(keys[0].0 != keys[1].0 && keys[1].0 != keys[2].0 && keys[0].0 != keys[2].0);
        assert!(keys[0].1 != keys[1].1 && keys[1].1 != keys[2].1 && keys[0].1 != keys[2].1);
    }

    /// Whoever may see everything can ask for what a forced filter comes to.
    #[test]
    fn a_forced_filter_counts_and_not_only_what_it_says() {
        let forced = json!({"query": "b:c", "forced_filter": "x:y", "max_hits": 0});
        let parsed = |request: &Value| {
            let request = SearchRequest::parse(&request.to_string(), &limits()).unwrap();
            request.parsed_query(&limits()).unwrap()
        };
        let own = json!({"query": {"bool": {"must": [
            {"constant_score": {"filter": {"query_string": {"query": "x:y", "default_operator": "and"}}, "boost": 0.0}},
            {"query_string": {"query": "b:c", "default_operator": "and"}},
        ]}}, "max_hits": 0});
        assert_eq!(parsed(&forced), parsed(&own));
        assert_ne!(answer(forced.clone(), &["s"]), answer(own.clone(), &["s"]));
        let entry = entry("s", None);
        assert_ne!(split(forced, &entry), split(own, &entry));
    }

    #[test]
    fn what_is_deleted_counts() {
        let request = json!({"query": "a", "max_hits": 0});
        let whole = entry("s", None);
        let with = |docs: u32| {
            let docs = canter_split_format::DeletedDocs::of_sorted(0..docs);
            SplitEntry {
                deletes: Some(docs.write().0),
                ..whole.clone()
            }
        };
        let keys = [whole.clone(), with(1), with(2)].map(|entry| {
            let parsed = SearchRequest::parse(&request.to_string(), &limits()).unwrap();
            let entries = std::iter::once(&entry);
            let none = std::iter::empty();
            let answer = answer_key(&parsed, &limits(), &index(""), entries, none);
            (
                split(request.clone(), &entry).unwrap(),
                answer.unwrap().unwrap(),
            )
        });
        assert!(keys[0].0 != keys[1].0 && keys[1].0 != keys[2].0);
        assert!(keys[0].1 != keys[1].1 && keys[1].1 != keys[2].1);
        let list = json!({"query": "a", "max_hits": 0, "list_documents": true});
        assert_eq!(split(list, &whole), None);
    }

    #[test]
    fn a_window_around_the_whole_split_does_not_count() {
        let minute = |start: i64, end: i64| json!({"query": "a", "max_hits": 0, "start_timestamp": start, "end_timestamp": end});
        let second = 1_000_000_000;
        let inside = entry("s", Some((60 * second, 70 * second)));
        let whole = split(minute(0, 100), &inside);
        assert!(whole.is_some());
        assert_eq!(split(minute(60, 71), &inside), whole);
        assert_ne!(split(minute(61, 71), &inside), whole);
        assert_ne!(split(minute(60, 70), &inside), whole, "the end is excluded");
        let timeless = entry("s", None);
        assert_ne!(
            split(minute(0, 100), &timeless),
            split(minute(0, 101), &timeless)
        );
    }

    #[test]
    fn a_request_for_hits_has_no_keys_for_splits() {
        assert_eq!(
            split(json!({"query": "a", "max_hits": 1}), &entry("s", None)),
            None
        );
    }

    #[test]
    fn no_key_where_the_host_keeps_nothing() {
        let request = SearchRequest::parse("{}", &Limits::default()).unwrap();
        let key = answer_key(
            &request,
            &Limits::default(),
            &index(""),
            std::iter::empty(),
            std::iter::empty(),
        );
        assert_eq!(key.unwrap(), None);
    }
}
