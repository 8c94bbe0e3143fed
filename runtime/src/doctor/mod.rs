//! Examination of a store or web server: does it meet the requirements of Canter and of browsers?
//!
//! Each check has a stable name, reports its observation and, in case of a problem, the change that
//! fixes it. Checks are independent: a server that ignores ranges is still checked for its ETag.
//! Requests and bytes are limited, and nothing is written. The report is rendered elsewhere.
//!
//! ```text
//!   examine_web(url)      ─→ Probe (raw HTTP) ─→ ranges, versions, browser, connection ─→ Report
//!   examine_bucket(store) ─→ RangeFetcher     ─→ the same, as far as the store allows  ─→ Report
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
