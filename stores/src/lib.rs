//! HTTP access to object stores, for readers and writers.
//!
//! This crate defines for every host which requests a wave of reads becomes, which answers to a
//! range request are valid, how received bytes are cached in blocks, and the names of store faults.
//! It opens buckets with a client that applies these rules (feature `buckets`, on by default). It
//! knows objects and bytes, but no indexes, and never retries.
//!
//! ```text
//!   reads ─→ ranges (align, coalesce, cut) ─→ requests ─→ answer, redirect (checks) ─→ bytes ─→ cache
//!
//!   open_bucket(s3://… | gs://… | az://…) ─→ object_store ─→ MannersConnector ─→ reqwest
//!                                                            └ check_answer, CountedBody, redirects
//! ```

mod amounts;
mod buffers;
mod clock;
mod fault;
mod object_name;
mod redact;
mod settings;
mod web;

pub mod ranges;

pub mod cache;

#[cfg(feature = "buckets")]
mod buckets;

pub use amounts::parse_bytes;
#[cfg(feature = "buckets")]
pub use buckets::{BucketOptions, MannersConnector, open_bucket};
pub use buffers::Buffer;
pub use clock::{WRONG_CLOCK, checked_unix_time, unix_time, unix_time_ms};
pub use fault::{Misbehaviour, NotImplemented, ObjectTooLong, StoreFault};
pub use object_name::check_object_name;
pub use ranges::{CachedPiece, Extent};
pub use redact::{redact, redact_urls, without_urls};
pub use settings::Settings;
pub use web::answer::{Answer, AskedRange, check_answer, past_the_end};
#[cfg(feature = "buckets")]
pub use web::http_client::http_client;
#[cfg(feature = "buckets")]
pub use web::redirect::same_host_only;
pub use web::redirect::{MAX_REDIRECTS, is_same_host, redirect_of};
pub use web::xml::without_xml;
