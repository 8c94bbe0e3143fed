//! Valid and invalid records of each format.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tests::{Read, read, year_2024};
use crate::{Format, Hints, Recognised, recognise};

fn read_text(format: Format, text: &str) -> Read {
    let recognised = Recognised::forced(format, text.as_bytes(), true);
    read(text.as_bytes(), recognised, &year_2024(), usize::MAX)
}

#[track_caller]
fn check(format: Format, line: &str, expect: Value) {
    assert_eq!(read_text(format, line), [Ok(expect)]);
}

#[track_caller]
fn check_wrong(format: Format, lines: &[&str]) {
    for line in lines {
        assert_eq!(read_text(format, line), [Err("wrong_format")], "{line:?}");
    }
}

#[test]
fn access_logs_of_the_page_are_read() {
    // https://httpd.apache.org/docs/2.4/logs.html
    check(
        Format::AccessLog,
        r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
        json!({
            "timestamp": "2000-10-10T13:55:36-07:00", "client_ip": "127.0.0.1", "user": "frank",
            "request": "GET /apache_pb.gif HTTP/1.0", "method": "GET", "path": "/apache_pb.gif",
            "protocol": "HTTP/1.0", "status": 200, "size": 2326,
        }),
    );
    check(
        Format::AccessLog,
        r#"host.example - - [10/Oct/2000:13:55:36 +0000] "\x16\x03\x01" 400 - "-" "a \"b\"" 0.003"#,
        json!({
            "timestamp": "2000-10-10T13:55:36Z", "client_host": "host.example",
            "request": "\\x16\\x03\\x01", "status": 400, "size": 0, "user_agent": "a \"b\"",
            "rest": "0.003",
        }),
    );
    // Nginx writes such a status if no answer was sent.
    let line = r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "-" 000 007"#;
    let read_back = read_text(Format::AccessLog, line);
    let doc = read_back[0].as_ref().unwrap();
    assert_eq!((&doc["status"], &doc["size"]), (&json!(0), &json!(7)));
    // An unescaped quote, as in a real log.
    check(
        Format::AccessLog,
        r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET /a"b HTTP/1.1" 200 1 "-" "x"y z""#,
        json!({
            "timestamp": "2000-10-10T13:55:36Z", "client_ip": "1.1.1.1", "request": "GET /a\"b HTTP/1.1",
            "method": "GET", "path": "/a\"b", "protocol": "HTTP/1.1", "status": 200, "size": 1,
            "user_agent": "x\"y z",
        }),
    );
    check_wrong(
        Format::AccessLog,
        &[
            "x",
            "1.1.1.1 - -",
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36] "GET / HTTP/1.1" 200 1"#,
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] GET / HTTP/1.1 200 1"#,
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1 200 1"#,
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" OK 1"#,
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 many"#,
            r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 1 "-" "open"#,
        ],
    );
}

#[test]
fn syslog_of_the_rfcs_is_read() {
    // RFC 5424, section 6.5, examples 1 and 4.
    check(
        Format::Syslog,
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{feff}'su root' failed",
        json!({
            "facility": "auth", "severity": "crit", "severity_number": 2,
            "timestamp": "2003-10-11T22:14:15.003Z", "hostname": "mymachine.example.com",
            "app_name": "su", "msg_id": "ID47", "message": "'su root' failed",
        }),
    );
    check(
        Format::Syslog,
        "<165>1 2003-10-11T22:14:15.003Z m evntslog - ID47 [ex@32473 iut=\"3\" a=\"1\" a=\"2\"][p@1]",
        json!({
            "facility": "local4", "severity": "notice", "severity_number": 5,
            "timestamp": "2003-10-11T22:14:15.003Z", "hostname": "m", "app_name": "evntslog",
            "msg_id": "ID47",
            "structured_data": {"ex@32473": {"iut": "3", "a": ["1", "2"]}, "p@1": {}},
        }),
    );
    // RFC 3164, section 5.4. The source ended on 2024-06-01: October belongs to the previous year.
    check(
        Format::Syslog,
        "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
        json!({
            "facility": "auth", "severity": "crit", "severity_number": 2,
            "timestamp": "2023-10-11T22:14:15Z", "hostname": "mymachine", "app_name": "su",
            "message": "'su root' failed for lonvick on /dev/pts/8",
        }),
    );
    check(
        Format::Syslog,
        "Feb 29 00:00:00 h no tag here",
        json!({"timestamp": "2024-02-29T00:00:00Z", "hostname": "h", "message": "no tag here"}),
    );
    check(
        Format::Syslog,
        "<40>1 2003-10-11T22:14:15Z host heroku web.3 - State changed",
        json!({
            "facility": "syslog", "severity": "emerg", "severity_number": 0, "timestamp": "2003-10-11T22:14:15Z",
            "hostname": "host", "app_name": "heroku", "proc_id": "web.3", "message": "State changed",
        }),
    );
    check_wrong(
        Format::Syslog,
        &[
            "hello",
            "<999>1 2003-10-11T22:14:15Z h a - - - x",
            "<34>1 yesterday h a - - - x",
            "<34>1 2003-10-11T22:14:15Z h a - - [x y=z] m",
            "<34>Oxt 11 22:14:15 h su: x",
            "Oct 32 22:14:15 h su: x",
            "Oct 11 22:14:75 h su: x",
        ],
    );
}

