//! A thread that holds one guest instance.
//!
//! Stepping a session is pure computation and may take long, so it never runs on the threads that
//! carry I/O. The instance stays on its thread, so it need not be `Send`, and has a stack of a
//! known size. A panic in a native guest ends the query, not the process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::error;

use crate::clock::{BusyGuard, Clock};
use crate::engine::InstanceLimits;
use crate::engine::defect;
use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};
use crate::{Engine, Interrupt, SearchError};

/// Stack size of a worker: the wasm engine may use half of it.
const STACK_LEN: usize = 4 << 20;

enum Call {
    Open(SessionRequest),
    Step(Vec<Supply>, HostReport),
}

/// Result of a call: the budget of an opened session, or the progress of a step.
enum Reply {
    Opened(Budget),
    Stepped(Progress),
}

/// A reply, and the computing time of the guest.
type Timed = (Result<Reply, SearchError>, Duration);

/// A handle on the thread. Dropping it interrupts the instance and lets the thread end.
pub(crate) struct Worker {
    calls: mpsc::Sender<(Call, oneshot::Sender<Timed>)>,
    interrupt: Interrupt,
    clock: Arc<dyn Clock>,
    /// Shared with the thread, which drops it last: a guard in here when the handle is dropped
    /// lives until the permit is returned.
    until_gone: Arc<Mutex<Option<BusyGuard>>>,
}

impl Worker {
    /// Starts the thread, which starts the instance on its first call. `permit` is returned when
    /// the instance is gone.
    pub(crate) fn spawn(
        engine: Arc<dyn Engine>,
        limits: &InstanceLimits,
        clock: Arc<dyn Clock>,
        permit: OwnedSemaphorePermit,
    ) -> Result<Self, SearchError> {
        let interrupt = limits.interrupt.sibling();
        let (calls, inbox) = mpsc::channel();
        let theirs = InstanceLimits {
            interrupt: interrupt.clone(),
            ..limits.clone()
        };
        let until_gone: Arc<Mutex<Option<BusyGuard>>> = Arc::default();
        let theirs_until_gone = Arc::clone(&until_gone);
        thread::Builder::new()
            .name("canter-guest".to_owned())
            .stack_size(STACK_LEN)
            .spawn(move || {
                serve(&*engine, &theirs, &inbox);
                drop(permit);
                drop(theirs_until_gone);
            })
            .map_err(|error| {
                SearchError::unavailable(format!("cannot start a thread for the guest: {error}"))
            })?;
        Ok(Self {
            calls,
            interrupt,
            clock,
            until_gone,
        })
    }

    /// Opens a session, and returns the budget that its request sets for the host.
    pub(crate) async fn open(&self, request: SessionRequest) -> Result<Budget, SearchError> {
        match self.call(Call::Open(request)).await? {
            Reply::Opened(asked) => Ok(asked),
            Reply::Stepped(_) => Err(gone()),
        }
    }

    /// Resumes the open session.
    pub(crate) async fn step(
        &self,
        supplies: Vec<Supply>,
        report: HostReport,
    ) -> Result<Progress, SearchError> {
        match self.call(Call::Step(supplies, report)).await? {
            Reply::Stepped(progress) => Ok(progress),
            Reply::Opened(_) => Err(gone()),
        }
    }

    async fn call(&self, call: Call) -> Result<Reply, SearchError> {
        let (reply, answer) = oneshot::channel();
        let (answer, cpu) = {
            let _busy = self.clock.enter_busy();
            self.calls.send((call, reply)).map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        };
        self.clock.spend(cpu).await;
        answer
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The thread ends in real time: the next search must not see a virtual clock advance while it
        // waits for this one's permit.
        *self
            .until_gone
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(self.clock.enter_busy());
        self.interrupt.cancel();
    }
}

/// Runs on the thread until the handle is dropped.
fn serve(
    engine: &dyn Engine,
    limits: &InstanceLimits,
    inbox: &mpsc::Receiver<(Call, oneshot::Sender<Timed>)>,
) {
    let mut instance = None;
    for (call, reply) in inbox {
        let started = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let instance = match &mut instance {
                Some(instance) => instance,
                none => none.insert(engine.start(limits)?),
            };
            match call {
                Call::Open(request) => instance.open(request).map(Reply::Opened),
                Call::Step(supplies, report) => instance.step(supplies, report).map(Reply::Stepped),
            }
        }));
        let is_broken = answer.is_err();
        let answer = answer.unwrap_or_else(|panic| {
            // The panic's message is for operators, not for the caller.
            error!(
                target: "canter::guest",
                engine = engine.name(),
                panic = panic_message(&*panic),
                "the guest panicked; its instance is gone"
            );
            Err(defect())
        });
        // A missing receiver is not an error: the handle was dropped.
        let _ = reply.send((answer, started.elapsed()));
        if is_broken {
            return;
        }
    }
}

fn gone() -> SearchError {
    SearchError::internal("the guest's thread is gone")
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
