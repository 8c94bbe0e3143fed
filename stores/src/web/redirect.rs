//! Redirects: followed a few times on the same host, refused to any other.
//!
//! A request may carry a signature, a session token or a signed query string. A server must not be
//! able to send these elsewhere, so a redirect to another host is an error that names the host. It
//! is not followed without the credentials either.

use http::StatusCode;
use http::header::{HeaderMap, LOCATION};
#[cfg(feature = "buckets")]
use reqwest::redirect::Policy;
use url::Url;

use crate::{Misbehaviour, StoreFault};

/// Maximum number of redirects that one request follows.
pub const MAX_REDIRECTS: usize = 5;

/// Returns the redirect policy of a client. Redirects that it refuses arrive as answers with status
/// 3xx, which [`redirect_of`] turns into errors.
#[cfg(feature = "buckets")]
pub fn same_host_only() -> Policy {
    Policy::custom(|attempt| {
        let may_follow = attempt.previous().len() <= MAX_REDIRECTS
            && attempt
                .previous()
                .first()
                .is_some_and(|asked| is_same_host(asked, attempt.url()));
        match may_follow {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

/// Returns the fault of an answer whose redirect was not followed.
pub fn redirect_of(asked: &Url, status: StatusCode, headers: &HeaderMap) -> Option<Misbehaviour> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let Some(location) = headers.get(LOCATION) else {
        return bucket_elsewhere(status, headers);
    };
    let target = location.to_str().ok().and_then(|to| asked.join(to).ok());
    let from = origin_of(asked);
    // Only the host is shown: paths and queries may contain secrets.
    let to = target.as_ref().map_or("no URL".to_owned(), origin_of);
    let status = status.as_u16();
    Some(match target.is_some_and(|to| is_same_host(asked, &to)) {
        true => Misbehaviour::new(
            StoreFault::TooManyRedirects,
            format!("{from} redirects (status {status}) more than {MAX_REDIRECTS} times"),
        ),
        false => Misbehaviour::new(
            StoreFault::RedirectedToOtherHost,
            format!("{from} redirects (status {status}) to {to}, where nothing was sent"),
        ),
    })
}

/// Handles S3's answer with the region of a bucket in place of an address.
fn bucket_elsewhere(status: StatusCode, headers: &HeaderMap) -> Option<Misbehaviour> {
    let region = headers.get("x-amz-bucket-region")?.to_str().ok()?;
    let status = status.as_u16();
    Some(Misbehaviour::new(
        StoreFault::RedirectedToOtherHost,
        format!("the bucket is in the region {region} (status {status}): set AWS_REGION={region}"),
    ))
}

/// Returns whether host and port are equal. An upgrade from `http` to `https` at the default ports
/// counts as the same host; a downgrade does not.
pub fn is_same_host(asked: &Url, target: &Url) -> bool {
    let is_upgrade = (asked.scheme(), target.scheme()) == ("http", "https")
        && asked.port().is_none()
        && target.port().is_none();
    let is_same = asked.scheme() == target.scheme()
        && asked.port_or_known_default() == target.port_or_known_default();
    asked.host_str() == target.host_str() && (is_same || is_upgrade)
}

fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(asked: &str, status: u16, location: &'static str, expect: Option<StoreFault>) {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
        let asked = Url::parse(asked).unwrap();
        let found = redirect_of(&asked, StatusCode::from_u16(status).unwrap(), &headers);
        assert_eq!(
            found.as_ref().map(|found| found.fault),
            expect,
            "{location}"
        );
        if let Some(found) = found {
            assert!(!found.to_string().contains("secret"), "{found}");
        }
    }

    #[test]
    fn a_bucket_in_another_region_names_it() {
        let headers = HeaderMap::from_iter([(
            http::HeaderName::from_static("x-amz-bucket-region"),
            HeaderValue::from_static("eu-west-1"),
        )]);
        let asked = Url::parse("https://s3.us-east-1.amazonaws.com/b/x").unwrap();
        let found = redirect_of(&asked, StatusCode::MOVED_PERMANENTLY, &headers).unwrap();
        assert!(
            found.to_string().contains("AWS_REGION=eu-west-1"),
            "{found}"
        );
        let none = redirect_of(&asked, StatusCode::MOVED_PERMANENTLY, &HeaderMap::new());
        assert_eq!(none, None);
    }

    #[test]
    fn only_the_same_host_is_the_same_host() {
        let other = Some(StoreFault::RedirectedToOtherHost);
        let again = Some(StoreFault::TooManyRedirects);
        let asked = "https://a.example/x?sig=secret";
        check(asked, 302, "/y", again);
        check(asked, 302, "https://a.example:443/y?sig=secret", again);
        check(asked, 307, "https://b.example/x?sig=secret", other);
        check(asked, 301, "https://b.a.example/x", other);
        check(asked, 301, "https://a.example:444/x", other);
        check(asked, 301, "http://a.example/x", other);
        check(asked, 308, "//b.example/x", other);
        check(asked, 308, "https://[", other);
        check("http://a.example/x", 301, "https://a.example/x", again);
        check(
            "http://a.example:80/x",
            301,
            "https://a.example:8443/x",
            other,
        );
        check(asked, 304, "https://b.example/", None);
        check(asked, 200, "https://b.example/", None);
    }
}
