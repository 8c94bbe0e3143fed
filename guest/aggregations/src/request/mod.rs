//! Parser of aggregations: from the JSON of a request to validated types.
//!
//! Names and defaults are Elasticsearch's. Every number and every list is limited, and unknown
//! options are refused by name, with their location in the request. Checks that need the doc
//! mapping are in `check.rs`.

mod body;
mod bounds;
mod check;
mod composite;
mod histograms;
mod metrics;
mod now;
mod ranges;
mod terms;
mod types;

#[cfg(test)]
mod tests;

pub use body::check_name;
pub(crate) use body::{Body, number_of};
pub use bounds::Bounds;
pub(crate) use bounds::MAX_BUCKET_PLACE;
pub(crate) use check::{after_key, missing_key};
pub(crate) use metrics::{percents, sigma};
pub use now::resolve_now;
pub(crate) use ranges::address;
pub(crate) use terms::exact_number;
pub(crate) use types::*;
pub use types::{ListOf, ObjectList, WORDS};

use serde_json::Value;

use self::body::invalid;
use self::bounds::{MAX_AGGREGATIONS, MAX_DEPTH};
use crate::pipeline::{self, Draft, Pipeline};
use crate::{Error, Result};

/// Aggregations of a request.
#[derive(Clone, Debug)]
pub struct Aggregations {
    pub(crate) list: Vec<Aggregation>,
    /// Pipelines over these aggregations, in the order of computation.
    pub(crate) pipelines: Vec<Pipeline>,
    pub(crate) filters: Vec<PlacedFilter>,
    /// Lists of objects that are aggregated, each after the list around it.
    pub(crate) lists: Vec<ObjectList>,
    pub(crate) bounds: Bounds,
}

/// Query of a filter aggregation, with its location in the request.
#[derive(Clone, Debug)]
pub struct PlacedFilter {
    /// Location, such as `aggs.errors.filter`.
    pub path: String,
    /// Query string, or a query of the DSL.
    pub query: Value,
    /// Number of the list whose objects it filters; `None` for documents.
    pub of_list: Option<usize>,
}

impl Aggregations {
    /// Parses the value of `aggs`.
    ///
    /// # Errors
    /// The request is invalid. The message begins with the location of the problem.
    pub fn parse(aggregations: &Value, bounds: Bounds) -> Result<Self> {
        let mut reader = Reader {
            bounds,
            num_aggregations: 0,
            filters: Vec::new(),
            lists: Vec::new(),
            list: None,
        };
        let level = reader.all("aggs", aggregations, 0)?;
        pipeline::check_place(&level.pipelines, None)?;
        metrics::check_rates(&level.aggregations, None)?;
        Ok(Self {
            list: level.aggregations,
            pipelines: level.pipelines,
            filters: reader.filters,
            lists: reader.lists,
            bounds,
        })
    }

    /// Returns the queries of all filter aggregations, by slot.
    pub fn filters(&self) -> &[PlacedFilter] {
        &self.filters
    }

    /// Returns the lists of objects that are aggregated, each after the list around it.
    pub fn lists(&self) -> &[ObjectList] {
        &self.lists
    }
}

/// Aggregations and pipelines of one level of a request.
#[derive(Default)]
struct Level {
    /// Sorted by name.
    aggregations: Vec<Aggregation>,
    pipelines: Vec<Pipeline>,
}

/// Parser state for one request.
struct Reader {
    bounds: Bounds,
    num_aggregations: usize,
    filters: Vec<PlacedFilter>,
    lists: Vec<ObjectList>,
    /// List whose objects take the place of documents at the current level.
    list: Option<usize>,
}