#[test]
fn logfmt_has_quotes_escapes_and_keys_alone() {
    check(
        Format::Logfmt,
        r#"a=1 b="x \"y\"\n\u00e9" c= d e="" f=007 g="1" h=a=b"#,
        json!({"a": 1, "b": "x \"y\"\né", "d": true, "e": "", "f": "007", "g": "1", "h": "a=b"}),
    );
    check(
        Format::Logfmt,
        "time=1714557607|rule_name=a b|severity=Low|n=5|",
        json!({"time": 1_714_557_607, "rule_name": "a b", "severity": "Low", "n": 5}),
    );
    check(
        Format::Logfmt,
        "a=1; b=\"x y\"; c=a|b",
        json!({"a": 1, "b": "x y", "c": "a|b"}),
    );
    check(
        Format::Logfmt,
        "a=1|x b=2|3 c=4;5",
        json!({"a": "1|x", "b": "2|3", "c": "4;5"}),
    );
    check_wrong(Format::Logfmt, &["hello", "=1", "a=\"open", "a\"b=1"]);
}

#[test]
fn values_of_csv_have_the_types_of_the_mapping() {
    let text = "id,code,note,x,x\n1,0042,\"\",,true\n2,7,,\"3\",\"\"\n";
    assert_eq!(
        read_text(Format::Csv, text),
        [
            Ok(json!({"id": 1, "code": "0042", "note": "", "x_2": true})),
            Ok(json!({"id": 2, "code": "7", "x": "3", "x_2": ""})),
        ]
    );
    let wrong = "a,b\n1\n1,2,3\n1,\"2\n3,4\n";
    assert_eq!(
        read_text(Format::Csv, wrong),
        [
            Err("wrong_number_of_values"),
            Err("wrong_number_of_values"),
            Err("unclosed_quote"),
        ]
    );
    let hints = Arc::new(Hints {
        columns: Some(vec!["a".into(), "b".into()]),
        ..Hints::default()
    });
    let recognised = Recognised::forced(Format::Csv, b"1;2\n", true);
    assert_eq!(
        read(b"1;2\n", recognised, &hints, 1),
        [Ok(json!({"a": 1, "b": 2}))]
    );
}

/// Parses a text in its recognised format.
fn recognised(text: &str) -> Read {
    let recognised = recognise(text.as_bytes(), true);
    read(text.as_bytes(), recognised, &Arc::default(), usize::MAX)
}

