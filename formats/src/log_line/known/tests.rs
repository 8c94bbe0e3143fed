//! Layouts with marks, alone, in syslog, and in containers.

use serde_json::{Value, json};

use crate::log_line::tests::families::read;
use crate::{Format, recognise};

fn docs(text: &str) -> Vec<Value> {
    let (format, read) = read(text);
    assert_eq!(format, Format::Log, "{text}");
    read.into_iter()
        .map(|(text, parsed)| {
            let doc = parsed.unwrap();
            let part = |name: &str| doc.get(name).and_then(Value::as_str).unwrap_or("");
            assert_eq!(
                [part("head"), part("message"), part("tail")].concat(),
                text,
                "{doc:#}"
            );
            doc
        })
        .collect()
}

/// Checks fields of a document.
fn check(doc: &Value, expected: Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(doc.get(name), Some(value), "{name} of {doc:#}");
    }
}

const CEF: &str = "CEF:0|Trend \\| Micro|Deep Security|20.0|600|User Signed In|3|src=10.52.116.160 suser=admin msg=signed in with a \\= sign rt=1714557600123 msg=again\n\
     CEF:0|Trend Micro|Deep Security|20.0|601|Worm|10|src=10.52.116.161 rt=May 01 2024 10:00:05.5 level=x cs1=\n";

#[test]
fn events_have_their_header_and_extension_as_fields() {
    let docs = docs(CEF);
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.123Z", "level": "INFO", "device_vendor": "Trend | Micro",
            "device_product": "Deep Security", "event_class_id": "600", "name": "User Signed In", "event_severity": 3,
            "src": "10.52.116.160", "suser": "admin", "msg": "signed in with a = sign", "msg_2": "again",
        }),
    );
    check(
        &docs[1],
        json!({"timestamp": "2024-05-01T10:00:05.5Z", "level": "CRITICAL", "level_2": "x"}),
    );
    assert_eq!(docs[1].get("cs1"), None);
}

#[test]
fn events_of_both_versions_of_leef_are_read() {
    let first = "LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tsev=5\tdevTime=May 01 2024 10:00:00.000 UTC\tusrName=joe black\n";
    let second = "LEEF:2.0|Lancope|StealthWatch|1.0|41|^|src=192.0.2.1^sev=9^devTime=1714557605000^url=a|b\n";
    let hexadecimal = second.replace("|^|", "|x5e|");
    let docs = docs(&[first, second, &hexadecimal].concat());
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.000Z", "level": "WARN", "event_id": "15345", "src": "192.0.2.0",
            "usrName": "joe black",
        }),
    );
    for doc in &docs[1..] {
        check(
            doc,
            json!({"timestamp": "2024-05-01T10:00:05.000Z", "level": "CRITICAL", "src": "192.0.2.1", "url": "a|b"}),
        );
    }
}

#[test]
fn an_event_in_syslog_has_its_own_time() {
    let event = CEF.lines().next().unwrap();
    for header in ["May  2 00:00:00 fw1", "<134>May  2 00:00:00 fw1"] {
        let text = format!("{header} {event}\n").repeat(3);
        let (format, read) = read(&text);
        assert_eq!(format, Format::Syslog);
        check(
            read[0].1.as_ref().unwrap(),
            json!({
                "timestamp": "2024-05-01T10:00:00.123Z", "hostname": "fw1", "src": "10.52.116.160", "message": event,
            }),
        );
    }
}

const CMTRACE: &str = "<![LOG[Starting the download]LOG]!><time=\"10:00:00.123-120\" date=\"05-01-2024\" component=\"CcmExec\" context=\"\" type=\"1\" thread=\"42\" file=\"a.cpp:12\">\n\
     <![LOG[Policy evaluation took\nlonger than ]LOG]! expected]LOG]!><time=\"10:00:02.789+300\" date=\"05-01-2024\" component=\"Policy\" context=\"c\" type=\"3\" thread=\"43\" file=\"b.cpp:7\">\n";

#[test]
fn events_may_stand_behind_headers_of_syslog_and_alone_in_one_file() {
    let docs = docs(
        "CEF:0|Trend Micro|Deep Security Agent|10.2|400|Eicar|6|dvchost=h rt=May 03 2019 10:15:00\n\
         Sep 29 2023 08:26:10 fw01 CEF:0|Security|threatmanager|1.0|100|worm stopped|10|src=10.0.0.1\n\
         <13>1 2023-09-29T08:26:11Z fw02 CEF:1|Check\\|Point|VPN-1|R80|200|detected|3|src=10.0.0.1\n",
    );
    check(
        &docs[0],
        json!({"timestamp": "2019-05-03T10:15:00Z", "level": "WARN", "name": "Eicar"}),
    );
    check(
        &docs[1],
        json!({"timestamp": "2023-09-29T08:26:10Z", "hostname": "fw01", "name": "worm stopped", "src": "10.0.0.1"}),
    );
    check(
        &docs[2],
        json!({"timestamp": "2023-09-29T08:26:11Z", "hostname": "fw02", "device_vendor": "Check|Point"}),
    );
}

