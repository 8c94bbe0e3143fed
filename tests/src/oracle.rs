//! The oracle: plain tantivy in RAM over the same documents.

use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use canter_doc_mapper::{DocMapper, IndexConfig};
use serde_json::{Map, Value, json};
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::{AggContextParams, AggregationCollector, AggregationLimitsGuard};
use tantivy::collector::{DocSetCollector, TopDocs};
use tantivy::query::{AllQuery, Query, QueryParser};
use tantivy::schema::{Field, FieldEntry, FieldType, Schema};
use tantivy::{DocAddress, Index, ReloadPolicy, Searcher, TantivyDocument};

/// All documents in one segment, in Canter's order of places in the index: by time, and then in the
/// order of lines. The division into splits does not matter.
pub struct Oracle {
    mapper: DocMapper,
    index: Index,
    searcher: Searcher,
}

/// Returns the mapper's schema with an indexed timestamp field, which tantivy's parser needs but
/// Canter does not.
fn with_terms_of_times(mapper: &DocMapper) -> Schema {
    let timestamp = mapper.timestamp_field().map(|(field, _)| field);
    let mut schema = Schema::builder();
    for (field, entry) in mapper.schema().fields() {
        schema.add_field(match entry.field_type() {
            FieldType::Date(options) if timestamp == Some(field) => {
                FieldEntry::new_date(entry.name().to_owned(), options.clone().set_indexed())
            }
            _ => entry.clone(),
        });
    }
    schema.build()
}

impl Oracle {
    /// Indexes the lines of one source.
    pub fn build(config_yaml: &str, lines: &[String]) -> Result<Self> {
        let config = IndexConfig::from_yaml(config_yaml, |_| None)?;
        let mapper = DocMapper::new(&config)?;
        let mut documents = lines
            .iter()
            .map(|line| Ok(mapper.parse_doc(line.as_bytes())?))
            .collect::<Result<Vec<_>>>()?;
        documents.sort_by_key(|document| document.timestamp);
        let mut writer = Index::builder()
            .schema(with_terms_of_times(&mapper))
            .settings(mapper.index_settings())
            .tokenizers(mapper.tokenizers())
            .fast_field_tokenizers(mapper.fast_field_tokenizers())
            .single_segment_index_writer::<TantivyDocument>(
                tantivy::directory::RamDirectory::create(),
                100_000_000,
            )?;
        for document in documents {
            writer.add_document(document.document)?;
        }
        let mut index = writer.finalize()?;
        index.set_tokenizers(mapper.tokenizers());
        index.set_fast_field_tokenizers(mapper.fast_field_tokenizers());
        let searcher = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?
            .searcher();
        Ok(Self {
            mapper,
            index,
            searcher,
        })
    }

    /// Returns all documents as JSON from tantivy's own doc store, in the order of places.
    pub fn documents(&self) -> Result<Vec<String>> {
        (0..self.searcher.segment_reader(0).max_doc())
            .map(|doc| {
                let document: TantivyDocument = self.searcher.doc(DocAddress::new(0, doc))?;
                Ok(self.mapper.doc_to_json_text(&document))
            })
            .collect()
    }

    /// Answers a search request in the form of Canter's answer.
    pub fn search(&self, request: &Value) -> Result<Value> {
        let query = self.query(request)?;
        let matching = self.matching(query.as_ref(), request)?;
        let num_hits = matching.len();
        let hits = self.hits(query.as_ref(), matching, request)?;
        let mut answer = json!({ "hits": hits, "num_hits": num_hits });
        if let Some(aggs) = request.get("aggs") {
            answer["aggregations"] = self.aggregate(query, aggs, request)?;
        }
        Ok(answer)
    }

    fn query(&self, request: &Value) -> Result<Box<dyn Query>> {
        let text = request["query"].as_str().context("a request has a query")?;
        if text == "*" {
            return Ok(Box::new(AllQuery));
        }
        let default_fields: Vec<Field> = self
            .mapper
            .default_search_fields()
            .iter()
            .map(|name| self.index.schema().get_field(name))
            .collect::<tantivy::Result<_>>()?;
        let fields = match self.mapper.dynamic_field() {
            // tantivy's parser looks for unknown names in default JSON fields.
            Some(dynamic) if text.contains(':') => vec![dynamic],
            _ => default_fields,
        };
        let mut parser =
            QueryParser::new(self.index.schema(), fields, self.index.tokenizers().clone());
        parser.set_conjunction_by_default();
        parser.allow_regexes();
        let asked = request
            .get("oracle_query")
            .and_then(Value::as_str)
            .unwrap_or(text);
        Ok(parser.parse_query(asked)?)
    }