#[test]
fn tables_of_any_dialect_are_read() {
    let rows = [
        Ok(json!({"id": 1, "name": "a"})),
        Ok(json!({"id": 2, "name": "b"})),
    ];
    for text in [
        "id,name\n1,a\n2,b\n",
        "id;name\n1;a\n2;b\n",
        "id\tname\n1\ta\n2\tb\n",
        "id|name\n1|a\n2|b\n",
        "id\u{1}name\n1\u{1}a\n2\u{1}b\n",
        "id^name\n1^a\n2^b\n",
        "id~name\r\n1~a\r\n2~b\r\n",
        "sep=;\nid;name\n1;a\n2;b\n",
        "SEP=|\r\nid|name\r\n1|a\r\n2|b\r\n",
        "\"sep=,\"\nid,name\n1,a\n2,b\n",
        "sep=\t\nid\tname\n1\ta\n2\tb\n",
        "sep=:\nid:name\n1:a\n2:b\n",
        "# made by hand: \"id, name\n# on a day\nid,name\n1,a\n#between, two, rows\n2,b\n# the end",
        "##meta=1\n#id\tname\n1\ta\n2\tb\n",
        "# id,name\n1,a\n2,b\n",
    ] {
        assert_eq!(recognised(text), rows, "{text:?}");
    }
    // The same number of values: a row.
    assert_eq!(
        recognised("# x\nid,name\n#1,a\n#2,b,c\n"),
        [Ok(json!({"id": "#1", "name": "a"}))]
    );
}

#[test]
fn columns_may_be_named_with_units() {
    assert_eq!(
        recognised("Zeit;Gerät;Wert (°C)\n2024-05-01 10:00:00;Fühler 0;20,5\n2024-05-01 10:00:01;Fühler 1;21,5\n"),
        [0, 1].map(|n| Ok(json!({
            "Zeit": format!("2024-05-01 10:00:0{n}"), "Gerät": format!("Fühler {n}"), "Wert (°C)": 20.5 + f64::from(n),
        })))
    );
    assert_eq!(
        recognised("Дата;Сумма, руб.\n2024-05-01;7\n2024-05-02;8\n"),
        [1, 2].map(|n| Ok(json!({"Дата": format!("2024-05-0{n}"), "Сумма, руб.": n + 6})))
    );
    assert_eq!(
        recognised("v [km/h],in €\n1,2\n3,4\n"),
        [
            Ok(json!({"v [km/h]": 1, "in €": 2})),
            Ok(json!({"v [km/h]": 3, "in €": 4}))
        ]
    );
}

#[test]
fn names_of_few_columns_may_stand_behind_other_lines() {
    let text = "Report: Usage\nMade: 2024-05-02\n\nDay,Requests\n2024-05-01,7\n2024-05-02,8\n2024-05-03,9\n";
    assert_eq!(
        recognised(text),
        [1, 2, 3].map(|n| Ok(json!({"Day": format!("2024-05-0{n}"), "Requests": n + 6})))
    );
    // Prose has commas, too, and so have addresses with their numbers.
    for text in [
        "A day.\nFirst, second\nIt came, and went\nThey saw, and left\nWe ate, and slept\n",
        "To whom it may concern\nDear Ann, Bob\nyesterday, we met\nat 7, High Street\nby noon, we left\n",
    ] {
        assert_eq!(
            recognise(text.as_bytes(), true).format,
            Format::Plain,
            "{text}"
        );
    }
}

#[test]
fn a_delimiter_that_is_named_counts() {
    for (delimiter, text) in [
        (b':', "id:name\n1:a,b\n"),
        (b';', "id;name\n1;a,b\n"),
        (b' ', "id name\n1 a,b\n"),
    ] {
        let recognised = Recognised::table(delimiter, text.as_bytes(), true);
        let read = read(text.as_bytes(), recognised, &Arc::default(), 1);
        assert_eq!(read, [Ok(json!({"id": 1, "name": "a,b"}))], "{text:?}");
    }
}

