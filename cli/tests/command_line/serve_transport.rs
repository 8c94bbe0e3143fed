//! Protocols of `canter serve`: HTTP/2, TLS, compression, and the ids of requests.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use h2::client::SendRequest;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::{Certificate, Method, Version};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::serve::{PATIENCE, Server};
use crate::support::{indexed, run};

const SEARCH: &str = "/api/v1/logs/search?query=*&max_hits=100";

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn http2_is_spoken_without_tls_and_answers_are_the_same() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let expected = server.get(SEARCH).text;
    let client = canter_stores::http_client().http2_prior_knowledge();
    let client = client.build().unwrap();
    runtime().block_on(async {
        let url = format!("{}{SEARCH}", server.url);
        let mut asked = Vec::new();
        for _ in 0..20 {
            asked.push(tokio::spawn(client.get(&url).send()));
        }
        for answer in asked {
            let answer = answer.await.unwrap().unwrap();
            assert_eq!(
                (answer.version(), answer.status().as_u16()),
                (Version::HTTP_2, 200)
            );
            assert_eq!(hits(&answer.text().await.unwrap()), hits(&expected));
        }
        // A body, and one that is too long, on the same connection.
        let posted = client.post(server.url.clone() + "/api/v1/logs/search");
        let posted = posted
            .body(r#"{"query":"*","max_hits":1}"#)
            .send()
            .await
            .unwrap();
        assert_eq!(posted.status(), 200);
        let long = client
            .post(server.url.clone() + "/logs/_search")
            .body(vec![b' '; 2 << 20]);
        let long = long.send().await.unwrap();
        assert_eq!(long.status(), 413);
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    });
}

fn hits(text: &str) -> serde_json::Value {
    let answer: serde_json::Value = serde_json::from_str(text).unwrap();
    answer["hits"].clone()
}

/// Connects as a client that controls the flow of every byte.
async fn bare_client(
    server: &Server,
    window: u32,
) -> (SendRequest<bytes::Bytes>, tokio::task::JoinHandle<()>) {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window);
    let (client, connection) = builder.handshake(stream).await.unwrap();
    let carrying = tokio::spawn(async move {
        let _ = connection.await;
    });
    (client, carrying)
}

async fn ended(carrying: tokio::task::JoinHandle<()>) {
    let ended = tokio::time::timeout(PATIENCE, carrying).await;
    ended.expect("the connection is still open").unwrap();
}

#[test]
fn http2_connections_are_closed_when_nothing_is_asked_or_an_answer_is_not_taken() {
    let folder = indexed();
    let limits = ["--header-timeout", "300ms", "--answer-timeout", "600ms"];
    let server = Server::start(folder.path(), &limits);
    runtime().block_on(async {
        let (client, carrying) = bare_client(&server, 65_535).await;
        ended(carrying).await;
        drop(client);

        // Ten bytes of an answer fit; the client requests no more.
        let (mut client, carrying) = bare_client(&server, 10).await;
        let request = http::Request::get(format!("{}{SEARCH}", server.url))
            .body(())
            .unwrap();
        let (answer, _) = client.send_request(request, true).unwrap();
        let mut body = answer.await.unwrap().into_body();
        let first = body.data().await.unwrap().unwrap();
        assert!(first.len() <= 10);
        ended(carrying).await;
        assert!(body.data().await.is_none_or(|data| data.is_err()));
    });
    assert_eq!(server.get("/health/livez").status, 200);
}

/// Returns a certificate for `localhost` and its key, in the folder.
fn certified(folder: &Path) -> String {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.pem()
}

const TLS: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

