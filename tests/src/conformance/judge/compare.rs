//! Comparison of an answer with the expected one.

use crate::conformance::faults::told_faults;
use crate::conformance::{Answer, COMMAND_FAILED, Request};

/// Returns the first difference, if there is one.
pub(crate) fn difference(request: &Request, expected: &Answer, found: &Answer) -> Option<String> {
    let mut found = found.clone();
    if found.status == COMMAND_FAILED && expected.status >= 400 {
        found.status = expected.status;
    }
    let found = &found;
    if request.expected.faults.is_some() {
        // Each fetcher words what it saw, but uses the same name for a fault.
        let told = (expected.status, told_faults(expected));
        let tells = (found.status, told_faults(found));
        return (told != tells)
            .then(|| format!("told {tells:?}, not {told:?}: {}", found.shortened(500)));
    }
    let (expected, found) = (expected.comparable(), found.comparable());
    if expected.status != found.status {
        let status = expected.status;
        let found = found.shortened(500);
        return Some(format!("status {status} was expected: {found}"));
    }
    // A command line has no headers.
    if let (Some(expected), Some(found)) = (&expected.headers, &found.headers)
        && expected != found
    {
        return Some(format!("headers {expected:?} were expected, not {found:?}"));
    }
    let bytes = expected.body.iter().zip(&found.body);
    let first = bytes.take_while(|(left, right)| left == right).count();
    (expected.body != found.body).then(|| {
        format!(
            "byte {first} of {} differs: … {} … was expected, not … {} …",
            expected.body.len(),
            around(&expected.body, first),
            around(&found.body, first)
        )
    })
}

/// Returns the text around a byte.
fn around(body: &[u8], at: usize) -> String {
    let start = at.saturating_sub(60);
    let end = body.len().min(at + 120);
    String::from_utf8_lossy(body.get(start..end).unwrap_or_default()).into_owned()
}
