//! Takes credentials out of text that somebody is about to see: a log line, a message, a report.
//!
//! An index's URI may be presigned, and messages of HTTP clients quote URLs. So query strings,
//! fragments and user names of URLs are shown nowhere ([`redact_urls`]). The values of parameters and
//! headers that are known to carry a secret never reach a log either, wherever they stand ([`redact`]).

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

/// `text` with only scheme, host and path left of each URL in it: what may be shown of an index's URI.
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

/// `text` with `…` in place of each URL: for those who need not know where a store is.
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

/// Where a URL ends that `text` begins with. A bracket that was opened within it is a part of it; one
/// that was not is the text's around it.
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
