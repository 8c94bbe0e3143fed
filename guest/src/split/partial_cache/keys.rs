//! Keys of the partial-result cache: hashes of everything that an entry depends on.
//!
//! They are derived from the parsed question, each part in postcard: requests that differ only in spelling share their
//! entries. Structures are destructured field by field, so that code with a new field does not compile until the field
//! is considered here.

use canter_split_format::{SplitEntry, TimeRange};
use serde::Serialize;
use serde_json::Value;

use super::version::version;
use crate::SearchError;
use crate::limits::TimeFilter;
use crate::request::{AskedAggregations, Question, Resolved};
use crate::split::{HeadSource, SearchedIndex};

/// Number of hex digits of a key: 160 bits, so that no two requests ever share one.
const KEY_LEN: usize = 40;

/// Hashes parts one after another, each with its length first, so that their boundaries count.
#[derive(Clone, Default)]
struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    fn add_part<T: Serialize>(&mut self, part: &T) -> Result<(), SearchError> {
        let bytes = postcard::to_allocvec(part)
            .map_err(|error| SearchError::internal(format!("key of a cache entry: {error}")))?;
        self.add_bytes(&bytes);
        Ok(())
    }

    fn finish(&self) -> String {
        let hex = self.0.finalize().to_hex();
        hex.get(..KEY_LEN).unwrap_or_default().to_owned()
    }

    /// Adds the parts that every kind of entry depends on: this guest, the resolved query, and the aggregations.
    fn add_question(
        &mut self,
        question: &Question,
        resolved: &Resolved,
    ) -> Result<(), SearchError> {
        let Question {
            // Part of the resolved query.
            query: _,
            // Part of the resolved query, too, but a caller's own query may look the same.
            forced_filter,
            search_field,
            // Part of the time filter.
            time: _,
            aggregations,
            // These concern hits, so only the whole answer depends on them.
            max_hits: _,
            start_offset: _,
            sort: _,
            search_after: _,
            scroll: _,
            collapse: _,
            track_total_hits: _,
            snippet_fields: _,
            named: _,
            elastic: _,
            form: _,
            min_score,
            // It determines the splits.
            pinned: _,
            // Explanations and lists of documents are not cached.
            explain: _,
            list_documents: _,
            // It only comes with such a list.
            index_name: _,
            // Part of the profile, which is in no entry.
            vector_reads: _,
            limits,
        } = question;
        let Resolved {
            query,
            // Added for each split, as far as it matters there.
            time: _,
            // Such an answer is not cached, and entries of splits do not depend on it.
            mixes_times: _,
            // Only the whole answer contains it.
            pinned: _,
        } = resolved;
        self.add(&version());
        self.add_part(query)?;
        // A caller who may not see all documents is shown less of them.
        self.add_part(&forced_filter.is_some())?;
        self.add_part(search_field)?;
        self.add_part(min_score)?;
        self.add(&canonical(aggregations.as_ref()));
        self.add_part(limits)
    }

    /// Adds the parts that determine the meaning of a query in an index: its config, and its name, which `_index` is
    /// compared with.
    fn add_index(&mut self, index: &SearchedIndex) {
        self.add(index.name());
        self.add(&index.config.to_string());
    }

    /// Adds the further parts that the whole answer depends on: the choice and the form of its hits.
    fn add_hits(&mut self, question: &Question, resolved: &Resolved) -> Result<(), SearchError> {
        let Question {
            max_hits,
            start_offset,
            sort,
            search_after,
            scroll,
            collapse,
            track_total_hits,
            snippet_fields,
            named,
            elastic,
            // The format of the answer is not part of the entry.
            form: _,
            // As above: these are in every key, or in none.
            query: _,
            forced_filter: _,
            search_field: _,
            time: _,
            aggregations: _,
            min_score: _,
            pinned: _,
            explain: _,
            list_documents: _,
            index_name: _,
            vector_reads: _,
            limits: _,
        } = question;
        let Resolved {
            time,
            // The answer contains the position of the next page.
            pinned,
            query: _,
            mixes_times: _,
        } = resolved;
        self.add_part(time)?;
        self.add_part(&(max_hits, start_offset, track_total_hits))?;
        self.add_part(&(sort, search_after, scroll, collapse, pinned))?;
        self.add_part(&(snippet_fields, named, elastic))
    }

    fn add_split(&mut self, entry: &SplitEntry) {
        self.add(&entry.id);
        // The head has checksums of everything after it, so this identifies the split's exact bytes.
        self.add(&entry.head_checksum.to_string());
        // Ids are hashes, too. Without deletes nothing is added; the id of a split never equals an object's name.
        if let Some(deletes) = &entry.deletes {
            self.add(&deletes.object());
        }
    }

    fn add_time_filter(&mut self, filter: TimeFilter) {
        let TimeFilter { start_ns, end_ns } = filter;
        self.add(&format!("{:?}", (start_ns, end_ns)));
    }
}

