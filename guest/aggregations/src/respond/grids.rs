//! Cells of grids of places.

use serde_json::Value;

use super::Writer;
use super::buckets::Row;
use super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::key::Key;
use crate::numbers::Number;
use crate::request::Grid;

impl Writer<'_> {
    /// Selects the cells with the most documents; of equal ones, those with the greater numbers, as
    /// Elasticsearch does.
    pub(super) fn grid<'r>(&self, request: &Grid, row: &Row<'r, '_>) -> Result<Outcome<'r>> {
        let mut places: Vec<usize> = row.places().collect();
        canter_sorting::sort_by(&mut places, |left, right| {
            let by_count = row.count(*right).cmp(&row.count(*left));
            by_count.then(right.cmp(left))
        });
        places.truncate(request.size);
        self.add_buckets(row.aggregation, places.len())?;
        let mut buckets = Vec::with_capacity(places.len());
        for place in places {
            let key = match row.key(place) {
                Some(Key::Number(Number::Integer(number))) => i64::try_from(*number)
                    .map_or_else(|_| String::new(), |number| request.cells.key(number)),
                _ => String::new(),
            };
            let fields = vec![("key", Value::from(key))];
            buckets.push(self.bucket(row, Some(place), None, fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: Vec::new(),
        }))
    }
}
