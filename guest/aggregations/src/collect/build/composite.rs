//! Pages of the buckets of several fields.

use tantivy::columnar::ColumnType;

use super::Builder;
use crate::Result;
use crate::collect::Collect;
use crate::collect::mapping::{ByValue, ToCode};
use crate::collect::tuples::{Page, Tuples};
use crate::key::Key;
use crate::request::{Composite, CompositeBy, after_key};
use crate::respond::tuple_order;

impl Builder<'_> {
    pub(super) fn composite(
        &self,
        path: &str,
        composite: &Composite,
        inside: Vec<Box<dyn Collect>>,
    ) -> Result<Tuples> {
        let mut mappings = Vec::with_capacity(composite.sources.len());
        for source in &composite.sources {
            let missing = source.missing_bucket.then_some(None);
            let (field, to_code) = match &source.by {
                CompositeBy::Terms => {
                    let field = self.open(&source.field, |column_type| {
                        column_type != ColumnType::Bytes
                    })?;
                    (field, ToCode::Value)
                }
                CompositeBy::Histogram { interval } => {
                    let field = self.numbers(path, &source.field, self.is_date(&source.field))?;
                    self.check_places(path, &field, *interval)?;
                    let to_code = ToCode::Interval {
                        interval: *interval,
                        offset: 0.0,
                        bounds: None,
                    };
                    (field, to_code)
                }
                CompositeBy::Dates { rounding, .. } => {
                    let field = self.open(&source.field, |column_type| {
                        column_type == ColumnType::DateTime
                    })?;
                    let to_code = ToCode::Date {
                        rounding: rounding.clone(),
                        bounds: None,
                    };
                    (field, to_code)
                }
            };
            mappings.push(ByValue::new(field, to_code, missing));
        }
        let page = Page {
            size: composite.size,
            after: self.after(composite),
            order: tuple_order(composite),
        };
        Tuples::new(mappings, inside, Some(page))
    }

    /// Returns the `after` key of the page in the form in columns.
    fn after(&self, composite: &Composite) -> Option<Vec<Option<Key>>> {
        let keys = composite.sources.iter().zip(composite.after.as_ref()?);
        let keys = keys.map(|(source, key)| match (&source.by, key) {
            // The check has made sure that the field can have this value.
            (CompositeBy::Terms, Some(key)) => after_key(self.split.mapper, &source.field, key),
            (_, key) => key.clone(),
        });
        Some(keys.collect())
    }
}
