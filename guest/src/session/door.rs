//! The door: parses a request, then resumes it step by step.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use canter_protocol::{Budget, HostReport, HttpRequest, Outcome, Progress, Supply};

use crate::SearchError;
use crate::api::{ApiSettings, read_call, to_elastic, to_host, to_http};
use crate::exchange::{Exchange, Interrupt};
use crate::search::{LeafRequest, RootRequest, partial_from_bytes, run_leaf, run_root};

type Work = Pin<Box<dyn Future<Output = Result<Outcome, SearchError>> + Send>>;

/// One query being answered, step by step.
///
/// Call [`Session::step`] with nothing, then with everything the last demand asked for, until it
/// is done.
pub struct Session {
    exchange: Exchange,
    /// `None` once the session is over.
    work: Option<Work>,
    budget: Budget,
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
            budget: Budget::default(),
        }
    }

    /// Answers one request to the search API. Its objects and cache keys begin with the name of their
    /// index and a slash. An invalid request is answered with an error response instead of an error
    /// here. With `max_leaves` above 1 a large search may end with a plan, whose root then answers.
    ///
    /// `settings` is a JSON object with the keys `indexes` (required), `forced_filter`, `limits`, `keeps_partial_results`,
    /// `now_ms` and `is_of_host`; the latter marks a search that the host itself makes.
    ///
    /// # Errors
    /// If the settings, or a request of the host itself, are invalid.
    pub fn http(
        request: &HttpRequest,
        settings: &str,
        max_leaves: u32,
    ) -> Result<Self, SearchError> {
        let settings = ApiSettings::parse(settings)?;
        let call = read_call(request, &settings)?;
        let budget = call.budget();
        let session = Self::start(|exchange| call.run(settings, max_leaves, exchange));
        Ok(Self { budget, ..session })
    }

    /// Searches the splits of one leaf request.
    ///
    /// # Errors
    /// If the bytes are not a leaf request of this version.
    pub fn leaf(leaf_request: &[u8]) -> Result<Self, SearchError> {
        let request = LeafRequest::from_bytes(leaf_request)?;
        Ok(Self::start(|exchange| run_leaf(request, exchange)))
    }

    /// Merges the partial results (in the plan's order) and fetches the documents of the hits.
    ///
    /// # Errors
    /// If the bytes are not a root request or partial results of this version.
    pub fn root(root: &[u8], partials: &[Vec<u8>]) -> Result<Self, SearchError> {
        let request = RootRequest::from_bytes(root)?;
        let partials = partials
            .iter()
            .map(|partial| partial_from_bytes(partial))
            .collect::<Result<Vec<_>, _>>()?;
        let is_of_host = request.question.form.is_of_host;
        let is_elastic = request.question.elastic.is_some();
        Ok(Self::start(async move |exchange: Exchange| {
            let answer = run_root(request, partials, exchange.clone()).await;
            match (is_of_host, is_elastic) {
                (true, _) => to_host(answer, &exchange),
                (false, true) => Ok(to_elastic(answer, &exchange)),
                (false, false) => Ok(to_http(answer, &exchange)),
            }
        }))
    }

    /// Returns the budget that the host must keep to. Known from the start.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Makes the session check `interrupt` while it computes. A step during which the flag is set ends soon,
    /// with an error.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.exchange.set_interrupt(interrupt);
    }

    /// Resumes with what has arrived, and the host's report on the search so far. The first call passes
    /// no supplies.
    ///
    /// A host may also pass only a part of what was requested; the session then requests nothing
    /// new until it can continue.
    ///
    /// # Errors
    /// If the session ends without an answer.
    pub fn step(
        &mut self,
        supplies: Vec<Supply>,
        report: HostReport,
    ) -> Result<Progress, SearchError> {
        self.exchange.accept(supplies, report);
        let Some(work) = &mut self.work else {
            return Err(SearchError::internal("this session is over"));
        };
        let mut context = Context::from_waker(Waker::noop());
        match work.as_mut().poll(&mut context) {
            Poll::Pending => Ok(Progress::Pending(self.exchange.take_demand())),
            Poll::Ready(result) => {
                self.work = None;
                // Reads fail once it is set, so their result is not an answer.
                let is_stopped = self.exchange.interrupt().check();
                is_stopped.and(result).map(Progress::Done)
            }
        }
    }
}
