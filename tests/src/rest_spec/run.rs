//! Runs one test: its steps, and the errors that they expect.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::api::{Apis, Request};
use super::check::{State, between_slashes, regular_expression};
use super::server::{Answer, Server};
use super::suite::{Call, Step, Test};
use crate::conformance::Machine;

/// Result of a test.
#[derive(Debug)]
pub enum Outcome {
    /// Every step did as the test says.
    Passed,
    /// What the first wrong step did, in one line.
    Failed(String),
}

/// Runs a test against a fresh server with an engine, `native` or `wasm`.
///
/// # Errors
/// The server does not start.
pub fn run_test(machine: &Machine, engine: &str, apis: &Apis, test: &Test) -> Result<Outcome> {
    let server = Server::start(machine, engine)?;
    let mut state = State::default();
    let mut incomplete = None;
    let steps = test.setup.iter().chain(&test.steps);
    for (ord, step) in steps.chain(test.teardown.iter()).enumerate() {
        // What the setup answered is none of the test's business.
        if ord == test.setup.len() {
            state = State::default();
        }
        if let Err(error) = run_step(&server, apis, &mut state, step) {
            let said = format!("{error:#}").replace('\n', " ");
            let said: String = said.chars().take(400).collect();
            return Ok(Outcome::Failed(match incomplete {
                Some(answer) => format!("{said}; before that: {answer}"),
                None => said,
            }));
        }
        if matches!(step, Step::Do(_)) && incomplete.is_none() {
            incomplete = said_as_incomplete(&state.answer);
        }
    }
    Ok(Outcome::Passed)
}

/// Returns the beginning of an answer that reports failures in a body that few tests look at: what follows from these
/// would look like a wrong answer.
fn said_as_incomplete(answer: &Value) -> Option<String> {
    let failed = answer.pointer("/_shards/failed").and_then(Value::as_u64);
    let is_incomplete = answer["errors"] == true
        || answer["timed_out"] == true
        || failed.is_some_and(|num| num > 0);
    is_incomplete.then(|| answer.to_string().chars().take(600).collect())
}

fn run_step(server: &Server, apis: &Apis, state: &mut State, step: &Step) -> Result<()> {
    match step {
        Step::Set(path, name) => state.set(path, name),
        Step::Assert(assertion, path, expected) => state.check(assertion, path, expected),
        Step::Do(call) => run_call(server, apis, state, call),
    }
}

fn run_call(server: &Server, apis: &Apis, state: &mut State, call: &Call) -> Result<()> {
    let Value::Object(params) = state.filled(&Value::Object(call.params.clone()))? else {
        bail!("parameters are an object");
    };
    let request = match (apis.request(&call.api, &params), call.catch.as_deref()) {
        (Err(_), Some("param")) => return Ok(()),
        (request, _) => request.with_context(|| call.api.clone())?,
    };
    let answer = server.send(&request, &call.headers)?;
    let judged = judge(&request, &answer, call.catch.as_deref());
    state.answer = answer.value;
    judged.with_context(|| format!("{} {}", request.method, request.target))
}

/// Returns an error if the status or the message is not what the step expects.
fn judge(request: &Request, answer: &Answer, catch: Option<&str>) -> Result<()> {
    let said = || {
        let cut: String = answer.text.chars().take(300).collect();
        format!("{} {cut}", answer.status)
    };
    let Some(catch) = catch else {
        let is_absent = request.method == "HEAD" && answer.status == 404;
        let is_right = answer.status < 400 || is_absent || request.ignored.contains(&answer.status);
        ensure!(is_right, "{}", said());
        return Ok(());
    };
    let is_right = match catch {
        "bad_request" => answer.status == 400,
        "unauthorized" => answer.status == 401,
        "forbidden" => answer.status == 403,
        "missing" => answer.status == 404,
        "request_timeout" => answer.status == 408,
        "conflict" => answer.status == 409,
        "unavailable" => answer.status == 503,
        "request" => {
            answer.status >= 400 && ![400, 401, 403, 404, 408, 409].contains(&answer.status)
        }
        "param" => bail!("the call has the right parameters"),
        _ => {
            let pattern = between_slashes(catch).context("an expected error")?;
            let pattern = regular_expression(pattern, false)?;
            // Messages are in the text with escapes, and in the value without.
            let message = answer
                .value
                .pointer("/error/reason")
                .and_then(Value::as_str);
            answer.status >= 400
                && (pattern.is_match(&answer.text) || message.is_some_and(|m| pattern.is_match(m)))
        }
    };
    ensure!(is_right, "{}, not {catch}", said());
    Ok(())
}
