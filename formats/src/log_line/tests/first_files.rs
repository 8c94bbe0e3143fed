//! Files as people bring them first: streams that are mixed, traces after every record, two formats in one file.

use std::fmt::Write;

use serde_json::{Value, json};

use super::families::read;
use super::strangers::check;
use crate::{Format, recognise};

/// Lines of one record each, made of numbers from 0 on.
fn lines(num: usize, line: impl Fn(usize) -> String) -> String {
    (0..num).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n));
        text
    })
}

fn docs(text: &str, format: Format) -> Vec<Value> {
    let (found, read) = read(text);
    assert_eq!(found, format, "{text}");
    read.into_iter()
        .map(|(_, parsed)| parsed.unwrap())
        .collect()
}

/// Values of fields of each document.
fn values(docs: &[Value], names: &[&str]) -> Vec<Vec<Value>> {
    let of = |doc: &Value| names.iter().map(|name| doc[name].clone()).collect();
    docs.iter().map(of).collect()
}

/// An envelope of a line in a stream: `(second, stream, text)`.
type Enveloped = fn(usize, &str, &str) -> String;

fn cri(n: usize, stream: &str, text: &str) -> String {
    format!("2024-05-01T10:00:{n:02}.5Z {stream} F {text}\n")
}

fn json_file(n: usize, stream: &str, text: &str) -> String {
    let text = json!(format!("{text}\n"));
    format!("{{\"log\":{text},\"stream\":\"{stream}\",\"time\":\"2024-05-01T10:00:{n:02}.5Z\"}}\n")
}

fn json_file_with_spaces(n: usize, stream: &str, text: &str) -> String {
    let text = json!(format!("{text}\n"));
    format!(
        "{{\"log\": {text}, \"stream\": \"{stream}\", \"time\": \"2024-05-01T10:00:{n:02}.5Z\"}}\n"
    )
}

#[test]
fn streams_of_a_container_never_join() {
    for wrap in [cri as Enveloped, json_file, json_file_with_spaces] {
        let text: String = [
            wrap(
                0,
                "stdout",
                "2024-05-01 10:00:00,123 INFO  [main] c.e.App - one",
            ),
            wrap(1, "stderr", "sh: warning from another stream"),
            wrap(2, "stderr", "sh: a second one"),
            wrap(
                3,
                "stdout",
                "2024-05-01 10:00:03,123 ERROR [main] c.e.App - two",
            ),
            wrap(4, "stdout", "java.lang.IllegalStateException: closed"),
            wrap(5, "stdout", "\tat c.e.App.main(App.java:3)"),
            wrap(6, "stderr", "Exception in thread \"main\" java.lang.Error"),
            wrap(7, "stderr", "\tat c.e.App.run(App.java:4)"),
            wrap(
                8,
                "stdout",
                "2024-05-01 10:00:08,123 INFO  [main] c.e.App - three",
            ),
            wrap(
                9,
                "stdout",
                "2024-05-01 10:00:09,123 INFO  [main] c.e.App - four",
            ),
        ]
        .concat();
        let docs = docs(&text, Format::Container);
        assert_eq!(
            json!(values(&docs, &["timestamp", "stream", "level", "message"])),
            json!([
                ["2024-05-01T10:00:00.5Z", "stdout", "INFO", "one"],
                [
                    "2024-05-01T10:00:01.5Z",
                    "stderr",
                    null,
                    "sh: warning from another stream"
                ],
                ["2024-05-01T10:00:02.5Z", "stderr", null, "sh: a second one"],
                [
                    "2024-05-01T10:00:03.5Z",
                    "stdout",
                    "ERROR",
                    "two\njava.lang.IllegalStateException: closed\n\tat c.e.App.main(App.java:3)",
                ],
                [
                    "2024-05-01T10:00:06.5Z",
                    "stderr",
                    null,
                    "Exception in thread \"main\" java.lang.Error\n\tat c.e.App.run(App.java:4)",
                ],
                ["2024-05-01T10:00:08.5Z", "stdout", "INFO", "three"],
                ["2024-05-01T10:00:09.5Z", "stdout", "INFO", "four"],
            ]),
        );
    }
}

