//! What a search costs in money.

mod table;

pub(crate) use table::{DEFAULT, Prices, QueryPrice, Usage, prices_json, usage_of};
