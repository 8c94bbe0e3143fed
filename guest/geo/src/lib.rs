//! Places on Earth: points and their codes, the notations in which documents and requests write points,
//! regions, distances, and the cells of grids. Pure arithmetic that gives the same bits on every host.
//!
//! It knows neither documents, nor columns, nor requests.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod boxes;
mod cells;
mod cover;
mod distance;
mod grid;
mod notation;
mod point;
mod region;

pub use boxes::read_box;

pub use cover::cover;
pub use distance::{Distance, Metric, Unit};
pub use grid::{CellBounds, Grid, letters_of};
pub use notation::{read_point, read_points};
pub use point::{CodeBox, Point};
pub use region::{GeoBox, Region};
