//! What a host gives a session: the bytes that it asked for, and what only the host knows of the search.

use bytes::Bytes;

/// Why a host could not supply a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchErrorKind {
    /// The object does not exist.
    NotFound,
    /// The object is shorter than the range, or the answer was cut short.
    Truncated,
    /// The store refused the credentials.
    Denied,
    /// The store answered with something that is not the range asked for.
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
    /// Exactly the bytes asked for.
    Bytes(Bytes),
    /// A cache lookup found nothing.
    Miss,
    /// The range could not be fetched.
    Failed {
        /// Why.
        kind: FetchErrorKind,
        /// What happened, for the person who reads the answer.
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
    /// Whether reads were given up because the time was up.
    pub timed_out: bool,
    /// The limit of the budget that was reached first, by name.
    pub budget_exhausted: Option<String>,
}
