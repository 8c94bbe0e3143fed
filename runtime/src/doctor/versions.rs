//! Checks whether the version of an object can be determined: ETags, conditions, intermediate
//! caches.

use reqwest::StatusCode;
use reqwest::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};

use super::probe::{Probe, Seen};
use super::report::Check;

/// Maximum time for which intermediate caches may keep a manifest. Beyond that, they hide new
/// publications.
const MAX_MANIFEST_AGE_S: u64 = 60;
/// Minimum time for which caches should keep splits, which never change.
const MIN_SPLIT_AGE_S: u64 = 24 * 3600;

/// Checks one answer, and sends one more request.
pub(super) async fn check(probe: &mut Probe, first: &Seen) -> Vec<Check> {
    let etag = first.header(ETAG).map(str::to_owned);
    let present = match &etag {
        Some(etag) => Check::ok("etag", etag),
        None => Check::warning(
            "etag",
            "none",
            "send an ETag: without one a manifest is read again each time, and an object that is \
             replaced during a search goes unnoticed",
        ),
    };
    vec![
        present,
        if_none_match(probe, etag).await,
        cache_control(probe, first),
    ]
}

async fn if_none_match(probe: &mut Probe, etag: Option<String>) -> Check {
    const NAME: &str = "if_none_match";
    let Some(etag) = etag else {
        return Check::skipped(NAME, "there is no ETag to ask with");
    };
    match probe.get(&[(IF_NONE_MATCH, &etag)], 0).await {
        Err(unseen) => Check::skipped(NAME, unseen.into_text()),
        Ok(seen) if seen.status == StatusCode::NOT_MODIFIED => {
            Check::ok(NAME, "status 304 for the same version")
        }
        Ok(seen) => Check::warning(
            NAME,
            format!("status {} for the same version", seen.status),
            "honour If-None-Match: until then an unchanged manifest costs its bytes again",
        ),
    }
}

/// Checks the versions in all answers so far, so it must be the last check.
pub(super) fn etag_stable(probe: &Probe) -> Check {
    const NAME: &str = "etag_stable";
    let num_requests = probe.num_requests;
    match probe.etags.len() {
        0 => Check::skipped(NAME, "there is no ETag"),
        1 => Check::ok(NAME, format!("the same in all of {num_requests} requests")),
        num_etags => Check::failed(
            NAME,
            format!("{num_etags} different ones in {num_requests} requests"),
            "derive the ETag from the bytes (or time and length), alike on all servers behind this \
             address: Canter takes another ETag for another object and stops (etag_changed)",
        ),
    }
}

fn cache_control(probe: &Probe, first: &Seen) -> Check {
    const NAME: &str = "cache_control";
    let Some(header) = first.header(CACHE_CONTROL) else {
        return Check::ok(NAME, "none");
    };
    let directives: Vec<String> = header
        .split(',')
        .map(|directive| directive.trim().to_ascii_lowercase())
        .collect();
    let has = |name: &str| directives.iter().any(|directive| directive == name);
    let age = |name: &str| {
        let values = directives
            .iter()
            .filter_map(|directive| directive.strip_prefix(name));
        values
            .filter_map(|value| value.trim_matches('"').parse::<u64>().ok())
            .max()
    };
    let must_ask = has("no-cache") || has("no-store");
    let max_age = age("max-age=").max(age("s-maxage="));
    let object = probe.url.path().rsplit('/').next();
    let is_mutable = probe.options.mutable_object.as_deref() == object;
    match (is_mutable, max_age) {
        (true, Some(max_age)) if max_age > MAX_MANIFEST_AGE_S && !must_ask => Check::warning(
            NAME,
            header,
            "send `Cache-Control: no-cache` with the manifest, or searches may miss what was published \
             in the meantime",
        ),
        (false, max_age) if must_ask || max_age.is_some_and(|age| age < MIN_SPLIT_AGE_S) => {
            Check::warning(
                NAME,
                header,
                "send `Cache-Control: public, max-age=31536000, immutable` with splits: they never change",
            )
        }
        _ => Check::ok(NAME, header),
    }
}
