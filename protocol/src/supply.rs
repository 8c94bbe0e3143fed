//! Supplies of a host to a session: the requested bytes, and a report on the search.

use bytes::Bytes;

/// Reason why a host could not supply a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchErrorKind {
    /// The object does not exist.
    NotFound,
    /// The object is shorter than the range, or the answer was truncated.
    Truncated,
    /// The store refused the credentials.
    Denied,
    /// The store's answer does not contain the requested range.
    Protocol,
    /// The store did not answer, or not in time.
    Unavailable,
    /// The budget of the search (requests, bytes, waves, time) does not allow this read. Splits that lack it are skipped
    /// and named in the answer.
    Budget,
}

/// The result of one read or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupplyResult {
    /// Exactly the requested bytes.
    Bytes(Bytes),
    /// A cache lookup found nothing.
    Miss,
    /// The range could not be fetched.
    Failed {
        /// Reason of the failure.
        kind: FetchErrorKind,
        /// Description, for readers of the answer.
        message: String,
    },
}

/// The answer to one read or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The id of the [`crate::ReadRequest`] or [`crate::CacheLookup`].
    pub id: u64,
    /// The result.
    pub outcome: SupplyResult,
}

/// The host's report of the search so far, which the answer repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// Microseconds since the request came in.
    pub elapsed_us: u64,
    /// True if reads were given up because the time was up.
    pub timed_out: bool,
    /// The limit of the budget that was reached first, by name.
    pub budget_exhausted: Option<String>,
}
