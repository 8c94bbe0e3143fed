//! Searches that consist of several: the hits of groups beside the first hit of each, a second query for the best hits,
//! the scores of named clauses, terms near the words of a text.
//!
//! ```text
//!   body ──read──▶ search, and the parts that need others ──run──▶ answer ──parts──▶ other searches ──▶ whole answer
//! ```
//!
//! Each part is a search as any other. Its demands join those of the others, so that they share their waves.

mod answer;
pub(super) mod boosts;
pub(super) mod groups;
pub(super) mod knn;
pub(super) mod lookup;
pub(super) mod rescore;
pub(super) mod run;
mod scores;
pub(super) mod suggest;
pub(super) mod wanted;
