//! What a server says it takes, to whom no token was sent.

/// Every kind of token, as a value of `WWW-Authenticate`.
const CHALLENGES: [&str; 3] = [
    "ApiKey",
    "Bearer",
    "Basic realm=\"canter\", charset=\"UTF-8\"",
];

/// The values of `WWW-Authenticate` in an answer with status 401.
///
/// To a script of a page, which says so in `X-Requested-With` or `Sec-Fetch-Dest`, a name with a password is not offered: the
/// browser would ask its visitor for them in a window of its own, before the page could ask for a token.
pub fn challenges(
    requested_with: Option<&str>,
    fetch_dest: Option<&str>,
) -> impl Iterator<Item = &'static str> + use<> {
    let is_script = requested_with == Some("XMLHttpRequest") || fetch_dest == Some("empty");
    let num_offered = CHALLENGES.len() - usize::from(is_script);
    CHALLENGES.into_iter().take(num_offered)
}