impl Reader {
    fn all(&mut self, path: &str, aggregations: &Value, depth: usize) -> Result<Level> {
        let Value::Object(aggregations) = aggregations else {
            return Err(invalid(path, "this must be a JSON object"));
        };
        if depth >= MAX_DEPTH && !aggregations.is_empty() {
            let what = format!("aggregations nest deeper than {MAX_DEPTH}");
            return Err(Error::limit(path, &what));
        }
        self.num_aggregations += aggregations.len();
        if self.num_aggregations > MAX_AGGREGATIONS {
            let what = format!("a request has at most {MAX_AGGREGATIONS} aggregations");
            return Err(Error::limit(path, &what));
        }
        let mut list = Vec::with_capacity(aggregations.len());
        let mut drafts = Vec::new();
        for (name, aggregation) in aggregations {
            // Quickwit's plugin for Grafana uses an empty name.
            if !name.is_empty() {
                check_name(path, name)?;
            }
            let path = format!("{path}.{name}");
            let (kind, body) = kind_of(&path, aggregation)?;
            if pipeline::is_kind(kind) {
                if kind == "bucket_sort" && depth == 0 {
                    let what = format!(
                        "bucket_sort aggregation [{name}] must be declared inside of another aggregation"
                    );
                    return Err(invalid(&path, &what));
                }
                drafts.push(self.pipeline(&path, name, aggregation, (kind, body))?);
            } else {
                list.push(self.one(path, name, aggregation, (kind, body), depth)?);
            }
        }
        canter_sorting::sort_by(&mut list, |left, right| left.name.cmp(&right.name));
        canter_sorting::sort_by(&mut drafts, |left, right| left.name.cmp(right.name));
        let pipelines = pipeline::read_level(&drafts, &list)?;
        Ok(Level {
            aggregations: list,
            pipelines,
        })
    }

    fn one(
        &mut self,
        path: String,
        name: &str,
        value: &Value,
        (kind, body): (&str, &Value),
        depth: usize,
    ) -> Result<Aggregation> {
        let children = children_of(&path, value)?;
        let inside_path = format!("{path}.aggs");
        let kind_path = format!("{path}.{kind}");
        let around = self.list;
        self.list = self.list_inside(&kind_path, kind, body)?;
        let here = self.list;
        let Level {
            aggregations: inside,
            pipelines,
        } = match children {
            None => Level::default(),
            Some(children) => self.all(&inside_path, children, depth + 1)?,
        };
        self.list = around;
        let kind_read = match (kind, here) {
            ("nested", Some(slot)) => Kind::Nested(Nested { slot }),
            ("reverse_nested", to) => Kind::ReverseNested(ReverseNested { to }),
            _ => self.kind(&kind_path, kind, body, &inside, depth)?,
        };
        if matches!(kind_read, Kind::Metric(_)) && children.is_some() {
            return Err(nothing_inside(&inside_path, kind));
        }
        pipeline::check_place(&pipelines, Some(&kind_read))?;
        Ok(Aggregation {
            name: name.to_owned(),
            path: kind_path,
            kind: kind_read,
            inside,
            pipelines,
        })
    }

    /// Returns the list whose objects are the documents inside of an aggregation.
    fn list_inside(&mut self, path: &str, kind: &str, value: &Value) -> Result<Option<usize>> {
        match kind {
            "nested" => {
                let body = Body::read(path.to_owned(), value, &["path"])?;
                let Some(of) = body.text("path")? else {
                    return Err(body.invalid("path", "the path of the objects is missing"));
                };
                check_name(&format!("{path}.path"), of)?;
                let list = ObjectList {
                    path: of.to_owned(),
                    outer: self.list,
                    of: ListOf::Objects,
                };
                Ok(Some(self.slot_of(list)))
            }
            "reverse_nested" => {
                let body = Body::read(path.to_owned(), value, &["path"])?;
                if self.list.is_none() {
                    let what =
                        "Reverse nested aggregation cannot be used outside a [nested] context";
                    return Err(invalid(path, what));
                }
                let Some(to) = body.text("path")? else {
                    return Ok(None);
                };
                let mut list = self.list;
                while let Some(at) = list {
                    let Some(found) = self.lists.get(at) else {
                        break;
                    };
                    if found.path == to {
                        return Ok(Some(at));
                    }
                    list = found.outer;
                }
                Err(body.invalid("path", "no nested aggregation around this is of that path"))
            }
            _ => Ok(self.list),
        }
    }

