//! Logs of systems that are no families, each with the record that was once read wrongly.

use serde_json::{Value, json};

use super::families::read;
use crate::Format;

/// Checks the fields of the first records of a text, in turn; `null` is a field that a document must not have.
#[track_caller]
pub(super) fn check(text: &str, expected: &[Value]) {
    let (format, read) = read(text);
    assert_eq!(format, Format::Log, "{text}");
    assert!(
        read.len() >= expected.len(),
        "{} records of {text}",
        read.len()
    );
    for ((_, doc), expected) in read.iter().zip(expected) {
        let doc = doc.as_ref().unwrap();
        for (name, value) in expected.as_object().unwrap() {
            let found = doc.get(name).unwrap_or(&Value::Null);
            assert_eq!(found, value, "{name} of {doc:#}");
        }
    }
}

#[test]
fn times_are_read_as_these_systems_write_them() {
    let time = |time: &str| json!({ "timestamp": time });
    // Akamai, Windows Update: a tab between day and time.
    check(
        "2024-05-01\t10:00:00\t10.0.0.1\tGET\t/a.js\t200\n2024-05-01\t10:00:01\t10.0.0.2\tGET\t/b.js\t404\n",
        &[time("2024-05-01T10:00:00Z")],
    );
    // GitLab's application log: no seconds.
    check(
        "May 01, 2024 10:00: User \"a\" was created\nMay 01, 2024 10:05: Project \"x\" was removed\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z", "message": "User \"a\" was created"})],
    );
    // Suricata: two hyphens, and the day first.
    check(
        "[7] 1/5/2024 -- 10:00:00 - <Notice> - one\n[7] 13/5/2024 -- 10:00:02 - <Error> - two\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00Z", "level": "NOTICE", "message": "one", "process_id": "7"}),
            json!({"timestamp": "2024-05-13T10:00:02Z", "level": "ERROR", "message": "two"}),
        ],
    );
    // Minecraft's Forge: a day without separators.
    check(
        "[01May2024 10:00:00.123] [main/INFO] [a.Launcher/X]: one\n[01May2024 10:00:01.456] [main/WARN] [b.Y/]: two\n",
        &[json!({"timestamp": "2024-05-01T10:00:00.123Z", "level": "INFO", "message": "one"})],
    );
    // ntpd: the day before the month, no year.
    check(
        " 1 May 10:00:00 ntpd[42]: proto: precision\n 1 May 10:00:01 ntpd[42]: Listen\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z", "logger": "ntpd", "process_id": "42"})],
    );
    // Sybase: several numbers before the day.
    check(
        "00:0000:00000:00001:2024/05/01 10:00:00.12 kernel  Use license\n00:0002:00000:00012:2024/05/01 10:00:01.12 server  Error: 1608\n",
        &[json!({"timestamp": "2024-05-01T10:00:00.12Z", "time_of_day": null})],
    );
    // OpenLDAP: hexadecimal seconds, and nanoseconds or microseconds.
    check(
        "663212a0.1e2f3a4b 0x7f1a2b3c4d5e conn=1 fd=12 ACCEPT\n663212a1.0e2f3a4b 0x7f1a2b3c4d5e conn=1 op=0 BIND\n",
        &[time("2024-05-01T10:00:00.506411595Z")],
    );
    check(
        "663212a0.1e23f conn=1 fd=12 ACCEPT\n663212a1.0000a conn=1 op=0 BIND\n",
        &[
            time("2024-05-01T10:00:00.123455Z"),
            time("2024-05-01T10:00:01.000010Z"),
        ],
    );
    check(
        "663212a0 slapd starting\n663212a1 conn=1 op=0 BIND\n663212a2 conn=1 op=0 RESULT\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z", "message": "slapd starting"})],
    );
    // Passenger: letter and time in one bracket.
    check(
        "[ N 2024-05-01 10:00:00.1234 12345/T1 age/Wat/WatchdogMain.cpp:1373 ]: Starting\n\
         [ E 2024-05-01 10:00:01.5678 12346/T5 age/Cor/Implementation.cpp:221 ]: Could not spawn\n",
        &[
            json!({
                "timestamp": "2024-05-01T10:00:00.1234Z", "level": "NOTICE", "source": "age/Wat/WatchdogMain.cpp:1373",
                "message": "Starting",
            }),
            json!({"level": "ERROR", "message": "Could not spawn"}),
        ],
    );
    // uWSGI: behind a group in braces.
    let request = |n: u32| {
        format!(
            "[pid: 7|app: 0|req: {n}/{n}] 10.0.0.{n} () {{40 vars in 700 bytes}} [Wed May  1 10:00:0{n} 2024] GET /{n} => generated {n} bytes in 12 msecs\n"
        )
    };
    let text: String = (1..8).map(request).collect();
    check(
        &format!(
            "*** Starting uWSGI 2.0.20 (64bit) on [Wed May  1 10:00:00 2024] ***\nos: Linux\n{text}"
        ),
        &[
            json!({}),
            time("2024-05-01T10:00:01Z"),
            time("2024-05-01T10:00:02Z"),
        ],
    );
    // Triton: tables between the lines of glog.
    check(
        "I0501 10:00:00.123456 1 server.cc:549] \n+----+----+\n| A  | B  |\n+----+----+\n\nE0501 10:00:01.123456 1 model.cc:12] failed\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00.123456Z", "level": "INFO"}),
            json!({"level": "ERROR", "message": "failed"}),
        ],
    );
}