#[test]
fn a_part_of_a_line_is_not_joined_with_another_stream() {
    let part = |n: usize, stream: &str, text: &str| {
        format!(
            "{{\"log\": \"{text}\", \"stream\": \"{stream}\", \"time\": \"2024-05-01T10:00:0{n}.5Z\"}}\n"
        )
    };
    let text = [
        part(0, "stdout", "one "),
        part(1, "stderr", "other\\n"),
        part(2, "stderr", "first, "),
        part(3, "stderr", "second\\n"),
    ]
    .concat();
    let docs = docs(&text, Format::Container);
    assert_eq!(
        json!(values(&docs, &["stream", "message"])),
        json!([
            ["stdout", "one "],
            ["stderr", "other"],
            ["stderr", "first, second"]
        ]),
    );
}

#[test]
fn traces_of_dotnet_after_every_record_belong_to_it() {
    let level = |n: usize| ["INFO", "WARN", "ERROR"][n % 3];
    // NLog with a message of several words.
    let nlog = lines(12, |n| {
        format!(
            "2024-05-01 10:{n:02}:01.1234|{}|App.Foo|failed for {n}|System.Exception: q\n   at A.B() in C:\\x.cs:line {n}\n\
             --- End of inner exception stack trace ---\n   at A.C()",
            level(n)
        )
    });
    let trace = |n: usize| {
        format!(
            "\n   at A.B() in C:\\x.cs:line {n}\n--- End of inner exception stack trace ---\n   at A.C()"
        )
    };
    let expected = |n: usize| {
        json!({
            "level": level(n), "logger": "App.Foo",
            "message": format!("failed for {n}|System.Exception: q{}", trace(n)),
        })
    };
    check(&nlog, &(0..12).map(expected).collect::<Vec<_>>());
    // One line of a trace after every record.
    let short = lines(12, |n| {
        format!(
            "2024-05-01 10:{n:02}:01.1234|{}|App.Foo|failed {n}|System.Exception: q\n   at A.B() in C:\\x.cs:line {n}",
            level(n)
        )
    });
    check(
        &short,
        &[
            json!({"level": "INFO", "logger": "App.Foo", "message": "failed 0|System.Exception: q\n   at A.B() in C:\\x.cs:line 0"}),
            json!({"level": "WARN", "logger": "App.Foo"}),
        ],
    );
    // Serilog.
    let serilog = lines(12, |n| {
        format!(
            "2024-05-01 10:{n:02}:01.123 +02:00 [{}] failed for {n}\nSystem.Exception: q{}",
            ["INF", "WRN", "ERR"][n % 3],
            trace(n)
        )
    });
    let expected = |n: usize| {
        json!({
            "level": level(n), "logger": null,
            "message": format!("failed for {n}\nSystem.Exception: q{}", trace(n)),
        })
    };
    check(&serilog, &(0..12).map(expected).collect::<Vec<_>>());
}