    fn pipeline<'a>(
        &self,
        path: &str,
        name: &'a str,
        value: &Value,
        (kind, body): (&'a str, &'a Value),
    ) -> Result<Draft<'a>> {
        match children_of(path, value)? {
            Some(_) => Err(nothing_inside(&format!("{path}.aggs"), kind)),
            None => Ok(Draft {
                name,
                path: format!("{path}.{kind}"),
                kind,
                value: body,
            }),
        }
    }

    fn kind(
        &mut self,
        path: &str,
        kind: &str,
        value: &Value,
        inside: &[Aggregation],
        depth: usize,
    ) -> Result<Kind> {
        let read = |known: &[&str]| Body::read(path.to_owned(), value, known);
        let bounds = &self.bounds.clone();
        Ok(match kind {
            "terms" => Kind::Terms(terms::terms(&read(&terms::TERMS)?, inside, bounds)?),
            "multi_terms" => {
                let body = read(&terms::MULTI_TERMS)?;
                Kind::MultiTerms(terms::multi_terms(&body, inside, bounds)?)
            }
            "significant_terms" | "significant_text" | "categorize_text" => {
                self.of_texts(path, kind, value, inside)?
            }
            "rare_terms" => Kind::RareTerms(terms::rare_terms(&read(&terms::RARE_TERMS)?)?),
            "histogram" => Kind::Histogram(histograms::histogram(
                &read(&histograms::HISTOGRAM)?,
                bounds,
            )?),
            "date_histogram" => {
                let body = read(&histograms::DATE_HISTOGRAM)?;
                Kind::DateHistogram(histograms::date_histogram(&body, bounds)?)
            }
            "auto_date_histogram" => Kind::AutoDateHistogram(histograms::auto_date_histogram(
                &read(&histograms::AUTO_DATE_HISTOGRAM)?,
            )?),
            "range" => Kind::Range(ranges::range(&read(&ranges::RANGE)?)?),
            "date_range" => Kind::Range(ranges::date_range(&read(&ranges::DATE_RANGE)?)?),
            "ip_range" => Kind::Range(ranges::ip_range(&read(&ranges::RANGE)?)?),
            "geo_distance" => Kind::Range(ranges::geo_distance(&read(&ranges::GEO_DISTANCE)?)?),
            "geohash_grid" => Kind::Grid(histograms::geohash_grid(&read(&histograms::GRID)?)?),
            "geotile_grid" => Kind::Grid(histograms::geotile_grid(&read(&histograms::GRID)?)?),
            "filter" => Kind::Filter(self.filter(path, value)?),
            "sampler" => Kind::Filter(self.sample(&read(&["shard_size"])?)?),
            // The documents of `global` are those of a search of its own, which matches all. All documents are the sample
            // from which an answer is least wrong.
            "global" | "random_sampler" if depth == 0 || kind != "global" => {
                Body::read_all(path, kind, value)?;
                Kind::Filter(self.filter(path, &serde_json::json!({"match_all": {}}))?)
            }
            "global" => return Err(invalid(path, NOT_AT_TOP)),
            "filters" => Kind::Filters(self.filters_of(&read(&[
                "filters",
                "other_bucket",
                "other_bucket_key",
            ])?)?),
            "adjacency_matrix" => {
                let body = read(&["filters", "separator", "show_only_intersecting"])?;
                Kind::Adjacency(self.adjacency(&body)?)
            }
            "ip_prefix" => Kind::IpPrefix(ranges::ip_prefix(&read(&ranges::IP_PREFIX)?)?),
            "missing" => {
                let body = read(&["field", "missing"])?;
                Kind::Missing(Missing {
                    field: body.field("field")?.to_owned(),
                    has_substitute: body.get("missing").is_some(),
                })
            }
            "composite" => {
                Kind::Composite(composite::composite(&read(&composite::COMPOSITE)?, bounds)?)
            }
            _ => Kind::Metric(metrics::metric(path, kind, value)?),
        })
    }

    /// Reads a sample: the first documents of each split.
    fn sample(&mut self, body: &Body<'_>) -> Result<Filter> {
        let most = body.count("shard_size", 1, u32::MAX.into())?;
        let all = self.filter(&body.path, &serde_json::json!({"match_all": {}}))?;
        Ok(Filter {
            most: u32::try_from(most.unwrap_or(100)).ok(),
            ..all
        })
    }

    /// Reads a query, in any supported form.
    fn filter(&mut self, path: &str, value: &Value) -> Result<Filter> {
        if !value.is_string() && !value.is_object() {
            let what = "this must be a query as the key query has it, such as \"level:error\" or \
                        {\"term\": {\"level\": \"error\"}}";
            return Err(invalid(path, what));
        }
        let slot = self.filters.len();
        self.filters.push(PlacedFilter {
            path: path.to_owned(),
            query: value.clone(),
            of_list: self.list,
        });
        Ok(Filter { slot, most: None })
    }

    fn adjacency(&mut self, body: &Body<'_>) -> Result<Adjacency> {
        let Some(Value::Object(named)) = body.get("filters") else {
            return Err(body.invalid("filters", NO_FILTERS));
        };
        if named.is_empty() {
            return Err(body.invalid("filters", NO_FILTERS));
        }
        if named.len() > bounds::MAX_ADJACENT {
            let most = bounds::MAX_ADJACENT;
            return Err(body.too_large("filters", &format!("there are at most {most} filters")));
        }
        let mut named: Vec<(&String, &Value)> = named.iter().collect();
        canter_sorting::sort_by(&mut named, |left, right| left.0.cmp(right.0));
        let mut filters = Vec::with_capacity(named.len());
        for (name, query) in &named {
            filters.push(self.filter(&format!("{}.filters.{name}", body.path), query)?);
        }
        Ok(Adjacency {
            filters,
            names: named.into_iter().map(|(name, _)| name.clone()).collect(),
            separator: body.text("separator")?.unwrap_or("&").to_owned(),
            only_pairs: body.flag("show_only_intersecting")?,
        })
    }

    fn filters_of(&mut self, body: &Body<'_>) -> Result<Filters> {
        let path = format!("{}.filters", body.path);
        let (filters, names) = match body.get("filters") {
            Some(Value::Object(named))
                if !named.is_empty() && named.len() <= bounds::MAX_LIST_LEN =>
            {
                let mut named: Vec<(&String, &Value)> = named.iter().collect();
                canter_sorting::sort_by(&mut named, |left, right| left.0.cmp(right.0));
                let mut filters = Vec::with_capacity(named.len());
                for (name, query) in &named {
                    filters.push(self.filter(&format!("{path}.{name}"), query)?);
                }
                let names = named.into_iter().map(|(name, _)| name.clone()).collect();
                (filters, Some(names))
            }
            Some(Value::Array(_)) => {
                let queries = body.list("filters")?.unwrap_or_default();
                let mut filters = Vec::with_capacity(queries.len());
                for (place, query) in queries.iter().enumerate() {
                    filters.push(self.filter(&format!("{path}.{place}"), query)?);
                }
                (filters, None)
            }
            _ => (Vec::new(), None),
        };
        if filters.is_empty() {
            return Err(body.invalid("filters", NO_FILTERS));
        }
        let key = body.text("other_bucket_key")?;
        let other = match (body.flag("other_bucket")?, key) {
            (_, Some(key)) => Some(key.to_owned()),
            (true, None) => Some("_other_".to_owned()),
            (false, None) => None,
        };
        Ok(Filters {
            filters,
            names,
            other,
        })
    }
}

