//! Hits: the best documents of a split, and their places among those of other splits.

mod best;
mod kept;
mod order;
mod places;
mod sent_back;
mod several_values;
mod sort_key;
mod top_hits;

pub(crate) use best::place_in;
pub(super) use best::rounded;
pub(crate) use order::HitOrder;
pub(super) use places::{Elsewhere, settle_places};
pub(crate) use sent_back::shows_milliseconds;
pub(super) use top_hits::TopHits;
