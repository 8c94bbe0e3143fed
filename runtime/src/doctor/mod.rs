//! Examines a store or web server for what Canter, and a browser, need of it.
//!
//! Each check has a stable name, says what was seen and, where something is wrong, what to change. No
//! check trusts another: a server that ignores ranges is still asked for its ETag. Requests and bytes are
//! bounded, and nothing is written. Rendering is left to others.
//!
//! ```text
//!   examine_web(url)      ─→ Probe (raw HTTP) ─→ ranges, versions, browser, connection ─→ Report
//!   examine_bucket(store) ─→ RangeFetcher     ─→ the same, as far as a store lets see   ─→ Report
//! ```

mod advice;
mod browser;
mod bucket;
mod connection;
mod probe;
mod ranges;
mod report;
mod timing;
mod versions;
mod web;

pub use bucket::examine_bucket;
pub use report::{Check, CheckStatus, DoctorOptions, Report, Timing};
pub use web::examine_web;
