//! A document's way through pipelines.

use serde_json::{Map, Value};

use super::entry::{Entry, Pipeline, Pipelines};
use super::process::Flow;
use crate::document::{Document, Metadata};
use crate::error::Failure;
use crate::limits::MAX_CALLS;

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is to be added.
    Passed,
    /// It is not to be added.
    Dropped,
}

/// What a processor did, for who wants to see it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Kind of processor.
    pub kind: String,
    /// Its tag, if it has one.
    pub tag: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// How it went.
    pub status: StepStatus,
    /// The document after it, unless the processor failed or was left out.
    pub document: Option<(Map<String, Value>, Metadata)>,
}

/// How a processor went.
#[derive(Clone, Debug, PartialEq)]
pub enum StepStatus {
    /// It ran.
    Success,
    /// Its condition did not hold.
    Skipped,
    /// It dropped the document.
    Dropped,
    /// It failed, and the pipeline went on.
    Ignored(Failure),
    /// It failed.
    Failed(Failure),
}

/// A run over a document.
pub(crate) struct Run<'p> {
    pub(crate) pipelines: &'p Pipelines,
    pub(crate) now_ms: i64,
    /// Names of the pipelines that are being run, one within the other.
    calls: Vec<String>,
    steps: Option<Vec<Step>>,
}

impl Pipelines {
    /// Runs a pipeline over a document. `now_ms` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// The pipeline does not exist, or the document fails.
    pub fn run(
        &self,
        name: &str,
        document: &mut Document,
        now_ms: i64,
    ) -> Result<Outcome, Failure> {
        let flow = self.begun(now_ms, false).call(name, document)?;
        Ok(outcome_of(flow))
    }

    /// Runs a pipeline that need not be one of these over a document, and returns what became of it. With `tells`, returns
    /// what each processor did as well.
    pub fn simulate(
        &self,
        (name, pipeline): (&str, &Pipeline),
        document: &mut Document,
        (now_ms, tells): (i64, bool),
    ) -> (Result<Outcome, Failure>, Vec<Step>) {
        let mut run = self.begun(now_ms, tells);
        let flow = run.whole(name, pipeline, document);
        (flow.map(outcome_of), run.steps.unwrap_or_default())
    }

    fn begun(&self, now_ms: i64, tells: bool) -> Run<'_> {
        Run {
            pipelines: self,
            now_ms,
            calls: Vec::new(),
            steps: tells.then(Vec::new),
        }
    }
}

fn outcome_of(flow: Flow) -> Outcome {
    match flow {
        Flow::Drop => Outcome::Dropped,
        Flow::Next | Flow::End => Outcome::Passed,
    }
}

