//! AWS Lambda on loopback: the Runtime API with a function's program as a child process, and the
//! API that invokes functions.
//!
//! ```text
//!   test ── invoke ──▶ LambdaFunction ◀── next, response, error ── the program, as Lambda starts it
//!   a function ── POST …/functions/NAME/invocations ──▶ LambdaService ──▶ LambdaFunction
//! ```
//!
//! Both use HTTP over real sockets. A Lambda environment answers one event at a time, and so does
//! this; `LambdaService` starts another one when all are busy.

mod function;
mod http;
mod service;

pub use function::{LambdaFunction, LambdaReply, LambdaStart};
pub use service::{InvokeFate, LambdaService};
