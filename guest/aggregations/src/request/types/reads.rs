//! What aggregations read of documents: columns, and scores.

use canter_split_format::TimeIndex;

use super::{
    Aggregation, AutoDateHistogram, DateHistogram, Histogram, Kind, MetricOf, Range, RareTerms,
    RateOf, ReverseNested, Significant, Terms, TopBy,
};
use crate::collect::is_known;
use crate::request::Aggregations;
use crate::rollup::FromHead;

impl Aggregations {
    /// Returns whether documents must come with their scores.
    pub fn needs_scores(&self) -> bool {
        let mut left: Vec<&Aggregation> = self.list.iter().collect();
        while let Some(aggregation) = left.pop() {
            if let Kind::Metric(metric) = &aggregation.kind
                && let MetricOf::TopHits(hits) | MetricOf::TopMetrics(hits) = &metric.what
                && hits.sort.iter().any(|key| key.by == TopBy::Score)
            {
                return true;
            }
            left.extend(&aggregation.inside);
        }
        false
    }

    /// Returns the names of all fields whose columns are read in one split. `times` is the field by
    /// which its documents are sorted, with its time index. Results from the head need no column.
    pub fn fields(&self, times: Option<(&str, &TimeIndex)>, from_head: &FromHead) -> Vec<&str> {
        let mut fields = Vec::new();
        for (place, aggregation) in self.list.iter().enumerate() {
            if from_head.reads_columns(place) {
                aggregation.add_fields(times, &mut fields);
            }
        }
        fields
    }
}

impl Aggregation {
    fn add_fields<'a>(&'a self, times: Option<(&str, &TimeIndex)>, fields: &mut Vec<&'a str>) {
        match &self.kind {
            Kind::DateHistogram(histogram)
                if times.is_some_and(|(field, index)| {
                    histogram.source.field == field && is_known(histogram, index)
                }) => {}
            Kind::Terms(Terms { source, .. })
            | Kind::RareTerms(RareTerms { source, .. })
            | Kind::Significant(Significant { source, .. })
            | Kind::Histogram(Histogram { source, .. })
            | Kind::DateHistogram(DateHistogram { source, .. })
            | Kind::AutoDateHistogram(AutoDateHistogram { source, .. })
            | Kind::Range(Range { source, .. }) => fields.push(&source.field),
            Kind::Categories(categories) => fields.push(&categories.column),
            Kind::IpPrefix(prefix) => fields.push(&prefix.field),
            Kind::Grid(grid) => fields.push(&grid.field),
            Kind::MultiTerms(terms) => {
                fields.extend(terms.sources.iter().map(|source| source.field.as_str()));
            }
            Kind::Missing(missing) => fields.push(&missing.field),
            Kind::Composite(composite) => {
                fields.extend(composite.sources.iter().map(|source| source.field.as_str()));
            }
            // Columns inside are those of objects, which are made when documents are read.
            Kind::Nested(_) => {
                self.add_fields_of_documents(times, fields);
                return;
            }
            Kind::Filter(_) | Kind::Filters(_) | Kind::Adjacency(_) | Kind::ReverseNested(_) => {}
            Kind::Metric(metric) => match &metric.what {
                MetricOf::TopHits(hits) | MetricOf::TopMetrics(hits) => {
                    fields.extend(hits.sort.iter().filter_map(|key| match &key.by {
                        TopBy::Field(field) => Some(field.as_str()),
                        TopBy::Score => None,
                    }));
                    fields.extend(hits.fields.iter().map(String::as_str));
                }
                MetricOf::WeightedAvg { weight } => {
                    fields.extend([metric.source.field.as_str(), &weight.field]);
                }
                MetricOf::Rate(rate) if rate.of == RateOf::Documents => {}
                _ => fields.push(&metric.source.field),
            },
        }
        self.inside
            .iter()
            .for_each(|aggregation| aggregation.add_fields(times, fields));
    }
}

impl Aggregation {
    /// Adds the fields of aggregations that return from objects to documents.
    fn add_fields_of_documents<'a>(
        &'a self,
        times: Option<(&str, &TimeIndex)>,
        fields: &mut Vec<&'a str>,
    ) {
        for inside in &self.inside {
            match &inside.kind {
                Kind::ReverseNested(ReverseNested { to: None }) => inside.add_fields(times, fields),
                _ => inside.add_fields_of_documents(times, fields),
            }
        }
    }
}