#[test]
fn backslashes_before_quotes_are_taken_when_a_file_has_them() {
    let rfc = "id,name\n1,\"C:\\\\dir\\\"\n2,\"a \"\"b\"\" c\"\n";
    assert_eq!(
        recognised(rfc),
        [
            Ok(json!({"id": 1, "name": "C:\\\\dir\\"})),
            Ok(json!({"id": 2, "name": "a \"b\" c"})),
        ]
    );
    let escaped = "id,name\n1,\"a \\\"b, c\\\" d\"\n2,\"two\n\\\"lines\\\" of \\\\ it \\n\"\n";
    assert_eq!(
        recognised(escaped),
        [
            Ok(json!({"id": 1, "name": "a \"b, c\" d"})),
            Ok(json!({"id": 2, "name": "two\n\"lines\" of \\ it \\n"})),
        ]
    );
    // The first of them is after the part that is examined.
    let mut late = "id,name\n".to_owned();
    (0..20_000).for_each(|n| late.push_str(&format!("{n},x\n")));
    late.push_str("9,\"a \\\"b, c\\\" d\"\n");
    let read = recognise(late.as_bytes().get(..crate::BEGINNING_LEN).unwrap(), false);
    assert!(!read.dialect.has_backslashes);
    let read = crate::tests::read(late.as_bytes(), read, &Arc::default(), usize::MAX);
    assert_eq!(
        read.last(),
        Some(&Ok(json!({"id": 9, "name": "a \"b, c\" d"})))
    );
}

#[test]
fn logs_of_zeek_say_how_they_are_read() {
    let text = "#separator |\n#set_separator|;\n#empty_field|EMPTY\n#unset_field|NONE\n#path|x\n#fields|ts|v|s|n\n\
                #types|time|vector[count]|string|double\n1714557600.25|1;2|EMPTY|NONE\n915148800|EMPTY|a\\x7cb|1.5\n\
                #close|2024\n1|2\n#fields|b\n#types|bool\nT\n";
    assert_eq!(
        recognised(text),
        [
            Ok(json!({"_path": "x", "ts": "2024-05-01T10:00:00.25Z", "v": [1, 2], "s": ""})),
            // Before the years in which a number is certainly a log's time.
            Ok(json!({"_path": "x", "ts": 915_148_800, "v": [], "s": "a|b", "n": 1.5})),
            Err("wrong_number_of_values"),
            Ok(json!({"_path": "x", "b": true})),
        ]
    );
    assert_eq!(read_text(Format::Zeek, "a\tb\n"), [Err("wrong_format")]);
}

#[test]
fn postgres_log_of_every_version_is_known_without_names() {
    let line = |more: &str| {
        format!(
            "2024-05-01 10:00:00.123 UTC,\"u\",\"d\",7,\"[local]\",66318c2e.7,1,\"idle\",2024-05-01 09:00:00 UTC,3/1,0,\
             ERROR,42P01,\"no \"\"t\"\"\",,,,,,\"select 1\",8,{more}\n"
        )
    };
    for more in [
        "",
        ",\"psql\"",
        ",\"psql\",\"client backend\"",
        ",,\"x\",,5",
    ] {
        let read = recognised(&line(more));
        let doc = read[0].as_ref().unwrap();
        assert_eq!(doc["timestamp"], "2024-05-01T10:00:00.123Z");
        assert_eq!(
            (&doc["level"], &doc["message"]),
            (&json!("ERROR"), &json!("no \"t\""))
        );
        assert_eq!(
            (&doc["query"], &doc["query_pos"]),
            (&json!("select 1"), &json!(8))
        );
        assert_eq!(read.len(), 1);
    }
    let zoned = line("").replace("10:00:00.123 UTC", "10:00:00.123 CEST");
    let read = recognised(&zoned);
    assert_eq!(
        read[0].as_ref().unwrap()["timestamp"],
        "2024-05-01T10:00:00.123+02:00"
    );
    let wrong = "2024-05-01 10:00:00.123 UTC,a,b\n";
    assert_eq!(
        read_text(Format::PostgresCsv, wrong),
        [Err("wrong_number_of_values")]
    );
}

