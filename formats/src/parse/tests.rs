//! Records of each format, right and wrong ones.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tests::{Read, read, year_2024};
use crate::{Format, Hints, Recognised};

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
    // Nginx writes such a status where no answer was sent.
    let line = r#"1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "-" 000 007"#;
    let read_back = read_text(Format::AccessLog, line);
    let doc = read_back[0].as_ref().unwrap();
    assert_eq!((&doc["status"], &doc["size"]), (&json!(0), &json!(7)));
    // A quote that nobody escaped, as in a real log.
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
    // RFC 3164, section 5.4. The source ended on 2024-06-01: October is that of the year before.
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
    check_wrong(
        Format::Syslog,
        &[
            "hello",
            "<999>1 2003-10-11T22:14:15Z h a - - - x",
            "<34>1 yesterday h a - - - x",
            "<34>1 2003-10-11T22:14:15Z h a - - x",
            "<34>1 2003-10-11T22:14:15Z h a - - [x y=z] m",
            "<34>Okt 11 22:14:15 h su: x",
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
    // Without names, those of version 2.
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
        // A carriage return alone ends a line there, and not here.
        check_against_csv(&text)?;
    }
}

/// The values of each record that has two or three of them, read by both.
fn check_against_csv(text: &str) -> Result<(), TestCaseError> {
    let recognised = Recognised {
        format: Format::Csv,
        delimiter: b',',
    };
    let ours: Vec<Vec<String>> = crate::tests::cut_all(text.as_bytes(), recognised, usize::MAX)
        .iter()
        .map(|record| {
            let record = String::from_utf8_lossy(record);
            let record = record.strip_suffix('\n').unwrap_or(&record);
            let record = record.strip_suffix('\r').unwrap_or(record);
            super::csv::Values::new(record, b',')
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
    // A quote that is never closed: what is in it differs by the end of the last line.
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
        delimiter: b',',
    };
    let records = crate::tests::cut_all(text.as_bytes(), recognised, usize::MAX);
    records.last().is_some_and(|record| {
        let record = String::from_utf8_lossy(record);
        let mut values = super::csv::Values::new(&record, b',');
        values.by_ref().count();
        values.is_unclosed
    })
}