#[test]
fn tags_of_logcat_are_found_however_they_are_padded() {
    let tags = ["libc    ", "ART     ", "SurfBla ", "ActivityManager"];
    for num_padded in 1..=3 {
        let tag = |n: usize| match n % 4 < num_padded {
            true => tags[n % 4],
            false => "WindowManager",
        };
        let text = lines(12, |n| {
            format!("05-17 10:00:{n:02}.123  1702  2395 I {}: text {n}", tag(n))
        });
        let expected = |n: usize| {
            json!({
                "level": "INFO", "logger": tag(n).trim_end(), "message": format!("text {n}"),
                "process_id": "1702", "thread_id": "2395",
            })
        };
        check(&text, &(0..12).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn words_of_postgres_are_levels_with_and_without_a_user() {
    let text = "2024-05-01 09:00:05.456 CEST [50] LOG:  starting\n\
                2024-05-01 09:01:05.456 CEST [51] app@shop ERROR:  duplicate key\n\
                2024-05-01 09:02:05.456 CEST [51] app@shop DETAIL:  Key (id)=(7) exists.\n\
                2024-05-01 09:03:05.456 CEST [51] app@shop STATEMENT:  INSERT INTO users\n\t  (id, name)\n\
                2024-05-01 09:04:05.456 CEST [52] app@shop FATAL:  terminating\n\
                2024-05-01 09:05:05.456 CEST [53] LOG:  checkpoint complete\n";
    for text in [text.to_owned(), text.repeat(20)] {
        let read = docs(&text, Format::Log);
        assert_eq!(
            json!(values(&read[..6], &["level", "process_id", "message"])),
            json!([
                ["LOG", "50", "starting"],
                ["ERROR", "51", "duplicate key"],
                ["DETAIL", "51", "Key (id)=(7) exists."],
                ["STATEMENT", "51", "INSERT INTO users\n\t  (id, name)"],
                ["FATAL", "52", "terminating"],
                ["LOG", "53", "checkpoint complete"],
            ]),
        );
        for doc in read {
            let logger = doc["logger"].as_str().unwrap_or("app@shop");
            assert_eq!(logger, "app@shop", "{doc:#}");
        }
    }
}

#[test]
fn a_few_objects_among_lines_are_records_with_their_own_times() {
    let text = lines(30, |n| match n % 5 {
        0 => format!(
            "{{\"level\":\"error\",\"ts\":\"2024-05-01T10:00:{n:02}Z\",\"msg\":\"text {n}\"}}"
        ),
        _ => format!("I0501 10:00:{n:02}.123456       1 a.go:116] \"text {n}\" pod=\"a/b\""),
    });
    let docs = docs(&text, Format::Log);
    assert_eq!(docs.len(), 30);
    assert_eq!(
        json!(values(&docs[..7], &["timestamp", "level", "source"])),
        json!([
            ["2024-05-01T10:00:00Z", "ERROR", null],
            ["2024-05-01T10:00:01.123456Z", "INFO", "a.go:116"],
            ["2024-05-01T10:00:02.123456Z", "INFO", "a.go:116"],
            ["2024-05-01T10:00:03.123456Z", "INFO", "a.go:116"],
            ["2024-05-01T10:00:04.123456Z", "INFO", "a.go:116"],
            ["2024-05-01T10:00:05Z", "ERROR", null],
            ["2024-05-01T10:00:06.123456Z", "INFO", "a.go:116"],
        ]),
    );
    let first = "{\"level\":\"error\",\"ts\":\"2024-05-01T10:00:00Z\",\"msg\":\"text 0\"}";
    assert_eq!(docs[0]["message"], first);
    // Seconds since 1970.
    let seconds = text.replace("\"ts\":\"2024-05-01T10:00:05Z\"", "\"ts\":1714557605.25");
    let (_, read) = read(&seconds);
    assert_eq!(
        read[5].1.as_ref().unwrap()["timestamp"],
        "2024-05-01T10:00:05.25Z"
    );
}

#[test]
fn many_objects_among_lines_make_the_file_one_of_objects() {
    let text = lines(30, |n| match n % 5 {
        0 => format!("2024-05-01 10:00:{n:02} INFO text {n}"),
        _ => format!("{{\"ts\":\"2024-05-01T10:00:{n:02}Z\",\"msg\":\"text {n}\"}}"),
    });
    assert_eq!(recognise(text.as_bytes(), true).format, Format::Ndjson);
    // Nor is a text without times a log because of its objects.
    let text = lines(30, |n| match n % 5 {
        0 => format!("{{\"ts\":\"2024-05-01T10:00:{n:02}Z\",\"msg\":\"text {n}\"}}"),
        _ => format!("some words {n}"),
    });
    assert_eq!(recognise(text.as_bytes(), true).format, Format::Ndjson);
}

#[test]
fn logrus_is_read_without_the_colours_of_a_terminal() {
    let text = lines(8, |n| {
        let level = ["INFO", "WARN", "ERRO", "DEBU"][n % 4];
        format!("{level}[2024-05-01T10:0{n}:01Z] text {n}      animal=walrus size=10")
    });
    check(
        &text,
        &[
            json!({"timestamp": "2024-05-01T10:00:01Z", "level": "INFO", "message": "text 0      animal=walrus size=10"}),
            json!({"level": "WARN"}),
            json!({"level": "ERROR"}),
            json!({"level": "DEBUG", "timestamp": "2024-05-01T10:03:01Z"}),
        ],
    );
    let text = lines(8, |n| {
        let level = ["INFO", "WARN", "ERRO", "FATA"][n % 4];
        format!("{level}[{n:04}] text {n}      animal=walrus size=10")
    });
    check(
        &text,
        &[
            json!({"uptime_seconds": 0, "level": "INFO", "message": "text 0      animal=walrus size=10", "process_id": null}),
            json!({"uptime_seconds": 1, "level": "WARN"}),
            json!({"uptime_seconds": 2, "level": "ERROR"}),
            json!({"uptime_seconds": 3, "level": "FATAL"}),
        ],
    );
}

const MYSQL: &str = "/usr/sbin/mysqld, Version: 8.0.33 (MySQL Community Server - GPL). started with:\n\
                     Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n\
                     Time                 Id Command    Argument\n";

#[test]
fn queries_of_several_lines_are_whole_in_the_logs_of_mysql() {
    let general = lines(10, |n| {
        format!(
            "2024-05-01T10:0{n}:02.123456Z\t   8 Query\tselect *\nfrom orders\nwhere id = {n}\n\
             2024-05-01T10:0{n}:03.123456Z\t   8 Quit\t"
        )
    });
    let read = docs(&format!("{MYSQL}{general}"), Format::Log);
    assert_eq!(read.len(), 21);
    assert_eq!(read[1]["timestamp"], "2024-05-01T10:00:02.123456Z");
    let message = read[1]["message"].as_str().unwrap();
    assert!(
        message.ends_with("select *\nfrom orders\nwhere id = 0"),
        "{message:?}"
    );
    let slow = lines(4, |n| {
        format!(
            "# Time: 2024-05-01T10:0{n}:02.123456Z\n# User@Host: app[app] @  [10.0.0.5]  Id:     9\n\
             # Query_time: 5.000123  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 100\n\
             SET timestamp=1714557602;\nSELECT * FROM t\nWHERE a = {n};"
        )
    });
    let read = docs(&format!("{MYSQL}{slow}"), Format::Log);
    assert_eq!(read.len(), 5);
    assert_eq!(read[4]["timestamp"], "2024-05-01T10:03:02.123456Z");
}

#[test]
fn a_line_with_another_full_date_begins_a_record() {
    check(
        "Wed May  1 10:00:01 2024 OpenVPN 2.4.7\n\
         Wed May  1 10:00:02 2024 10.0.0.9:1194 TLS handshake failed\n\
         2024-05-01 10:00:03 us=123456 WARNING: --topology net30\n\
         Wed May  1 10:00:04 2024 Initialization completed\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:01Z"}),
            json!({"timestamp": "2024-05-01T10:00:02Z"}),
            json!({"timestamp": "2024-05-01T10:00:03Z"}),
            json!({"timestamp": "2024-05-01T10:00:04Z"}),
        ],
    );
}

