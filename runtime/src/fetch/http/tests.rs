//! Tests of the HTTP fetcher with a web server that misbehaves on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::fetch::{Retry, RetryOptions};

/// Server that answers its n-th request with `answers[n]` (repeating the last one), closes the
/// connection, and checks the form of every request.
struct Server {
    base: Url,
    num_requests: Arc<AtomicUsize>,
}

impl Server {
    async fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let num_requests = Arc::new(AtomicUsize::new(0));
        let counter = num_requests.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).await.unwrap() == 0 {
                        break;
                    }
                    head.push(byte[0]);
                }
                let head = String::from_utf8(head).unwrap().to_lowercase();
                assert!(
                    head.starts_with("get /index/splits/a%20b.split?key=1 "),
                    "{head}"
                );
                assert!(head.contains("\r\naccept-encoding: identity\r\n"), "{head}");
                let number = counter.fetch_add(1, Ordering::Relaxed);
                let answer = &answers[number.min(answers.len() - 1)];
                let range = head
                    .lines()
                    .find_map(|line| line.strip_prefix("range: "))
                    .unwrap_or("none");
                let answer = answer.replace("{range}", range);
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        Self {
            base: Url::parse(&format!("http://127.0.0.1:{port}/index/?key=1")).unwrap(),
            num_requests,
        }
    }

    fn fetcher(&self) -> HttpFetcher {
        let options = HttpOptions {
            read_timeout: Duration::from_secs(5),
            max_whole_object_bytes: 20,
            ..HttpOptions::default()
        };
        HttpFetcher::new(self.base.clone(), options).unwrap()
    }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n{body}")
}

async fn fetch(answers: Vec<String>, range: ByteRange) -> Result<FetchedRange, FetchError> {
    let server = Server::start(answers).await;
    server.fetcher().fetch("splits/a b.split", range).await
}

async fn check_fails(answer: String, range: ByteRange, kind: FetchErrorKind, says: &str) {
    let error = fetch(vec![answer], range).await.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(says), "{error}");
    assert!(error.message.contains("splits/a b.split"), "{error}");
}

#[tokio::test]
async fn a_range_needs_no_content_length() {
    let headers = "Content-Range: bytes 2-5/*\r\nETag: \"v1\"\r\n";
    let fetched = fetch(
        vec![answer("206 Partial Content", headers, "2345")],
        ByteRange::new(2, 4),
    )
    .await
    .unwrap();
    assert_eq!(&fetched.bytes[..], b"2345");
    assert_eq!(fetched.etag.as_deref(), Some("\"v1\""));
}

#[tokio::test]
async fn a_whole_read_asks_for_no_range_and_takes_200() {
    let fetched = fetch(
        vec![answer("200 OK", "", "range {range}")],
        ByteRange::from(0),
    )
    .await
    .unwrap();
    assert_eq!(&fetched.bytes[..], b"range none");
}

#[tokio::test]
async fn an_open_range_says_where_it_begins() {
    let headers = "Content-Range: bytes 8-16/17\r\n";
    let fetched = fetch(
        vec![answer("206 Partial Content", headers, "{range}x")],
        ByteRange::from(8),
    )
    .await
    .unwrap();
    assert_eq!(&fetched.bytes[..], b"bytes=8-x");
}

#[tokio::test]
async fn a_whole_object_in_answer_to_a_range_is_an_error() {
    let whole = answer("200 OK", "", "0123456789");
    check_fails(
        whole,
        ByteRange::new(2, 3),
        FetchErrorKind::Protocol,
        "range_ignored: the server ignored the Range",
    )
    .await;
}

#[tokio::test]
async fn another_range_than_asked_for_is_an_error() {
    for content_range in [
        "bytes 3-5/10",
        "bytes 2-6/10",
        "bytes 2-x/10",
        "lines 2-4/10",
    ] {
        let headers = format!("Content-Range: {content_range}\r\n");
        let wrong = answer("206 Partial Content", &headers, "234");
        check_fails(
            wrong,
            ByteRange::new(2, 3),
            FetchErrorKind::Protocol,
            content_range,
        )
        .await;
    }
    let without = answer("206 Partial Content", "", "234");
    check_fails(
        without,
        ByteRange::new(2, 3),
        FetchErrorKind::Protocol,
        "wrong_content_range: status 206 without a Content-Range",
    )
    .await;
}