#[test]
fn access_logs_with_a_virtual_host_are_read() {
    let rest = r#"[10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.0" 200 5 "-" "x""#;
    let doc = |more: Value| {
        let mut doc = json!({
            "timestamp": "2000-10-10T13:55:36Z", "request": "GET / HTTP/1.0", "method": "GET", "path": "/",
            "protocol": "HTTP/1.0", "status": 200, "size": 5, "user_agent": "x",
        });
        let members = doc.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        doc
    };
    for (before, more) in [
        (
            "www.example.com:80 192.0.2.1 - frank",
            json!({"vhost": "www.example.com", "vhost_port": 80, "client_ip": "192.0.2.1", "user": "frank"}),
        ),
        (
            "www.example.com:443 client.example.net - -",
            json!({"vhost": "www.example.com", "vhost_port": 443, "client_host": "client.example.net"}),
        ),
        (
            "www.example.com 2001:db8::1 - jane doe",
            json!({"vhost": "www.example.com", "client_ip": "2001:db8::1", "user": "jane doe"}),
        ),
        ("2001:db8::80 - -", json!({"client_ip": "2001:db8::80"})),
        (
            "host.example - jane doe",
            json!({"client_host": "host.example", "user": "jane doe"}),
        ),
        (
            "host.example:80 - jane doe",
            json!({"client_host": "host.example:80", "user": "jane doe"}),
        ),
    ] {
        check(Format::AccessLog, &format!("{before} {rest}"), doc(more));
    }
}

#[test]
fn nuls_of_an_unfinished_write_are_no_part_of_a_record() {
    let nuls = "\0".repeat(100);
    for (format, text, expect) in [
        (
            Format::Ndjson,
            format!("{nuls}{{\"a\":1}}\n{{\"a\":2}}{nuls}\n"),
            [json!({"a": 1}), json!({"a": 2})],
        ),
        (
            Format::Plain,
            format!("{nuls}x\n{nuls}y\n"),
            [json!({"message": "x"}), json!({"message": "y"})],
        ),
        (
            Format::Csv,
            format!("a,b\n{nuls}1,2\n3,4\n"),
            [json!({"a": 1, "b": 2}), json!({"a": 3, "b": 4})],
        ),
    ] {
        assert_eq!(read_text(format, &text), expect.map(Ok), "{format}");
    }
}

#[test]
fn half_of_a_surrogate_pair_spoils_no_format() {
    let log = r#"{"log":"a\ud83d\n","stream":"stdout","time":"2024-05-01T10:00:00Z"}"#;
    let read = read_text(Format::Container, log);
    assert_eq!(read[0].as_ref().unwrap()["message"], "a\u{fffd}");
    let otlp = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"\udc00"}}]}]}]}"#;
    let read = read_text(Format::OtlpJson, otlp);
    assert_eq!(read[0].as_ref().unwrap()["body"]["message"], "\u{fffd}");
    let cloudfront = r#"{"date":"2024-05-01","time":"10:00:00","x-edge-location":"\ud800"}"#;
    let read = read_text(Format::CloudFrontJson, cloudfront);
    assert_eq!(read[0].as_ref().unwrap()["x_edge_location"], "\u{fffd}");
}

#[test]
fn fields_of_flow_logs_and_cloudfront_may_be_too_few() {
    assert_eq!(
        read_text(
            Format::VpcFlow,
            "version srcaddr dstaddr\n2 1.1.1.1\n2 1.1.1.1 -\n"
        ),
        [
            Err("wrong_number_of_values"),
            Ok(json!({"version": 2, "srcaddr": "1.1.1.1"})),
        ]
    );
    // Without names, those of version 2 apply.
    let line = "2 1234 eni-1 10.0.0.1 10.0.0.2 20641 22 6 20 4249 1418530010 1418530070 ACCEPT OK";
    let read_back = read_text(Format::VpcFlow, line);
    let doc = read_back[0].as_ref().unwrap();
    assert_eq!(
        (&doc["account_id"], &doc["dstport"]),
        (&json!("1234"), &json!(22))
    );
    let text = "#Version: 1.0\n#Fields: date time c-ip\n2024-05-01 10:00:00 ::1\n2024-05-01 10:00:00\n\
                #Fields: cs-method\nGET\n";
    assert_eq!(
        read_text(Format::W3c, text),
        [
            Ok(json!({
                "date": "2024-05-01", "time": "10:00:00", "c_ip": "::1",
                "timestamp": "2024-05-01T10:00:00Z"
            })),
            Err("wrong_number_of_values"),
            Ok(json!({"cs_method": "GET"})),
        ]
    );
    assert_eq!(read_text(Format::W3c, "a b\n"), [Err("wrong_format")]);
}

