//! The age of a cached manifest: the one mutable object, kept with its ETag and revalidated.
//!
//! ```text
//!   age      0 ────── ttl ─────────── ttl + stale_while_revalidate ──────→
//!   answer   cached     cached, and revalidated behind     revalidated first
//! ```

use std::time::Duration;

use canter_stores::cache::KeptManifest;

/// How long a cached manifest is used without revalidating it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Age in milliseconds up to which a cached manifest is used as it is; 0 asks each time.
    pub ttl_ms: u64,
    /// Time in milliseconds after `ttl_ms` in which a cached manifest is still used, while a request behind the answer
    /// asks for the next search; 0 never answers from a manifest that may have changed.
    pub stale_while_revalidate_ms: u64,
}

/// Use of a cached manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestAge {
    /// Use it as it is.
    Fresh,
    /// Use it, and ask behind the answer.
    Stale,
    /// Ask whether it still holds.
    Expired,
}

impl ManifestAge {
    /// Returns the use of `kept` at `now`, a time since 1970. An entry from the future, as a clock that was set back
    /// makes it, is expired.
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

/// Whether a manifest that held at `checked_at` may take the place of `held`: an answer that was long on its way must
/// not replace a later one. An entry from the future is no later one.
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