#[tokio::test]
async fn a_short_object_is_truncated() {
    let short = answer(
        "206 Partial Content",
        "Content-Range: bytes 8-9/10\r\n",
        "89",
    );
    check_fails(
        short,
        ByteRange::new(8, 5),
        FetchErrorKind::Truncated,
        "past_the_end: only 2 of 5 bytes",
    )
    .await;
    let past = answer("416 Range Not Satisfiable", "", "");
    check_fails(
        past,
        ByteRange::new(80, 5),
        FetchErrorKind::Truncated,
        "past_the_end: the object ends before the range begins (status 416)",
    )
    .await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_truncated_and_worth_another_try() {
    for length in ["", "Content-Length: 3\r\n"] {
        let headers = format!("Content-Range: bytes 2-4/10\r\n{length}");
        let cut = answer("206 Partial Content", &headers, "2");
        let error = fetch(vec![cut], ByteRange::new(2, 3)).await.unwrap_err();
        assert_eq!(error.kind, FetchErrorKind::Truncated, "{error}");
        assert!(error.is_transient);
        assert!(
            error.message.contains("short_body: only 1 of 3 bytes"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_body_longer_than_its_range_is_an_error() {
    let long = answer(
        "206 Partial Content",
        "Content-Range: bytes 2-4/10\r\n",
        "23456",
    );
    check_fails(
        long,
        ByteRange::new(2, 3),
        FetchErrorKind::Protocol,
        "long_body: more bytes",
    )
    .await;
}

#[tokio::test]
async fn a_compressed_answer_is_an_error() {
    let headers = "Content-Range: bytes 2-4/10\r\nContent-Encoding: gzip\r\n";
    let zipped = answer("206 Partial Content", headers, "234");
    check_fails(
        zipped,
        ByteRange::new(2, 3),
        FetchErrorKind::Protocol,
        "content_encoded: the server compressed the answer (gzip)",
    )
    .await;
}

#[tokio::test]
async fn a_whole_object_above_the_cap_is_refused() {
    let large = answer("200 OK", "", "012345678901234567890123456789");
    check_fails(
        large,
        ByteRange::from(0),
        FetchErrorKind::Budget,
        "20 bytes",
    )
    .await;
}

#[tokio::test]
async fn statuses_become_kinds() {
    let range = ByteRange::new(2, 3);
    for (status, kind, is_transient) in [
        ("404 Not Found", FetchErrorKind::NotFound, false),
        ("403 Forbidden", FetchErrorKind::Denied, false),
        ("401 Unauthorized", FetchErrorKind::Denied, false),
        ("400 Bad Request", FetchErrorKind::Protocol, false),
        ("429 Too Many Requests", FetchErrorKind::Unavailable, true),
        ("503 Service Unavailable", FetchErrorKind::Unavailable, true),
    ] {
        let error = fetch(vec![answer(status, "", "")], range)
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.is_transient),
            (kind, is_transient),
            "{error}"
        );
        assert!(error.message.contains(status), "{error}");
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = Server::start(vec![
        answer("503 Service Unavailable", "", ""),
        answer(
            "206 Partial Content",
            "Content-Range: bytes 2-4/10\r\n",
            "2",
        ),
        answer(
            "206 Partial Content",
            "Content-Range: bytes 2-4/10\r\n",
            "234",
        ),
    ])
    .await;
    let options = RetryOptions {
        initial_backoff: Duration::from_millis(1),
        ..RetryOptions::default()
    };
    let fetcher = Retry::new(Arc::new(server.fetcher()), options);
    let fetched = fetcher
        .fetch("splits/a b.split", ByteRange::new(2, 3))
        .await
        .unwrap();
    assert_eq!(&fetched.bytes[..], b"234");
    assert_eq!(fetched.num_retries, 2);
    assert_eq!(server.num_requests.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn nobody_listening_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let base = Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
    let fetcher = HttpFetcher::new(base, HttpOptions::default()).unwrap();
    let error = fetcher.fetch("a", ByteRange::new(0, 1)).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Unavailable, "{error}");
}

#[tokio::test]
async fn a_name_that_leads_out_of_the_index_is_not_asked_for() {
    let server = Server::start(vec![answer("200 OK", "", "secret")]).await;
    for name in [
        "../other/manifest.canter",
        "splits/../../other/manifest.canter",
        "splits/./a.split",
        "/splits/a.split",
        "splits//a.split",
        "",
    ] {
        for range in [ByteRange::from(0), ByteRange::new(0, 2)] {
            let error = server.fetcher().fetch(name, range).await.unwrap_err();
            assert_eq!(error.kind, FetchErrorKind::Denied, "{name}");
            assert!(error.message.contains("leads out of the index"), "{error}");
        }
    }
    assert_eq!(server.num_requests.load(Ordering::Relaxed), 0);
}
