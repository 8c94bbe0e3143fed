//! Rates of a time.

use crate::calendar::CalendarUnit;

/// `search-aggregations-metrics-rate-aggregation`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) of: RateOf,
    /// Unit of the rate; `None` is the parent bucket.
    pub(crate) unit: Option<CalendarUnit>,
}

/// Quantity whose rate is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateOf {
    Documents,
    /// Sum of a field's values.
    Sum,
    /// Number of a field's values.
    Values,
}
