//! Loop of the Runtime API: reports a failed start, otherwise answers events one by one until the
//! process becomes unusable.

use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use lambda_runtime::tower::{Layer, Service};
use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde_json::{Value, json};
use tracing::error;

use crate::env::{ConfigError, Environment};
use crate::logs;

/// Maximum time to report a failed start to the Runtime API.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Variables that Lambda sets and `lambda_runtime` requires.
const LAMBDA_VARIABLES: [&str; 4] = [
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
];

/// Function that a program serves.
pub trait Served: 'static {
    /// Returns whether something is running in this process that no answer needs and that does not
    /// end. It is called after each answer. If so, the process ends, and Lambda starts another one
    /// for the next event.
    fn is_stuck(&self) -> impl Future<Output = bool> {
        async { false }
    }
}

/// Creates a function from the environment, and lets it answer events until the process ends. Fails
/// if it cannot be created, which is also reported to the Runtime API, and if the Runtime API
/// fails.
pub async fn serve<F, H, A>(
    make: impl FnOnce(&Environment) -> Result<F, ConfigError>,
    handle: H,
) -> ExitCode
where
    F: Served,
    H: Fn(Arc<F>, LambdaEvent<Value>) -> A,
    A: Future<Output = Result<Value, Diagnostic>> + 'static,
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
    F: Served,
    H: Fn(Arc<F>, LambdaEvent<Value>) -> A,
    A: Future<Output = Result<Value, Diagnostic>> + 'static,
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
    let end_stuck = EndStuck {
        function: Arc::clone(&function),
        end: || std::process::exit(1),
    };
    lambda_runtime::Runtime::new(service)
        .layer(end_stuck)
        .run()
        .await
}

/// Ends the process after an answer if something is stuck. When the wrapped service finishes, it
/// has sent the answer to the Runtime API, but not requested the next event yet.
#[derive(Clone)]
struct EndStuck<F, E> {
    function: Arc<F>,
    end: E,
}

impl<F, E: Clone, S> Layer<S> for EndStuck<F, E> {
    type Service = EndingStuck<F, E, S>;

    fn layer(&self, inner: S) -> Self::Service {
        EndingStuck {
            inner,
            function: Arc::clone(&self.function),
            end: self.end.clone(),
        }
    }
}

struct EndingStuck<F, E, S> {
    inner: S,
    function: Arc<F>,
    end: E,
}

impl<F, E, S, Event> Service<Event> for EndingStuck<F, E, S>
where
    F: Served,
    E: Fn() + Clone + 'static,
    S: Service<Event>,
    S::Future: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, event: Event) -> Self::Future {
        let answered = self.inner.call(event);
        let function = Arc::clone(&self.function);
        let end = self.end.clone();
        Box::pin(async move {
            let answered = answered.await;
            if function.is_stuck().await {
                error!(
                    target: "canter::lambda",
                    "a search goes on although its time is up; this instance ends, and the next event \
                     gets a fresh one"
                );
                end();
            }
            answered
        })
    }
}

/// Reports to the Runtime API why the function cannot start, so that the caller gets the message.
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
        // The error is also on standard error, and there is no other place to report it.
        let _ = sent.await;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    struct Sometimes(AtomicBool);

    impl Served for Sometimes {
        async fn is_stuck(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[tokio::test]
    async fn a_process_with_something_left_behind_ends_after_its_answer() {
        let function = Arc::new(Sometimes(AtomicBool::new(false)));
        let (num_answers, num_ends) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (answers, ends) = (Arc::clone(&num_answers), Arc::clone(&num_ends));
        let seen = Arc::clone(&num_answers);
        let layer = EndStuck {
            function: Arc::clone(&function),
            end: move || {
                // The answer has been sent by now.
                assert_eq!(seen.load(Ordering::Relaxed), 2);
                ends.fetch_add(1, Ordering::Relaxed);
            },
        };
        let mut service = layer.layer(service_fn(move |()| {
            let answers = Arc::clone(&answers);
            async move {
                answers.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(())
            }
        }));
        service.call(()).await.unwrap();
        assert_eq!(num_ends.load(Ordering::Relaxed), 0);
        function.0.store(true, Ordering::Relaxed);
        service.call(()).await.unwrap();
        assert_eq!(num_ends.load(Ordering::Relaxed), 1);
    }
}
