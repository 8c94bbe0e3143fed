//! Networks of addresses.

/// `search-aggregations-bucket-ipprefix-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct IpPrefix {
    pub(crate) field: String,
    pub(crate) is_ipv6: bool,
    /// Number of leading bits of an address that make its bucket.
    pub(crate) prefix_len: u32,
    /// True if keys include the length of the prefix.
    pub(crate) shows_len: bool,
    pub(crate) is_keyed: bool,
    pub(crate) min_doc_count: u64,
}

impl IpPrefix {
    /// Returns the bits of an IPv6 address that make the bucket.
    pub(crate) fn mask(&self) -> u128 {
        let len = match self.is_ipv6 {
            true => self.prefix_len,
            false => self.prefix_len.saturating_add(96),
        };
        u128::MAX
            .checked_shl(128u32.saturating_sub(len))
            .unwrap_or(0)
    }
}
