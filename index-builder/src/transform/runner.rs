//! Runs a program on one record after another.

use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};

use canter_names::mend_json;
use vrl::compiler::runtime::{Runtime, Terminate};
use vrl::compiler::state::RuntimeState;
use vrl::compiler::{ExpressionError, Program, TargetValue, TimeZone};
use vrl::value::{ObjectMap, Secrets, Value};

use super::values::{Layout, Unreadable, Unwritable, Writer, read_into};
use super::{Outcome, Transform};

/// Maximum number of expressions that a program may run for one record, counting each iteration of loops.
const MAX_STEPS: u64 = 1_000_000;
/// Maximum number of documents that a program may make of one record.
const MAX_DOCS: usize = 10_000;
/// Maximum total size of these, in bytes.
const MAX_NUM_BYTES: usize = 64 << 20;
/// Maximum length of a reason for dropping a record, in characters.
const MAX_REASON_CHARS: usize = 80;
/// The reason for any error in a program.
const FAILED: &str = "transform_failed";

/// A program in one thread, with its working memory.
pub(crate) struct Runner {
    program: Program,
    runtime: Runtime,
    zone: TimeZone,
    layout: Layout,
    out: Vec<u8>,
    docs: Vec<Range<usize>>,
}

impl Runner {
    pub(crate) fn new(transform: &Transform) -> Runner {
        Runner {
            // A copy, so that threads do not contend for its regular expressions.
            program: (*transform.program).clone(),
            runtime: Runtime::new(RuntimeState::default()),
            // Never the machine's.
            zone: TimeZone::parse("UTC").unwrap_or_default(),
            layout: Layout::default(),
            out: Vec::new(),
            docs: Vec::new(),
        }
    }

    /// Runs the program on a record.
    pub(crate) fn run<'r>(&'r mut self, json: &[u8]) -> Outcome<'r> {
        let mut read = read_into(&mut self.layout, json);
        // In the form that the doc mapping parses.
        let mended = match &read {
            Err(unread) if unread.reason == "not_json" => mend_json(json),
            _ => None,
        };
        let json = match &mended {
            Some(mended) => {
                read = read_into(&mut self.layout, mended);
                mended.as_slice()
            }
            None => json,
        };
        let value = match read {
            Ok(value @ Value::Object(_)) => value,
            Ok(_) => return Outcome::Unread("not_an_object", "the record is no object".into()),
            Err(Unreadable { reason, message }) => return Outcome::Unread(reason, message),
        };
        let mut target = TargetValue {
            value,
            metadata: Value::Object(ObjectMap::new()),
            secrets: Secrets::default(),
        };
        if let Some(outcome) = self.resolve(&mut target) {
            return outcome;
        }
        match Route::of(&target.metadata) {
            Ok(Route::Keep) => {}
            Ok(Route::Drop(why)) => return Outcome::Dropped(why),
            Ok(Route::Reject(why)) => return Outcome::Refused("rejected_by_transform", why),
            Err(message) => return Outcome::Refused(FAILED, message),
        }
        if let Err(Unwritable(message)) = self.write(json, &target.value) {
            return Outcome::Refused(FAILED, format!("the transform made {message}"));
        }
        if self.docs.is_empty() {
            return Outcome::Dropped("an empty array".to_string());
        }
        let docs = self.docs.iter();
        Outcome::Docs(
            docs.map(|range| self.out.get(range.clone()).unwrap_or_default())
                .collect(),
        )
    }

    /// Runs the program; returns the outcome of the record if it makes no documents.
    fn resolve(&mut self, target: &mut TargetValue) -> Option<Outcome<'static>> {
        self.runtime.clear();
        let mut num_steps = 0_u64;
        let mut count = || {
            num_steps += 1;
            match num_steps > MAX_STEPS {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (runtime, program, zone) = (&mut self.runtime, &self.program, &self.zone);
        let run = || runtime.resolve_with_control(target, program, zone, &mut count);
        // Multiplying a text by too large a number panics; the next record starts afresh.
        let Ok(result) = catch_unwind(AssertUnwindSafe(run)) else {
            return Some(Outcome::Refused(
                FAILED,
                "the transform made a value that is too large, or its interpreter failed"
                    .to_string(),
            ));
        };
        match result {
            Ok(_) => None,
            Err(Terminate::Abort(ExpressionError::Abort { message, .. })) => {
                Some(Outcome::Dropped(shortened(message.as_deref())))
            }
            Err(Terminate::Interrupted) => Some(Outcome::Refused(
                FAILED,
                format!("the transform ran more than {MAX_STEPS} expressions for this record"),
            )),
            Err(Terminate::Abort(error) | Terminate::Error(error)) => {
                Some(Outcome::Refused(FAILED, error.to_string()))
            }
        }
    }

    /// Writes the documents.
    fn write(&mut self, json: &[u8], value: &Value) -> Result<(), Unwritable> {
        self.out.clear();
        self.docs.clear();
        let writer = Writer {
            json: std::str::from_utf8(json).unwrap_or_default(),
            layout: &self.layout,
            max_num_bytes: MAX_NUM_BYTES,
        };
        match value {
            Value::Object(_) => {
                writer.write_record(value, &mut self.out)?;
                self.docs.push(0..self.out.len());
            }
            Value::Array(items) if items.len() > MAX_DOCS => {
                let num = items.len();
                return Err(Unwritable(format!(
                    "{num} documents of this record, more than {MAX_DOCS}"
                )));
            }
            Value::Array(items) => {
                for item in items {
                    if !item.is_object() {
                        let what = item.kind_str();
                        return Err(Unwritable(format!(
                            "an array with {what} in it: each document is an object"
                        )));
                    }
                    let start = self.out.len();
                    writer.write(item, 0, &mut self.out)?;
                    self.docs.push(start..self.out.len());
                }
            }
            other => {
                let what = other.kind_str();
                return Err(Unwritable(format!(
                    "{what} of this record: a document is an object"
                )));
            }
        }
        Ok(())
    }
}

/// Destination of a record according to the program: `%route`, with `%reason`.
enum Route {
    Keep,
    Drop(String),
    Reject(String),
}

impl Route {
    fn of(metadata: &Value) -> Result<Route, String> {
        let get = |name: &str| metadata.as_object().and_then(|object| object.get(name));
        let reason = get("reason").map(Value::to_string_lossy);
        let Some(route) = get("route") else {
            return Ok(Route::Keep);
        };
        match route.to_string_lossy().as_ref() {
            "keep" => Ok(Route::Keep),
            "drop" => Ok(Route::Drop(shortened(reason.as_deref()))),
            "reject" => Ok(Route::Reject(
                reason.map_or("the transform gave no reason".into(), |reason| {
                    reason.into_owned()
                }),
            )),
            other => Err(format!(
                "the transform set `%route` to {other:?}: it is \"keep\", \"drop\" or \"reject\""
            )),
        }
    }
}

fn shortened(reason: Option<&str>) -> String {
    let reason = reason.unwrap_or("no reason given");
    reason.chars().take(MAX_REASON_CHARS).collect()
}
