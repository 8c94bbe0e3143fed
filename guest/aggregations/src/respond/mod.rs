//! Answers from partial results: selection, order and format of buckets.

mod auto_dates;
mod buckets;
mod composite;
mod dialect;
mod grids;
mod histogram;
mod keys;
mod metrics;
mod outcome;
mod ranked;
mod terms;

pub(crate) use composite::tuple_order;
pub use dialect::Dialect;
pub(crate) use keys::{choice_text, float};
pub(crate) use metrics::{Shown, by_number};
pub(crate) use outcome::{Bucket, BucketList, Level, Outcome};
pub use ranked::{Answer, BackgroundAsk, Backgrounds, HitValue, ShownHit, fill_hits, marked};

use std::cell::{Cell, RefCell};

use self::histogram::Around;
use canter_doc_mapper::DocMapper;

use crate::partial::{Node, Partial};
use crate::request::{Aggregation, Aggregations, Kind, MetricOf, TopHits, in_formats, own_formats};
use crate::{Error, Result, pipeline};

impl Aggregations {
    /// Builds the answer as JSON. `None` is the result for no documents. `untyped` is the result of
    /// [`Self::untyped_keys`], and `own_formats` that of [`Self::own_formats`] in a dialect that has them.
    ///
    /// # Errors
    /// The answer exceeds the limit of buckets.
    pub fn answer(
        &self,
        partial: Option<&Partial>,
        untyped: &[String],
        dialect: Dialect,
        own_formats: &[(String, String)],
        backgrounds: &Backgrounds,
    ) -> Result<Answer> {
        let in_formats = (!own_formats.is_empty()).then(|| in_formats(&self.list, own_formats));
        let list = in_formats.as_ref().unwrap_or(&self.list);
        let writer = Writer {
            dialect,
            untyped,
            has_pipelines: !self.pipelines.is_empty() || self.list.iter().any(has_pipelines),
            max_buckets: u64::from(self.bounds.max_buckets),
            num_buckets: Cell::new(0),
            around: Cell::new(Around {
                doc_count: backgrounds.num_docs,
                span: None,
            }),
            backgrounds,
            hits: RefCell::default(),
        };
        let nodes = partial.map(|partial| partial.nodes.as_slice());
        let mut level = writer.level(list, nodes, Some(0))?;
        pipeline::apply_top(&self.pipelines, &mut level);
        let mut json = String::new();
        outcome::write_level(&level, &mut json);
        Ok(Answer {
            json,
            hits: writer.hits.into_inner(),
        })
    }
}

impl Aggregations {
    /// Returns the fields whose dates an answer writes in the format of their mapping, each with that format.
    pub fn own_formats(&self, mapper: &DocMapper) -> Vec<(String, String)> {
        own_formats(&self.list, mapper)
    }
}

fn has_pipelines(aggregation: &Aggregation) -> bool {
    !aggregation.pipelines.is_empty() || aggregation.inside.iter().any(has_pipelines)
}

/// Writer of one answer.
struct Writer<'a> {
    dialect: Dialect,
    /// Untyped fields.
    untyped: &'a [String],
    /// True if pipelines read buckets before they are written.
    has_pipelines: bool,
    max_buckets: u64,
    num_buckets: Cell<u64>,
    /// Parent bucket of the current level.
    around: Cell<Around>,
    /// Frequencies of terms in other documents.
    backgrounds: &'a Backgrounds,
    /// Hits whose documents are shown.
    hits: RefCell<Vec<ShownHit>>,
}

impl Writer<'_> {
    /// Builds all aggregations of a level in one bucket; `None` is a bucket without documents.
    fn level<'r>(
        &self,
        aggregations: &'r [Aggregation],
        nodes: Option<&[Node]>,
        bucket: Option<usize>,
    ) -> Result<Level<'r>> {
        let mut level = Vec::with_capacity(aggregations.len());
        for (place, aggregation) in aggregations.iter().enumerate() {
            let node = nodes.and_then(|nodes| nodes.get(place));
            let outcome = self.one(aggregation, node, bucket)?;
            level.push((aggregation.name.as_str(), outcome));
        }
        Ok(level)
    }

    fn one<'r>(
        &self,
        aggregation: &'r Aggregation,
        node: Option<&Node>,
        bucket: Option<usize>,
    ) -> Result<Outcome<'r>> {
        let row = buckets::Row::new(aggregation, node, bucket);
        let mut outcome = match &aggregation.kind {
            Kind::Metric(metric) => {
                let found = match (node, bucket) {
                    (Some(Node::Metric(found)), Some(bucket)) => Some((found, bucket)),
                    _ => None,
                };
                Ok(match &metric.what {
                    MetricOf::Rate(rate) => Outcome::Metric(self.rate(rate, found)),
                    MetricOf::TopHits(
                        request @ TopHits {
                            form: Some(form), ..
                        },
                    ) => {
                        let found = Shown::new(metric, found);
                        Outcome::Written(self.marked_hits(*form, request, &found))
                    }
                    _ => Outcome::Metric(Shown::new(metric, found).to_json(self.dialect)),
                })
            }
            Kind::Terms(terms) => self.terms(terms, &row),
            Kind::MultiTerms(terms) => self.multi_terms(terms, &row),
            Kind::RareTerms(terms) => self.rare_terms(terms, &row),
            Kind::Significant(terms) => self.significant(terms, &row),
            Kind::Categories(categories) => self.categories(categories, &row),
            Kind::Histogram(histogram) => self.histogram(histogram, &row),
            Kind::DateHistogram(histogram) => self.date_histogram(histogram, &row),
            Kind::AutoDateHistogram(histogram) => self.auto_date_histogram(histogram, &row),
            Kind::Range(range) => self.range(range, &row),
            Kind::Grid(grid) => self.grid(grid, &row),
            Kind::Filter(_) | Kind::Missing(_) | Kind::Nested(_) | Kind::ReverseNested(_) => {
                self.single(&row)
            }
            Kind::Filters(filters) => self.filters(filters, &row),
            Kind::Adjacency(matrix) => self.adjacency(matrix, &row),
            Kind::IpPrefix(prefix) => self.ip_prefix(prefix, &row),
            Kind::Composite(composite) => self.composite(composite, &row),
        }?;
        let num_cut = pipeline::apply(&aggregation.pipelines, &mut outcome);
        let num_buckets = self.num_buckets.get().saturating_sub(num_cut);
        self.num_buckets.set(num_buckets);
        Ok(outcome)
    }

    /// Counts buckets before they are built, against the limit.
    fn add_buckets(&self, aggregation: &Aggregation, num_buckets: usize) -> Result<()> {
        let total = self.num_buckets.get().saturating_add(num_buckets as u64);
        if total > self.max_buckets {
            let what = format!(
                "the answer has more buckets than the limit of {}: ask for fewer, or raise the limit max_buckets",
                self.max_buckets
            );
            return Err(Error::limit(&aggregation.path, &what));
        }
        self.num_buckets.set(total);
        Ok(())
    }
}
