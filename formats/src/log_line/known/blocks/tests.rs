//! Records with marks around them: their ends, times and fields.

use serde_json::{Value, json};

use crate::log_line::tests::families::read;
use crate::{Format, recognise};

/// Checks the documents of a text: as many as expected, each with these fields, and the whole record within them.
#[track_caller]
fn check(text: &str, expected: &[Value]) {
    let (format, read) = read(text);
    assert_eq!(format, Format::Log, "{text}");
    let docs: Vec<_> = read
        .into_iter()
        .map(|(text, parsed)| (text, parsed.unwrap()))
        .collect();
    assert_eq!(docs.len(), expected.len(), "{docs:#?}");
    for ((text, doc), expected) in docs.iter().zip(expected) {
        let part = |name: &str| doc.get(name).and_then(Value::as_str).unwrap_or("");
        let whole = [part("head"), part("message")].concat();
        assert!(part("original") == text || whole == *text, "{doc:#}");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(doc.get(name), Some(value), "{name} of {doc:#}");
        }
    }
}

#[test]
fn messages_of_logcat_stand_below_their_heads() {
    let text = "--------- beginning of main\n\
                [ 05-01 10:00:07.123  2000: 2138 I/CarService ]\nfirst\nsecond\n\n\
                [ 2024-05-01 10:01:07.123456 +0200 0x7d0:0x85a E/Tag with space ]\nthird\n\n\
                [ 05-01 10:02:07.123  1000: 2000: 2138 W/x    ]\nfourth\n";
    let docs = [
        json!({"message": "--------- beginning of main"}),
        json!({
            "timestamp": "2024-05-01T10:00:07.123Z", "level": "INFO", "logger": "CarService", "process_id": "2000",
            "thread_id": "2138", "message": "first\nsecond\n",
        }),
        json!({
            "timestamp": "2024-05-01T10:01:07.123456+02:00", "level": "ERROR", "logger": "Tag with space",
            "process_id": "0x7d0", "thread_id": "0x85a", "message": "third\n",
        }),
        json!({"level": "WARN", "logger": "x", "process_id": "2000", "message": "fourth"}),
    ];
    check(text, &docs);
    // What stands in brackets at the beginning of a line may be anything.
    check(
        "[ 05-01 10:00:07.123 x ] I/a: b\n[ 05-01 10:00:08.123 x ] I/a: b\n",
        &[json!({}), json!({})],
    );
}

#[test]
fn alerts_of_snort_have_their_time_below() {
    let alert = |sid: u32, time: &str| {
        format!(
            "[**] [1:{sid}:0] Pinging... [**]\n[Classification: Attempted Information Leak] [Priority: 2] \n\
             {time} 10.100.10.190 -> 175.16.199.1\nICMP TTL:64 TOS:0x0 ID:6922 IpLen:20 DgmLen:84 DF\n\n"
        )
    };
    let text = [
        alert(7, "05/01-10:00:07.299988"),
        alert(8, "05/01/24-10:00:08.299988"),
    ]
    .concat();
    let docs = [
        json!({"timestamp": "2024-05-01T10:00:07.299988Z", "code": "1:7:0", "client": "10.100.10.190"}),
        json!({"timestamp": "2024-05-01T10:00:08.299988Z", "code": "1:8:0", "target": "175.16.199.1"}),
    ];
    check(&text, &docs);
}

#[test]
fn each_commit_is_a_record() {
    let hash = "450b660b5f3c5145df13450e42ac4d681e368abb";
    let commit = |headers: &str, text: &str| format!("commit {hash}{headers}\n\n    {text}\n\n");
    let text = [
        commit("\nAuthor: A <a@example.com>\nDate:   Wed May 1 12:00:07 2024 +0200", "One\n\n    commit of more"),
        commit(
            " (HEAD -> main, tag: v1)\nMerge: 1234567 89abcde\nAuthor: B <b@example.com>\nDate:   2024-05-02 12:00:07 -0700",
            "Two",
        ),
        commit("\nAuthor:     C <c@example.com>\nAuthorDate: Fri, 3 May 2024 10:00:07 +0000\nCommit:     D <d@example.com>", "3"),
    ]
    .concat();
    let docs = [
        json!({"timestamp": "2024-05-01T12:00:07+02:00", "commit": hash, "author": "A <a@example.com>"}),
        json!({"timestamp": "2024-05-02T12:00:07-07:00", "merge": "1234567 89abcde"}),
        json!({"timestamp": "2024-05-03T10:00:07Z", "committer": "D <d@example.com>"}),
    ];
    check(&text, &docs);
}

