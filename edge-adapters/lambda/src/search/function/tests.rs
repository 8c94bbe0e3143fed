//! Tests of guests that panic or never end, with the effects on their caller and on other searches.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use canter_runtime::engine::{EngineInstance, InstanceLimits};
use canter_runtime::session::{Budget, HostReport, Progress, SessionRequest, Supply};
use serde_json::json;

use super::*;

/// Behaviour of the next instance in its first step.
enum Fate {
    Panics,
    /// Waits for a message and ignores interrupts.
    GoesOn(Receiver<()>),
}

/// Native engine with some faulty instances.
struct Breaking {
    inner: NativeEngine,
    next: Mutex<Option<Fate>>,
}

struct BreakingInstance {
    inner: Box<dyn EngineInstance>,
    fate: Option<Fate>,
}

impl Engine for Breaking {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        Ok(Box::new(BreakingInstance {
            inner: self.inner.start(limits)?,
            fate: self.next.lock().unwrap().take(),
        }))
    }

    fn max_instances(&self) -> usize {
        self.inner.max_instances()
    }

    fn name(&self) -> &'static str {
        "breaking"
    }
}

impl EngineInstance for BreakingInstance {
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError> {
        self.inner.open(request)
    }

    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError> {
        match self.fate.take() {
            Some(Fate::Panics) => panic!("of the secret field"),
            Some(Fate::GoesOn(until)) => {
                let _ = until.recv();
            }
            None => {}
        }
        self.inner.step(supplies, report)
    }
}

/// Returns a function over a missing index, for which searches return a clear error.
fn function(engine: &Arc<Breaking>, folder: &std::path::Path, deadline_ms: &str) -> SearchFunction {
    let indexes = format!("logs={}", folder.display());
    let cache = folder.join("cache").display().to_string();
    let env = Environment::of([
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_CACHE", cache.as_str()),
        ("CANTER_DEADLINE_MS", deadline_ms),
    ]);
    SearchFunction::with_engine(&env, Arc::clone(engine) as Arc<dyn Engine>).unwrap()
}

fn breaking() -> Arc<Breaking> {
    Arc::new(Breaking {
        inner: NativeEngine::new(),
        next: Mutex::new(None),
    })
}

async fn search(function: &SearchFunction) -> (u64, String) {
    let payload = json!({"method": "GET", "path": "/api/v1/logs/search", "query": "query=a"});
    let mut context = Context::default();
    let in_a_minute = SystemTime::now() + Duration::from_secs(60);
    let since_1970 = in_a_minute.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    context.deadline = u64::try_from(since_1970.as_millis()).unwrap();
    let answer = function.handle(LambdaEvent::new(payload, context)).await;
    let answer = answer.unwrap();
    let status = answer["statusCode"].as_u64().unwrap();
    (status, answer["body"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_panic_in_the_guest_costs_one_search_and_tells_no_details() {
    let folder = tempfile::tempdir().unwrap();
    let engine = breaking();
    let function = function(&engine, folder.path(), "60000");
    *engine.next.lock().unwrap() = Some(Fate::Panics);
    let (status, body) = search(&function).await;
    assert_eq!(status, 500, "{body}");
    assert!(!body.contains("secret"), "{body}");
    let (status, body) = search(&function).await;
    assert_eq!(status, 404, "{body}");
    assert!(!function.is_stuck().await);
}

#[tokio::test]
async fn an_instance_whose_guest_goes_on_is_stuck_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let engine = breaking();
    let function = function(&engine, folder.path(), "300");
    let (end, until): (Sender<()>, _) = channel();
    *engine.next.lock().unwrap() = Some(Fate::GoesOn(until));
    let (status, body) = search(&function).await;
    assert_eq!(status, 504, "{body}");
    assert!(function.is_stuck().await);
    drop(end);
    while function.searcher.num_instances() > 0 {
        tokio::time::sleep(PAUSE_BETWEEN_LOOKS).await;
    }
    assert!(!function.is_stuck().await);
    assert_eq!(search(&function).await.0, 404);
}

#[tokio::test]
async fn a_panic_in_the_host_is_an_answer() {
    assert_eq!(unbroken(async { 7 }).await, Some(7));
    let broken = unbroken(async {
        tokio::task::yield_now().await;
        panic!("on purpose");
    });
    assert_eq!(broken.await, None::<()>);
}

/// The function only searches. It does not have the routes of `canter serve --writable`, so no
/// page, token or event can cause writes.
#[tokio::test]
async fn every_route_that_writes_is_refused() {
    const ROUTES: &str = include_str!("../../../../../tests/golden/write_routes.txt");
    const FAR_IN_FUTURE_MS: u64 = 4_102_444_800_000;
    let folder = tempfile::tempdir().unwrap();
    let indexes = format!("logs={}", folder.path().display());
    let env = Environment::of([("CANTER_INDEXES", indexes.as_str())]);
    let function = SearchFunction::new(&env).unwrap();
    for line in ROUTES.lines() {
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let payload = json!({"method": method, "path": path, "query": query, "body": {}});
        let mut context = Context::default();
        context.deadline = FAR_IN_FUTURE_MS;
        let answer = function
            .handle(LambdaEvent::new(payload, context))
            .await
            .unwrap();
        let status = answer["statusCode"].as_u64().unwrap();
        assert!(matches!(status, 400 | 404 | 405), "{line}: {answer}");
    }
    let written = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(written.count(), 0);
}
