//! Checks whether scripts in a browser may read ranges (CORS).

use reqwest::Method;
use reqwest::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderName, ORIGIN, RANGE,
};

use super::advice;
use super::probe::{Probe, Seen};
use super::report::{Check, CheckStatus};

/// Sends two requests: one for a range in the form of a script's request, and its preflight.
pub(super) async fn check(probe: &mut Probe) -> Vec<Check> {
    let origin = probe.options.origin.clone();
    let get = probe
        .get(&[(ORIGIN, &origin), (RANGE, "bytes=0-0")], 1)
        .await;
    let asks = [
        (ORIGIN, origin.as_str()),
        (ACCESS_CONTROL_REQUEST_METHOD, "GET"),
        (ACCESS_CONTROL_REQUEST_HEADERS, "if-none-match,range"),
    ];
    let preflight = probe.send(Method::OPTIONS, &asks, 4096).await;
    let (get, preflight) = match (get, preflight) {
        (Ok(get), Ok(preflight)) => (get, preflight),
        (Err(unseen), _) | (_, Err(unseen)) => {
            let why = unseen.into_text();
            let names = ["cors_allow_origin", "cors_preflight", "cors_expose_headers"];
            return names.map(|name| Check::skipped(name, why.clone())).into();
        }
    };
    let mut checks = vec![
        allow_origin(&get, &origin),
        allow_preflight(&preflight, &origin),
        expose_headers(&get),
    ];
    // One change fixes all three problems, so it is shown once.
    if let Some(first) = checks.iter_mut().find(|check| check.change.is_some()) {
        first.example = Some(advice::cors(&get.headers, &origin));
    }
    if probe.options.is_for_browsers {
        for check in checks.iter_mut().filter(|check| check.change.is_some()) {
            check.status = CheckStatus::Failed;
        }
    }
    checks
}

fn allow_origin(get: &Seen, origin: &str) -> Check {
    const NAME: &str = "cors_allow_origin";
    let header = get.header(ACCESS_CONTROL_ALLOW_ORIGIN);
    match header {
        Some(allowed) if allowed == "*" || allowed == origin => Check::ok(NAME, allowed),
        _ => Check::warning(
            NAME,
            header.unwrap_or("none"),
            &format!("browsers: send `Access-Control-Allow-Origin: *`, or `{origin}`"),
        ),
    }
}

fn allow_preflight(preflight: &Seen, origin: &str) -> Check {
    const NAME: &str = "cors_preflight";
    let list = |name: HeaderName| list_of(preflight, name);
    let origins = list(ACCESS_CONTROL_ALLOW_ORIGIN);
    let is_origin = |allowed: &String| allowed == "*" || allowed.eq_ignore_ascii_case(origin);
    let headers = list(ACCESS_CONTROL_ALLOW_HEADERS);
    let methods = list(ACCESS_CONTROL_ALLOW_METHODS);
    let missing: Vec<&str> = ["range", "if-none-match"]
        .into_iter()
        .filter(|name| !has(&headers, name))
        .collect();
    // GET need not be in the list. A list without it is unusual but harmless.
    let seen = match preflight.status {
        status if !status.is_success() => format!("OPTIONS: status {status}"),
        _ if !origins.iter().any(is_origin) => "OPTIONS: the origin is not allowed".to_owned(),
        _ if !missing.is_empty() => {
            format!("OPTIONS: {} not allowed", missing.join(" and "))
        }
        status => {
            let methods = methods.join(", ");
            return Check::ok(NAME, format!("OPTIONS: status {status}, {methods}"));
        }
    };
    Check::warning(
        NAME,
        seen,
        "browsers: answer OPTIONS with 204, Access-Control-Allow-Origin and \
         `Access-Control-Allow-Headers: Range, If-None-Match`",
    )
}

fn expose_headers(get: &Seen) -> Check {
    const NAME: &str = "cors_expose_headers";
    let exposed = list_of(get, ACCESS_CONTROL_EXPOSE_HEADERS);
    let missing: Vec<&str> = ["content-range", "etag"]
        .into_iter()
        .filter(|name| !has(&exposed, name))
        .collect();
    match missing.is_empty() {
        true => Check::ok(NAME, exposed.join(", ")),
        false => Check::warning(
            NAME,
            format!("{} hidden from scripts", missing.join(" and ")),
            "browsers: send `Access-Control-Expose-Headers: Content-Range, ETag`",
        ),
    }
}

fn list_of(seen: &Seen, name: HeaderName) -> Vec<String> {
    let values = seen.headers.get_all(name).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|item| item.trim().to_ascii_lowercase())
        .filter(|item| !item.is_empty())
        .collect()
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|item| item == "*" || item == name)
}