#[test]
fn what_otlp_leaves_open_is_kept() {
    let text = r#"{"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[{"logRecords":[
        {"observedTimeUnixNano":"5","body":{"intValue":"7"}}, "odd"]}]}]}"#;
    assert_eq!(
        read_text(Format::OtlpJson, text),
        [
            Ok(
                json!({"timestamp_nanos": 5, "observed_timestamp_nanos": 5, "body": {"message": 7}})
            ),
            Ok(json!({"body": {"message": "odd"}})),
        ]
    );
    assert_eq!(
        read_text(Format::OtlpJson, "{\"resourceSpans\":[]}"),
        [Err("no_log_records")]
    );
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,4}",
        "[a-z,\" \n;\t]{0,6}",
        "[a-z]\"[a-z]",
        ".{0,4}"
    ]
}

proptest! {
    #[test]
    fn our_csv_is_that_of_the_crate_csv(
        rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..8),
    ) {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        writer.write_record(["a", "b", "c"]).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        check_against_csv(&text)?;
    }

    #[test]
    fn so_it_is_for_any_text(text in "a,b\n([a-c,\" é]|\n|\r\n){0,40}") {
        // A single carriage return ends a line there, but not here.
        check_against_csv(&text)?;
    }
}

/// Checks the values of each record with two or three of them in both parsers.
fn check_against_csv(text: &str) -> Result<(), TestCaseError> {
    let recognised = Recognised {
        format: Format::Csv,
        dialect: b','.into(),
    };
    let ours: Vec<Vec<String>> = crate::tests::cut_all(text.as_bytes(), recognised, usize::MAX)
        .iter()
        .map(|record| {
            let record = String::from_utf8_lossy(record);
            let record = record.strip_suffix('\n').unwrap_or(&record);
            let record = record.strip_suffix('\r').unwrap_or(record);
            super::tables::csv::Values::new(record, b','.into())
                .map(|value| value.text.into_owned())
                .collect()
        })
        .filter(|values: &Vec<String>| {
            values.iter().any(|value| !value.is_empty()) || values.len() > 1
        })
        .collect();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let theirs: Vec<Vec<String>> = reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_string).collect())
        .filter(|values: &Vec<String>| {
            values.iter().any(|value| !value.is_empty()) || values.len() > 1
        })
        .collect();
    // A quote that is never closed: its contents differ by the end of the last line.
    let is_open = ours_is_open(text);
    prop_assert!(
        ours == theirs || is_open,
        "{:?}\n{:?}\n{:?}",
        text,
        ours,
        theirs
    );
    Ok(())
}

fn ours_is_open(text: &str) -> bool {
    let recognised = Recognised {
        format: Format::Csv,
        dialect: b','.into(),
    };
    let records = crate::tests::cut_all(text.as_bytes(), recognised, usize::MAX);
    records.last().is_some_and(|record| {
        let record = String::from_utf8_lossy(record);
        let mut values = super::tables::csv::Values::new(&record, b','.into());
        values.by_ref().count();
        values.is_unclosed
    })
}

#[test]
fn a_key_that_stands_twice_gets_a_number() {
    check(
        Format::Logfmt,
        "type=USER_LOGIN msg=audit(1714557605.456:457): pid=1300 uid=0 msg='op=login id=1000 res=success' uid=1",
        json!({
            "type": "USER_LOGIN", "msg": "audit(1714557605.456:457):", "pid": 1300, "uid": 0,
            "msg_2": "op=login id=1000 res=success", "uid_2": 1, "timestamp": "2024-05-01T10:00:05.456Z",
        }),
    );
    // An apostrophe that nothing closes is a part of the value.
    check(
        Format::Logfmt,
        "name=O'Brien word='x a=1",
        json!({"name": "O'Brien", "word": "'x", "a": 1}),
    );
}

#[test]
fn the_fields_of_exchange_are_separated_by_commas() {
    let text = "#Log-type: Message Tracking Log\n#Fields: date-time,client-ip,event-id,message-subject\n\
                2024-05-01T10:00:00.123Z,10.0.0.1,RECEIVE,Monthly report\n\
                2024-05-01T10:00:01.123Z,,DELIVER,\"Hello, world\"\n";
    assert_eq!(
        read_text(Format::W3c, text),
        [
            Ok(json!({
                "date_time": "2024-05-01T10:00:00.123Z", "client_ip": "10.0.0.1", "event_id": "RECEIVE",
                "message_subject": "Monthly report",
            })),
            Ok(json!({
                "date_time": "2024-05-01T10:00:01.123Z", "event_id": "DELIVER", "message_subject": "Hello, world",
            })),
        ]
    );
    assert_eq!(recognise(text.as_bytes(), true).format, Format::W3c);
}

