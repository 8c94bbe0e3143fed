//! The search API: an HTTP request → a session → an HTTP response.
//!
//! ```text
//!   HttpRequest ──read_call──▶ Call ──run──▶ a search, as any other ──▶ HttpResponse
//!                 path, parameters           manifest, splits, hits      status, headers, body
//! ```
//!
//! It implements the paths and parameters of Quickwit's REST API, and refuses unknown ones by name. It
//! is part of the guest so that every host behaves the same; a host transports requests and bytes. The
//! host identifies the caller and its permissions, and passes them in the settings.

mod call;
mod elastic;
mod http;
mod indexes;
mod params;
mod settings;

pub(crate) use call::read_call;
pub(crate) use elastic::to_elastic;
pub use http::{http_error, http_refusal};
pub(crate) use http::{to_host, to_http};
pub(crate) use settings::ApiSettings;

#[cfg(test)]
mod tests;