#[test]
fn hexadecimal_words_are_no_times() {
    for text in [
        "deadbeef one\n12345678 two\ncafebabe three\n",
        "663212a0 one\n9a3212a1 two\n463212a2 three\n",
    ] {
        assert_eq!(read(text).0, Format::Plain, "{text}");
    }
}

#[test]
fn levels_are_found_where_these_systems_have_them() {
    // Asterisk: two brackets behind it.
    check(
        "[May  1 10:00:00] NOTICE[42][C-00000001] chan_sip.c: one\n[May  1 10:00:01] WARNING[42] channel.c: two\n",
        &[
            json!({"level": "NOTICE", "process_id": "42", "logger": "chan_sip.c", "message": "one"}),
            json!({"level": "WARN", "logger": "channel.c", "message": "two"}),
        ],
    );
    // cloud-init: in the brackets of a name.
    check(
        "2024-05-01 10:00:00,123 - util.py[DEBUG]: one\n2024-05-01 10:00:01,456 - stages.py[WARNING]: two\n",
        &[
            json!({"level": "DEBUG", "logger": "util.py", "message": "one"}),
            json!({"level": "WARN", "logger": "stages.py", "message": "two"}),
        ],
    );
    // Apache, a module without a name.
    check(
        "[Wed May 01 10:00:00.1 2024] [:error] [pid 7:tid 8] one\n[Wed May 01 10:00:01.1 2024] [ssl:warn] [pid 7:tid 8] two\n",
        &[
            json!({"level": "ERROR", "process_id": "7", "message": "one"}),
            json!({"level": "WARN", "logger": "ssl"}),
        ],
    );
    // Geth: a level that touches the time's bracket.
    check(
        "INFO [05-01|10:00:00.123] one\nWARN [05-01|10:00:01.123] two\nERROR[05-01|10:00:02.123] three\n",
        &[
            json!({"level": "INFO", "message": "one"}),
            json!({"level": "WARN"}),
            json!({"level": "ERROR", "timestamp": "2024-05-01T10:00:02.123Z", "message": "three"}),
        ],
    );
    // ESXi: in the place of the module.
    let esxi: String = (0..6)
        .map(|n| format!("2024-05-01T10:00:0{n}.123Z cpu{n}:12345)Device{n}: Cmd {n} is done\n"))
        .collect();
    check(
        &format!("2024-05-01T10:00:00.123Z cpu1:12346)WARNING: NFS has no server\n{esxi}"),
        &[
            json!({"level": "WARN", "logger": null, "message": "NFS has no server"}),
            json!({"level": null, "logger": "Device0", "message": "Cmd 0 is done"}),
        ],
    );
    // WebSphere's letters, Tarantool's and macOS'.
    check(
        "[5/1/24 10:00:00:123 UTC] 00000001 WsServerImpl  A   WSVR0001I: one\n\
         [5/1/24 10:00:01:456 UTC] 0000002a WebApp        E   SRVE0014E: two\n",
        &[
            json!({"level": null, "code": "WSVR0001I"}),
            json!({"level": "ERROR", "code": "SRVE0014E"}),
        ],
    );
    check(
        "2024-05-01 10:00:00.123 [7] main/101/init.lua C> one\n2024-05-01 10:00:01.123 [7] main/101/init.lua I> two\n",
        &[
            json!({"level": "CRITICAL", "message": "one"}),
            json!({"level": "INFO"}),
        ],
    );
    check(
        "2024-05-01 10:00:00.123 Df kernel[0:1a2b] one\n2024-05-01 10:00:01.456 E  Server[1:4a5b] two\n",
        &[json!({"level": "NOTICE"}), json!({"level": "ERROR"})],
    );
    // Vertica: in angle brackets, behind names of several words.
    check(
        "2024-05-01 10:00:00.1 Init Session:0x7f [Session] <INFO> [PQuery] one\n2024-05-01 10:00:01.4 Main:0x7f <WARNING> two\n",
        &[json!({"level": "INFO"}), json!({"level": "WARN"})],
    );
    // DNF's own levels.
    check(
        "2024-05-01T10:00:00+0000 INFO one\n2024-05-01T10:00:01+0000 DDEBUG two\n2024-05-01T10:00:02+0000 SUBDEBUG three\n",
        &[
            json!({"level": "INFO"}),
            json!({"level": "DEBUG", "message": "two"}),
            json!({"level": "DEBUG"}),
        ],
    );
}