#[test]
fn records_of_configuration_manager_may_have_several_lines() {
    let docs = docs(CMTRACE);
    assert_eq!(docs.len(), 2);
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.123+02:00", "level": "INFO", "logger": "CcmExec", "thread_id": "42",
            "source": "a.cpp:12", "message": "Starting the download",
        }),
    );
    check(
        &docs[1],
        json!({
            "timestamp": "2024-05-01T10:00:02.789-05:00", "level": "ERROR", "context": "c",
            "message": "Policy evaluation took\nlonger than ]LOG]! expected",
        }),
    );
}

const CHROMIUM: &str = "[1234:5678:0501/100000.123456:ERROR:gpu_process_host.cc(967)] GPU process launch failed\nmore of it\n\
     [0501/100001:WARNING:sandbox.cc(3)] [text]\n\
     [1234:1234:0501/100002.3:INFO:CONSOLE(12)] \"hello\"\n\
     [1234:1234:0501/100003.4:VERBOSE1:network_service.cc(99)] starting\n";

#[test]
fn the_day_and_time_of_chromium_are_in_its_brackets() {
    let docs = docs(CHROMIUM);
    assert_eq!(docs.len(), 4);
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.123456Z", "level": "ERROR", "process_id": "1234", "thread_id": "5678",
            "source": "gpu_process_host.cc(967)", "message": "GPU process launch failed\nmore of it",
        }),
    );
    check(
        &docs[1],
        json!({"timestamp": "2024-05-01T10:00:01Z", "level": "WARN", "message": "[text]"}),
    );
    assert_eq!(docs[1].get("process_id"), None);
    check(&docs[2], json!({"level": "INFO", "source": "CONSOLE(12)"}));
    check(&docs[3], json!({"level": "TRACE"}));
}

const DB2: &str = "2024-05-01-10.00.00.123456+120 I1234E456           LEVEL: Event\n\
     PID     : 1234                 TID  : 139876         PROC : db2sysc\n\
     INSTANCE: db2inst1             NODE : 000            DB   : SAMPLE\n\
     FUNCTION: DB2 UDB, base sys utilities, sqleDatabaseInit, probe:12\nMESSAGE : started\n\n\
     2024-05-01-10.00.01.654321-300 E1691E789           LEVEL: Severe (OS)\n\
     PID     : 77                   TID  : 8\nMESSAGE : ADM1234E  failed\n";

#[test]
fn entries_of_db2_have_their_zone_in_minutes() {
    let docs = docs(DB2);
    assert_eq!(docs.len(), 2);
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.123456+02:00", "level": "INFO", "logger": "db2sysc", "process_id": "1234",
            "thread_id": "139876",
        }),
    );
    assert!(
        docs[0]["message"]
            .as_str()
            .unwrap()
            .contains("sqleDatabaseInit")
    );
    check(
        &docs[1],
        json!({"timestamp": "2024-05-01T10:00:01.654321-05:00", "level": "ERROR", "process_id": "77"}),
    );
}

const MODSECURITY: &str = "--a1b2c3d4-A--\n[01/May/2024:10:00:00 +0200] XyZ123 10.0.0.1 40000 10.0.0.2 80\n\
     --a1b2c3d4-B--\nGET /?a=1 HTTP/1.1\nHost: x\n\n--a1b2c3d4-H--\n\
     Message: Access denied with code 403 (phase 2). [id \"941100\"] [severity \"CRITICAL\"]\n--a1b2c3d4-Z--\n\n\
     --b1b2c3d4-A--\n[01/May/2024:10:00:05 +0200] XyZ124 10.0.0.3 40001 10.0.0.2 80\n--b1b2c3d4-Z--\n";

#[test]
fn a_transaction_of_modsecurity_is_a_record() {
    let docs = docs(MODSECURITY);
    assert_eq!(docs.len(), 2);
    check(
        &docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00+02:00", "level": "CRITICAL", "request_id": "XyZ123",
            "client": "10.0.0.1:40000",
        }),
    );
    check(
        &docs[1],
        json!({"timestamp": "2024-05-01T10:00:05+02:00", "client": "10.0.0.3:40001"}),
    );
    assert_eq!(docs[1].get("level"), None);
}

const JOURNAL: &str = "__CURSOR=s=abc;i=1\n__REALTIME_TIMESTAMP=1714557600123456\nPRIORITY=6\n\
     SYSLOG_IDENTIFIER=sshd\n_PID=1234\n_HOSTNAME=web01\n_CMDLINE=a=b c\nMESSAGE=Accepted password for alice\n\n\
     __CURSOR=s=abc;i=2\n__REALTIME_TIMESTAMP=1714557601000000\nPRIORITY=3\nPRIORITY=4\nMESSAGE\n\u{9}\0\0\0\0\0\0\0two\nlines\n\
     TAG=a\nTAG=b\n";

