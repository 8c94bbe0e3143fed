//! Logs whose levels, threads and times are in words that only their systems write.

use serde_json::json;

use super::families::read;
use super::strangers::check;
use crate::Format;

#[test]
fn debug_levels_of_samba_are_those_of_syslog() {
    check(
        "[2024/05/01 10:00:00.123456,  0] ../../source3/smbd/server.c:1746(main)\n  smbd started.\n\
         [2024/05/01 10:00:01.223344,  1, pid=77, effective(0, 0), real(0, 0)] ../lib/x.c:17(load)\n  Unknown: \"x\"\n\
         [2024/05/01 10:00:02,  3, pid=78] smbd/service.c:805(close_cnum)\n  closed\n\
         [2024/05/01 10:00:03, 10] smbd/service.c:806(close_cnum)\n  closed\n",
        &[
            json!({
                "timestamp": "2024-05-01T10:00:00.123456Z", "level": "ERROR", "process_id": null,
                "source": "../../source3/smbd/server.c:1746(main)", "message": "smbd started.",
            }),
            json!({"level": "WARN", "process_id": "77", "message": "Unknown: \"x\""}),
            json!({"level": "INFO", "process_id": "78", "timestamp": "2024-05-01T10:00:02Z"}),
            json!({"level": "DEBUG", "process_id": null}),
        ],
    );
}

#[test]
fn levels_of_vmware_are_words_and_letters_with_a_priority() {
    check(
        "2024-05-01T10:00:00.123Z info hostd[2099545] [Originator@6876 sub=Vimsvc] Event 171\n\
         2024-05-01T10:00:01.123Z warning hostd[2099546] [Originator@6876 sub=Vigor] not on\n--> (vmodl.fault.X) {\n--> }\n\
         2024-05-01T10:00:02.123Z error hostd[2099547] [Originator@6876 sub=Default] Unable\n",
        &[
            json!({
                "level": "INFO", "logger": "hostd", "process_id": "2099545",
                "message": "[Originator@6876 sub=Vimsvc] Event 171",
            }),
            json!({"level": "WARN", "message": "[Originator@6876 sub=Vigor] not on\n--> (vmodl.fault.X) {\n--> }"}),
            json!({"level": "ERROR", "process_id": "2099547"}),
        ],
    );
    check(
        "2024-05-01T10:00:00.123Z In(166) Hostd[20]: [Originator@6876 sub=Vimsvc] Event\n\
         2024-05-01T10:00:01.123Z Wa(164) Hostd[21]: [Originator@6876 sub=Vig] not on\n\
         2024-05-01T10:00:02.123Z Er(163) Hostd[22]: [Originator@6876 sub=Default] Unable\n",
        &[
            json!({"level": "INFO", "logger": "Hostd", "process_id": "20"}),
            json!({"level": "WARN", "process_id": "21"}),
            json!({"level": "ERROR", "message": "[Originator@6876 sub=Default] Unable"}),
        ],
    );
}

#[test]
fn what_stands_before_a_name_or_a_time_may_be_in_several_words() {
    // ESXi, with the operation that a line belongs to.
    check(
        "2024-05-01T10:00:03.123Z cpu0:2098000 opID=8f9a3c21)World: 12230: VC maps\n\
         2024-05-01T10:00:04.123Z cpu1:2098000 opID=8f9a3c22)World: 12231: VC maps\n",
        &[json!({"logger": "World", "timestamp": "2024-05-01T10:00:03.123Z"})],
    );
    // Passenger, without a letter.
    check(
        "[ 2024-05-01 10:00:00.1234 12345/7f8a age/Cor/CoreMain.cpp:819 ]: Passenger is running\n\
         [ 2024-05-01 10:00:01.1234 12345/7f8a age/Cor/CoreMain.cpp:820 ]: One application\n",
        &[json!({
            "timestamp": "2024-05-01T10:00:00.1234Z", "source": "age/Cor/CoreMain.cpp:819",
            "message": "Passenger is running",
        })],
    );
    // SAP HANA: numbers in braces.
    check(
        "[1234]{-1}[-1/-1] 2024-05-01 10:00:00.123456 i Service_Startup  Starter.cpp(00120) : Starting\n\
         [1234]{-1}[-1/-1] 2024-05-01 10:00:01.123456 e Service_Startup  Starter.cpp(00121) : Failed now\n",
        &[json!({"timestamp": "2024-05-01T10:00:00.123456Z"})],
    );
    // Synapse: a name of code, and one of a request.
    check(
        "2024-05-01 10:00:00,123 - synapse.http.server - 100 - INFO - GET-0 - Received a request\n\
         2024-05-01 10:00:01,123 - synapse.access.http - 101 - WARNING - PUT-1 - No such room\n",
        &[
            json!({"logger": "synapse.http.server", "level": "INFO", "message": "Received a request"}),
            json!({"logger": "synapse.access.http", "level": "WARN"}),
        ],
    );
}

