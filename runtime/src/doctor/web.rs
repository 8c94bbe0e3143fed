//! Examination of a web server.

use canter_stores::redirect_of;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE};
use url::Url;

use super::probe::{Probe, Seen, Unseen};
use super::report::{Check, DoctorOptions, Report};
use super::{browser, connection, ranges, timing, versions};
use crate::SearchError;

/// Examines the web server of the first one of `urls` that exists.
///
/// # Errors
/// `Invalid` without a URL. Problems of the server are in the report.
pub async fn examine_web(urls: &[Url], options: &DoctorOptions) -> Result<Report, SearchError> {
    let (first_url, others) = urls
        .split_first()
        .ok_or_else(|| SearchError::invalid("there is no URL to examine"))?;
    let mut probe = Probe::new(first_url.clone(), options.clone())?;
    let mut first = ranges::ask_first(&mut probe).await;
    for url in others {
        match &first {
            Ok(seen) if is_absent(seen) => {
                probe.url = url.clone();
                first = ranges::ask_first(&mut probe).await;
            }
            _ => break,
        }
    }
    let mut report = Report {
        url: shown(&probe.url),
        object_len: None,
        checks: Vec::new(),
        timing: None,
        num_requests: 0,
        num_bytes: 0,
    };
    match reachable(&probe.url, first) {
        Ok((checks, first)) => {
            report.checks = checks;
            report.object_len = len_of(&first);
            examine(&mut probe, &first, &mut report).await;
        }
        Err(checks) => report.checks = checks,
    }
    report.num_requests = probe.num_requests;
    report.num_bytes = probe.num_bytes;
    Ok(report)
}

async fn examine(probe: &mut Probe, first: &Seen, report: &mut Report) {
    let ranges = ranges::check(probe, first, report.object_len).await;
    report.checks.extend(ranges.checks);
    let versions = versions::check(probe, first).await;
    let browser = browser::check(probe).await;
    let object_len = report.object_len.filter(|len| *len > 0 && ranges.works);
    let reads = match object_len {
        Some(len) => connection::read(probe, len).await,
        None => connection::Reads::default(),
    };
    report.timing = object_len.and_then(|len| reads.timing(len));
    report.checks.extend(versions);
    report.checks.push(versions::etag_stable(probe));
    report.checks.extend(browser);
    report.checks.push(connection::http_version(first));
    report.checks.push(reads.keep_alive());
    report.checks.extend(timing::checks_of(report.timing));
}

/// Returns the answer if there is an object to examine, or else the failed check.
fn reachable(url: &Url, first: Result<Seen, Unseen>) -> Result<(Vec<Check>, Seen), Vec<Check>> {
    const NAME: &str = "reachable";
    let refused = |seen: String, change: &str| Err(vec![Check::failed(NAME, seen, change)]);
    let seen = match first {
        Ok(seen) => seen,
        Err(unseen) => {
            let change =
                "check the address, the name of the host, its certificate and whether it runs";
            return refused(unseen.into_text(), change);
        }
    };
    let status = seen.status;
    if let Some(fault) = redirect_of(url, status, &seen.headers) {
        let reached = Check::ok(NAME, format!("status {status}"));
        let redirect = Check::failed("redirect", fault.seen, fault.fault.remedy());
        return Err(vec![reached, redirect]);
    }
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => refused(
            format!("status {status}"),
            "allow reading, or give a signed URL; an object store may say 403 for what is not there",
        ),
        _ if is_absent(&seen) => refused(
            format!("status {status}"),
            "give the URL of an index, or of a file on the server",
        ),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            let reached = Check::ok(NAME, format!("status {status}"));
            Ok((vec![reached, redirect(url, &seen.url)], seen))
        }
        _ => refused(format!("status {status}"), "look into the server's log"),
    }
}

fn redirect(asked: &Url, found: &Url) -> Check {
    const NAME: &str = "redirect";
    match asked == found {
        true => Check::ok(NAME, "none"),
        false => Check::warning(
            NAME,
            format!("to {}", shown(found)),
            "use that address: each read waits for one round trip more",
        ),
    }
}

fn is_absent(seen: &Seen) -> bool {
    matches!(seen.status, StatusCode::NOT_FOUND | StatusCode::GONE)
}

/// Returns the object's length, from any header that reports it.
fn len_of(first: &Seen) -> Option<u64> {
    let of_range = first.header(CONTENT_RANGE).and_then(|header| {
        let (_, size) = header.rsplit_once('/')?;
        size.trim().parse().ok()
    });
    match first.status {
        StatusCode::OK => first.header(CONTENT_LENGTH)?.parse().ok(),
        _ => of_range,
    }
}

/// Returns the URL without parts that may be secret.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These calls fail for URLs that cannot have credentials.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.into()
}
