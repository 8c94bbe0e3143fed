//! An engine that follows a script.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::engine::{Engine, EngineInstance, InstanceLimits};
use crate::session::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, HostReport, HttpResponse, Outcome,
    Progress, QueryPlan, ReadRequest, SessionRequest, Supply, SupplyResult,
};
use crate::{Interrupt, SearchError};

/// An engine whose sessions follow a script: the request's `waves` is a list of demands, each a list
/// of `[object, offset, len or null, class]`. The answer holds what arrived, and the request's `budget` is what it asks for.
pub(super) struct Scripted {
    /// Threads on which sessions ran, for counting instances.
    pub(super) threads: Arc<Mutex<HashSet<ThreadId>>>,
    pub(super) num_leaves: usize,
}

impl Scripted {
    pub(super) fn new() -> Self {
        Self {
            threads: Arc::default(),
            num_leaves: 1,
        }
    }
}

impl Engine for Scripted {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        let id = std::thread::current().id();
        self.threads.lock().unwrap().insert(id);
        Ok(Box::new(ScriptedInstance {
            interrupt: limits.interrupt.clone(),
            num_leaves: self.num_leaves,
            end: None,
            answer: Value::Null,
            waves: VecDeque::new(),
            arrived: Vec::new(),
        }))
    }

    fn max_instances(&self) -> usize {
        4
    }

    fn name(&self) -> &'static str {
        "scripted"
    }
}

struct ScriptedInstance {
    interrupt: Interrupt,
    num_leaves: usize,
    /// Instead of an answer.
    end: Option<Outcome>,
    answer: Value,
    waves: VecDeque<Value>,
    arrived: Vec<Value>,
}

impl EngineInstance for ScriptedInstance {
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError> {
        self.arrived.clear();
        self.end = None;
        self.answer = json!({"profile": {"num_splits": 1}});
        let script = match request {
            SessionRequest::Http {
                request,
                max_leaves: 1,
                ..
            } => String::from_utf8(request.body).unwrap(),
            SessionRequest::Http { request, .. } => {
                let request = String::from_utf8(request.body).unwrap();
                let leaves = (0..self.num_leaves)
                    .map(|leaf| format!("{{\"leaf\":{leaf},\"request\":{request}}}").into_bytes())
                    .collect();
                let root = request.into_bytes();
                self.end = Some(Outcome::Plan(QueryPlan { leaves, root }));
                json!({"waves": [[["manifest", 0, null, "manifest"]]]}).to_string()
            }
            SessionRequest::Leaf(leaf) => {
                let leaf: Value = serde_json::from_slice(&leaf).unwrap();
                self.end = Some(Outcome::Partial(leaf["leaf"].to_string().into_bytes()));
                leaf["request"].to_string()
            }
            SessionRequest::Root { partials, .. } => {
                let partials: Vec<String> = partials
                    .iter()
                    .map(|partial| String::from_utf8(partial.clone()).unwrap())
                    .collect();
                self.answer = json!({"partials": partials});
                json!({"waves": []}).to_string()
            }
        };
        let script: Value = serde_json::from_str(&script).unwrap();
        match script["fail"].as_str() {
            Some("open") => return Err(SearchError::invalid("scripted")),
            Some("panic") => panic!("scripted panic"),
            Some("spin") => {
                while !self.interrupt.is_due() {
                    std::thread::yield_now();
                }
                return Err(self.interrupt.error());
            }
            _ => {}
        }
        self.waves = script["waves"]
            .as_array()
            .unwrap()
            .iter()
            .cloned()
            .collect();
        let budget = script.get("budget").cloned().unwrap_or(json!({}));
        Ok(serde_json::from_value(budget).unwrap())
    }

    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError> {
        for supply in supplies {
            let outcome = match supply.outcome {
                SupplyResult::Bytes(bytes) => json!(String::from_utf8_lossy(&bytes)),
                SupplyResult::Miss => json!("miss"),
                SupplyResult::Failed { kind, message } => json!([format!("{kind:?}"), message]),
            };
            self.arrived.push(json!([supply.id, outcome]));
        }
        let Some(wave) = self.waves.pop_front() else {
            let outcome = self.end.take().unwrap_or_else(|| self.answered(report));
            return Ok(Progress::Done(outcome));
        };
        Ok(Progress::Pending(demand_of(&wave)))
    }
}

impl ScriptedInstance {
    fn answered(&mut self, report: HostReport) -> Outcome {
        let mut answer = self.answer.take();
        answer["arrived"] = self.arrived.clone().into();
        answer["elapsed_time_micros"] = report.elapsed_us.into();
        answer["timed_out"] = report.timed_out.into();
        answer["budget_exhausted"] = report.budget_exhausted.into();
        Outcome::Http(HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: answer.to_string().into_bytes(),
        })
    }
}

fn demand_of(wave: &Value) -> Demand {
    let mut demand = Demand::default();
    for (id, item) in wave.as_array().unwrap().iter().enumerate() {
        let (id, name) = (id as u64, item[0].as_str().unwrap().to_owned());
        let class = |name: &Value| {
            ByteClass::ALL
                .into_iter()
                .find(|class| class.as_str() == name)
                .unwrap()
        };
        match name.strip_prefix("cache:") {
            Some(key) if item[1].is_string() => demand.stores.push(CacheStore {
                key: key.to_owned(),
                bytes: Bytes::from(item[1].as_str().unwrap().to_owned()),
                class: ByteClass::PartialResult,
            }),
            Some(key) => demand.lookups.push(CacheLookup {
                id,
                key: key.to_owned(),
                class: ByteClass::PartialResult,
            }),
            None => demand.reads.push(ReadRequest {
                id,
                object: name,
                offset: item[1].as_u64().unwrap(),
                len: item[2].as_u64(),
                class: class(&item[3]),
            }),
        }
    }
    demand
}