    /// Returns the matching documents in place order, within the time filter.
    fn matching(&self, query: &dyn Query, request: &Value) -> Result<Vec<DocAddress>> {
        let mut docs: Vec<DocAddress> = self
            .searcher
            .search(query, &DocSetCollector)?
            .into_iter()
            .collect();
        docs.sort();
        let start = request.get("start_timestamp").and_then(Value::as_i64);
        let end = request.get("end_timestamp").and_then(Value::as_i64);
        if start.is_some() || end.is_some() {
            let (_, name) = self.mapper.timestamp_field().context("a timestamp field")?;
            let times = self.searcher.segment_reader(0).fast_fields().date(name)?;
            docs.retain(|address| {
                let time = times
                    .first(address.doc_id)
                    .map(|time| time.into_timestamp_nanos());
                let inside = |time: i64| {
                    start.is_none_or(|start| time >= start * 1_000_000_000)
                        && end.is_none_or(|end| time < end * 1_000_000_000)
                };
                time.is_some_and(inside)
            });
        }
        Ok(docs)
    }

    fn hits(
        &self,
        query: &dyn Query,
        matching: Vec<DocAddress>,
        request: &Value,
    ) -> Result<Vec<Map<String, Value>>> {
        let count = |key: &str, default: u64| {
            request.get(key).and_then(Value::as_u64).unwrap_or(default) as usize
        };
        let timestamp = self
            .mapper
            .timestamp_field()
            .map(|(_, name)| name.to_owned());
        let sort_by = match (request.get("sort_by").and_then(Value::as_str), timestamp) {
            (Some(sort_by), _) => sort_by.to_owned(),
            (None, Some(timestamp)) => timestamp,
            (None, None) => "-_doc".to_owned(),
        };
        let mut ranked: Vec<(Vec<Key>, DocAddress)> = matching
            .iter()
            .map(|address| (Vec::new(), *address))
            .collect();
        let mut descending = Vec::new();
        for key in sort_by.split(',') {
            let name = key.trim_start_matches('-');
            descending.push(!key.starts_with('-'));
            let values = self.keys(name, query, &matching)?;
            for ((keys, _), value) in ranked.iter_mut().zip(values) {
                keys.push(value);
            }
        }
        ranked.sort_by(|left, right| {
            for ((left, right), descending) in left.0.iter().zip(&right.0).zip(&descending) {
                let order = left.compare(right, *descending);
                if order.is_ne() {
                    return order;
                }
            }
            match descending[0] {
                true => right.1.cmp(&left.1),
                false => left.1.cmp(&right.1),
            }
        });
        ranked
            .into_iter()
            .skip(count("start_offset", 0))
            .take(count("max_hits", 20))
            .map(|(_, address)| {
                let document: TantivyDocument = self.searcher.doc(address)?;
                Ok(self.mapper.doc_to_json(&document))
            })
            .collect()
    }

    /// Returns the sort key of each document.
    fn keys(&self, name: &str, query: &dyn Query, docs: &[DocAddress]) -> Result<Vec<Key>> {
        if name == "_score" {
            let all = TopDocs::with_limit(docs.len().max(1)).order_by_score();
            let scores = self.searcher.search(query, &all)?;
            return docs
                .iter()
                .map(|doc| {
                    let found = scores.iter().find(|(_, address)| address == doc);
                    Ok(Key::Number(f64::from(rounded(
                        found.context("a scored document")?.0,
                    ))))
                })
                .collect();
        }
        if name == "_doc" {
            // One segment, filled in the order of places.
            return Ok(docs
                .iter()
                .map(|doc| Key::Mapped(doc.doc_id.into()))
                .collect());
        }
        let columns = self.searcher.segment_reader(0).fast_fields();
        if let Some(column) = columns.str(name)? {
            return docs
                .iter()
                .map(|doc| {
                    let Some(ord) = column.ords().first(doc.doc_id) else {
                        return Ok(Key::Missing);
                    };
                    let mut text = String::new();
                    column.ord_to_str(ord, &mut text)?;
                    Ok(Key::Text(text))
                })
                .collect();
        }
        if let Some((column, _)) = columns.u64_lenient_for_type(None, name)? {
            // Within one segment, the mapping to u64 is ordered like the values.
            return Ok(docs
                .iter()
                .map(|doc| column.first(doc.doc_id).map_or(Key::Missing, Key::Mapped))
                .collect());
        }
        bail!("no column {name:?}")
    }