#[test]
fn each_mail_is_a_record() {
    let text = "From a@example.com Wed May  1 10:00:07 2024\nFrom: A <a@example.com>\nTo: l@example.org\n\
                Subject: One\nDate: Wed, 01 May 2024 12:00:07 +0200\n\nFrom now on, by phone.\n\nSubject: no header\n\n\
                From b@example.com Wed May 15 10:01:07 2024\nX: y\n\ntext\n";
    let docs = [
        json!({"timestamp": "2024-05-01T12:00:07+02:00", "from": "A <a@example.com>", "subject": "One"}),
        json!({"timestamp": "2024-05-15T10:01:07Z"}),
    ];
    check(text, &docs);
}

#[test]
fn elements_of_oracle_are_records() {
    let text = "<msg time='2024-05-01T10:00:07.123+02:00' org_id='oracle' comp_id='tnslsnr'\n type='ERROR' level='16' \
                host_id='db1' pid='42'>\n <txt>text\n </txt>\n</msg>\n";
    let doc = json!({
        "timestamp": "2024-05-01T10:00:07.123+02:00", "level": "ERROR", "logger": "tnslsnr", "hostname": "db1",
        "process_id": "42",
    });
    check(&text.repeat(2), &[doc.clone(), doc]);
}

#[test]
fn lines_of_buildkite_have_their_times_in_a_command_for_terminals() {
    let text =
        "\u{1b}_bk;t=1714557607123\u{7}~~~ Running\r\n\u{1b}_bk;t=1714557608123\u{7}$ make\r\n";
    let docs = [
        json!({"timestamp": "2024-05-01T10:00:07.123Z"}),
        json!({"timestamp": "2024-05-01T10:00:08.123Z"}),
    ];
    check(text, &docs);
}

#[test]
fn messages_of_fix_are_sent_in_utc() {
    let text = "8=FIX.4.4|9=148|35=D|34=1080|49=A|52=20240501-10:00:07.123|56=B|55=ACME|10=092|\n";
    let doc = json!({
        "timestamp": "2024-05-01T10:00:07.123Z", "msg_type": "D", "msg_seq_num": 1080, "sender_comp_id": "A",
        "target_comp_id": "B", "symbol": "ACME",
    });
    check(text, std::slice::from_ref(&doc));
    check(&text.replace('|', "\u{1}"), &[doc]);
}

#[test]
fn metrics_have_their_labels_and_value_as_fields() {
    let text = "# HELP http_requests_total The total.\n# TYPE http_requests_total counter\n\
                http_requests_total{method=\"post\",path=\"a \\\"b\\\" {c}\"} 1027 1714557607000\n\
                http_requests_total 3.5e2 1714557608.5\n# TYPE up gauge\nup{value=\"x\"} +Inf\n";
    let (format, read) = read(text);
    assert_eq!(format, Format::Log);
    let docs: Vec<Value> = read.into_iter().map(|(_, doc)| doc.unwrap()).collect();
    let docs: Vec<&Value> = docs
        .iter()
        .filter(|doc| doc.get("metric").is_some())
        .collect();
    assert_eq!(docs.len(), 3);
    let first = &docs[0];
    assert_eq!(first["timestamp"], "2024-05-01T10:00:07.000Z");
    assert_eq!(first["path"], "a \"b\" {c}");
    assert_eq!(
        (&first["method"], &first["value"]),
        (&json!("post"), &json!(1027))
    );
    assert_eq!(docs[1]["timestamp"], "2024-05-01T10:00:08.5Z");
    assert_eq!(docs[1]["value"], 350.0);
    assert_eq!(
        (docs[2].get("value"), &docs[2]["value_2"]),
        (None, &json!("x"))
    );
    for text in [
        "# HELP is at hand\nfor 1 person\n",
        "up 1\nup 2\n",
        "# TYPE x\nnothing of it here\n",
    ] {
        assert_ne!(
            recognise(text.as_bytes(), true).format,
            Format::Log,
            "{text}"
        );
    }
}

#[test]
fn events_of_the_policy_server_say_the_month_first() {
    let text = "<Event><Timestamp data_type=\"4\">05/01/2024 10:00:07.123</Timestamp><Computer-Name data_type=\"1\">NPS1\
                </Computer-Name><Packet-Type data_type=\"0\">1</Packet-Type></Event>\n";
    let doc =
        json!({"timestamp": "2024-05-01T10:00:07.123Z", "computer_name": "NPS1", "packet_type": 1});
    check(&text.repeat(2), &[doc.clone(), doc]);
}

