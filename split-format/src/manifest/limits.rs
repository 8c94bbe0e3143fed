//! Default size limits of an index, for searches and therefore for builders.
//!
//! They are not part of the format. A search may use other limits; searches with the defaults
//! refuse a larger index.

/// Maximum number of live splits in an index.
pub const MAX_SPLITS: u64 = 10_000;

/// Maximum length of a manifest with the heads that it carries, in bytes: 64 MiB.
pub const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Returns whether `value` has reached 80 % of `limit`, where builders start to warn.
pub fn is_near_limit(value: u64, limit: u64) -> bool {
    // Avoids multiplying `value`, which may be any number.
    value >= limit.saturating_sub(limit / 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_comes_from_80_percent_on() {
        let check = |value, limit, expect| assert_eq!(is_near_limit(value, limit), expect);
        check(7_999, MAX_SPLITS, false);
        check(8_000, MAX_SPLITS, true);
        check(10_000, MAX_SPLITS, true);
        check(u64::MAX, MAX_MANIFEST_BYTES, true);
        check(0, MAX_MANIFEST_BYTES, false);
    }
}