impl Run<'_> {
    /// Runs a pipeline by its name.
    pub(crate) fn call(&mut self, name: &str, document: &mut Document) -> Result<Flow, Failure> {
        let Some(pipeline) = self.pipelines.by_name.get(name) else {
            return Err(Failure::illegal(format!(
                "pipeline with id [{name}] does not exist"
            )));
        };
        let pipeline = std::sync::Arc::clone(pipeline);
        self.whole(name, &pipeline, document)
    }

    fn whole(
        &mut self,
        name: &str,
        pipeline: &Pipeline,
        document: &mut Document,
    ) -> Result<Flow, Failure> {
        if self.calls.iter().any(|called| called == name) {
            return Err(Failure::illegal(format!(
                "Cycle detected for pipeline: {name}"
            )));
        }
        if self.calls.len() >= MAX_CALLS {
            return Err(Failure::illegal(format!(
                "more than {MAX_CALLS} pipelines call each other, which is the limit"
            )));
        }
        self.calls.push(name.to_owned());
        let outer = document.ingest.insert("pipeline".to_owned(), name.into());
        let ran = self.all(&pipeline.entries, document);
        let ran = match ran {
            Err(failure) if !pipeline.on_failure.is_empty() => {
                self.failed(&pipeline.on_failure, failure, document)
            }
            ran => ran,
        };
        self.calls.pop();
        match outer {
            Some(outer) => document.ingest.insert("pipeline".to_owned(), outer),
            None => document.ingest.remove("pipeline"),
        };
        Ok(match ran? {
            Flow::End => Flow::Next,
            flow => flow,
        })
    }

    /// Runs processors one after the other.
    pub(crate) fn all(
        &mut self,
        entries: &[Entry],
        document: &mut Document,
    ) -> Result<Flow, Failure> {
        for entry in entries {
            match self.one(entry, document)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a processor, if its condition holds, and what is to be done if it fails.
    pub(crate) fn one(&mut self, entry: &Entry, document: &mut Document) -> Result<Flow, Failure> {
        document.step()?;
        match self.tried(entry, document) {
            Ok(Some(flow)) => {
                let status = match flow {
                    Flow::Drop => StepStatus::Dropped,
                    Flow::Next | Flow::End => StepStatus::Success,
                };
                self.tell(entry, status, document)?;
                Ok(flow)
            }
            Ok(None) => {
                self.tell(entry, StepStatus::Skipped, document)?;
                Ok(Flow::Next)
            }
            Err(mut failure) => {
                let named = || Box::new((entry.kind.clone(), entry.tag.clone()));
                failure.at.get_or_insert_with(named);
                if entry.ignores_failure {
                    self.tell(entry, StepStatus::Ignored(failure), document)?;
                    return Ok(Flow::Next);
                }
                self.tell(entry, StepStatus::Failed(failure.clone()), document)?;
                match entry.on_failure.is_empty() {
                    true => Err(failure),
                    false => self.failed(&entry.on_failure, failure, document),
                }
            }
        }
    }

    /// Runs a processor; `None` if its condition does not hold.
    fn tried(&mut self, entry: &Entry, document: &mut Document) -> Result<Option<Flow>, Failure> {
        if let Some(condition) = &entry.condition {
            let holds = condition.test(&document.ctx(), &Map::new(), self.now_ms);
            if !holds.map_err(|error| script_failure(&error, condition.source()))? {
                return Ok(None);
            }
        }
        entry.process.run(document, self).map(Some)
    }

    /// Runs what is to be done about a failure, which stands under `_ingest` meanwhile.
    fn failed(
        &mut self,
        entries: &[Entry],
        failure: Failure,
        document: &mut Document,
    ) -> Result<Flow, Failure> {
        let (kind, tag) = failure.at.map(|at| *at).unwrap_or_default();
        let pipeline = self.calls.last().cloned().unwrap_or_default();
        let told = [
            ("on_failure_message", Value::from(failure.reason)),
            ("on_failure_processor_type", kind.into()),
            ("on_failure_processor_tag", tag.into()),
            ("on_failure_pipeline", pipeline.into()),
        ];
        for (name, value) in &told {
            document.ingest.insert((*name).to_owned(), value.clone());
        }
        let ran = self.all(entries, document);
        for (name, _) in told {
            document.ingest.remove(name);
        }
        ran
    }

    fn tell(
        &mut self,
        entry: &Entry,
        status: StepStatus,
        document: &mut Document,
    ) -> Result<(), Failure> {
        let Some(steps) = &mut self.steps else {
            return Ok(());
        };
        let document = match status {
            StepStatus::Success | StepStatus::Ignored(_) => {
                let source = Value::Object(document.source.clone());
                document.spend(&source)?;
                Some((document.source.clone(), document.meta.clone()))
            }
            _ => None,
        };
        steps.push(Step {
            kind: entry.kind.clone(),
            tag: entry.tag.clone(),
            description: entry.description.clone(),
            status,
            document,
        });
        Ok(())
    }
}

/// Returns the failure of a script.
pub(crate) fn script_failure(error: &canter_painless::ScriptError, source: &str) -> Failure {
    let mut told = error.to_json(source);
    let cause = told["caused_by"].take();
    Failure {
        cause: Some(Box::new(cause)),
        ..Failure::new("script_exception", error.phase())
    }
}
