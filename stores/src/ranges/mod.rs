//! Ranges of bytes, for every host: what is missing becomes requests, and what came becomes blocks. Pure
//! functions; nothing here sends or keeps anything.

pub mod blocks;
pub mod coalesce;
mod extent;
pub mod pieces;
pub mod planning;

pub use extent::Extent;
pub use pieces::CachedPiece;