#[test]
fn tls_carries_both_versions_of_http() {
    let folder = indexed();
    let pem = certified(folder.path());
    let server = Server::start(folder.path(), &TLS);
    let port = server.url.strip_prefix("https://127.0.0.1:").unwrap();
    let url = format!("https://localhost:{port}{SEARCH}");
    runtime().block_on(async {
        for (only_first, expected) in [(false, Version::HTTP_2), (true, Version::HTTP_11)] {
            let certificate = Certificate::from_pem(pem.as_bytes()).unwrap();
            let mut client = canter_stores::http_client().tls_certs_only([certificate]);
            if only_first {
                client = client.http1_only();
            }
            let answer = client.build().unwrap().get(&url).send().await.unwrap();
            assert_eq!(
                (answer.version(), answer.status().as_u16()),
                (expected, 200)
            );
            assert_eq!(
                hits(&answer.text().await.unwrap())
                    .as_array()
                    .unwrap()
                    .len(),
                100
            );
        }
        // A client without TLS, or one that stops in the handshake, gets no answer.
        let plain = canter_stores::http_client().build().unwrap();
        assert!(
            plain
                .get(url.replace("https", "http"))
                .send()
                .await
                .is_err()
        );
    });
}

#[test]
fn handshakes_take_no_longer_than_headers() {
    let folder = indexed();
    certified(folder.path());
    let args = [&TLS[..], &["--header-timeout", "300ms"]].concat();
    let server = Server::start(folder.path(), &args);
    let address = server.url.strip_prefix("https://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let started = Instant::now();
    assert!(stream.read(&mut [0; 10]).is_ok_and(|len| len == 0));
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[test]
fn files_that_are_no_identity_are_wrong_use() {
    let folder = indexed();
    let folder = folder.path();
    let key_of_another = {
        certified(folder);
        std::fs::read(folder.join("key.pem")).unwrap()
    };
    certified(folder);
    std::fs::write(folder.join("other.pem"), key_of_another).unwrap();
    std::fs::write(folder.join("empty.pem"), "").unwrap();
    let check = |cert: &str, key: &str, expect: &str| {
        let args = ["serve", "--index", "index", "--engine", "native"];
        let args = [&args[..], &["--tls-cert", cert, "--tls-key", key]].concat();
        let stderr = run(folder, &args, 2).1;
        assert!(stderr.contains(expect), "{stderr}");
    };
    check(
        "nothing.pem",
        "key.pem",
        "cannot read certificates from nothing.pem",
    );
    check("empty.pem", "key.pem", "empty.pem has no certificate");
    check(
        "cert.pem",
        "cert.pem",
        "cannot read a private key from cert.pem",
    );
    check("cert.pem", "other.pem", "do not belong together");
    let args = ["serve", "--index", "index", "--tls-cert", "cert.pem"];
    let stderr = run(folder, &args, 2).1;
    assert!(stderr.contains("--tls-key"), "{stderr}");
}

#[test]
fn answers_and_bodies_are_compressed_for_those_who_can() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let expected = hits(&server.get(SEARCH).text);
    let url = format!("{}{SEARCH}", server.url);
    let client = canter_stores::http_client().build().unwrap();
    let ask = async |accepted: &str| {
        let asked = client.get(&url).header("accept-encoding", accepted);
        let answer = asked.send().await.unwrap();
        assert!(
            answer.headers()["vary"]
                .to_str()
                .unwrap()
                .contains("accept-encoding")
        );
        let encoding = answer.headers().get("content-encoding");
        let encoding = encoding.map(|value| value.to_str().unwrap().to_owned());
        (encoding, answer.bytes().await.unwrap())
    };
    runtime().block_on(async {
        let (encoding, plain) = ask("identity").await;
        assert_eq!(encoding, None);
        let (encoding, gzip) = ask("gzip").await;
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut text = String::new();
        GzDecoder::new(&gzip[..]).read_to_string(&mut text).unwrap();
        assert_eq!(hits(&text), expected);
        let (encoding, zstd) = ask("gzip;q=0.5, zstd").await;
        assert_eq!(encoding.as_deref(), Some("zstd"));
        let text = zstd::decode_all(&zstd[..]).unwrap();
        assert_eq!(hits(std::str::from_utf8(&text).unwrap()), expected);
        assert!(gzip.len() < plain.len() / 2 && zstd.len() < plain.len() / 2);
    });

    let request = br#"{"query":"*","max_hits":3}"#;
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, request).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(&request[..], 1).unwrap();
    let bomb = zstd::encode_all(std::io::repeat(b' ').take(64 << 20), 19).unwrap();
    let post = |encoding: &str, body: &[u8], path: &str| {
        let headers = [("content-encoding", encoding)];
        server.send_bytes(Method::POST, path, &headers, body.to_vec())
    };
    const PATH: &str = "/api/v1/logs/search";
    for (encoding, body) in [("gzip", &gzip), ("zstd", &zstd)] {
        let answer = post(encoding, body, PATH);
        assert_eq!(
            answer.json()["hits"].as_array().unwrap().len(),
            3,
            "{encoding}"
        );
    }
    // The decompressed size counts.
    assert!(bomb.len() < 1 << 20);
    assert_eq!(post("zstd", &bomb, PATH).status, 413);
    let wrong = post("gzip", request, PATH);
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    let unknown = post("br", request, "/logs/_search");
    assert_eq!(unknown.status, 415);
    let reason = &unknown.json()["error"]["reason"];
    assert!(reason.as_str().unwrap().contains("send gzip, zstd or none"));
}

