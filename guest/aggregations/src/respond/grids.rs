//! Cells of grids of places, and networks of addresses.

use serde_json::Value;

use super::Writer;
use super::buckets::Row;
use super::keys::address;
use super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::key::Key;
use crate::numbers::Number;
use crate::request::{Grid, IpPrefix};

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

    pub(super) fn ip_prefix<'r>(
        &self,
        request: &IpPrefix,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let places = row.places();
        let places = places.filter(|place| row.count(*place) >= request.min_doc_count);
        let places: Vec<usize> = places.collect();
        self.add_buckets(row.aggregation, places.len())?;
        let mut buckets = Vec::with_capacity(places.len());
        for place in places {
            let Some(Key::Address(first)) = row.key(place) else {
                continue;
            };
            let mut name = address(*first);
            if request.shows_len {
                name = format!("{name}/{}", request.prefix_len);
            }
            let mut fields = Vec::new();
            if !request.is_keyed {
                fields.push(("key", Value::from(name.as_str())));
            }
            fields.push(("is_ipv6", Value::from(request.is_ipv6)));
            fields.push(("prefix_length", Value::from(request.prefix_len)));
            if !request.is_ipv6 {
                // As an IPv4 address.
                let mask = (request.mask() & 0xffff_ffff) | (0xffff << 32);
                fields.push(("netmask", Value::from(address(mask))));
            }
            buckets.push(self.bucket(row, Some(place), Some(name), fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: request.is_keyed,
            before: Vec::new(),
        }))
    }
}