#[test]
fn couchbase_has_its_time_between_a_level_and_a_place() {
    check(
        "[ns_server:info,2024-05-01T10:00:00.123Z,ns_1@127.0.0.1:ns_config_log<0.161.0>:ns_config_log:log_common:231]config change:\n\
         auto_failover_cfg ->\n[{enabled,true}]\n\
         [ns_server:debug,2024-05-01T10:00:01.123Z,ns_1@127.0.0.1:<0.11.0>:janitor:run:12]Running janitor\n\
         [user:warn,2024-05-01T10:00:02.123Z,ns_1@127.0.0.1:mb_master<0.1.0>:mb_master:x:3]Lost node\n",
        &[
            json!({
                "timestamp": "2024-05-01T10:00:00.123Z", "level": "INFO", "logger": "ns_server",
                "message": "config change:\nauto_failover_cfg ->\n[{enabled,true}]",
            }),
            json!({"level": "DEBUG", "message": "Running janitor"}),
            json!({"level": "WARN", "logger": "user", "message": "Lost node"}),
        ],
    );
    check(
        "2024-05-01T10:00:00.123Z INFO GOXDCR.ReplMgr: init\n2024-05-01T10:00:01.123Z ERRO GOXDCR.Http: failed\n",
        &[
            json!({"level": "INFO"}),
            json!({"level": "ERROR", "logger": "GOXDCR.Http", "message": "failed"}),
        ],
    );
}

#[test]
fn lines_without_a_time_may_have_a_number_before_their_level() {
    check(
        " 0(1234) INFO: <core> [main.c:2833]: main(): processes: 24\n 3(1240) ERROR: tm [t_lookup.c:1043]: check(): no reply\n \
         0(1234) WARNING: <core> [socket.c:1380]: fix(): no host\n",
        &[
            json!({"level": "INFO", "timestamp": null}),
            json!({"level": "ERROR"}),
            json!({"level": "WARN"}),
        ],
    );
    check(
        "0 [main] INFO app.Core null - started here\n12 [main] WARN app.Core null - slow now\n345 [pool-1] ERROR app.Net null - broken pipe\n\tat x\n",
        &[
            json!({"level": "INFO", "thread": "main", "logger": "app.Core", "process_id": null}),
            json!({"level": "WARN"}),
            json!({"level": "ERROR", "thread": "pool-1"}),
        ],
    );
    check(
        " INFO global: Vagrant version: 2.2.19\nDEBUG global: Loading core plugins\n WARN vagrant: no provider at all\n",
        &[
            json!({"level": "INFO", "logger": "global", "message": "Vagrant version: 2.2.19"}),
            json!({"level": "DEBUG", "message": "Loading core plugins"}),
            json!({"level": "WARN", "logger": "vagrant"}),
        ],
    );
    for text in [
        "I/ActivityManager( 1234): Start proc\nE/AndroidRuntime(   99): FATAL EXCEPTION\nD/dalvikvm(  100): GC freed\n",
        "05-01 10:00:00.123 I/ActivityManager( 1234): Start proc\n05-01 10:00:01.123 E/AndroidRuntime(   99): FATAL EXCEPTION\n\
         05-01 10:00:02.123 D/dalvikvm(  100): GC freed\n",
    ] {
        check(
            text,
            &[
                json!({"level": "INFO", "logger": "ActivityManager", "process_id": "1234", "message": "Start proc"}),
                json!({"level": "ERROR", "logger": "AndroidRuntime", "process_id": "99"}),
                json!({"level": "DEBUG", "message": "GC freed"}),
            ],
        );
    }
}