#[test]
fn records_with_only_a_time_have_the_day_of_the_line_before() {
    let text = "#Version: 1.0\n#Date: 2024-05-01 10:00:00\n#Fields: time c-ip\n10:00:01 10.0.0.1\n\
                #Date: 2024-05-02 00:00:00\n#Fields: time c-ip\n00:00:03 10.0.0.2\n#Date: soon\n00:00:04 -\n";
    let timestamps: Vec<Value> = read_text(Format::W3c, text)
        .into_iter()
        .map(|doc| doc.unwrap()["timestamp"].clone())
        .collect();
    let expected = [
        "2024-05-01T10:00:01Z",
        "2024-05-02T00:00:03Z",
        "2024-05-02T00:00:04Z",
    ];
    assert_eq!(timestamps, expected);
    let text = "#Fields: time c-ip\n10:00:01 10.0.0.1\n";
    let doc = read_text(Format::W3c, text).remove(0).unwrap();
    assert_eq!(doc, json!({"time": "10:00:01", "c_ip": "10.0.0.1"}));
}

#[test]
fn a_program_may_name_no_host() {
    check(
        Format::Syslog,
        "<134>May  1 10:00:00 haproxy[1234]: 10.0.0.1:40000 fe be/s1",
        json!({
            "facility": "local0", "severity": "info", "severity_number": 6, "timestamp": "2024-05-01T10:00:00Z",
            "app_name": "haproxy", "proc_id": "1234", "message": "10.0.0.1:40000 fe be/s1",
        }),
    );
}

#[test]
fn a_tag_is_no_host_of_syslog() {
    let line = |n: u32| format!("May 01 10:00:0{n} imap-login: Info: Login: user=<bob>\n");
    let text: String = (0..5).map(line).collect();
    assert_eq!(recognise(text.as_bytes(), true).format, Format::Log);
    check(
        Format::Syslog,
        "May  1 10:00:00  mx1 rpd[1234]: text",
        json!({
            "timestamp": "2024-05-01T10:00:00Z", "hostname": "mx1", "app_name": "rpd", "proc_id": "1234",
            "message": "text",
        }),
    );
}

#[test]
fn blanks_behind_the_last_value_of_the_w3c_are_none() {
    let text = "#Version: 1.5\r\n#Fields: date time action src-ip path pid\r\n\r\n\
                2024-05-01 10:00:01 ALLOW 10.0.0.1 SEND 400 \r\n2024-05-01 10:00:02 DROP 10.0.0.2  RECEIVE 401\r\n";
    let recognised = recognise(text.as_bytes(), true);
    assert_eq!(recognised.format, Format::W3c);
    let read = crate::tests::read(text.as_bytes(), recognised, &year_2024(), usize::MAX);
    let short: Vec<String> = read
        .into_iter()
        .filter(|doc| doc != &Err("wrong_number_of_values"))
        .map(|doc| {
            let doc = doc.unwrap();
            format!("{} {} {}", doc["timestamp"], doc["path"], doc["pid"])
        })
        .collect();
    assert_eq!(
        short,
        [
            "\"2024-05-01T10:00:01Z\" \"SEND\" 400",
            "\"2024-05-01T10:00:02Z\" \"RECEIVE\" 401"
        ]
    );
}

#[test]
fn names_of_the_w3c_before_other_lines_make_no_table() {
    let text = "#Fields: date time action\n2024-05-01 10:00:01 one two three four\n2024-05-01 10:00:02 five six seven\n";
    assert_eq!(recognise(text.as_bytes(), true).format, Format::Log);
    let names = "#Version: 1.0\n#Fields: date time action\n";
    assert_eq!(recognise(names.as_bytes(), true).format, Format::W3c);
}

