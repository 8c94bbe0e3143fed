//! The nearest vectors of splits, compared with those that a plain comparison of all finds.

mod measured;
mod mixture;
mod oracle;
mod random;
