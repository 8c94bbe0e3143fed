//! `/ui/`: the search page as the server answers it. Separate tests cover its behaviour in a browser.

use reqwest::Method;

use crate::serve::Server;
use crate::serve_tokens::key;
use crate::support::indexed;

#[test]
fn the_page_comes_with_its_parts_and_may_load_nothing_else() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let page = server.get("/ui/");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe"), "{policy}");
    // The files that the page names exist.
    let mut num_parts = 0;
    for part in page
        .text
        .split('"')
        .filter(|text| text.ends_with(".js") || text.ends_with(".css"))
    {
        let path = format!("/ui/{}", part.trim_start_matches("./"));
        assert_eq!(server.get(&path).status, 200, "{path}");
        num_parts += 1;
    }
    assert!(num_parts >= 2, "{}", page.text);
    let tag = page.header("etag").unwrap();
    let again = server.send(
        Method::GET,
        "/ui/",
        &[("if-none-match", tag)],
        String::new(),
    );
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    assert_eq!(server.get("/ui").status, 200, "it leads to the page");
    assert_eq!(server.get("/ui/nothing.js").status, 404);
    assert_eq!(server.get("/ui/..%2f..%2fCargo.toml").status, 404);
    // A browser is redirected there; an API client gets the version.
    let visitor = server.send(
        Method::GET,
        "/",
        &[("accept", "text/html,*/*")],
        String::new(),
    );
    assert!(visitor.text.contains("<!doctype html>") || visitor.text.contains("<!DOCTYPE html>"));
    assert!(server.get("/").text.contains("cluster_name"));
}

#[test]
fn the_page_needs_no_token_and_the_api_does() {
    let folder = indexed();
    key(folder.path(), &["--id", "some"]);
    let server = Server::start(folder.path(), &["--api-keys", "keys.toml"]);
    assert_eq!(server.get("/ui/").status, 200);
    let refused = server.get("/api/v1/indexes");
    assert_eq!(refused.status, 401);
    let schemes = |headers: &[(&str, &str)]| {
        let answer = server.send(Method::GET, "/api/v1/indexes", headers, String::new());
        answer.header_values("www-authenticate").join("; ")
    };
    assert!(schemes(&[]).contains("Basic"));
    // Otherwise, a browser would ask for a password before the page can.
    let of_page = schemes(&[("x-requested-with", "XMLHttpRequest")]);
    assert!(
        of_page.contains("Bearer") && !of_page.contains("Basic"),
        "{of_page}"
    );
}
