//! The one loop: step → demand → wave → supplies → step, until the session is over.
//!
//! It knows neither what is searched nor by which engine. What may stop it is the deadline, a failing
//! guest, or the caller dropping the future, which cancels requests in flight and interrupts the guest.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::session::{Outcome, Progress, SessionRequest, Supply};
use crate::wave::{SessionIo, Store};
use crate::worker::Worker;
use crate::{Interrupt, Profile, SearchError};

/// Most waves of one session: a guest that still asks after this many is asking in circles.
const MAX_WAVES: u64 = 1000;

/// What drives the sessions of one search.
pub(crate) struct Driver {
    pub(crate) store: Arc<Store>,
    pub(crate) interrupt: Interrupt,
    /// Seed of the order in which supplies reach the guest; `None` keeps the demand's order.
    pub(crate) supply_order: Option<u64>,
}

impl Driver {
    /// Runs one session on `worker` to its end.
    pub(crate) async fn run(
        &self,
        worker: &Worker,
        request: SessionRequest,
    ) -> Result<(Outcome, Profile), SearchError> {
        let mut io = SessionIo::default();
        let mut progress = worker.open(request).await?;
        loop {
            io.profile.num_steps += 1;
            let demand = match progress {
                Progress::Done(outcome) => return Ok((outcome, io.profile)),
                Progress::Pending(demand) => demand,
            };
            if io.profile.num_steps > MAX_WAVES {
                return Err(SearchError::limit(format!(
                    "the guest still asks for bytes after {MAX_WAVES} waves; narrow the query"
                )));
            }
            if demand.reads.is_empty() && demand.lookups.is_empty() && demand.stores.is_empty() {
                return Err(SearchError::internal(
                    "the guest waits but asks for nothing",
                ));
            }
            let answer = io.answer(&self.store, demand);
            let mut supplies = match self.interrupt.deadline() {
                None => answer.await,
                Some(deadline) => tokio::time::timeout_at(deadline.into(), answer)
                    .await
                    .map_err(|_| self.interrupt.error())?,
            };
            if let Some(seed) = self.supply_order {
                shuffle(&mut supplies, seed ^ io.profile.num_steps);
            }
            progress = worker.step(supplies).await?;
        }
    }
}

/// A different order for each seed, and always the same one for the same seed.
fn shuffle(supplies: &mut [Supply], seed: u64) {
    supplies.sort_by_cached_key(|supply| xxh3_64_with_seed(&supply.id.to_le_bytes(), seed));
}
