//! The search API: an HTTP request → a session → an HTTP response.
//!
//! ```text
//!   HttpRequest ──read_call──▶ Call ──run──▶ a search, as any other ──▶ HttpResponse
//!                 path, parameters           manifest, splits, hits      status, headers, body
//! ```
//!
//! It speaks the paths and parameters of Quickwit's REST API, and refuses what it does not know by
//! name. It stands in the guest so that every host speaks exactly the same; a host carries requests and
//! bytes. Who a caller is and what it may see the host finds out, and says it in the settings.

mod call;
mod elastic;
mod http;
mod indexes;
mod params;
mod settings;

pub(crate) use call::read_call;
pub(crate) use elastic::to_elastic;
pub(crate) use http::to_http;
pub use http::{http_error, http_refusal};
pub(crate) use settings::ApiSettings;

#[cfg(test)]
mod tests;
