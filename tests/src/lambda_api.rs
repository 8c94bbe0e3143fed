//! AWS Lambda on loopback: the Runtime API, a function's program as a child process behind it, and the
//! API that invokes functions.
//!
//! ```text
//!   test ── invoke ──▶ LambdaFunction ◀── next, response, error ── the program, as Lambda starts it
//!   a function ── POST …/functions/NAME/invocations ──▶ LambdaService ──▶ LambdaFunction
//! ```
//!
//! Both speak HTTP over real sockets. An environment of Lambda answers one event at a time, and so does
//! this; `LambdaService` starts another when all are busy.

mod function;
mod http;
mod service;

pub use function::{LambdaFunction, LambdaReply, LambdaStart};
pub use service::{InvokeFate, LambdaService};