    fn aggregate(&self, query: Box<dyn Query>, aggs: &Value, request: &Value) -> Result<Value> {
        let aggregations: Aggregations = serde_json::from_value(aggs.clone())?;
        let query = match (request.get("start_timestamp"), request.get("end_timestamp")) {
            (None, None) => query,
            (start, end) => self.within(query, start, end)?,
        };
        let context = AggContextParams::new(
            AggregationLimitsGuard::default(),
            self.index.tokenizers().clone(),
        );
        let collector = AggregationCollector::from_aggs(aggregations, context);
        let found = self.searcher.search(query.as_ref(), &collector)?;
        let mut found = serde_json::to_value(found)?;
        numbers_by_value(&mut found, aggs);
        Ok(found)
    }

    fn within(
        &self,
        query: Box<dyn Query>,
        start: Option<&Value>,
        end: Option<&Value>,
    ) -> Result<Box<dyn Query>> {
        use std::ops::Bound;
        use tantivy::query::{BooleanQuery, RangeQuery};
        use tantivy::{DateTime, Term};
        let (field, _) = self.mapper.timestamp_field().context("a timestamp field")?;
        let term = |value: Option<&Value>| {
            let seconds = value.and_then(Value::as_i64)?;
            Some(Term::from_field_date(
                field,
                DateTime::from_timestamp_secs(seconds),
            ))
        };
        let range = RangeQuery::new(
            term(start).map_or(Bound::Unbounded, Bound::Included),
            term(end).map_or(Bound::Unbounded, Bound::Excluded),
        );
        Ok(Box::new(BooleanQuery::intersection(vec![
            query,
            Box::new(range),
        ])))
    }
}

/// Sorts terms ordered by key, if they are numbers or addresses: tantivy puts integers before
/// fractions, and sorts addresses by their texts. What that order has cut off is lost, so only
/// requests for all terms can be compared.
fn numbers_by_value(found: &mut Value, aggs: &Value) {
    for (name, agg) in aggs.as_object().into_iter().flatten() {
        let inner = agg.get("aggs").or_else(|| agg.get("aggregations"));
        let result = found.get_mut(name);
        let buckets = result.and_then(|result| result.get_mut("buckets"));
        let Some(buckets) = buckets.and_then(Value::as_array_mut) else {
            continue;
        };
        if let Some(direction) = agg["terms"]["order"]["_key"].as_str()
            && buckets.iter().all(|bucket| bucket["key"].is_number())
        {
            let key = |bucket: &Value| bucket["key"].as_f64().unwrap_or_default();
            buckets.sort_by(|left, right| match direction {
                "desc" => key(right).total_cmp(&key(left)),
                _ => key(left).total_cmp(&key(right)),
            });
        }
        let address = |bucket: &Value| bucket["key"].as_str()?.parse::<IpAddr>().ok();
        if agg["terms"]["order"]["_key"] == "asc" && buckets.iter().all(|b| address(b).is_some()) {
            buckets.sort_by_key(address);
        }
        if let Some(inner) = inner {
            for bucket in buckets {
                numbers_by_value(bucket, inner);
            }
        }
    }
}

/// Normalizes an answer for the comparison with the oracle: sorted keys, and ten digits of each
/// number, because the last digits of tantivy's sums depend on the order of addition. tantivy has
/// floating-point numbers where Elasticsearch has integers, numbers for Booleans, and omits error
/// bounds of 0.
pub fn normalised(value: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|n| n.abs() < EXACT) => {
            json!(format!("{:.9e}", number.as_f64().unwrap_or_default()))
        }
        // tantivy includes the type in the key that a page ends with.
        Value::String(text) => json!(text.strip_prefix("str:").unwrap_or(text)),
        Value::Bool(flag) => normalised(&json!(u8::from(*flag))),
        Value::Array(items) => items.iter().map(normalised).collect(),
        Value::Object(fields) => {
            let is_compared = |(name, value): &(&String, &Value)| {
                *name != "doc_count_error_upper_bound" || **value != json!(0)
            };
            let mut sorted: Vec<_> = fields
                .iter()
                .filter(is_compared)
                .map(|(k, v)| (k.clone(), normalised(v)))
                .collect();
            sorted.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(sorted.into_iter().collect())
        }
        other => other.clone(),
    }
}

/// Rounds a score to 12 significant bits: the last ones depend on the order of addition.
fn rounded(score: f32) -> f32 {
    f32::from_bits((score.to_bits() + 0x800) & !0xfff)
}

/// Value of one sort key for a document.
enum Key {
    Number(f64),
    Mapped(u64),
    Text(String),
    Missing,
}

impl Key {
    fn compare(&self, other: &Self, descending: bool) -> std::cmp::Ordering {
        use std::cmp::Ordering;
        let order = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            (Self::Mapped(left), Self::Mapped(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            _ => Ordering::Equal,
        };
        if descending { order.reverse() } else { order }
    }
}