#[test]
fn an_answer_says_which_request_it_answers() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let ask =
        |headers: &[(&str, &str)]| server.send(Method::GET, "/logs/_count", headers, String::new());
    let given = ask(&[("x-request-id", "mine-1"), ("x-opaque-id", "a dashboard")]);
    assert_eq!(given.header("x-request-id"), Some("mine-1"));
    assert_eq!(given.header("x-opaque-id"), Some("a dashboard"));
    // An id is repeated only if it is suitable for a log.
    let long = "x".repeat(200);
    let given = ask(&[("x-request-id", &long), ("x-opaque-id", &long)]);
    assert!(given.header("x-request-id").is_some_and(|id| id != long));
    assert_eq!(given.header("x-opaque-id"), None);
    let first = ask(&[]).header("x-request-id").unwrap().to_owned();
    let second = ask(&[]).header("x-request-id").unwrap().to_owned();
    assert!(first.len() == 36 && first != second, "{first} {second}");
    let refused = server.send(Method::GET, "/", &[("host", "evil.example")], String::new());
    assert_eq!(refused.status, 421);
    assert!(refused.header("x-request-id").is_some());
}

#[test]
fn a_log_line_says_of_which_request_and_trace_it_is() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let folder = indexed();
    let log = folder.path().join("log");
    let args = [
        "--index",
        "logs=index",
        "--log",
        "info",
        "--log-format",
        "json",
    ];
    let file = std::fs::File::create(&log).unwrap();
    let server = Server::that_logs(folder.path(), &args, file);
    let headers = [
        ("x-request-id", "mine-1"),
        ("x-opaque-id", "dashboard/7"),
        ("traceparent", &format!("00-{TRACE}-00f067aa0ba902b7-01")),
    ];
    let answer = server.send(
        Method::GET,
        "/logs/_count?q=secret",
        &headers,
        String::new(),
    );
    assert_eq!(answer.status, 200);
    let started = Instant::now();
    let line = loop {
        let text = std::fs::read_to_string(&log).unwrap();
        let is_of_http = |line: &&str| line.contains("\"canter::http\"") && line.ends_with('\n');
        match text.split_inclusive('\n').find(is_of_http) {
            Some(line) => break line.to_owned(),
            None => assert!(started.elapsed() < PATIENCE, "{text}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let span = &line["span"];
    assert_eq!(span["request_id"], "mine-1");
    assert_eq!(span["opaque_id"], "dashboard/7");
    assert_eq!(span["trace_id"], TRACE);
    assert_eq!(
        (&span["path"], &span["status"]),
        (&"/logs/_count".into(), &200.into())
    );
    // Queries do not belong in a log.
    assert!(!line.to_string().contains("secret"));
}