#[test]
fn flow_logs_are_recognised_without_their_names() {
    let text = "2 123456789010 eni-1235b8ca0 172.31.16.139 172.31.16.21 20641 22 6 20 4249 1714557600 1714557660 ACCEPT OK\n\
                2 123456789010 eni-1235b8ca0 - - - - - - - 1714557600 1714557660 - NODATA\n";
    let recognised = recognise(text.as_bytes(), true);
    assert_eq!(recognised.format, Format::VpcFlow);
    let read = crate::tests::read(text.as_bytes(), recognised, &year_2024(), usize::MAX);
    assert_eq!(read[0].as_ref().unwrap()["srcport"], 20_641);
    assert_eq!(read[1].as_ref().unwrap()["log_status"], "NODATA");
    let others = "2 123456789010 abc 1 2 3 4 5 6 7 8 9 ACCEPT OK\n".repeat(3);
    assert_ne!(recognise(others.as_bytes(), true).format, Format::VpcFlow);
}

#[test]
fn daemons_name_the_level_in_files_of_syslog() {
    let doc = |text: &str| {
        let read = read_text(Format::Syslog, text);
        read.into_iter().next().unwrap().unwrap()
    };
    let level = |text: &str| doc(text)["level"].clone();
    assert_eq!(
        level("May  1 10:00:01 host sshd[7]: error: PAM: failure"),
        "ERROR"
    );
    assert_eq!(
        level("May  1 10:00:01 host sshd[7]: fatal: no matching cipher"),
        "FATAL"
    );
    assert_eq!(
        level("May  1 10:00:01 host sshd[7]: Accepted password: error"),
        Value::Null
    );
    // A priority says it already.
    assert_eq!(
        level("<34>May  1 10:00:01 host sshd[7]: error: PAM: failure"),
        Value::Null
    );
}

#[test]
fn records_of_syslog_may_stand_behind_their_lengths() {
    let record = |n: usize, message: &str| {
        let record = format!("<11>1 2023-05-01T10:00:0{n}.123Z host app 12 - - {message}");
        (format!("{} {record}", record.len()), record)
    };
    let messages = ["one", "two\n lines", "three <13>1 x", "with a line feed\n"];
    let records: Vec<_> = (0..40).map(|n| record(n % 10, messages[n % 4])).collect();
    for between in ["", "\n", "\r\n"] {
        let text: String = records
            .iter()
            .map(|(text, _)| format!("{text}{between}"))
            .collect();
        let recognised = recognise(text.as_bytes(), true);
        assert_eq!(recognised.format, Format::Syslog, "{between:?}");
        for piece_len in [1, 7, 100, usize::MAX] {
            let docs = read(text.as_bytes(), recognised, &year_2024(), piece_len);
            assert_eq!(docs.len(), records.len(), "{between:?} {piece_len}");
            for (n, doc) in docs.iter().enumerate() {
                let doc = doc.as_ref().unwrap();
                assert_eq!(doc["hostname"], "host");
                assert_eq!(doc["severity"], "err");
                assert_eq!(doc["message"], messages[n % 4].trim_end(), "{doc}");
            }
        }
    }
    // Counts that are not those of the lines.
    let text: String = (0..9)
        .map(|n| format!("99 {}\n", record(n, "one").1))
        .collect();
    let docs = read_text(Format::Syslog, &text);
    assert_eq!(recognise(text.as_bytes(), true).format, Format::Syslog);
    assert_eq!(docs.len(), 9, "{docs:?}");
    assert_eq!(docs[8].as_ref().unwrap()["message"], "one");
}

#[test]
fn remarks_of_the_journal_are_no_records() {
    let line = |n: usize| format!("May 01 10:00:0{n} web01 systemd[1]: Started {n}\n");
    let text = format!(
        "-- Logs begin at Mon 2024-04-01 00:00:00 UTC. --\n{}-- Boot 4f1c --\n{}",
        line(1),
        line(2)
    );
    let docs = read_text(Format::Syslog, &text);
    let messages: Vec<_> = docs
        .iter()
        .map(|doc| doc.as_ref().unwrap()["message"].clone())
        .collect();
    assert_eq!(messages, ["Started 1", "Started 2"]);
}
