//! How large an index may become: what searches read by default, and what builders therefore write.
//!
//! No part of the bytes. A search may be given other limits; an index beyond these is one that
//! searches refuse unless they are.

/// Most live splits of an index.
pub const MAX_SPLITS: u64 = 10_000;

/// Longest manifest, with the heads that it carries, in bytes: 64 MiB.
pub const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Whether `value` has come to 80 % of `limit`: from there on builders warn.
pub fn is_near_limit(value: u64, limit: u64) -> bool {
    // Without multiplying `value`, which may be any number.
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
