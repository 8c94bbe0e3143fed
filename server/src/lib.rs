//! The search API over HTTP, on axum: the implementation of `canter serve`.
//!
//! Reading requests go to the guest, which implements the API. This crate adds what only a host can do: connections,
//! tokens, bodies, origins, and changes. The command line parses arguments; this crate takes [`ServerSettings`].
//!
//! ```text
//!   connections ─▶ http: id, host, origin, media type ─▶ app ─┬─▶ access ─▶ searcher
//!                                                             └─▶ routes ─▶ access ─▶ writing │ managing ─▶ indexes
//! ```

mod error;
mod settings;

mod access;
mod app;
mod connections;
mod http;
mod indexes;
mod managing;
mod requests;
mod routes;
mod writing;

pub use app::Server;
pub use connections::{ConnectionLimits, Identity};
pub use error::ServerError;
pub use http::{FollowTrace, Origins, parse_allowed_host};
pub use indexes::{FindDocuments, FindError, RootSettings, Writers, WritingSettings};
pub use settings::{BodyLimits, CompatibleWith, ServerSettings};
