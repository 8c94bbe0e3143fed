//! Bounds of what a request may ask for, besides those that a host sets ([`super::Limits`]) and those of
//! aggregations: each is checked before anything is made for it.

/// Most names in `search_field`, and most in `snippet_fields`.
pub(crate) const MAX_FIELDS: usize = 100;