const NOT_AT_TOP: &str = "Aggregation [global] is only allowed at the top level";
const NO_FILTERS: &str = "[filters] cannot be empty: this must be an object or a list of queries";

/// Returns the kind of an aggregation, and its parameters.
fn kind_of<'a>(path: &str, aggregation: &'a Value) -> Result<(&'a str, &'a Value)> {
    let Value::Object(aggregation) = aggregation else {
        return Err(invalid(path, "an aggregation is a JSON object"));
    };
    let is_kind =
        |(key, _): &(&String, &Value)| !["aggs", "aggregations", "meta"].contains(&key.as_str());
    let mut kinds = aggregation.iter().filter(is_kind);
    match (kinds.next(), kinds.next()) {
        (Some((kind, body)), None) => Ok((kind, body)),
        _ => Err(invalid(
            path,
            "an aggregation has one key that says of which kind it is, and perhaps aggs",
        )),
    }
}

fn nothing_inside(path: &str, kind: &str) -> Error {
    invalid(
        path,
        &format!("{kind} has no buckets, so there is nothing inside of it"),
    )
}

fn children_of<'a>(path: &str, aggregation: &'a Value) -> Result<Option<&'a Value>> {
    let given = ["aggs", "aggregations"].map(|name| aggregation.get(name));
    let children = match given {
        [Some(_), Some(_)] => return Err(invalid(path, "there are both aggs and aggregations")),
        [Some(children), None] | [None, Some(children)] => children,
        [None, None] => return Ok(None),
    };
    match children {
        Value::Null => Ok(None),
        Value::Object(children) if children.is_empty() => Ok(None),
        Value::Object(_) => Ok(Some(children)),
        _ => Err(invalid(
            &format!("{path}.aggs"),
            "this must be a JSON object",
        )),
    }
}
