//! API that invokes functions, as one function uses it to call another or itself.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use super::function::{LambdaFunction, LambdaReply};
use super::http::{Request, Response, Server};

/// Maximum size of a request to Lambda.
const MAX_PAYLOAD_BYTES: usize = 6 << 20;

/// Fate of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvokeFate {
    /// The invocation reaches the function.
    Runs,
    /// The service answers with this status.
    Refused(u16),
    /// The connection is closed without an answer.
    Dropped,
    /// The function is reported as failed.
    Fails,
    /// The answer is cut in half.
    Cut,
    /// The function returns this payload.
    Answers(Vec<u8>),
}

/// Received invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Invocation {
    target: String,
    is_signed: bool,
}

/// Function that is started when it is invoked.
struct Deployed {
    program: PathBuf,
    variables: Vec<(String, String)>,
    idle: Vec<LambdaFunction>,
}

#[derive(Default)]
struct State {
    deployed: BTreeMap<String, Deployed>,
    fates: VecDeque<InvokeFate>,
    invocations: Vec<Invocation>,
}

/// Service on loopback. Dropping it ends the service and its functions.
pub struct LambdaService {
    state: Arc<Mutex<State>>,
    server: Server,
}

impl LambdaService {
    /// Starts the service without functions.
    pub fn start() -> Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let server = Server::start(move |request| answer(&shared, &request))?;
        Ok(Self { state, server })
    }

    /// Returns `http://127.0.0.1:port`, for `AWS_ENDPOINT_URL_LAMBDA`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Registers a function; see [`LambdaFunction::start`].
    pub fn deploy(&self, name: &str, program: impl Into<PathBuf>, variables: &[(&str, &str)]) {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let deployed = Deployed {
            program: program.into(),
            variables: variables.iter().map(owned).collect(),
            idle: Vec::new(),
        };
        lock(&self.state).deployed.insert(name.to_owned(), deployed);
    }

    /// Sets the fates of the next invocations; later ones run.
    pub fn set_fates(&self, fates: impl IntoIterator<Item = InvokeFate>) {
        lock(&self.state).fates = fates.into_iter().collect();
    }

    /// Returns the number of invocations received.
    pub fn num_invocations(&self) -> usize {
        lock(&self.state).invocations.len()
    }

    /// Returns whether all invocations were signed for the service, and named this target.
    pub fn all_signed_for(&self, target: &str) -> bool {
        let state = lock(&self.state);
        let mut all = state.invocations.iter();
        all.all(|invocation| invocation.is_signed && invocation.target == target)
    }
}

fn answer(state: &Mutex<State>, request: &Request) -> Option<Response> {
    let target = request.target.clone();
    let name = target
        .strip_prefix("/2015-03-31/functions/")
        .and_then(|rest| rest.split('?').next()?.strip_suffix("/invocations"));
    let Some(name) = name.filter(|_| request.method == "POST") else {
        return Some(Response::new(404, "not known to Lambda's API"));
    };
    let signature = request.headers.get("authorization");
    let is_signed = signature.is_some_and(|value| {
        value.starts_with("AWS4-HMAC-SHA256 ") && value.contains("/us-east-1/lambda/aws4_request")
    });
    let fate = {
        let mut state = lock(state);
        state.invocations.push(Invocation {
            target: target.clone(),
            is_signed,
        });
        state.fates.pop_front().unwrap_or(InvokeFate::Runs)
    };
    if request.body.len() > MAX_PAYLOAD_BYTES {
        return Some(Response::new(413, "RequestEntityTooLargeException"));
    }
    match fate {
        InvokeFate::Runs => Some(invoke(state, name, &request.body)),
        InvokeFate::Refused(status) => {
            let body = r#"{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded"}"#;
            Some(Response::new(status, body))
        }
        InvokeFate::Dropped => None,
        InvokeFate::Fails => Some(failed(br#"{"errorType":"Runtime.ExitError"}"#.to_vec())),
        InvokeFate::Cut => {
            let mut response = invoke(state, name, &request.body);
            response.body.truncate(response.body.len() / 2);
            Some(response)
        }
        InvokeFate::Answers(payload) => Some(Response::new(200, payload)),
    }
}

/// Answers by an idle instance or a new one.
fn invoke(state: &Mutex<State>, name: &str, payload: &[u8]) -> Response {
    let (idle, program, variables) = {
        let mut state = lock(state);
        let Some(deployed) = state.deployed.get_mut(name) else {
            return Response::new(404, "ResourceNotFoundException");
        };
        let idle = deployed.idle.pop();
        (idle, deployed.program.clone(), deployed.variables.clone())
    };
    let start = || {
        let text = |(name, value): &(String, String)| (name.clone(), value.clone());
        let owned: Vec<_> = variables.iter().map(text).collect();
        let borrowed: Vec<_> = owned
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        LambdaFunction::start(name, &program, &borrowed)
    };
    let function = match idle.map_or_else(start, Ok) {
        Ok(function) => function,
        Err(error) => return failed(error.to_string().into_bytes()),
    };
    let reply = function.invoke(payload);
    if let Some(deployed) = lock(state).deployed.get_mut(name) {
        deployed.idle.push(function);
    }
    match reply {
        Ok(LambdaReply::Answer(payload)) => Response::new(200, payload),
        Ok(LambdaReply::Error(payload)) => failed(payload),
        Err(error) => failed(error.to_string().into_bytes()),
    }
}

fn failed(payload: Vec<u8>) -> Response {
    Response {
        headers: vec![("x-amz-function-error", "Unhandled".to_owned())],
        ..Response::new(200, payload)
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
