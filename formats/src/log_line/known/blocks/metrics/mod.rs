//! Metrics, a line each, as databases of time series take them.

pub(super) mod influx;
pub(super) mod prometheus;

pub(crate) use influx::are_points;
