//! The age of a cached manifest: the only mutable object, kept with its ETag and revalidated.
//!
//! ```text
//!   age      0 ────── ttl ─────────── ttl + stale_while_revalidate ──────→
//!   answer   cached     cached, and revalidated meanwhile  revalidated first
//! ```

use std::time::Duration;

use canter_stores::cache::KeptManifest;

/// Limits on the use of a cached manifest without revalidation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Age in milliseconds up to which a cached manifest is used without a request; 0 revalidates it each time.
    pub ttl_ms: u64,
    /// Time in milliseconds after `ttl_ms` in which a cached manifest is still used while a request in the background
    /// revalidates it for the next search; 0 never uses a manifest that may have changed.
    pub stale_while_revalidate_ms: u64,
}

/// Use of a cached manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestAge {
    /// Use it as it is.
    Fresh,
    /// Use it, and revalidate it in the background.
    Stale,
    /// Revalidate it first.
    Expired,
}

impl ManifestAge {
    /// Returns the use of `kept` at `now`, a time since 1970. An entry from the future, after a clock was set back,
    /// is expired.
    pub fn of(kept: &KeptManifest, now: Duration, options: ManifestOptions) -> Self {
        let ttl = Duration::from_millis(options.ttl_ms);
        let grace = Duration::from_millis(options.stale_while_revalidate_ms);
        match now.checked_sub(kept.checked_at) {
            Some(age) if age < ttl => Self::Fresh,
            Some(age) if age < ttl.saturating_add(grace) => Self::Stale,
            _ => Self::Expired,
        }
    }
}

/// Returns whether a manifest that was valid at `checked_at` may replace `held`: a delayed answer must not replace a
/// later one. An entry from the future does not count as later.
pub fn may_replace(held: Option<&KeptManifest>, checked_at: Duration, now: Duration) -> bool {
    held.is_none_or(|held| held.checked_at <= checked_at || held.checked_at > now)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn kept(checked_at_ms: u64) -> KeptManifest {
        KeptManifest {
            checked_at: Duration::from_millis(checked_at_ms),
            etag: String::new(),
            bytes: Bytes::new(),
        }
    }

    #[test]
    fn a_manifest_grows_old() {
        let options = ManifestOptions {
            ttl_ms: 10,
            stale_while_revalidate_ms: 5,
        };
        let at = |now_ms| ManifestAge::of(&kept(100), Duration::from_millis(now_ms), options);
        assert_eq!(at(100), ManifestAge::Fresh);
        assert_eq!(at(109), ManifestAge::Fresh);
        assert_eq!(at(110), ManifestAge::Stale);
        assert_eq!(at(115), ManifestAge::Expired);
        assert_eq!(at(99), ManifestAge::Expired, "from the future");
        let always = ManifestAge::of(
            &kept(100),
            Duration::from_millis(100),
            ManifestOptions::default(),
        );
        assert_eq!(always, ManifestAge::Expired);
    }

    #[test]
    fn an_older_manifest_never_replaces_a_newer_one() {
        let ms = Duration::from_millis;
        assert!(may_replace(None, ms(5), ms(9)));
        assert!(may_replace(Some(&kept(5)), ms(5), ms(9)));
        assert!(may_replace(Some(&kept(4)), ms(5), ms(9)));
        assert!(!may_replace(Some(&kept(6)), ms(5), ms(9)));
        assert!(
            may_replace(Some(&kept(10)), ms(5), ms(9)),
            "from the future"
        );
    }
}