/// Returns the key of a question's whole answer; `None` if the host keeps no entries. `answered` names the sources of
/// the answer that are not among the opened splits.
///
/// # Errors
/// A part of the question cannot be serialized: a defect.
pub(crate) fn answer_key<'a>(
    question: &Question,
    resolved: &Resolved,
    index: &SearchedIndex,
    splits: impl Iterator<Item = &'a SplitEntry>,
    answered: impl Iterator<Item = &'a str>,
) -> Result<Option<String>, SearchError> {
    // Two scrolls never share an answer, because each has a state of its own.
    let is_own = question.list_documents || question.scroll().is_some();
    if !question.limits.partial_result_cache || is_own {
        return Ok(None);
    }
    let mut hasher = KeyHasher::default();
    hasher.add_question(question, resolved)?;
    hasher.add_hits(question, resolved)?;
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

/// Generator of the keys for the contributions of single splits to a request.
pub(crate) struct SplitKeys {
    /// One for each index.
    requests: Vec<KeyHasher>,
    filter: TimeFilter,
}

impl SplitKeys {
    /// Returns `None` if the host keeps no entries, or if hits are wanted: which of a split's documents are among the hits
    /// depends on the other splits.
    ///
    /// # Errors
    /// As [`answer_key`].
    pub(crate) fn of_question(
        question: &Question,
        resolved: &Resolved,
        indexes: &[SearchedIndex],
    ) -> Result<Option<Self>, SearchError> {
        let is_kept = question.limits.partial_result_cache;
        if !is_kept || question.window() > 0 || question.list_documents {
            return Ok(None);
        }
        let mut hasher = KeyHasher::default();
        hasher.add_question(question, resolved)?;
        let of_index = |index: &SearchedIndex| {
            let mut hasher = hasher.clone();
            hasher.add_index(index);
            hasher
        };
        Ok(Some(Self {
            requests: indexes.iter().map(of_index).collect(),
            filter: resolved.time,
        }))
    }

    /// Returns the key of one split. A time filter that covers the whole split does not count, so that a dashboard
    /// whose time window moves on finds all splits again but those at its ends.
    pub(crate) fn key(&self, source: &HeadSource) -> String {
        let entry = &source.entry;
        let mut hasher = self.requests.get(source.index).cloned().unwrap_or_default();
        hasher.add_split(entry);
        hasher.add_time_filter(clipped(self.filter, entry.time_range));
        format!("split/{}", hasher.finish())
    }
}

/// Returns `filter` without the ends that let all of `range` through.
fn clipped(filter: TimeFilter, range: Option<TimeRange>) -> TimeFilter {
    let Some(range) = range else {
        return filter;
    };
    TimeFilter {
        start_ns: filter.start_ns.filter(|start| *start > range.start_ns),
        end_ns: filter.end_ns.filter(|end| *end <= range.end_ns),
    }
}

/// Returns the requested aggregations, with their keys sorted.
fn canonical(aggregations: Option<&AskedAggregations>) -> String {
    let given = aggregations.map(|aggregations| aggregations.given().clone());
    with_sorted_keys(given.unwrap_or_default()).to_string()
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
    use crate::limits::Limits;
    use crate::request::{AnswerForm, SearchRequest};

    fn limits() -> Limits {
        Limits {
            partial_result_cache: true,
            ..Limits::default()
        }
    }

    fn read(request: &Value, limits: &Limits) -> Question {
        let request: SearchRequest = serde_json::from_str(&request.to_string()).unwrap();
        let question = request.read(None, limits, AnswerForm::default());
        question.unwrap()
    }

    fn asked(request: &Value) -> (Question, Resolved) {
        let question = read(request, &limits());
        let resolved = Resolved::of(&question, None);
        (question, resolved)
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
        let (question, resolved) = asked(&request);
        let entries: Vec<SplitEntry> = ids.iter().map(|id| entry(id, None)).collect();
        answer_key(
            &question,
            &resolved,
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
        let (question, resolved) = asked(&request);
        let keys = SplitKeys::of_question(&question, &resolved, &[index(name)]).unwrap()?;
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

    /// A query can name `_index`, and one index may have two names.
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

    /// A caller who may see everything can send the query that a forced filter results in.
    #[test]
    fn a_forced_filter_counts_and_not_only_what_it_says() {
        let forced = json!({"query": "b:c", "forced_filter": "x:y", "max_hits": 0});
        let parsed = |request: &Value| asked(request).1.query;
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
            let (question, resolved) = asked(&request);
            let entries = std::iter::once(&entry);
            let none = std::iter::empty();
            let answer = answer_key(&question, &resolved, &index(""), entries, none);
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
        let question = read(&json!({}), &Limits::default());
        let key = answer_key(
            &question,
            &Resolved::of(&question, None),
            &index(""),
            std::iter::empty(),
            std::iter::empty(),
        );
        assert_eq!(key.unwrap(), None);
    }
}