#[test]
fn days_that_may_be_two_are_the_likelier_one() {
    // HTCondor: no day of 2005.
    check(
        "05/01/24 10:00:00 (pid:1234) Starting up\n05/01/24 10:00:01 (pid:1234) Going on\n",
        &[json!({"timestamp": "2024-05-01T10:00:00Z"})],
    );
    // Spark, of several days and of one.
    check(
        "17/06/09 10:00:00 INFO a.B: one\n17/06/09 10:00:01 INFO a.B: two\n",
        &[json!({"timestamp": "2017-06-09T10:00:00Z"})],
    );
    check(
        "08/11/09 10:00:00 INFO a.B: one\n08/11/10 10:00:01 INFO a.B: two\n",
        &[json!({"timestamp": "2008-11-09T10:00:00Z"})],
    );
    // Hadoop, of years whose number may be a month.
    check(
        "12/05/09 20:10:40 INFO dfs.DataNode: one\n12/05/09 20:10:41 WARN dfs.DataNode: two\n",
        &[json!({"timestamp": "2012-05-09T20:10:40Z", "level": "INFO"})],
    );
    // splunkd: the month first. Others with a zone have no milliseconds, or no level.
    check(
        "05-01-2024 10:00:00 +0200 INFO one\n05-01-2024 10:00:01 +0200 ERROR two\n",
        &[json!({"timestamp": "2024-01-05T10:00:00+02:00"})],
    );
    check(
        "05-01-2024 10:00:00.123 +0200 INFO  Metrics - group=thruput\n05-01-2024 10:00:01.123 +0200 ERROR ExecProcessor - failed\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00.123+02:00", "level": "INFO"}),
            json!({"level": "ERROR"}),
        ],
    );
    check(
        "05-01-2024 10:00:00 INFO one\n05-01-2024 10:00:01 ERROR two\n",
        &[json!({"timestamp": "2024-01-05T10:00:00Z"})],
    );
    // RouterOS before version 7: no year, and topics.
    check(
        "may/01 10:00:00 system,info,account user admin logged in\nmay/01 10:00:02 system,error,critical login failure\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00Z", "level": "INFO", "message": "user admin logged in"}),
            json!({"level": "CRITICAL", "logger": "system", "message": "login failure"}),
        ],
    );
}

#[test]
fn times_with_marks_are_times() {
    // A date of JavaScript's, as Teams writes it.
    check(
        "Wed May 01 2024 10:00:00 GMT+0200 (Central European Summer Time) <1234> -- info -- Starting app\n\
         Wed May 01 2024 10:00:01 GMT-0330 (NST) <1234> -- warning -- slow app\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00+02:00", "level": "INFO"}),
            json!({"timestamp": "2024-05-01T10:00:01-03:30", "level": "WARN"}),
        ],
    );
    // TAI64N.
    check(
        "@40000000663212aa12345678 new msg 1234\n@40000000663212ab00000000 info msg 1234: bytes 567\n",
        &[
            json!({"timestamp": "2024-05-01T10:00:00.305419896Z", "message": "new msg 1234"}),
            json!({"timestamp": "2024-05-01T10:00:01.000000000Z"}),
        ],
    );
    // Java's collector before version 9.
    check(
        "12.345: [GC (Allocation Failure) 65536K->10736K(251392K), 0.0105 secs]\n13.456: [Full GC (Ergonomics) 65536K->10736K(251392K), 0.0105 secs]\n",
        &[
            json!({"uptime_seconds": 12.345, "message": "[GC (Allocation Failure) 65536K->10736K(251392K), 0.0105 secs]"}),
        ],
    );
    for text in [
        "12.345: text\n13.456: [text\n",
        "@4000000066321 short\n@4000000066322 short\n",
    ] {
        assert_eq!(read(text).0, Format::Plain, "{text}");
    }
}

