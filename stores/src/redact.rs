//! Removal of credentials from text that will be shown: logs, messages and reports.
//!
//! The URI of an index may be presigned, and messages of HTTP clients quote URLs. Query strings,
//! fragments and user names of URLs are therefore always removed ([`redact_urls`]). Logs also omit
//! the values of all parameters and headers that are known to carry a secret ([`redact`]).

/// Names whose value, after `=` or `:`, is a secret; in lower case.
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

/// Replacement for a secret.
const REMOVED: &str = "REDACTED";

/// Removes credentials from `text`: each URL keeps scheme, host and path only, and the values of
/// parameters such as `X-Amz-Signature` are replaced.
pub fn redact(text: &str) -> String {
    redact_values(&redact_urls(text))
}

/// Shortens each URL in `text` to its scheme, host and path, which may be shown.
pub fn redact_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let (url, tail) = after.split_at(url_len(after));
        push_url(&mut out, url);
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// Replaces each URL in `text` by `…`, for readers that must not learn the location of a store.
pub fn without_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        out.push_str(before.trim_end_matches(is_of_scheme));
        out.push('…');
        rest = &after[url_len(after)..];
    }
    out.push_str(rest);
    out
}

/// Returns the length of the URL at the start of `text`. A closing bracket belongs to the URL only
/// if it was opened within.
fn url_len(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            '"' | '\'' | '`' | '<' | '>' | '\\' => return at,
            c if c.is_whitespace() || c.is_control() => return at,
            _ => {}
        }
    }
    text.len()
}

/// Appends a URL (without its scheme) up to its query string.
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

/// Replaces the values after a secret name and `=` or `:`.
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
        // A header's value may contain spaces: `Authorization: AWS4-HMAC-SHA256 Credential=…`.
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

/// Returns whether `before` ends with a secret name, quoted or not.
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
        check("https://h/a?x=(1)&k=2 (no)", "https://h/a?REDACTED (no)");
        check("s3://key:p(ss@bucket/logs,", "s3://bucket/logs,");
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

    #[test]
    fn a_message_keeps_all_but_what_urls_hide() {
        let check = |text: &str, expect: &str| assert_eq!(redact_urls(text), expect);
        let message = "the field \"password\": it is not indexed; cookie=1";
        check(message, message);
        check(
            "cannot open `https://u:p@h/i?sig=1`",
            "cannot open `https://h/i?REDACTED`",
        );
    }

    #[test]
    fn urls_are_taken_out_as_a_whole() {
        let check = |text: &str, expect: &str| assert_eq!(without_urls(text), expect);
        check("nothing to hide: at all", "nothing to hide: at all");
        check(
            "GET http://h:9000/b/a?x=(1) in 3 ms: for url (https://h/a?sig=1): reset",
            "GET … in 3 ms: for url (…): reset",
        );
        check("`s3://b/logs`, s3a://b", "`…`, …");
        check("://", "…");
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
