//! Servers of the tests on the loopback interface: web servers and buckets with and without faults, a real S3 server,
//! the Lambda API, and a forwarder that counts and damages what passes.

mod forwarder;
mod lambda_api;
mod s3_lookalike;
mod s3_objects;
mod s3_server;
mod web_server;

pub use forwarder::{Fate, Forwarder};
pub use lambda_api::{InvokeFate, LambdaFunction, LambdaReply, LambdaService, LambdaStart};
pub use s3_lookalike::{Flaw, S3Lookalike};
pub use s3_objects::put_objects;
pub use s3_server::{S3Server, SECRET_KEY, with_s3};
pub use web_server::{Quirk, WebRequest, WebServer};
