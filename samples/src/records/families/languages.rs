//! Families of logs from libraries of programming languages.

use super::Family;
use super::levels::{LETTERS, LONG, LOWER, THREE, WORDS};

/// Logs of programs that use the libraries of their languages.
pub(super) const LANGUAGES: &[Family] = &[
    // Java.
    family!(
        "logback",
        "logback.qos.ch/manual/layouts.html",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} {L5} [{thread}] {logger} - {msg}",
        WORDS,
        "thread" = "{thread}",
        "logger" = "{logger}"
    ),
    family!(
        "logback, its default without a day",
        "logback.qos.ch/manual/configuration.html",
        "{H}:{M}:{S}.{ms} [{thread}] {L5} {logger} - {msg}",
        WORDS,
        "thread" = "{thread}",
        "logger" = "{logger}"
    ),
    family!(
        "log4j, TTCC",
        "logging.apache.org/log4j/1.x PatternLayout",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} [{thread}] {L5} {logger} - {msg}",
        WORDS,
        "thread" = "{thread}",
        "logger" = "{logger}"
    ),
    family!(
        "log4j2, ISO8601 with a zone",
        "logging.apache.org/log4j/2.x/manual/pattern-layout.html",
        "{Y}-{m}-{d}T{H}:{M}:{S},{ms}+02:00 {L} {logger} [{thread}] {msg}",
        WORDS,
        "thread" = "{thread}",
        "logger" = "{logger}"
    ),
    family!(
        "spark",
        "spark.apache.org conf/log4j2.properties.template",
        "{y}/{m}/{d} {H}:{M}:{S} {L} storage.BlockManager: {msg}",
        WORDS,
        "logger" = "storage.BlockManager"
    ),
    family!(
        "hdfs",
        "hadoop.apache.org log4j.properties of the datanode",
        "{y}{m}{d} {H}{M}{S} {pid} {L} dfs.DataNode$PacketResponder: {msg}",
        WORDS,
        "process_id" = "{pid}",
        "logger" = "dfs.DataNode$PacketResponder"
    ),
    family!(
        "hadoop",
        "hadoop.apache.org log4j.properties",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} {L} [{thread}] {logger}: {msg}",
        WORDS,
        "thread" = "{thread}",
        "logger" = "{logger}"
    ),
    family!(
        "spring boot 2",
        "docs.spring.io features.logging",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms}  {L5} {pid} --- [           main] {logger}                  : {msg}",
        WORDS,
        "process_id" = "{pid}",
        "thread" = "main",
        "logger" = "{logger}"
    ),
    family!(
        "spring boot 3",
        "docs.spring.io features.logging",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}+02:00  {L5} {pid} --- [shop] [nio-8080-exec-1] [{hex32}-{hex16}] {logger} : {msg}",
        WORDS,
        "thread" = "nio-8080-exec-1",
        "trace_id" = "{hex32}",
        "span_id" = "{hex16}",
        "logger" = "{logger}"
    ),
    family!(
        "elasticsearch",
        "elastic.co logging.html",
        "[{Y}-{m}-{d}T{H}:{M}:{S},{ms}][{L5}][o.e.n.Node               ] [node-1] {msg}",
        WORDS,
        "logger" = "o.e.n.Node",
        "node" = "node-1"
    ),
    family!(
        "tomcat",
        "tomcat.apache.org logging.html",
        "{d}-{b}-{Y} {H}:{M}:{S}.{ms} {L} [{thread}] org.apache.catalina.startup.Catalina.start {msg}",
        LONG,
        "thread" = "{thread}",
        "logger" = "org.apache.catalina.startup.Catalina.start"
    ),
    family!(
        "java.util.logging",
        "docs.oracle.com SimpleFormatter",
        "{b} {d}, {Y} {I}:{M}:{S} {p} org.example.Server start\n{L}: {msg}",
        &[("INFO", "INFO"), ("WARNING", "WARN"), ("SEVERE", "ERROR")],
        "logger" = "org.example.Server"
    ),
    family!(
        "wildfly",
        "docs.wildfly.org Admin_Guide Logging",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} {L5} [org.jboss.as.server] (MSC service thread 1-2) {msg}",
        WORDS,
        "thread" = "MSC service thread 1-2",
        "logger" = "org.jboss.as.server"
    ),
    family!(
        "zookeeper",
        "zookeeper.apache.org log4j.properties",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} - {L5} [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774] - {msg}",
        WORDS
    ),
    family!(
        "kafka",
        "kafka.apache.org config/log4j.properties",
        "[{Y}-{m}-{d} {H}:{M}:{S},{ms}] {L} {msg} (kafka.server.KafkaServer)",
        WORDS,
        "logger" = "kafka.server.KafkaServer"
    ),
    family!(
        "cassandra",
        "cassandra.apache.org conf/logback.xml",
        "{L5} [{thread}] {Y}-{m}-{d} {H}:{M}:{S},{ms} {java}:{line} - {msg}",
        WORDS,
        "thread" = "{thread}",
        "source" = "{java}:{line}"
    ),
    family!(
        "jenkins",
        "jenkins.io viewing-logs",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms}+0000 [id={n}]\t{L}\t{logger}#run: {msg}",
        LONG
    ),
    // Python and Ruby.
    family!(
        "python, a common format",
        "docs.python.org howto/logging.html",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} - {mod} - {L} - {msg}",
        LONG,
        "logger" = "{mod}"
    ),
    family!(
        "python with a level first",
        "docs.python.org library/logging.html",
        "{L}:{Y}-{m}-{d} {H}:{M}:{S},{ms}:{msg}",
        LONG
    ),
    family!(
        "python, level and logger",
        "docs.python.org library/logging.html",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} {L} {mod}: {msg}",
        LONG,
        "logger" = "{mod}"
    ),
    family!(
        "celery",
        "docs.celeryq.dev worker_log_format",
        "[{Y}-{m}-{d} {H}:{M}:{S},{ms}: {L}/MainProcess] {msg}",
        LONG
    ),
    family!(
        "gunicorn",
        "docs.gunicorn.org settings.html",
        "[{Y}-{m}-{d} {H}:{M}:{S} +0000] [{pid}] [{L}] {msg}",
        LONG,
        "process_id" = "{pid}"
    ),
    family!(
        "airflow",
        "airflow.apache.org log_format",
        "[{Y}-{m}-{d}T{H}:{M}:{S}.{ms}+0000] {taskinstance.py:{line}} {L} - {msg}",
        LONG,
        "source" = "taskinstance.py:{line}"
    ),
    family!(
        "ruby",
        "docs.ruby-lang.org Logger::Formatter",
        "I, [{Y}-{m}-{d}T{H}:{M}:{S}.{us} #{pid}]  {L} -- app: {msg}",
        WORDS,
        "process_id" = "{pid}",
        "logger" = "app"
    ),
    family!(
        "ruby without a name",
        "docs.ruby-lang.org Logger::Formatter",
        "W, [{Y}-{m}-{d}T{H}:{M}:{S}.{us} #{pid}]  {L} -- : {msg}",
        WORDS,
        "process_id" = "{pid}"
    ),
    family!(
        "openstack",
        "docs.openstack.org oslo.log",
        "nova-api.log.1.2017-05-16_13:53:08 {Y}-{m}-{d} {H}:{M}:{S}.{ms} {pid} {L} nova.osapi_compute.wsgi.server [req-{uuid} 113d3a99c3da401fbd62cc2caa5b96d2 54fadb412c4e40cdbaed9335e4c35a9e - - -] {msg}",
        LONG,
        "process_id" = "{pid}",
        "logger" = "nova.osapi_compute.wsgi.server",
        "request_id" = "req-{uuid}"
    ),
    // Go, Rust, C++.
    family!(
        "go's log",
        "pkg.go.dev/log LstdFlags",
        "{Y}/{m}/{d} {H}:{M}:{S} {msg}",
        &[]
    ),
    family!(
        "go's log with a file",
        "pkg.go.dev/log Lshortfile",
        "{Y}/{m}/{d} {H}:{M}:{S}.{us} {file}:{line}: {msg}",
        &[],
        "source" = "{file}:{line}"
    ),
    family!(
        "glog",
        "github.com/google/glog",
        "{L}{m}{d} {H}:{M}:{S}.{us} {tid} {file}:{line}] {msg}",
        &[("I", "INFO"), ("W", "WARN"), ("E", "ERROR"), ("F", "FATAL")],
        "source" = "{file}:{line}"
    ),
    family!(
        "klog",
        "github.com/kubernetes/klog",
        "{L}{m}{d} {H}:{M}:{S}.{us}       1 {file}:{line}] \"{msg}\" pod=\"a/b\"",
        LETTERS,
        "process_id" = "1",
        "source" = "{file}:{line}",
        "message" = "\"{msg}\" pod=\"a/b\""
    ),
    family!(
        "zap's console",
        "pkg.go.dev/go.uber.org/zap NewDevelopmentConfig",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}+0200\t{L}\tapp/{file}:{line}\t{msg}",
        WORDS,
        "source" = "app/{file}:{line}"
    ),
    family!(
        "zerolog's console",
        "github.com/rs/zerolog ConsoleWriter",
        "{Y}-{m}-{d}T{H}:{M}:{S}Z {L} {msg}",
        THREE
    ),
    family!(
        "etcd before 3.5",
        "etcd.io capnslog",
        "{Y}-{m}-{d} {H}:{M}:{S}.{us} {L} | etcdserver: {msg}",
        LETTERS,
        "logger" = "etcdserver"
    ),
    family!(
        "tracing",
        "docs.rs/tracing-subscriber fmt",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{us}Z  {L} my_crate::server: {msg}",
        WORDS,
        "logger" = "my_crate::server"
    ),
    family!(
        "env_logger",
        "docs.rs/env_logger",
        "[{Y}-{m}-{d}T{H}:{M}:{S}Z {L5} my_crate::server] {msg}",
        WORDS,
        "logger" = "my_crate::server"
    ),
    family!(
        "spdlog",
        "github.com/gabime/spdlog wiki Custom formatting",
        "[{Y}-{m}-{d} {H}:{M}:{S}.{ms}] [{short}] [{L}] {msg}",
        LOWER
    ),
    // .NET, PHP, Perl.
    family!(
        ".NET's console with a time",
        "learn.microsoft.com console-log-formatter",
        "{Y}-{m}-{d} {H}:{M}:{S} {L}: Microsoft.Hosting.Lifetime[14]\n      {msg}",
        &[("info", "INFO"), ("warn", "WARN"), ("fail", "ERROR")],
        "logger" = "Microsoft.Hosting.Lifetime[14]"
    ),
    family!(
        ".NET's console",
        "learn.microsoft.com console-log-formatter",
        "{L}: Microsoft.Hosting.Lifetime[14]\n      {msg}",
        &[("info", "INFO"), ("warn", "WARN"), ("fail", "ERROR")],
        "logger" = "Microsoft.Hosting.Lifetime[14]"
    ),
    family!(
        "serilog's file",
        "github.com/serilog/serilog-sinks-file",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms} +02:00 [{L}] {msg}",
        THREE
    ),
    family!(
        "NLog",
        "nlog-project.org default layout",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms}|{L}|Shop.Program|{msg}",
        WORDS,
        "logger" = "Shop.Program"
    ),
    family!(
        "php",
        "php.net error_log",
        "[{d}-{b}-{Y} {H}:{M}:{S} UTC] PHP {L}:  {msg}",
        &[
            ("Warning", "WARN"),
            ("Fatal error", "FATAL"),
            ("Notice", "NOTICE")
        ]
    ),
    family!(
        "php-fpm",
        "php.net install.fpm",
        "[{d}-{b}-{Y} {H}:{M}:{S}] {L}: {msg}",
        &[
            ("NOTICE", "NOTICE"),
            ("WARNING", "WARN"),
            ("ERROR", "ERROR")
        ]
    ),
    family!(
        "monolog",
        "github.com/Seldaek/monolog LineFormatter",
        "[{Y}-{m}-{d}T{H}:{M}:{S}.{us}+00:00] app.{L}: {msg} [] []",
        LONG,
        "logger" = "app",
        "message" = "{msg} [] []"
    ),
    family!(
        "laravel",
        "laravel.com/docs/logging",
        "[{Y}-{m}-{d} {H}:{M}:{S}] production.{L}: {msg}",
        LONG,
        "logger" = "production"
    ),
];