#[test]
fn a_message_may_begin_with_the_level_that_other_lines_do_not_have() {
    check(
        "[1714557600] Nagios starting\n[1714557601] SERVICE ALERT: web;HTTP\n[1714557602] Warning: Return code\n\
         [1714557603] Error: no\n[1714557604] [error] no\n[1714557605] Errors: 2\n[1714557606] info is here\n\
         [1714557607] SERVICE ALERT: db;TCP\n[1714557608] HOST ALERT: db;UP\n[1714557609] Caught SIGTERM\n",
        &[
            json!({"level": null}),
            json!({"level": null}),
            json!({"level": "WARN", "message": "Warning: Return code"}),
            json!({"level": "ERROR", "message": "Error: no"}),
            json!({"level": "ERROR", "message": "[error] no"}),
            json!({"level": null}),
            json!({"level": null}),
        ],
    );
}

#[test]
fn messages_are_whole() {
    // Graylog, PgBouncer: a second level is a word.
    check(
        "2024-05-01T10:00:00.1Z INFO  [CmdLineTool] Loaded x\n2024-05-01T10:00:01.1Z ERROR [NettyTransport] Error in Input\n",
        &[
            json!({"message": "Loaded x"}),
            json!({"level": "ERROR", "message": "Error in Input"}),
        ],
    );
    check(
        "2024-05-01 10:00:00.1 UTC [7] LOG C-0x55: db/u@10.0.0.1:4 login attempt\n\
         2024-05-01 10:00:01.1 UTC [7] WARNING C-0x56: db/u@10.0.0.1:4 pooler error\n",
        &[
            json!({}),
            json!({"level": "WARN", "message": "db/u@10.0.0.1:4 pooler error"}),
        ],
    );
    // Consul: a colon behind words, where a logger stands already.
    check(
        "2024-05-01T10:00:00.1Z [INFO]  agent.raft: initial configuration: index=1\n\
         2024-05-01T10:00:03.4Z [ERROR] agent.http: Request error: method=GET\n",
        &[
            json!({"logger": "agent.raft", "message": "initial configuration: index=1"}),
            json!({"logger": "agent.http", "message": "Request error: method=GET"}),
        ],
    );
    // Caddy: a gap behind words.
    check(
        "2024/05/01 10:00:00.1\tINFO\tusing provided configuration\t{\"a\": 1}\n2024/05/01 10:00:01.1\tERROR\tno such file\t{\"a\": 2}\n",
        &[json!({"logger": null, "message": "using provided configuration\t{\"a\": 1}"})],
    );
    // structlog: what is told, then pairs.
    check(
        "2024-05-01 10:00:00 [info     ] started                        port=8080\n\
         2024-05-01 10:00:01 [error    ] failed                         reason=x\n",
        &[
            json!({"level": "INFO", "logger": null, "message": "started                        port=8080"}),
        ],
    );
    // tcpdump: an arrow is no separator.
    check(
        "2024-05-01 10:00:00.1 IP 10.0.0.1.4 > 10.0.0.2.8: Flags [S], seq 1\n2024-05-01 10:00:00.2 IP 10.0.0.2.8 > 10.0.0.1.4: Flags [S.], seq 2\n",
        &[json!({"message": "IP 10.0.0.1.4 > 10.0.0.2.8: Flags [S], seq 1"})],
    );
    // Ansible: a bar behind pairs is one.
    check(
        "2024-05-01 10:00:00,123 p=1 u=root n=ansible | PLAY [all] ***\n2024-05-01 10:00:01,456 p=1 u=root n=ansible | fatal: [web]: FAILED\n",
        &[json!({"message": "PLAY [all] ***"})],
    );
    // CUPS: a line that is nothing but parts of a head has a message.
    check(
        "printer1 a 123 [01/May/2024:10:00:00 +0000] total 3 - localhost a.pdf - -\nprinter1 b 124 [01/May/2024:10:05:00 +0000] total 1 - localhost b.pdf - -\n",
        &[json!({"message": "-"})],
    );
}