#[test]
fn a_quoted_day_is_found_behind_a_comma() {
    let text = lines(8, |n| format!("{n},\"2024-05-01 10:0{n}:01\",apple {n},ok"));
    check(
        &text,
        &[
            json!({"timestamp": "2024-05-01T10:00:01Z", "time_of_day": null}),
            json!({"timestamp": "2024-05-01T10:01:01Z"}),
        ],
    );
}

#[test]
fn levels_are_found_behind_pairs_and_marks() {
    // Elixir's console: metadata, if there is any, before the level.
    let text = lines(12, |n| match n % 2 {
        0 => format!("10:00:{n:02}.123 [error] Sent {n}"),
        _ => format!("10:00:{n:02}.123 request_id=F1{n} user=7 [info] GenServer {n}"),
    });
    check(
        &text,
        &[
            json!({"time_of_day": "10:00:00.123", "level": "ERROR", "message": "Sent 0"}),
            json!({"level": "INFO", "message": "request_id=F11 user=7 [info] GenServer 1"}),
        ],
    );
    // GitHub's actions.
    check(
        "2024-05-01T10:00:00.1234567Z ##[group]Run checkout\n\
         2024-05-01T10:00:01.1234567Z with:\n\
         2024-05-01T10:00:02.1234567Z ##[error]Process completed with exit code 1.\n\
         2024-05-01T10:00:03.1234567Z ##[warning]Node 16 is old\n",
        &[
            json!({"level": null}),
            json!({"level": null}),
            json!({"level": "ERROR"}),
            json!({"level": "WARN"}),
        ],
    );
}

