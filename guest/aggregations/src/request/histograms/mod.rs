//! Histograms and grids, and what they share with other aggregations of numbers and dates.

mod auto_dates;
mod grids;
mod intervals;

pub(super) use auto_dates::{AUTO_DATE_HISTOGRAM, auto_date_histogram};
pub(super) use grids::{GRID, geohash_grid, geotile_grid};
pub(super) use intervals::{
    DATE_HISTOGRAM, HISTOGRAM, date_histogram, date_source, format, histogram, rounding, time, zone,
};
