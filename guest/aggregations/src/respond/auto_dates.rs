//! Buckets of an `auto_date_histogram`: the smallest interval with no more buckets than asked for.

use serde_json::Value;

use super::Writer;
use super::buckets::Row;
use super::keys::{Dates, milliseconds};
use super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::key::Key;
use crate::request::{AutoDateHistogram, start_through};

/// Interval of a row, and the starts of its buckets.
struct Chosen {
    /// Name of the interval, such as `7d`.
    interval: String,
    starts: Vec<i64>,
    /// For each collected bucket, the shown bucket that contains it.
    parts: Vec<(usize, u32)>,
}

impl Writer<'_> {
    pub(super) fn auto_date_histogram<'r>(
        &self,
        request: &AutoDateHistogram,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let Chosen {
            interval,
            starts,
            parts,
        } = chosen(request, row);
        self.add_buckets(row.aggregation, starts.len())?;
        let mut map: Vec<Option<u32>> = vec![None; row.places().end];
        for (place, part) in parts {
            if let Some(slot) = map.get_mut(place) {
                *slot = Some(part);
            }
        }
        let keys = starts.iter().map(|start_ns| Key::Date(*start_ns)).collect();
        let node = row.folded(keys, &map);
        let folded = Row::new(row.aggregation, Some(&node), Some(0));
        let dates = Dates {
            format: request.format.as_ref().unwrap_or(self.dialect.dates()),
            zone: &request.zone,
        };
        let mut buckets = Vec::with_capacity(starts.len());
        for (place, start_ns) in starts.into_iter().enumerate() {
            let text = dates.text(start_ns);
            let fields = vec![
                ("key", milliseconds(start_ns)),
                ("key_as_string", Value::from(text.as_str())),
            ];
            let place = Some(place).filter(|place| folded.count(*place) > 0);
            buckets.push(self.bucket(&folded, place, Some(text), fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: vec![("interval", Value::from(interval))],
        }))
    }
}

fn chosen(request: &AutoDateHistogram, row: &Row<'_, '_>) -> Chosen {
    let found = row.places().filter_map(|place| match row.key(place) {
        Some(Key::Tuple(parts)) => match parts.as_slice() {
            [Some(Key::Place(rung)), Some(Key::Date(start_ns))] => {
                Some((place, *rung as usize, *start_ns))
            }
            _ => None,
        },
        _ => None,
    });
    let found: Vec<(usize, usize, i64)> = found.collect();
    let mut base = found
        .iter()
        .map(|(_, rung, _)| *rung)
        .max()
        .unwrap_or_default();
    let mut starts: Vec<(usize, i64)> = found
        .into_iter()
        .map(|(place, rung, start_ns)| {
            let steps = rung.saturating_add(1)..base.saturating_add(1);
            (place, start_through(&request.rungs, steps, start_ns))
        })
        .collect();
    let nothing = Chosen {
        interval: request
            .rungs
            .first()
            .map_or_else(String::new, |rung| format!("1{}", rung.letter)),
        starts: Vec::new(),
        parts: Vec::new(),
    };
    while let [rung, rest @ ..] = request.rungs.get(base..).unwrap_or_default() {
        let first = starts.iter().map(|(_, start_ns)| *start_ns).min();
        let last = starts.iter().map(|(_, start_ns)| *start_ns).max();
        let (Some(first), Some(last)) = (first, last) else {
            return nothing;
        };
        let most = request.most_units(rung);
        let mut units: Vec<i64> = rung.rounding.boundaries(first, last).take(most).collect();
        let are_all = units.len() < most || units.last() == Some(&last) || rest.is_empty();
        if !are_all {
            base = base.saturating_add(1);
            for (_, start_ns) in &mut starts {
                *start_ns = start_through(&request.rungs, base..base.saturating_add(1), *start_ns);
            }
            continue;
        }
        if rest.is_empty() {
            units = rung.rounding.boundaries(first, last).collect();
        }
        let fits = |step: &&usize| units.len().div_ceil(**step) <= request.most;
        let step = rung.steps.iter().find(fits).or(rung.steps.last());
        let step = step.copied().unwrap_or(1).max(1);
        let part = |(place, start_ns): (usize, i64)| {
            let unit = units
                .partition_point(|unit| *unit <= start_ns)
                .saturating_sub(1);
            (place, u32::try_from(unit / step).unwrap_or(u32::MAX))
        };
        return Chosen {
            interval: format!("{step}{}", rung.letter),
            parts: starts.into_iter().map(part).collect(),
            starts: units.iter().copied().step_by(step).collect(),
        };
    }
    nothing
}