#[test]
fn processes_and_threads_are_those_that_are_written() {
    // Unbound: both in one bracket.
    check(
        "[1714557600] unbound[1234:0] info: one\n[1714557601] unbound[1234:1] notice: two\n",
        &[
            json!({"logger": "unbound", "process_id": "1234", "thread_id": "0", "level": "INFO", "message": "one"}),
        ],
    );
    // WebLogic: an epoch in milliseconds is none.
    check(
        "####<May 1, 2024 10:00:00,123 AM UTC> <Info> <Security> <h1> <Admin> <main> <<WLS>> <> <ctx> <1714557600123> <BEA-090905> <one>\n\
         ####<May 1, 2024 10:00:01,456 AM UTC> <Error> <Deployer> <h1> <Admin> <main> <<WLS>> <> <ctx> <1714557601456> <BEA-149265> <two>\n",
        &[json!({"process_id": null, "code": "BEA-090905", "level": "INFO"})],
    );
}

#[test]
fn levels_stand_behind_ids_and_columns() {
    // ClickHouse: an id of a query that its client chose, or none.
    check(
        "2024.05.01 10:00:07.123456 [ 100 ] {my-query.7} <Information> executeQuery: Read 7 rows\n\
         2024.05.01 10:00:08.123456 [ 101 ] {} <Error> executeQuery: Code: 60\n",
        &[
            json!({"level": "INFO", "process_id": "100"}),
            json!({"level": "ERROR", "process_id": "101"}),
        ],
    );
    // Android Studio: columns of tags and packages.
    check(
        "2024-05-01 10:00:07.123  1000-2000 MyTag                   com.example.app                      I  clicked here\n\
         2024-05-01 10:00:08.123  1000-2001 Other                   com.example.app                      E  failed again\n",
        &[
            json!({"level": "INFO", "message": "clicked here"}),
            json!({"level": "ERROR", "message": "failed again"}),
        ],
    );
    // WhatsApp: a mark of direction before some lines.
    check(
        "[13/05/2024, 10:00:07] Bob: hello\n\u{200e}[14/05/2024, 10:00:08] Ann: <attached>\n[15/05/2024, 10:00:09] Bob: bye\n",
        &[
            json!({"timestamp": "2024-05-13T10:00:07Z"}),
            json!({"timestamp": "2024-05-14T10:00:08Z"}),
            json!({"timestamp": "2024-05-15T10:00:09Z"}),
        ],
    );
}

#[test]
fn lines_of_reports_are_read_as_their_programs_wrote_them() {
    // A table without names.
    check(
        "2024-05-01T10:00:07Z,INFO,7,\"one\"\n2024-05-01T10:00:08Z,WARN,8,\"two\"\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:07Z", "level": "INFO"}),
            json!({"level": "WARN"}),
        ],
    );
    // Nokia's platform: milliseconds behind a space.
    check(
        "<2024.05.01 10:00:07 123 +0000><app><I><host-0><main><a.B> one\n<2024.05.01 10:00:08 456 +0000><app><E><host-0><main><a.B> two\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:07.123Z", "level": "INFO"}),
            json!({"level": "ERROR"}),
        ],
    );
}

/// Each line is a record where a time stands at its end, behind some words more or less.
#[test]
fn times_at_the_ends_of_sentences_join_no_lines() {
    let words = ["one", "two", "three", "four", "five", "six", "seven"];
    let lines: Vec<String> = (0..40)
        .map(|n: usize| {
            let text = words[..4 + n % 4].join(" ");
            format!("INFO {text} at 2024-05-01 10:00:{:02}", n % 60)
        })
        .collect();
    let recognised = crate::recognise(lines.join("\n").as_bytes(), true);
    assert_eq!(recognised.format, Format::Plain);
}
