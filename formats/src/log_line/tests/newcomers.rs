//! More logs of systems that are no families: what is told is no head, levels are found however they are marked, and what
//! goes on with a record is none of its own.

use serde_json::{Value, json};

use super::strangers::check;

/// A text of 12 lines, each of them a pattern with `{n}`, `{s}` (seconds of two digits) and the next of some words, `{w}`.
fn text(pattern: &str, words: &[&str]) -> String {
    let line = |n: usize| {
        let line = pattern.replace("{n}", &n.to_string());
        let word = words.get(n % words.len().max(1)).copied();
        let line = line.replace("{s}", &format!("{n:02}"));
        line.replace("{w}", word.unwrap_or_default()) + "\n"
    };
    (0..12).map(line).collect()
}

/// Checks a field of the first three records.
#[track_caller]
fn check_field(pattern: &str, words: &[&str], name: &str, expected: [Value; 3]) {
    let expected = expected.map(|value| json!({ name: value }));
    check(&text(pattern, words), &expected);
}

const LEVELS: [&str; 3] = ["INFO", "WARN", "ERROR"];

fn levels() -> [Value; 3] {
    LEVELS.map(Value::from)
}

#[test]
fn what_is_told_stays_in_the_message() {
    // Exim: addresses and pairs stand before the first bracket.
    check_field(
        "2024-05-01 10:00:{s} 1s1x{s}-0001Ab-2C {w} bob{n}@example.com H=mail.example.com [10.0.0.{n}]:25 P=esmtps S=10{n}",
        &["<=", "=>", "**"],
        "message",
        [
            json!(
                "1s1x00-0001Ab-2C <= bob0@example.com H=mail.example.com [10.0.0.0]:25 P=esmtps S=100"
            ),
            json!(
                "1s1x01-0001Ab-2C => bob1@example.com H=mail.example.com [10.0.0.1]:25 P=esmtps S=101"
            ),
            json!(
                "1s1x02-0001Ab-2C ** bob2@example.com H=mail.example.com [10.0.0.2]:25 P=esmtps S=102"
            ),
        ],
    );
    // DNF and yum: what was done.
    check_field(
        "2024-05-01T10:00:{s}+0000 INFO {w}: lib{n}-1.2.fc39",
        &["Installed", "Upgrade", "Erased"],
        "message",
        [
            json!("Installed: lib0-1.2.fc39"),
            json!("Upgrade: lib1-1.2.fc39"),
            json!("Erased: lib2-1.2.fc39"),
        ],
    );
    // TiDB: the message stands in brackets and quotes.
    check_field(
        "[2024/05/01 10:00:{s}.123 +08:00] [{w}] [server.go:100] [\"connection {n} closed\"] [conn={n}]",
        &LEVELS,
        "message",
        [
            json!("[\"connection 0 closed\"] [conn=0]"),
            json!("[\"connection 1 closed\"] [conn=1]"),
            json!("[\"connection 2 closed\"] [conn=2]"),
        ],
    );
    // Oracle's listener.
    check_field(
        "01-MAY-2024 10:00:{s} * (CONNECT_DATA=(SERVICE_NAME=orcl)) * (ADDRESS=(PROTOCOL=tcp)(PORT=5{n})) * establish * orcl * 0",
        &[],
        "message",
        [0, 1, 2].map(|n| {
            json!(format!(
                "(CONNECT_DATA=(SERVICE_NAME=orcl)) * (ADDRESS=(PROTOCOL=tcp)(PORT=5{n})) * establish * orcl * 0"
            ))
        }),
    );
    // Solaris' cron: what runs is no logger at the end of the line.
    check_field(
        "root 05/13/2024 10:00:{s} CMD (run{n}.sh)",
        &[],
        "message",
        [0, 1, 2].map(|n| json!(format!("CMD (run{n}.sh)"))),
    );
}

#[test]
fn levels_are_found_however_they_are_marked() {
    let letters = ["I", "W", "E"];
    // qBittorrent, ESPHome: a letter in brackets.
    check_field(
        "({w}) 2024-05-01T10:00:{s} - text {n}",
        &letters,
        "level",
        levels(),
    );
    check_field(
        "[10:00:{s}][{w}][sensor:094]: text {n}",
        &letters,
        "level",
        levels(),
    );
    check_field(
        "[10:00:{s}][{w}][sensor:094]: text {n}",
        &letters,
        "message",
        [0, 1, 2].map(|n| json!(format!("text {n}"))),
    );
    // OpenWrt: a facility of syslog.
    check_field(
        "Wed May  1 10:00:{s} 2024 {w} dnsmasq[12]: text {n}",
        &["daemon.info", "kern.warn", "local0.err"],
        "level",
        levels(),
    );
    check_field(
        "Wed May  1 10:00:{s} 2024 {w} dnsmasq[12]: text {n}",
        &["daemon.info", "kern.warn", "local0.err"],
        "logger",
        ["dnsmasq"; 3].map(Value::from),
    );
}

