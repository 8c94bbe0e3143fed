//! Takes credentials out of text that is about to be written to a log.
//!
//! An index's URI may be presigned, and messages of HTTP clients quote URLs. So query strings,
//! fragments and user names of URLs never reach a log, and neither do the values of parameters and
//! headers that are known to carry a secret, wherever they stand.

/// Names whose value is a secret, as they stand before `=` or `:`, in lower case.
const SECRET_NAMES: [&str; 14] = [
    "x-amz-signature",
    "x-amz-credential",
    "x-amz-security-token",
    "x-goog-signature",
    "x-goog-credential",
    "awsaccesskeyid",
    "signature",
    "sig",
    "authorization",
    "access_token",
    "secret_access_key",
    "session_token",
    "password",
    "cookie",
];

/// What stands where something was taken out.
const REMOVED: &str = "REDACTED";

/// `text` without what may be a credential: of each URL only scheme, host and path are left, and the
/// values of parameters such as `X-Amz-Signature` are replaced.
pub fn redact(text: &str) -> String {
    redact_values(&redact_urls(text))
}

fn redact_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let (url, tail) = after.split_at(after.find(ends_url).unwrap_or(after.len()));
        push_url(&mut out, url);
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '\\')
}

/// Adds a URL (without its scheme) up to its query string.
fn push_url(out: &mut String, url: &str) {
    let authority_len = url.find(['/', '?', '#']).unwrap_or(url.len());
    let (authority, path) = url.split_at(authority_len);
    match authority.rsplit_once('@') {
        Some((_user, host)) => out.push_str(host),
        None => out.push_str(authority),
    }
    match path.find(['?', '#']) {
        Some(end) => {
            out.push_str(&path[..end]);
            out.push('?');
            out.push_str(REMOVED);
        }
        None => out.push_str(path),
    }
}

/// Replaces what follows a secret name and `=` or `:`.
fn redact_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        let is_header = before.ends_with(':');
        if !is_secret(&before[..at]) {
            continue;
        }
        let quotes = |c: char| matches!(c, '"' | '\'' | '\\') || (is_header && c == ' ');
        let value = rest.trim_start_matches(quotes);
        out.push_str(&rest[..rest.len() - value.len()]);
        // A header's value may have several words: `Authorization: AWS4-HMAC-SHA256 Credential=…`.
        let ends_value = |c: char| match is_header {
            true => matches!(c, '"' | '\'' | '\\' | '\n'),
            false => c.is_whitespace() || matches!(c, '&' | '"' | '\'' | '\\' | ',' | ')' | ';'),
        };
        let end = value.find(ends_value).unwrap_or(value.len());
        if end > 0 {
            out.push_str(REMOVED);
        }
        rest = &value[end..];
    }
    out.push_str(rest);
    out
}

/// Whether `before` ends with a secret name, in quotes or not.
fn is_secret(before: &str) -> bool {
    let name = before.trim_end_matches(['"', '\'', '\\']);
    let start = name
        .char_indices()
        .rev()
        .find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
        .map_or(0, |(at, c)| at + c.len_utf8());
    SECRET_NAMES
        .iter()
        .any(|secret| name[start..].eq_ignore_ascii_case(secret))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn credentials_are_taken_out_and_the_rest_stays() {
        let check = |text: &str, expect: &str| assert_eq!(redact(text), expect);
        check("nothing to hide", "nothing to hide");
        check("s3://bucket/logs", "s3://bucket/logs");
        check(
            "https://host/idx?X-Amz-Signature=abc&x=1 failed",
            "https://host/idx?REDACTED failed",
        );
        check("https://me:secret@host:8080/a", "https://host:8080/a");
        check(
            "for url (https://h/a?sig=1): reset",
            "for url (https://h/a?REDACTED): reset",
        );
        check(
            "a http://h?k=v b http://i/#t",
            "a http://h?REDACTED b http://i/?REDACTED",
        );
        check(
            "{\"index\":\"https://h/i?sig=1\"}",
            "{\"index\":\"https://h/i?REDACTED\"}",
        );
        check(
            "GET /i?X-Amz-Signature=ab&n=1",
            "GET /i?X-Amz-Signature=REDACTED&n=1",
        );
        check("sig=abc signed=yes", "sig=REDACTED signed=yes");
        check(
            "Authorization: AWS4 Credential=k, Signature=s",
            "Authorization: REDACTED",
        );
        check(
            "\"authorization\": \"Bearer x\", \"a\": 1",
            "\"authorization\": \"REDACTED\", \"a\": 1",
        );
        check(
            "offset=10 class=\"postings\" time: 5",
            "offset=10 class=\"postings\" time: 5",
        );
    }

    proptest! {
        #[test]
        fn no_query_string_survives(
            before in ".{0,20}", host in "[a-z]{1,9}", path in "(/[a-z]{1,5}){0,3}", after in ".{0,20}",
        ) {
            let text = format!("{before} https://{host}{path}?k=s3cr3t-value {after}");
            let out = redact(&text);
            prop_assert!(!out.contains("s3cr3t-value"), "{}", out);
        }
    }
}
