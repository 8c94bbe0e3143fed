//! Shapes that few systems have: other calendars and languages, prefixes of tools, levels without a time.

use super::Family;
use super::levels::{AUDITS, JUL_IN_SPANISH, LETTERS, LOWER, NOTICES, PAIRS, WORDS};

pub(super) const SHAPES: &[Family] = &[
    // Prefixes of tools.
    family!(
        "docker compose",
        "docs.docker.com compose logs --timestamps",
        "web-1  | {Y}-{m}-{d}T{H}:{M}:{S}.{ns}Z {L} {msg}",
        WORDS
    ),
    family!(
        "kubectl, with pairs",
        "kubernetes.io kubectl logs --prefix --timestamps; brandur.org logfmt",
        "[pod/web-7d9c5b/app] {Y}-{m}-{d}T{H}:{M}:{S}.{ns}Z level={L} rows={n} msg=\"{n} rows\"",
        LOWER,
        "message" = "level={L} rows={n} msg=\"{n} rows\""
    ),
    family!(
        "pm2",
        "pm2.keymetrics.io log-management",
        "0|api      | {Y}-{m}-{d} {H}:{M}:{S} +00:00: {msg}",
        &[]
    ),
    family!(
        "azure pipelines",
        "learn.microsoft.com azure/devops/pipelines review-logs",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{us}7Z {msg}",
        &[],
        "timestamp" = "{Y}-{m}-{d}T{H}:{M}:{S}.{us}7Z"
    ),
    // Other calendars and languages.
    family!(
        "days in German",
        "DIN 5008",
        "{-d}. {bde} {Y} {H}:{M}:{S} {L} {msg}",
        WORDS
    ),
    family!(
        "days in French",
        "CLDR fr",
        "{-d} {bfr} {Y} {H}:{M}:{S} {L} {msg}",
        WORDS
    ),
    family!(
        "tomcat in Spanish",
        "tomcat.apache.org OneLineFormatter; OpenJDK sun.util.logging.resources.logging_es",
        "{d}-{bes}-{Y} {H}:{M}:{S}.{ms} {L} [main] org.apache.catalina.startup.Catalina.start {msg}",
        JUL_IN_SPANISH,
        "thread" = "main",
        "logger" = "org.apache.catalina.startup.Catalina.start"
    ),
    family!(
        "days in Japanese",
        "CLDR ja",
        "{Y}年{-m}月{-d}日 {H}:{M}:{S} {L} {msg}",
        WORDS
    ),
    family!(
        "times in Japanese",
        "CLDR ja",
        "{Y}年{m}月{d}日 {H}時{M}分{S}秒 [{L}] {msg}",
        WORDS
    ),
    family!(
        "weeks",
        "ISO 8601 week dates",
        "{Y}-W{V}-{u}T{H}:{M}:{S}Z {L} {msg}",
        WORDS
    ),
    family!(
        "days of the year",
        "ISO 8601 ordinal dates",
        "{Y}-{j}T{H}:{M}:{S}Z {L} {msg}",
        WORDS
    ),
    family!(
        "times with hyphens",
        "NLog ${longdate} in file names",
        "{Y}-{m}-{d} {H}-{M}-{S} {L} {msg}",
        WORDS
    ),
    // Systems.
    family!(
        "telegraf",
        "docs.influxdata.com telegraf configuration agent",
        "{Y}-{m}-{d}T{H}:{M}:{S}Z {L}! [inputs.cpu] {msg}",
        LETTERS,
        "logger" = "inputs.cpu"
    ),
    family!(
        "couchdb",
        "docs.couchdb.org config/logging",
        "[{L}] {Y}-{m}-{d}T{H}:{M}:{S}.{us}Z couchdb@127.0.0.1 <0.{n}.0> -------- {msg}",
        LOWER
    ),
    family!(
        "pino-pretty",
        "github.com/pinojs/pino-pretty",
        "[{Y}-{m}-{d} {H}:{M}:{S}.{ms} +0000] {L} ({pid} on web01): {msg}",
        WORDS,
        "process_id" = "{pid}"
    ),
    family!(
        "django",
        "docs.djangoproject.com topics/logging",
        "[{d}/{b}/{Y} {H}:{M}:{S}] {L} [django.server:{line}] {msg}",
        WORDS,
        "logger" = "django.server"
    ),
    family!(
        "asterisk",
        "docs.asterisk.org Logging-Configuration",
        "[{Y}-{m}-{d} {H}:{M}:{S}] {L}[{pid}] chan_sip.c: {msg}",
        NOTICES,
        "process_id" = "{pid}"
    ),
    family!(
        "akka",
        "doc.akka.io typed/logging",
        "[{L}] [{m}/{d}/{Y} {H}:{M}:{S}.{ms}] [sys-akka.actor.default-dispatcher-3] [akka://sys/user/a] {msg}",
        WORDS,
        "logger" = "akka://sys/user/a"
    ),
    family!(
        "sidekiq",
        "github.com/sidekiq/sidekiq Logger::Formatters::Pretty",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z pid={pid} tid=gk{n} {L}: {msg}",
        WORDS
    ),
    family!(
        "elixir, with metadata",
        "hexdocs.pm logger Logger.Formatter",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms} request_id=F{hex16} [{L}] {msg}",
        LOWER
    ),
    family!(
        "zabbix",
        "zabbix.com manual log files",
        "{pid}:{Y}{m}{d}:{H}{M}{S}.{ms} {msg}",
        &[]
    ),
    family!(
        "x server",
        "x.org Xorg(1)",
        "[{up}.{ms}] ({L}) {msg}",
        PAIRS
    ),
    family!(
        "oracle's alert log",
        "docs.oracle.com monitoring-the-database",
        "{a} {b} {d} {H}:{M}:{S} {Y}\n{msg}\nThread 1 advanced to log sequence {n}",
        &[],
        "message" = "{msg}\nThread 1 advanced to log sequence {n}"
    ),
    family!(
        "apt's history",
        "manpages.debian.org apt.conf(5) Dir::Log::History",
        "Start-Date: {Y}-{m}-{d}  {H}:{M}:{S}\nCommandline: apt install lib{n}\nEnd-Date: {Y}-{m}-{d}  {H}:{M}:{S}",
        &[],
        "message" = "Commandline: apt install lib{n}\nEnd-Date: {Y}-{m}-{d}  {H}:{M}:{S}"
    ),
    family!(
        "rails",
        "guides.rubyonrails.org debugging_rails_applications",
        "Started GET \"/posts/{n}\" for {ip} at {Y}-{m}-{d} {H}:{M}:{S} +0000\nProcessing by PostsController#show as HTML\nCompleted 200 OK in {n}ms",
        &[],
        "message" = "Started GET \"/posts/{n}\" for {ip} at {Y}-{m}-{d} {H}:{M}:{S} +0000\nProcessing by PostsController#show as HTML\nCompleted 200 OK in {n}ms"
    ),
    // Levels, and no time.
    family!(
        "python's basicConfig",
        "docs.python.org logging BASIC_FORMAT",
        "{L}:{mod}:{msg}",
        WORDS,
        "logger" = "{mod}"
    ),
    family!(
        "maven",
        "maven.apache.org maven-logging",
        "[{L}] {msg}",
        WORDS
    ),
    family!("uvicorn", "uvicorn.dev settings", "{L}:     {msg}", WORDS),
    family!(
        "liberty's console",
        "ibm.com docs was-liberty logging",
        "[{L5}] CWWKF0011I: {msg}",
        AUDITS,
        "code" = "CWWKF0011I"
    ),
];