#[test]
fn elements_of_one_name_are_records() {
    let text = "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"s\" timestamp=\"2024-05-01T10:00:07\">\n  \
                <testcase classname=\"c.D\" name=\"adds &amp; more\" time=\"0.1\"/>\n  \
                <testcase classname=\"c.D\" name='halves' time=\"0.2\">\n    <failure message=\"odd\">trace</failure>\n  </testcase>\n  \
                <testcase name=\"x\">\n</testcase>\n</testsuite>\n</testsuites>\n";
    let (format, read) = read(text);
    assert_eq!(format, Format::Log);
    let docs: Vec<Value> = read.into_iter().map(|(_, doc)| doc.unwrap()).collect();
    let docs: Vec<&Value> = docs
        .iter()
        .filter(|doc| doc.get("name").is_some())
        .collect();
    assert_eq!(docs.len(), 3, "{docs:#?}");
    assert_eq!(
        (&docs[0]["name"], &docs[0]["time"]),
        (&json!("adds & more"), &json!(0.1))
    );
    assert_eq!(
        (&docs[1]["failure"], &docs[1]["failure_message"]),
        (&json!("trace"), &json!("odd"))
    );
    for text in [
        "<html>\n<p>a</p>\n<p>b</p>\n<p>c</p>\n</html>\n",
        "<?xml version=\"1.0\"?>\n<a>\n<b/>\n<c/>\n</a>\n",
    ] {
        assert_eq!(
            recognise(text.as_bytes(), true).format,
            Format::Plain,
            "{text}"
        );
    }
}

#[test]
fn elements_inside_have_fields() {
    let point = |n: u32| {
        format!(
            "<trkpt lat=\"48.{n}\" lon=\"11.5\">\r\n  <ele>50{n}</ele>\r\n  <time>2024-05-01T10:00:0{n}Z</time>\r\n</trkpt>\r\n"
        )
    };
    let text = format!(
        "<?xml version=\"1.0\"?>\r\n<gpx><trk>\r\n<name>run</name>\r\n{}{}{}</trk></gpx>",
        point(1),
        point(2),
        point(3)
    );
    let (_, read) = read(&text);
    let docs: Vec<Value> = read.into_iter().map(|(_, doc)| doc.unwrap()).collect();
    // What stands before the first point tells something.
    assert_eq!(docs.len(), 4);
    let point = &docs[1];
    assert_eq!((&point["lat"], &point["ele"]), (&json!(48.1), &json!(501)));
    assert_eq!(point["time"], "2024-05-01T10:00:01Z");
}

#[test]
fn events_of_log4j_need_no_root() {
    let event = |n: u32| {
        format!(
            "<log4j:event logger=\"a.B\" timestamp=\"171455760{n}123\" level=\"INFO\" thread=\"main\">\n\
             <log4j:message>Order {n} shipped</log4j:message>\n</log4j:event>\n"
        )
    };
    let (_, read) = read(&[event(1), event(2), event(3)].concat());
    let docs: Vec<Value> = read.into_iter().map(|(_, doc)| doc.unwrap()).collect();
    assert_eq!(docs.len(), 3);
    assert_eq!(
        (&docs[1]["level"], &docs[1]["logger"]),
        (&json!("INFO"), &json!("a.B"))
    );
    assert!(
        docs[1]["message"]
            .as_str()
            .unwrap()
            .contains("Order 2 shipped")
    );
}

#[test]
fn points_of_influx_have_their_tags_fields_and_times() {
    let text = "cpu,host=web\\ 01,cpu=cpu0 usage=1.5,n=3i,text=\"a, b=\\\"c\\\"\",ok=t 1714557607123000000\n\
                mem used=7u 1714557608000000000\n";
    let docs = [
        json!({
            "timestamp": "2024-05-01T10:00:07.123000000Z", "measurement": "cpu", "host": "web 01", "cpu": "cpu0", "usage": 1.5,
            "n": 3, "text": "a, b=\"c\"", "ok": true,
        }),
        json!({"timestamp": "2024-05-01T10:00:08.000000000Z", "measurement": "mem", "used": 7}),
    ];
    check(text, &docs);
    // Pairs without a time are logfmt.
    assert_eq!(
        recognise(b"a,b=c d=e\na,b=c d=f\n", true).format,
        Format::Logfmt
    );
}
