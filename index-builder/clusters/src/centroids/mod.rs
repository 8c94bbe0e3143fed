//! Centroids: which rows of numbers are close to a vector, and Lloyd's algorithm.

mod groups;
mod k_means;
mod rows;

pub(crate) use groups::Groups;
pub(crate) use k_means::centroids;
pub(crate) use rows::Rows;
