//! Tasks: long writes that go on behind their answer (`wait_for_completion=false`), and what became of them.
//!
//! Tasks are this process's: another server of the same indexes does not know them, and they end with it. Their ids are
//! drawn at random, so that only who began a task can ask for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use canter_index_builder::unix_time_ms;
use serde_json::{Value, json};
use tokio::sync::watch;
use uuid::Uuid;

use super::problem::Problem;

/// Maximum number of tasks that run at once.
const MAX_RUNNING: usize = 16;

/// Number of tasks whose end is remembered.
const MAX_KEPT: usize = 1_000;

/// Maximum size of a remembered answer in bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Name of the only node.
const NODE: &str = "canter";

/// What is known of the tasks of this process.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    kept: Mutex<VecDeque<Arc<Task>>>,
}

/// A task.
#[derive(Debug)]
pub(crate) struct Task {
    number: u64,
    action: &'static str,
    started: Instant,
    started_ms: u64,
    /// The answer of its request, with whether it is an error, once there is one.
    ended: watch::Sender<Option<End>>,
}

#[derive(Clone, Debug)]
struct End {
    after: Duration,
    answer: Value,
    is_error: bool,
}

impl Tasks {
    /// Begins a task.
    ///
    /// # Errors
    /// If too many run.
    pub(crate) fn begin(&self, action: &'static str) -> Result<Arc<Task>, Problem> {
        // Numbers of clients are signed.
        let number = Uuid::new_v4().as_u64_pair().0 >> 1;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let running = kept.iter().filter(|task| task.is_running()).count();
        if running >= MAX_RUNNING {
            return Err(Problem {
                status: StatusCode::TOO_MANY_REQUESTS,
                ..Problem::invalid(
                    "rejected_execution_exception",
                    format!("{running} tasks are running: try again when one of them has ended"),
                )
            });
        }
        if kept.len() >= MAX_KEPT
            && let Some(oldest) = kept.iter().position(|task| !task.is_running())
        {
            kept.remove(oldest);
        }
        let task = Arc::new(Task {
            number,
            action,
            started: Instant::now(),
            started_ms: unix_time_ms(),
            ended: watch::Sender::new(None),
        });
        kept.push_back(Arc::clone(&task));
        Ok(task)
    }

    /// Returns the task with this id.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn named(&self, id: &str) -> Result<Arc<Task>, Problem> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let task = kept.iter().find(|task| task.id() == id);
        task.cloned().ok_or_else(|| Problem {
            status: StatusCode::NOT_FOUND,
            ..Problem::invalid(
                "resource_not_found_exception",
                format!("task [{id}] isn't running and hasn't stored its results"),
            )
        })
    }
}

impl Task {
    /// Returns the id, as clients send it.
    pub(crate) fn id(&self) -> String {
        format!("{NODE}:{}", self.number)
    }

    fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Notes the answer of the request.
    pub(crate) fn end(&self, status: StatusCode, body: &[u8]) {
        let is_short = body.len() <= MAX_ANSWER_BYTES;
        let answer = is_short.then(|| serde_json::from_slice(body).ok());
        self.ended.send_replace(Some(End {
            after: self.started.elapsed(),
            answer: answer.flatten().unwrap_or_default(),
            is_error: !status.is_success(),
        }));
    }

    /// Waits for the end, at most for some time.
    pub(crate) async fn wait(&self, most: Duration) {
        let mut ended = self.ended.subscribe();
        let end = ended.wait_for(Option::is_some);
        // What it has become by then is shown, whether that is the end or not.
        drop(tokio::time::timeout(most, end).await);
    }

    /// Returns the task in the form of `_tasks/<id>`.
    pub(crate) fn shown(&self) -> Value {
        let end = self.ended.borrow().clone();
        let running = end
            .as_ref()
            .map_or_else(|| self.started.elapsed(), |end| end.after);
        let nanos = u64::try_from(running.as_nanos()).unwrap_or(u64::MAX);
        let mut shown = json!({
            "completed": end.is_some(),
            "task": {
                "node": NODE, "id": self.number, "type": "transport", "action": self.action,
                "start_time_in_millis": self.started_ms, "running_time_in_nanos": nanos, "cancellable": false,
                "headers": {},
            },
        });
        let Some(end) = end else { return shown };
        if end.is_error {
            shown["error"] = end.answer["error"].clone();
            return shown;
        }
        let counted = [
            "total",
            "updated",
            "created",
            "deleted",
            "batches",
            "version_conflicts",
            "noops",
        ];
        let counted = counted
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), end.answer.get(name)?.clone())));
        shown["task"]["status"] = Value::Object(counted.collect());
        shown["response"] = end.answer;
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_end_and_are_limited() {
        let tasks = Tasks::default();
        let mut begun: Vec<_> = (0..MAX_RUNNING)
            .map(|_| tasks.begin("a").unwrap())
            .collect();
        let refused = tasks.begin("a").unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        let task = begun.remove(0);
        assert_eq!(task.shown()["completed"], false);
        task.end(StatusCode::OK, br#"{"deleted":3,"took":1}"#);
        let shown = tasks.named(&task.id()).unwrap().shown();
        assert_eq!(shown["completed"], true);
        assert_eq!(shown["response"]["deleted"], 3);
        assert_eq!(shown["task"]["status"], json!({"deleted": 3}));
        let failed = begun.remove(0);
        failed.end(
            StatusCode::BAD_REQUEST,
            br#"{"error":{"type":"x"},"status":400}"#,
        );
        assert_eq!(failed.shown()["error"]["type"], "x");
        for _ in 0..3 * MAX_KEPT {
            tasks.begin("b").unwrap().end(StatusCode::OK, b"{}");
        }
        assert!(tasks.named(&task.id()).is_err(), "the oldest are forgotten");
        assert!(
            tasks.named(&begun[0].id()).is_ok(),
            "but not those that run"
        );
        assert!(tasks.named("canter:x").is_err());
    }
}