#[test]
fn entries_of_the_journal_are_read_with_values_of_several_lines() {
    let (format, read) = read(JOURNAL);
    assert_eq!((format, read.len()), (Format::Log, 2));
    let docs: Vec<&Value> = read.iter().map(|(_, doc)| doc.as_ref().unwrap()).collect();
    check(
        docs[0],
        json!({
            "timestamp": "2024-05-01T10:00:00.123456Z", "level": "INFO", "logger": "sshd", "process_id": "1234",
            "hostname": "web01", "_CMDLINE": "a=b c", "message": "Accepted password for alice",
        }),
    );
    check(
        docs[1],
        json!({
            "timestamp": "2024-05-01T10:00:01.000000Z", "level": "ERROR", "PRIORITY": "4", "message": "two\nlines",
            "TAG": "a", "TAG_2": "b",
        }),
    );
    for (text, doc) in &read {
        assert_eq!(doc.as_ref().unwrap()["original"], text.as_str());
    }
}

const WINDOWS: &str = "<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='Security-Auditing' Guid='{54}'/><EventID>4624</EventID><Level>0</Level><Task>12544</Task><TimeCreated SystemTime='2024-05-01T10:00:00.1234567Z'/><EventRecordID>1234</EventRecordID><Correlation/><Execution ProcessID='656' ThreadID='700'/><Channel>Security</Channel><Computer>PC1</Computer><Security/></System><EventData><Data Name='TargetUserName'>alice &amp; bob</Data><Data Name='LogonType'>3</Data><Data Name='X'>-</Data></EventData></Event>\n\
     <Event xmlns=\"http://schemas.microsoft.com/win/2004/08/events/event\">\n  <System>\n    <Provider Name=\"X\" />\n    <EventID Qualifiers=\"16384\">7036</EventID>\n    <Level>2</Level>\n    <TimeCreated SystemTime=\"2024-05-01T10:00:01Z\" />\n  </System>\n  <EventData><Data>one</Data><Data>two</Data></EventData>\n</Event>\n";

#[test]
fn events_of_windows_are_read_on_one_line_and_on_many() {
    for text in [
        WINDOWS.to_owned(),
        format!("<?xml version=\"1.0\"?>\n{WINDOWS}"),
    ] {
        let (format, read) = read(&text);
        assert_eq!(format, Format::Log);
        let docs: Vec<&Value> = read.iter().map(|(_, doc)| doc.as_ref().unwrap()).collect();
        check(
            docs[docs.len() - 2],
            json!({
                "timestamp": "2024-05-01T10:00:00.1234567Z", "level": "INFO", "logger": "Security-Auditing",
                "event_id": "4624", "process_id": "656", "thread_id": "700", "channel": "Security", "computer": "PC1",
                "event_record_id": "1234", "TargetUserName": "alice & bob", "LogonType": 3,
            }),
        );
        assert_eq!(docs[docs.len() - 2].get("X"), None);
        check(
            docs[docs.len() - 1],
            json!({
                "timestamp": "2024-05-01T10:00:01Z", "level": "ERROR", "event_id": "7036", "data": "one", "data_2": "two",
            }),
        );
        let (text, doc) = &read[read.len() - 1];
        assert_eq!(doc.as_ref().unwrap()["message"], text.as_str());
    }
}

#[test]
fn marks_are_found_in_containers() {
    for (text, field, value) in [
        (CEF, "src", "10.52.116.160"),
        (CMTRACE, "logger", "CcmExec"),
        (CHROMIUM, "process_id", "1234"),
        (DB2, "process_id", "1234"),
        (MODSECURITY, "request_id", "XyZ123"),
        (WINDOWS, "event_id", "4624"),
    ] {
        let wrap = |line: &str| format!("2024-06-01T10:00:00.5Z stdout F {line}\n");
        let wrapped: String = text.lines().map(wrap).collect();
        let (format, read) = read(&wrapped);
        assert_eq!(format, Format::Container);
        check(
            read[0].1.as_ref().unwrap(),
            json!({field: value, "timestamp": "2024-06-01T10:00:00.5Z"}),
        );
    }
}

#[test]
fn texts_that_only_resemble_marks_are_read_as_before() {
    for text in [
        "CEF: a format of events\nand more\n",
        "LEEF:x|a|b\n",
        "<![CDATA[x]]>\n",
        "[1234:5678:0501/100000:ERROR] no source\n",
        "[1:2:1399/100000:ERROR:a.cc(1)] no day\n",
    ] {
        assert_eq!(
            recognise(text.as_bytes(), true).format,
            Format::Plain,
            "{text}"
        );
    }
}