#[test]
fn parts_of_messages_are_no_parts_of_heads() {
    // strongSwan: a thread and what it does.
    check(
        "May  1 10:00:00 13[IKE] <home|5> initiating IKE_SA\nMay  1 10:00:02 00[DMN] Starting IKE charon daemon\n",
        &[
            json!({"thread": "13", "logger": "IKE", "message": "<home|5> initiating IKE_SA"}),
            json!({"thread": "00", "logger": "DMN"}),
        ],
    );
    // Oracle's listener: a star between parts is no level of Redis.
    check(
        "01-MAY-2024 10:00:00 * (CONNECT_DATA=(SERVICE_NAME=orcl)) * establish * orcl * 0\n01-MAY-2024 10:00:01 * service_update * orcl * 0\n",
        &[json!({"level": null, "timestamp": "2024-05-01T10:00:00Z"})],
    );
    check(
        "1:M 27 Apr 2024 22:56:58.858 * one more\n1:M 27 Apr 2024 22:56:59.858 * two more\n",
        &[json!({"level": "NOTICE"})],
    );
    // BIND, without categories.
    check(
        "01-May-2024 10:00:00.123 client @0x7f8 10.0.0.1#53412 (example.com): query: example.com IN A + (10.0.0.53)\n\
         01-May-2024 10:00:01.123 client @0x7f9 10.0.0.2#53412 (example.org): query: example.org IN A + (10.0.0.53)\n",
        &[json!({
            "message": "client @0x7f8 10.0.0.1#53412 (example.com): query: example.com IN A + (10.0.0.53)",
        })],
    );
    // EMQX: pairs.
    check(
        "2024-05-01T10:00:00.123456+00:00 [warning] clientid: c1, line: 12, msg: dropped\n\
         2024-05-01T10:00:01.123456+00:00 [error] msg: failed, mfa: z/1, line: 4\n",
        &[
            json!({"level": "WARN", "logger": null, "message": "clientid: c1, line: 12, msg: dropped"}),
            json!({"level": "ERROR", "message": "msg: failed, mfa: z/1, line: 4"}),
        ],
    );
    // FreeSWITCH: a share of idle time.
    check(
        "da05b945-6adf-11e6-a5d5-278faa015dc5 2024-05-01 10:00:01.123456 99.97% [INFO] mod_dialplan_xml.c:637 Processing it\n\
         da05b945-6adf-11e6-a5d5-278faa015dc5 2024-05-01 10:00:02.123456 98.50% [ERR] switch_core.c:7 Nothing there\n",
        &[
            json!({"level": "INFO", "source": "mod_dialplan_xml.c:637", "message": "Processing it"}),
            json!({"level": "ERROR"}),
        ],
    );
}

#[test]
fn pairs_behind_a_priority_have_its_severity() {
    let (format, read) = read(
        "<189>date=2024-05-01 time=10:00:00 tz=\"+0200\" devname=\"FG1\" type=traffic msg=\"x y\"\n\
         <188>date=2024-05-01 time=10:00:01 tz=\"+0200\" devname=\"FG1\" type=traffic msg=\"z\"\n",
    );
    assert_eq!(format, Format::Logfmt);
    let doc = read[0].1.as_ref().unwrap();
    for (name, value) in [
        ("date", json!("2024-05-01")),
        ("facility", json!("local7")),
        ("severity", json!("notice")),
        ("timestamp", json!("2024-05-01T10:00:00+02:00")),
    ] {
        assert_eq!(doc[name], value, "{doc}");
    }
}