#[test]
fn levels_are_found_in_other_notations() {
    // Falco: a letter behind a level is a word.
    check_field(
        "10:00:{s}.123456789: {w} A shell was spawned {n} (user=root)",
        &["Info", "Warning", "Error"],
        "message",
        [0, 1, 2].map(|n| json!(format!("A shell was spawned {n} (user=root)"))),
    );
    // Transmission, F5: abbreviations in small letters.
    check_field(
        "[2024-05-01 10:00:{s}.123] {w} tr-udp.cc:1{n} text {n}",
        &["inf", "wrn", "err"],
        "level",
        levels(),
    );
    check_field(
        "May  1 10:00:{s} bigip {w} mcpd[1{n}]: 0107:5: text {n}",
        &["info", "warning", "err"],
        "level",
        levels(),
    );
    // Brocade: a word of what is told is no second level.
    check_field(
        "2024/05/01-10:00:{s}, [SEC-1203], 1{n}, FID 128, {w}, sw1, Login information: user {n}",
        &["INFO", "WARNING", "ERROR"],
        "level",
        levels(),
    );
    // Log4perl, Sling.
    check_field(
        "2024/05/01 10:00:{s} {w}> app.pl:10 main::run - text {n}",
        &LEVELS,
        "level",
        levels(),
    );
    check_field(
        "01.05.2024 10:00:{s}.123 *{w}* [main] org.a.B text {n}",
        &LEVELS,
        "level",
        levels(),
    );
    check_field(
        "01.05.2024 10:00:{s}.123 *{w}* [main] org.a.B text {n}",
        &LEVELS,
        "message",
        [0, 1, 2].map(|n| json!(format!("text {n}"))),
    );
    // Huawei: the severity in a code.
    check_field(
        "May  1 2024 10:00:{s} sw1 %%01IFNET/{w}/LINK_STATE(l)[{n}]:text {n}",
        &["6", "4", "3"],
        "level",
        levels(),
    );
}

#[test]
fn levels_are_found_in_lines_without_a_time() {
    let letters = ["I", "W", "E"];
    // ESP-IDF, winston.
    check_field("{w} (10{n}) wifi: text {n}", &letters, "level", levels());
    check_field(
        "{w} (10{n}) wifi: text {n}",
        &letters,
        "logger",
        ["wifi"; 3].map(Value::from),
    );
    check_field(
        "{w} (10{n}) wifi: text {n}",
        &letters,
        "process_id",
        [(); 3].map(|()| Value::Null),
    );
    check_field(
        "{w}: user {n} logged in",
        &["info", "warn", "error"],
        "level",
        levels(),
    );
    check_field(
        "{w}: user {n} logged in",
        &["info", "warn", "error"],
        "message",
        [0, 1, 2].map(|n| json!(format!("user {n} logged in"))),
    );
}

#[test]
fn a_module_that_is_one_word_is_a_logger() {
    check_field(
        "[2024-05-01T10:00:{s}Z {w}  app] text {n}",
        &LEVELS,
        "logger",
        ["app"; 3].map(Value::from),
    );
    check_field(
        "[2024-05-01T10:00:{s}Z {w}  app] text {n}",
        &LEVELS,
        "message",
        [0, 1, 2].map(|n| json!(format!("text {n}"))),
    );
}

#[test]
fn frames_that_no_space_stands_before_go_on_with_a_record() {
    let text = text(
        "E, [2024-05-01T10:00:{s}.123456 #12] ERROR -- : boom {n} (RuntimeError)\n/app/a.rb:3:in `x'\n/app/b.rb:{n}:in 'A#y'",
        &[],
    );
    check(
        &text,
        &[0, 1].map(|n| {
            json!({
                "timestamp": format!("2024-05-01T10:00:{n:02}.123456Z"), "level": "ERROR", "process_id": "12",
                "message": format!("boom {n} (RuntimeError)\n/app/a.rb:3:in `x'\n/app/b.rb:{n}:in 'A#y'"),
            })
        }),
    );
}

