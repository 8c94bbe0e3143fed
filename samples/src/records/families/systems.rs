//! Families of logs from servers, databases, operating systems and clouds.

use super::Family;
use super::levels::{CLICKHOUSE, DOVECOT, LETTERS, LONG, LOWER, SEVERITIES, WORDS};

/// Logs of systems.
pub(super) const SYSTEMS: &[Family] = &[
    // Web servers and proxies.
    family!(
        "apache's error log, 2.2",
        "httpd.apache.org/docs/2.2/logs.html#errorlog",
        "[{a} {b} {d} {H}:{M}:{S} {Y}] [{L}] {msg}",
        LOWER
    ),
    family!(
        "apache's error log, 2.4",
        "httpd.apache.org/docs/2.4/logs.html#errorlog",
        "[{a} {b} {d} {H}:{M}:{S}.{us} {Y}] [core:{L}] [pid {pid}:tid {tid}] [client {ip}:50000] AH00001: {msg}",
        LOWER,
        "logger" = "core",
        "process_id" = "{pid}",
        "thread_id" = "{tid}",
        "client" = "{ip}:50000",
        "code" = "AH00001"
    ),
    family!(
        "nginx's error log",
        "nginx.org ngx_core_module error_log",
        "{Y}/{m}/{d} {H}:{M}:{S} [{L}] {pid}#{tid}: *{n} {msg}",
        LOWER,
        "process_id" = "{pid}",
        "thread_id" = "{tid}",
        "message" = "*{n} {msg}"
    ),
    family!(
        "squid",
        "wiki.squid-cache.org Features/LogFormat",
        "{s}.{ms}    345 {ip} TCP_MISS/200 1234 GET http://example.com/{n} - DIRECT/10.0.0.1 text/html",
        &[],
        "message" =
            "345 {ip} TCP_MISS/200 1234 GET http://example.com/{n} - DIRECT/10.0.0.1 text/html"
    ),
    family!(
        "envoy",
        "envoyproxy.io observability/access_log",
        "[{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z] \"GET /{n} HTTP/1.1\" 200 - 0 12 7 5 \"-\" \"curl\" \"{uuid}\" \"example.com\" \"{ip}:80\"",
        &[],
        "message" = "\"GET /{n} HTTP/1.1\" 200 - 0 12 7 5 \"-\" \"curl\" \"{uuid}\" \"example.com\" \"{ip}:80\""
    ),
    family!(
        "envoy's own log",
        "envoyproxy.io --log-format",
        "[{Y}-{m}-{d} {H}:{M}:{S}.{ms}][{pid}][{L}][main] [source/server/server.cc:{line}] {msg}",
        LOWER,
        "process_id" = "{pid}",
        "thread" = "main"
    ),
    family!(
        "proxifier",
        "proxifier.com documentation Logs",
        "[{m}.{d} {H}:{M}:{S}] chrome.exe - proxy.example.com:5070 open through proxy {n}",
        &[],
        "logger" = "chrome.exe",
        "message" = "proxy.example.com:5070 open through proxy {n}"
    ),
    // Databases and queues.
    family!(
        "postgres",
        "postgresql.org runtime-config-logging",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms} UTC [{pid}] {L}:  {msg}",
        &[
            ("LOG", "LOG"),
            ("ERROR", "ERROR"),
            ("STATEMENT", "STATEMENT"),
            ("FATAL", "FATAL")
        ],
        "process_id" = "{pid}"
    ),
    family!(
        "postgres with user and database",
        "postgresql.org log_line_prefix",
        "{Y}-{m}-{d} {H}:{M}:{S} PST [{pid}-{n}] alice@shop {L}:  {msg}",
        &[("LOG", "LOG"), ("ERROR", "ERROR"), ("FATAL", "FATAL")],
        "process_id" = "{pid}-{n}"
    ),
    family!(
        "mysql 8",
        "dev.mysql.com error-log-format",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{us}Z 0 [{L}] [MY-010116] [Server] {msg}",
        &[
            ("System", "SYSTEM"),
            ("Warning", "WARN"),
            ("ERROR", "ERROR"),
            ("Note", "NOTICE")
        ],
        "process_id" = "0",
        "code" = "MY-010116",
        "logger" = "Server"
    ),
    family!(
        "mysql 5.5",
        "dev.mysql.com error-log",
        "{y}{m}{d} {k}:{M}:{S} [{L}] InnoDB: {msg}",
        &[("Note", "NOTICE"), ("Warning", "WARN"), ("ERROR", "ERROR")],
        "logger" = "InnoDB"
    ),
    family!(
        "mysql's slow log",
        "dev.mysql.com slow-query-log",
        "# Time: {Y}-{m}-{d}T{H}:{M}:{S}.{us}Z\n# User@Host: root[root] @ localhost []  Id:     8\n# Query_time: 2.000123  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0\nSET timestamp={s};\nSELECT {n};",
        &[],
        "message" = "# User@Host: root[root] @ localhost []  Id:     8\n# Query_time: 2.000123  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0\nSET timestamp={s};\nSELECT {n};"
    ),
    family!(
        "redis",
        "redis.io/docs server.log",
        "{pid}:M {d} {b} {Y} {H}:{M}:{S}.{ms} {L} {msg}",
        &[
            ("*", "NOTICE"),
            ("#", "WARN"),
            ("-", "DEBUG"),
            (".", "DEBUG")
        ],
        "process_id" = "{pid}"
    ),
    family!(
        "mongodb 3",
        "mongodb.com/docs/v3.6/reference/log-messages",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}+0000 {L} NETWORK  [conn{n}] {msg}",
        LETTERS,
        "logger" = "NETWORK",
        "thread" = "conn{n}"
    ),
    family!(
        "rabbitmq",
        "rabbitmq.com/docs/logging",
        "{Y}-{m}-{d} {H}:{M}:{S}.{us}+00:00 [{L}] <0.{n}.0> {msg}",
        &[("info", "INFO"), ("warning", "WARN"), ("error", "ERROR")],
        "process_id" = "0.{n}.0"
    ),
    family!(
        "rabbitmq before 3.7",
        "rabbitmq.com sasl reports",
        "={L} REPORT==== {-d}-{b}-{Y}::{H}:{M}:{S} ===\n{msg}",
        &[("INFO", "INFO"), ("WARNING", "WARN"), ("ERROR", "ERROR")]
    ),
    family!(
        "clickhouse",
        "clickhouse.com/docs server settings logger",
        "{Y}.{m}.{d} {H}:{M}:{S}.{us} [ {pid} ] {{uuid}} <{L}> executeQuery: {msg}",
        &[
            ("Debug", "DEBUG"),
            ("Information", "INFO"),
            ("Error", "ERROR")
        ],
        "process_id" = "{pid}",
        "logger" = "executeQuery"
    ),
    // Systems.
    family!(
        "logcat",
        "developer.android.com/tools/logcat threadtime",
        "{m}-{d} {H}:{M}:{S}.{ms}  {pid}  {tid} {L} WindowManager: {msg}",
        &[
            ("D", "DEBUG"),
            ("I", "INFO"),
            ("W", "WARN"),
            ("E", "ERROR"),
            ("V", "TRACE")
        ],
        "process_id" = "{pid}",
        "thread_id" = "{tid}",
        "logger" = "WindowManager"
    ),
    family!(
        "windows cbs",
        "learn.microsoft.com cbs.log",
        "{Y}-{m}-{d} {H}:{M}:{S}, {L21} CBS    {msg}",
        &[("Info", "INFO"), ("Warning", "WARN"), ("Error", "ERROR")],
        "logger" = "CBS"
    ),
    family!(
        "macos, log show",
        "developer.apple.com man log",
        "{Y}-{m}-{d} {H}:{M}:{S}.{us}+0200 0x1a2b     {L21} 0x0                  {pid}    0    kernel: {msg}",
        &[("Default", "NOTICE"), ("Error", "ERROR"), ("Info", "INFO")],
        "process_id" = "{pid}",
        "logger" = "kernel"
    ),
    family!(
        "dmesg",
        "kernel.org admin-guide dmesg",
        "[{up}.{us}] usb 1-1: {msg}",
        &[],
        "message" = "usb 1-1: {msg}"
    ),
    family!(
        "bluegene",
        "usenix.org CFDR, BGL",
        "- {s} {Y}.{m}.{d} R02-M1-N0-C:J12-U11 {Y}-{m}-{d}-{H}.{M}.{S}.{us} R02-M1-N0-C:J12-U11 RAS KERNEL {L} {msg}",
        &[("INFO", "INFO"), ("FATAL", "FATAL"), ("ERROR", "ERROR")],
        "logger" = "KERNEL"
    ),
    family!(
        "hpc, an epoch in the fifth column",
        "usenix.org CFDR, HPC",
        "{tid} node-246 unix.hw state_change.unavailable {s} 1 Component State Change: {msg}",
        &[],
        "message" = "1 Component State Change: {msg}"
    ),
    family!(
        "thunderbird",
        "usenix.org CFDR",
        "- {s} {Y}.{m}.{d} dn228 {b} {-d} {H}:{M}:{S} dn228/dn228 crond(pam_unix)[{pid}]: {msg}",
        &[],
        "logger" = "crond(pam_unix)",
        "process_id" = "{pid}"
    ),
    family!(
        "pipes",
        "loghub HealthApp",
        "{Y}{m}{d}-{H}:{M}:{S}:{ms}|Step_LSC|{tid}|{msg}",
        &[],
        "logger" = "Step_LSC",
        "process_id" = "{tid}"
    ),
    family!(
        "windows setup, U.S. dates",
        "learn.microsoft.com windows-setup-log-files",
        "{-m}/{-d}/{Y} {I}:{M}:{S} {p} {L}: {msg}",
        LONG
    ),
    family!(
        "german dates",
        "ISO 8601's predecessor DIN 5008",
        "{d}.{m}.{Y} {H}:{M}:{S} {L} {msg}",
        WORDS
    ),
    // Clouds.
    family!(
        "cloudwatch's export",
        "docs.aws.amazon.com S3Export",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z START RequestId: {uuid} Version: $LATEST",
        &[],
        "request_id" = "{uuid}",
        "message" = "START RequestId: {uuid} Version: $LATEST"
    ),
    family!(
        "lambda's node",
        "docs.aws.amazon.com lambda nodejs-logging",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z\t{uuid}\t{L}\t{msg}",
        WORDS,
        "request_id" = "{uuid}"
    ),
    family!(
        "heroku",
        "devcenter.heroku.com logging",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{us}+00:00 app[web.1]: {msg}",
        &[],
        "logger" = "app[web.1]"
    ),
    family!(
        "cockroach",
        "cockroachlabs.com crdb-v1",
        "{L}{y}{m}{d} {H}:{M}:{S}.{us} {pid} {file}:{line} {msg}",
        LETTERS,
        "source" = "{file}:{line}"
    ),
    family!(
        "cisco ios",
        "cisco.com system message guide",
        "*{b} {e} {H}:{M}:{S}.{ms}: %LINK-{L}-UPDOWN: {msg}",
        SEVERITIES,
        "message" = "%LINK-{L}-UPDOWN: {msg}"
    ),
    family!(
        "cisco nx-os",
        "cisco.com nexus system messages",
        "{Y} {b} {e} {H}:{M}:{S} n9k-1 %ETHPORT-{L}-IF_STATE: {msg}",
        SEVERITIES,
        "message" = "n9k-1 %ETHPORT-{L}-IF_STATE: {msg}"
    ),
    family!(
        "mikrotik routeros",
        "help.mikrotik.com Log",
        "{b}/{d}/{Y} {H}:{M}:{S} system,{L} {msg}",
        LOWER,
        "logger" = "system"
    ),
    family!(
        "java's garbage collector",
        "openjdk.org jeps 158",
        "[{up}.{ms}s][{L}][gc] {msg}",
        LOWER,
        "logger" = "gc"
    ),
    family!(
        "clickhouse, without a query",
        "clickhouse.com server settings logger",
        "{Y}.{m}.{d} {H}:{M}:{S}.{us} [ {pid} ] {} <{L}> Application: {msg}",
        CLICKHOUSE,
        "process_id" = "{pid}",
        "logger" = "Application"
    ),
    family!(
        "dovecot",
        "doc.dovecot.org logging",
        "{b} {d} {H}:{M}:{S} imap-login: {L}: {msg}",
        DOVECOT,
        "logger" = "imap-login"
    ),
    family!(
        "sap's developer traces",
        "help.sap.com developer traces",
        "M {a} {b} {e} {H}:{M}:{S} {Y}\nM  {msg}",
        &[],
        "message" = "M  {msg}"
    ),
];
