//! A process of `canter` that is killed at one of its requests to a store.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use canter_tests::{Fate, S3Server};

/// Moment of a kill.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// The server never gets the request.
    Before,
    /// The server has executed the request, and its answer is lost.
    After,
    /// This time after the request was passed on.
    Moment(Duration),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Kill {
    /// Number of the request at which it is killed.
    pub(super) at: usize,
    pub(super) how: How,
}

/// Result of a process.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) num_requests: usize,
    pub(super) said: String,
}

impl Ended {
    /// Returns whether the process was killed.
    pub(super) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }
}

pub(super) struct Rng(u64);

impl Rng {
    /// Creates a generator: the same numbers for the same seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Chooses when to kill a process with `num_requests` requests.
    pub(super) fn kill(&mut self, num_requests: usize) -> Kill {
        Kill {
            at: usize::try_from(self.below(num_requests as u64)).unwrap_or(0),
            how: match self.below(3) {
                0 => How::Before,
                1 => How::After,
                _ => How::Moment(Duration::from_micros(self.below(20_000))),
            },
        }
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }
}

/// Runs the program on an index, and kills it if requested.
pub(super) fn start(
    server: &S3Server,
    folder: &Path,
    uri: &str,
    args: &[String],
    kill: Option<Kill>,
) -> Result<Ended> {
    let child: Arc<Mutex<Option<Child>>> = Arc::default();
    let num_requests = Arc::new(Mutex::new(0));
    let victim = Arc::clone(&child);
    let counted = Arc::clone(&num_requests);
    server.forwarder().decide(move |_| {
        let ord = {
            let mut num = locked(&counted);
            *num += 1;
            *num - 1
        };
        let Some(Kill { how, .. }) = kill.filter(|kill| kill.at == ord) else {
            return Fate::Pass;
        };
        let victim = Arc::clone(&victim);
        let kill = move || {
            if let Some(child) = locked(&victim).as_mut() {
                // A process that has ended cannot be killed any more.
                let _ = child.kill();
            }
        };
        match how {
            How::Before => {
                kill();
                Fate::Refuse
            }
            How::After => Fate::LoseAnswer(Box::new(kill)),
            How::Moment(pause) => {
                thread::spawn(move || {
                    thread::sleep(pause);
                    kill();
                });
                Fate::Pass
            }
        }
    });
    let said = folder.join("said");
    let out = File::create(&said)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_canter"));
    command.args(args).args(["--index", uri]);
    command.env_remove("CANTER_CACHE").current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out);
    {
        // A request waits until there is something to kill.
        let mut slot = locked(&child);
        *slot = Some(command.spawn()?);
    }
    let status = loop {
        let ended = locked(&child).as_mut().map(Child::try_wait);
        if let Some(status) = ended.transpose()?.flatten() {
            break status;
        }
        thread::sleep(Duration::from_millis(2));
    };
    server.forwarder().decide(|_| Fate::Pass);
    let num_requests = *locked(&num_requests);
    Ok(Ended {
        status,
        num_requests,
        said: fs::read_to_string(said)?,
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