#[test]
fn more_times_are_read() {
    let times = |pattern: &str, expected: &str| {
        let doc = |n: usize| json!({"timestamp": expected.replace("{s}", &format!("{n:02}")), "message": format!("text {n}")});
        check(&text(pattern, &[]), &[0, 1, 2].map(doc));
    };
    // World of Warcraft: a month of one digit.
    times("5/13 10:00:{s}.123  text {n}", "2024-05-13T10:00:{s}.123Z");
    // Polish, Russian, Swedish.
    times("13 maja 2024 10:00:{s} text {n}", "2024-05-13T10:00:{s}Z");
    times(
        "1 pa\u{17a}dziernika 2024 10:00:{s} text {n}",
        "2024-10-01T10:00:{s}Z",
    );
    times(
        "13 \u{441}\u{435}\u{43d}\u{442}\u{44f}\u{431}\u{440}\u{44f} 2024 10:00:{s} text {n}",
        "2024-09-13T10:00:{s}Z",
    );
    times("13 maj 2024 10:00:{s} text {n}", "2024-05-13T10:00:{s}Z");
    // Kafka's console.
    let epoch = |n: usize| format!("CreateTime:17145576{n:02}123\tkey{n}\ttext {n}\n");
    let text: String = (0..12).map(epoch).collect();
    check(
        &text,
        &[
            json!({"timestamp": "2024-05-01T10:00:00.123Z"}),
            json!({"timestamp": "2024-05-01T10:00:01.123Z"}),
        ],
    );
}

#[test]
fn a_bracket_opens_with_a_level_or_a_zone_before_a_time() {
    let check = |pattern: &str, words: &[&str], levels: [&str; 2], rest: Value| {
        let doc = |n: usize| {
            let mut doc =
                json!({"timestamp": format!("2024-05-01T10:00:{n:02}Z"), "level": levels[n]});
            doc.as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            doc
        };
        super::strangers::check(&text(pattern, words), &[0, 1].map(doc));
    };
    // Jupyter, Tornado, Monit.
    check(
        "[{w} 2024-05-01 10:00:{s} ServerApp] Kernel started",
        &["I", "W"],
        ["INFO", "WARN"],
        json!({"message": "Kernel started"}),
    );
    check(
        "[{w} 240501 10:00:{s} web:22] 200 GET / (::1) 1.23ms",
        &["I", "E"],
        ["INFO", "ERROR"],
        json!({"message": "200 GET / (::1) 1.23ms"}),
    );
    check(
        "[UTC May  1 10:00:{s}] {w} : 'web' process is running",
        &["info    ", "error   "],
        ["INFO", "ERROR"],
        json!({"message": "'web' process is running"}),
    );
    // A level behind a process.
    check(
        "May 01 10:00:{s} kdc1 krb5kdc[42]({w}): AS_REQ from web",
        &["info", "Error"],
        ["INFO", "ERROR"],
        json!({"logger": "krb5kdc", "process_id": "42", "message": "AS_REQ from web"}),
    );
}

#[test]
fn paragraphs_of_keys_and_values_are_records() {
    let check = |record: &str, expected: Value| {
        let paragraph = |n: usize| record.replace("{n}", &n.to_string());
        let text: String = (0..6).map(paragraph).collect();
        let doc = |n: usize| {
            let mut doc = expected.clone();
            doc["timestamp"] = json!(format!("2024-05-01T10:00:0{n}Z"));
            let own = paragraph(n);
            doc["message"] = json!(own.strip_suffix('\n'));
            doc
        };
        super::strangers::check(&text, &[0, 1, 2].map(doc));
    };
    // Windows' Event Viewer, LDIF, YAML.
    check(
        "Log Name:      System\nDate:          5/1/2024 10:00:0{n} AM\nLevel:         Warning\nDescription:\nService {n} stopped.\n\n",
        json!({"level": "WARN"}),
    );
    check(
        "dn: uid=u{n},ou=people,dc=a\nobjectClass: person\nmodifyTimestamp: 20240501T10000{n}Z\n\n",
        json!({}),
    );
    check(
        "---\ntime: 2024-05-01T10:00:0{n}Z\nname: u{n}\nkind: b\n",
        json!({}),
    );
}