#[test]
fn an_epoch_in_seconds_has_the_fraction_of_the_other_time() {
    let line = |n: usize| {
        format!(
            "- {} 2005.06.03 R02-M1-N0 2005-06-03-15.42.{:02}.36377{n} R02-M1-N0 RAS KERNEL INFO cache of node {n} was corrected",
            1_117_838_520 + n,
            n
        )
    };
    let docs = docs(&lines(10, line), Format::Log);
    for (n, doc) in docs.iter().enumerate() {
        assert_eq!(
            doc["timestamp"],
            format!("2005-06-03T22:42:{n:02}.36377{n}Z")
        );
        assert_eq!(doc["message"], format!("cache of node {n} was corrected"));
    }
    // The second is another, and the message says a time.
    let other = |n: usize| line(n).replace("15.42", "15.41") + &format!(" at 22:42:{n:02}.123");
    let docs = self::docs(&lines(10, other), Format::Log);
    assert_eq!(docs[3]["timestamp"], "2005-06-03T22:42:03Z");
}

#[test]
fn what_is_told_is_no_head_though_all_lines_say_it() {
    let line = |n: usize| {
        format!(
            "2017-05-16 00:{n:02}:00.008 25746 INFO nova.osapi_compute.wsgi.server [-] served{n} status: 200"
        )
    };
    for doc in docs(&lines(30, line), Format::Log) {
        assert_eq!(doc["logger"], "nova.osapi_compute.wsgi.server", "{doc}");
        let message = doc["message"].as_str().unwrap();
        assert!(
            message.ends_with("status: 200") && message.contains("served"),
            "{doc}"
        );
    }
    let line = |n: usize| match n % 3 {
        0 => format!("2023-05-01 10:{n:02}:01.12 Server      zebra{n} started"),
        1 => format!(
            "2023-05-01 10:{n:02}:01.12 spid7s      Error: 18456, Severity: 14, State: 8. zebra{n} started"
        ),
        _ => format!("2023-05-01 10:{n:02}:01.12 Logon       zebra{n} started"),
    };
    for (n, doc) in docs(&lines(40, line), Format::Log).iter().enumerate() {
        let message = doc["message"].as_str().unwrap();
        assert!(message.ends_with(&format!("zebra{n} started")), "{doc}");
        assert_eq!(message.starts_with("Error: 18456"), n % 3 == 1, "{doc}");
    }
}

#[test]
fn messages_that_resemble_each_other_stay_whole() {
    for (line, message) in [
        (
            "[{s}] unbound[12{n}:0] info: resolving ex{n}.org. A IN",
            "resolving ex{n}.org. A IN",
        ),
        (
            "2024/05/01 10:00:{m}.123\tINFO\thttp.log.access\thandled request {n}\t{\"status\": 200}",
            "handled request {n}\t{\"status\": 200}",
        ),
        (
            "2024-05-01 10:00:{m},123 p=12{n} u=root n=ansible | TASK [install {n}] ***",
            "p=12{n} u=root n=ansible | TASK [install {n}] ***",
        ),
    ] {
        let of = |text: &str, n: usize| {
            let text = text.replace("{n}", &n.to_string());
            text.replace("{m}", &format!("{n:02}"))
                .replace("{s}", &(1_714_557_607 + n).to_string())
        };
        for (n, doc) in docs(&lines(12, |n| of(line, n)), Format::Log)
            .iter()
            .enumerate()
        {
            assert_eq!(doc["message"], of(message, n), "{doc}");
        }
    }
    let report = |n: usize| {
        format!(
            "=INFO REPORT==== 1-May-2024::10:{n:02}:07.123456 ===\n    application: x{n}\n    exited: stopped"
        )
    };
    for (n, doc) in docs(&lines(12, report), Format::Log).iter().enumerate() {
        assert_eq!(
            doc["message"],
            format!("application: x{n}\n    exited: stopped"),
            "{doc}"
        );
        assert_eq!(doc["level"], "INFO");
    }
}
