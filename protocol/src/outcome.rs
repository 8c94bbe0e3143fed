//! Results of steps and sessions.

use crate::{Demand, HttpResponse};

/// The result of a plan session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPlan {
    /// One opaque request per leaf session.
    pub leaves: Vec<Vec<u8>>,
    /// The request of the root session, opaque.
    pub root: Vec<u8>,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The plan of an HTTP session, which leaf sessions and a root session carry out.
    Plan(QueryPlan),
    /// The answer of a leaf session: an opaque partial result for the root.
    Partial(Vec<u8>),
    /// The answer of an HTTP session, and of the root session of its plan.
    Http(HttpResponse),
}

/// The result of one step. A session that ends without an answer is the step's `Err`, a [`crate::SearchError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The session needs these bytes before it can go on.
    Pending(Demand),
    /// The session is over.
    Done(Outcome),
}
