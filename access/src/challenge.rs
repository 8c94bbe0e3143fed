//! Challenges that a server sends in answer to a request without a token.

/// All authentication schemes that the server accepts, as values of `WWW-Authenticate`.
const CHALLENGES: [&str; 3] = [
    "ApiKey",
    "Bearer",
    "Basic realm=\"canter\", charset=\"UTF-8\"",
];

/// Returns the values of `WWW-Authenticate` for an answer with status 401.
///
/// Scripts of a page (recognized by `X-Requested-With` or `Sec-Fetch-Dest`) are not offered
/// `Basic`: the browser would open its own password window before the page could ask for a token.
pub fn challenges(
    requested_with: Option<&str>,
    fetch_dest: Option<&str>,
) -> impl Iterator<Item = &'static str> + use<> {
    let is_script = requested_with == Some("XMLHttpRequest") || fetch_dest == Some("empty");
    let num_offered = CHALLENGES.len() - usize::from(is_script);
    CHALLENGES.into_iter().take(num_offered)
}
