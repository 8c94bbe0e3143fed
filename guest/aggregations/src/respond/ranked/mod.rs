//! What is shown in the order of a score: documents, and terms that are compared.

mod categories;
mod fields;
mod hits;
mod significant;

pub(super) use fields::top_hits;
pub use hits::{Answer, HitValue, ShownHit, fill_hits, marked};
pub use significant::{BackgroundAsk, Backgrounds};
