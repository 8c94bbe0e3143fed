//! Byte ranges, for every host: from missing ranges to requests, and from received bytes to blocks.
//! Pure functions without I/O.

pub mod blocks;
pub mod coalesce;
mod extent;
pub mod pieces;
pub mod planning;

pub use extent::Extent;
pub use pieces::CachedPiece;
