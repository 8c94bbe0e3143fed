//! A session: one query, resumed step by step.
//!
//! ```text
//!              ┌───────────────────────── search ─────────────────────────┐
//!              │ plan ──▶ leaf ──▶ merge ──▶ fetch documents ──▶ response │
//!              └──────────────────────────────────────────────────────────┘
//!   fan-out:    plan ─┬▶ leaf ─┐
//!                     ├▶ leaf ─┼▶ root (merge, fetch documents) ──▶ response
//!                     └▶ leaf ─┘
//! ```
//!
//! Inside it is ordinary `async` code. A step polls it once: whatever it then waits for is one wave.

pub(crate) mod exchange;
pub mod protocol;
pub(crate) mod run;
mod wire;

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::SearchError;
use crate::request::{Limits, SearchRequest};
use exchange::Exchange;
use protocol::{Outcome, Progress, Supply};

type Work = Pin<Box<dyn Future<Output = Result<Outcome, SearchError>> + Send>>;

/// One query being answered, step by step.
///
/// Call [`Session::step`] with nothing, then with everything the last demand asked for, until it
/// is done.
pub struct Session {
    exchange: Exchange,
    /// `None` once the session is over.
    work: Option<Work>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("over", &self.work.is_none())
            .finish()
    }
}

impl Session {
    fn start<F>(make: impl FnOnce(Exchange) -> F) -> Self
    where
        F: Future<Output = Result<Outcome, SearchError>> + Send + 'static,
    {
        let exchange = Exchange::default();
        Self {
            work: Some(Box::pin(make(exchange.clone()))),
            exchange,
        }
    }

    /// A whole search in one session. `request` and `limits` are JSON objects; empty limits stand
    /// for the defaults.
    ///
    /// # Errors
    /// If either is not what it should be.
    pub fn search(request: &str, limits: &str) -> Result<Self, SearchError> {
        let limits = Limits::parse(limits)?;
        let request = SearchRequest::parse(request, &limits)?;
        Ok(Self::start(|exchange| {
            run::search(request, limits, exchange)
        }))
    }

    /// Reads the manifest, prunes splits and cuts the rest into at most `max_leaves` leaf requests.
    /// Where one leaf is enough it goes on and ends with the response, as [`Session::search`] does.
    ///
    /// # Errors
    /// As [`Session::search`].
    pub fn plan(request: &str, limits: &str, max_leaves: u32) -> Result<Self, SearchError> {
        let limits = Limits::parse(limits)?;
        let request = SearchRequest::parse(request, &limits)?;
        Ok(Self::start(|exchange| {
            run::plan(request, limits, max_leaves, exchange)
        }))
    }

    /// Searches the splits of one leaf request.
    ///
    /// # Errors
    /// If the bytes are no leaf request of this version.
    pub fn leaf(leaf_request: &[u8]) -> Result<Self, SearchError> {
        let request = wire::LeafRequest::from_bytes(leaf_request)?;
        Ok(Self::start(|exchange| run::leaf(request, exchange)))
    }

    /// Merges the partial results (in the plan's order) and fetches the documents of the hits.
    ///
    /// # Errors
    /// If the bytes are no root request or partial results of this version.
    pub fn root(root: &[u8], partials: &[Vec<u8>]) -> Result<Self, SearchError> {
        let request = wire::RootRequest::from_bytes(root)?;
        let partials = partials
            .iter()
            .map(|partial| wire::partial_from_bytes(partial))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self::start(|exchange| {
            run::root(request, partials, exchange)
        }))
    }

    /// Resumes with what has arrived. The first call passes nothing.
    ///
    /// A host may also pass only part of what was asked; the session then asks for nothing new
    /// until it can go on.
    pub fn step(&mut self, supplies: Vec<Supply>) -> Progress {
        self.exchange.accept(supplies);
        let Some(work) = &mut self.work else {
            return Progress::Failed(SearchError::internal("this session is over"));
        };
        let mut context = Context::from_waker(Waker::noop());
        match work.as_mut().poll(&mut context) {
            Poll::Pending => Progress::Pending(self.exchange.take_demand()),
            Poll::Ready(result) => {
                self.work = None;
                match result {
                    Ok(outcome) => Progress::Done(outcome),
                    Err(error) => Progress::Failed(error),
                }
            }
        }
    }
}
