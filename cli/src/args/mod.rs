//! Arguments that several commands share, and the parsing of their values.

mod amounts;
mod cache;
mod engine;
mod format;
#[cfg(feature = "serve")]
mod index_name;
mod limits;
mod scope;
mod searcher;
#[cfg(feature = "serve")]
mod serving_cache;

#[cfg(feature = "serve")]
pub(crate) use amounts::parse_bytes;
pub(crate) use amounts::{parse_duration, parse_some_bytes, parse_some_duration};
pub(crate) use cache::CacheArgs;
pub(crate) use engine::{EngineArgs, InstanceCaps};
pub(crate) use format::{Format, FormatArg};
#[cfg(feature = "serve")]
pub(crate) use index_name::parse_index;
pub(crate) use limits::LimitArgs;
pub(crate) use scope::ScopeArgs;
pub(crate) use searcher::SearcherArgs;
#[cfg(feature = "serve")]
pub(crate) use serving_cache::ServingCacheArgs;