#[test]
fn what_was_noticed_in_a_further_set_of_strangers_logs() {
    let check = super::strangers::check;
    // mpd, Bacula: a day without a year, and no seconds.
    check(
        "May 01 10:00 : player: played \"a\"\nMay 01 10:02 : player: played \"b\"\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z"})],
    );
    check(
        "01-May 10:00 bacula-dir JobId 7: Start Backup\n01-May 10:02 bacula-dir JobId 7: Using Device\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z"})],
    );
    // Tendermint: a letter before the bracket.
    check(
        "I[2024-05-01|10:00:00.123] one      module=consensus height=1\nE[2024-05-01|10:00:01.123] two      module=p2p\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00.123Z", "level": "INFO"}),
            json!({"timestamp": "2024-05-01T10:00:01.123Z", "level": "ERROR"}),
        ],
    );
    // Fields between semicolons.
    check(
        "13/05/2024 10:00:00;INFO;Server1;one or two\n13/05/2024 10:00:01;ERREUR;Server1;three\n",
        &[
            json!({"timestamp": "2024-05-13T10:00:00Z", "level": "INFO"}),
            json!({"timestamp": "2024-05-13T10:00:01Z", "level": "ERROR"}),
        ],
    );
    // FreeRADIUS' detail: a line with the time, and attributes, one of which is a number of seconds.
    let detail = |n: u32| {
        format!(
            "Wed May  1 10:00:0{n} 2024\n\tPacket-Type = Access-Request\n\tUser-Name = \"u{n}\"\n\tTimestamp = 171455760{n}\n\n"
        )
    };
    let text: String = (0..5).map(detail).collect();
    check(
        &text,
        &[0, 1, 2, 3].map(|n| json!({"timestamp": format!("2024-05-01T10:00:0{n}Z")})),
    );
    // OSSEC's alerts.
    let alert = |n: u32| {
        format!(
            "** Alert 171455760{n}.42: - syslog,sshd\n2024 May 01 10:00:0{n} web->/var/log/auth.log\nRule: 5710 (level 5) -> 'Login'\nSrc IP: 10.0.0.{n}\n\n"
        )
    };
    let text: String = (0..5).map(alert).collect();
    check(
        &text,
        &[0, 1, 2, 3].map(|n| json!({"timestamp": format!("2024-05-01T10:00:0{n}.42Z")})),
    );
    // The history of a shell.
    check(
        "#1714557600\nls -l\n#1714557601\ncd /tmp\n#1714557602\nmake\n",
        &[0, 1, 2].map(|n| json!({"timestamp": format!("2024-05-01T10:00:0{n}Z")})),
    );
    // SAP HANA: letters in lower case.
    check(
        "[42]{7}[-1/-1] 2024-05-01 10:00:00.123456 i Basis            Timer.cpp(00012) : one\n[42]{7}[-1/-1] 2024-05-01 10:00:01.123456 e Basis            Timer.cpp(00012) : two\n",
        &[json!({"level": "INFO"}), json!({"level": "ERROR"})],
    );
    // winston: the time in an object at the end.
    check(
        "info: one {\"service\":\"user\",\"timestamp\":\"2024-05-01 10:00:00\"}\nerror: two {\"service\":\"user\",\"timestamp\":\"2024-05-01 10:00:01\"}\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00Z", "level": "INFO"}),
            json!({"timestamp": "2024-05-01T10:00:01Z", "level": "ERROR"}),
        ],
    );
    // What `ls` says of a file is no time of a record.
    let (format, _) = super::families::read(
        "-rw-r--r-- 1 root root 7 May 28 11:35 a\n-rw-r--r-- 1 root root 7 May 28 11:36 b\n-rw-r--r-- 1 root root 9 May 29 11:36 c\n",
    );
    assert_ne!(format, crate::Format::Log);
}

#[test]
fn lines_between_objects_are_read_with_their_time_under_the_name_that_the_objects_have() {
    for (of_object, of_line) in [
        ("\"2024-05-01T10:00:02Z\"", json!("2024-05-01T10:00:01Z")),
        ("1714557602", json!(1_714_557_601)),
        ("1714557602123", json!(1_714_557_601_000_u64)),
        ("1714557602.25", json!(1_714_557_601.0)),
        ("\"1714557602\"", json!("1714557601")),
    ] {
        let pair = |n: u32| {
            format!("{{\"ts\":{of_object},\"msg\":\"a\"}}\n2024-05-01 10:00:0{n} ERROR b{n}\n")
        };
        let text: String = (0..5).map(pair).collect();
        let read = super::families::read(&text).1;
        assert_eq!(read[3].1.as_ref().unwrap()["ts"], of_line, "{of_object}");
    }
    let pair = |n: u32| {
        format!(
            "{{\"time\":\"2024-05-01T10:00:0{n}Z\",\"level\":\"info\",\"msg\":\"a{n}\"}}\n2024-05-01 10:00:0{n} ERROR b{n}\n  at line {n}\n"
        )
    };
    let text: String = (0..5).map(pair).collect();
    let recognised = crate::recognise(text.as_bytes(), true);
    assert_eq!(recognised.format, crate::Format::Ndjson);
    let read = super::families::read(&text).1;
    assert_eq!(read.len(), 10, "{read:?}");
    let doc = read[3].1.as_ref().unwrap();
    for (name, value) in [
        ("time", "2024-05-01T10:00:01Z"),
        ("level", "ERROR"),
        ("message", "b1\n  at line 1"),
    ] {
        assert_eq!(doc[name], value, "{doc}");
    }
}
