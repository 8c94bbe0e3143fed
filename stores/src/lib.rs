//! How Canter speaks with object stores over HTTP, for whoever reads and whoever writes.
//!
//! What an answer to a range request must look like stands here once, and so do the names of what
//! stores do wrong. Buckets are opened here, with a client that keeps to both. It knows objects and
//! bytes; it caches nothing, repeats nothing and does not know what an index is.
//!
//! ```text
//!   open_bucket(s3://… | gs://… | az://…) ─→ object_store ─→ MannersConnector ─→ reqwest
//!                                                            └ check_answer, CountedBody, redirects
//! ```

mod fault;

mod answer;
mod body;
mod redirect;
mod xml;

mod bucket;
mod client;
mod connector;

pub use answer::{Answer, AskedRange, check_answer, past_the_end};
pub use bucket::{BucketOptions, Settings, open_bucket};
pub use connector::{MannersConnector, ObjectTooLong};
pub use fault::{Misbehaviour, StoreFault};
pub use redirect::{redirect_of, same_host_only};
pub use xml::without_xml;
