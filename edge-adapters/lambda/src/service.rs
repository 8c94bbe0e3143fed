//! The Runtime API: a failed start is reported, then events are answered one by one.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde_json::{Value, json};

use crate::env::{ConfigError, Environment};
use crate::logs;

/// Longest wait for the Runtime API when a failed start is reported.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Variables that Lambda sets and `lambda_runtime` takes for granted.
const LAMBDA_VARIABLES: [&str; 4] = [
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
];

/// Runs a function: makes it from the environment, and has it answer events until the process ends.
/// Fails if it cannot be made, which the Runtime API has been told by then, and if the Runtime API does.
pub async fn serve<F, H, A>(
    make: impl FnOnce(&Environment) -> Result<F, ConfigError>,
    handle: H,
) -> ExitCode
where
    H: Fn(Arc<F>, LambdaEvent<Value>) -> A,
    A: Future<Output = Result<Value, Diagnostic>>,
{
    match run(make, handle).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("canter: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run<F, H, A>(
    make: impl FnOnce(&Environment) -> Result<F, ConfigError>,
    handle: H,
) -> Result<(), lambda_runtime::Error>
where
    H: Fn(Arc<F>, LambdaEvent<Value>) -> A,
    A: Future<Output = Result<Value, Diagnostic>>,
{
    let env = Environment::of_process();
    for name in LAMBDA_VARIABLES {
        let how = "this program runs on AWS Lambda; examples/native-lambda runs it on this machine";
        if env.get(name).is_none() {
            return Err(ConfigError(format!("{name} is not set: {how}")).into());
        }
    }
    let function = match logs::start(&env).and_then(|()| make(&env)) {
        Ok(function) => Arc::new(function),
        Err(error) => {
            report(&env, &error).await;
            return Err(error.into());
        }
    };
    let service = service_fn(|event| handle(Arc::clone(&function), event));
    lambda_runtime::Runtime::new(service).run().await
}

/// Tells the Runtime API why the function cannot start, so that whoever invokes it reads it too.
async fn report(env: &Environment, error: &ConfigError) {
    let Some(api) = env.get("AWS_LAMBDA_RUNTIME_API") else {
        return;
    };
    let error_type = "Canter.InvalidConfiguration";
    let body = json!({
        "errorMessage": error.to_string(),
        "errorType": error_type,
        "stackTrace": [],
    });
    let url = format!("http://{api}/2018-06-01/runtime/init/error");
    let client = canter_stores::http_client()
        .no_proxy()
        .timeout(REPORT_TIMEOUT)
        .build();
    if let Ok(client) = client {
        let sent = client
            .post(url)
            .header("lambda-runtime-function-error-type", error_type)
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        // The error is on standard error as well, and there is nobody else to tell.
        let _ = sent.await;
    }
}
