//! Collectors of metrics.

use std::sync::Arc;

use tantivy::columnar::ColumnType;

use super::Builder;
use crate::Result;
use crate::collect::Collect;
use crate::collect::budget::Taken;
use crate::collect::metrics::{
    Distinct, Hdr, Nothing, OfField, OfPlaces, Strings, Top, TopOf, Weighted,
};
use crate::numbers::{ExtendedStats, QuantileSketch, Stats};
use crate::partial::{PlaceBounds, PlaceSum};
use crate::request::{Metric, MetricOf, RateOf, Source, TopBy, TopHits};

impl Builder<'_> {
    pub(super) fn metric(
        &self,
        path: &str,
        metric: &Metric,
        is_top: bool,
    ) -> Result<Box<dyn Collect>> {
        let Source { field, missing } = &metric.source;
        let numbers = || self.measured(path, field);
        let values = || self.open(field, |column_type| column_type != ColumnType::Bytes);
        let missing = missing.clone();
        Ok(match &metric.what {
            MetricOf::ValueCount => Box::new(OfField::<u64>::new(values()?, missing)),
            MetricOf::Avg | MetricOf::Sum | MetricOf::Min | MetricOf::Max | MetricOf::Stats => {
                Box::new(OfField::<Stats>::new(numbers()?, missing))
            }
            MetricOf::ExtendedStats { .. } => {
                Box::new(OfField::<ExtendedStats>::new(numbers()?, missing))
            }
            MetricOf::Percentiles {
                hdr: Some(digits), ..
            }
            | MetricOf::PercentileRanks {
                hdr: Some(digits), ..
            } => Box::new(Hdr::new(numbers()?, missing, *digits)),
            MetricOf::Percentiles { .. }
            | MetricOf::PercentileRanks { .. }
            | MetricOf::Boxplot
            | MetricOf::MedianAbsoluteDeviation => {
                Box::new(OfField::<QuantileSketch>::new(numbers()?, missing))
            }
            MetricOf::WeightedAvg { weight } => Box::new(Weighted {
                value: (numbers()?, missing),
                weight: (
                    self.numbers(path, &weight.field, false)?,
                    weight.missing.clone(),
                ),
                states: Vec::new(),
                taken: Taken::default(),
            }),
            MetricOf::Cardinality => {
                let missing = self.missing(&metric.source);
                Box::new(Distinct::new(values()?, missing, is_top)?)
            }
            MetricOf::Rate(rate) => match rate.of {
                RateOf::Documents => Box::new(Nothing),
                RateOf::Sum => Box::new(OfField::<Stats>::new(numbers()?, missing)),
                RateOf::Values => Box::new(OfField::<u64>::new(values()?, missing)),
            },
            MetricOf::TopHits(hits) => Box::new(self.top(hits, TopOf::Hits)?),
            MetricOf::TopMetrics(hits) => Box::new(self.top(hits, TopOf::Metrics)?),
            MetricOf::GeoBounds { .. } => {
                Box::new(OfPlaces::<PlaceBounds>::new(self.places(field)?))
            }
            MetricOf::GeoCentroid => Box::new(OfPlaces::<PlaceSum>::new(self.places(field)?)),
            MetricOf::StringStats { .. } => {
                let texts = self.open(field, |column_type| column_type == ColumnType::Str)?;
                Box::new(Strings::new(texts, missing))
            }
        })
    }

    fn top(&self, hits: &TopHits, of: TopOf) -> Result<Top> {
        let sort = hits.sort.iter().map(|key| {
            let by = match &key.by {
                TopBy::Score => None,
                TopBy::Field(field) => {
                    Some(self.open(field, |column_type| column_type != ColumnType::Bytes)?)
                }
            };
            Ok((by, key.clone()))
        });
        let sort = sort.collect::<Result<_>>()?;
        let fields = hits
            .fields
            .iter()
            .map(|field| self.open(field, |column_type| column_type != ColumnType::Bytes));
        let size = hits.size.saturating_add(hits.from);
        let top = Top::new(
            sort,
            fields.collect::<Result<_>>()?,
            size,
            of,
            self.scores.clone(),
        );
        let objects = self.list.map(|list| self.objects(list)).transpose()?;
        let objects = objects.map(|objects| Arc::clone(&objects.places));
        Ok(match hits.form {
            None => top,
            Some(_) => top.showing(self.documents.origin, objects),
        })
    }
}
