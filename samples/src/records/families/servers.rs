//! Servers, devices and tools whose lines have something of their own.

use super::Family;
use super::levels::{CAPITAL, ESXI, FOUR, LETTERS, LONG, LOWER, NOTICES, SAMBA, THREE, TOR, WORDS};

pub(super) const SERVERS: &[Family] = &[
    family!(
        "samba",
        "samba.org smb.conf(5) debug prefix timestamp",
        "[{Y}/{m}/{d} {H}:{M}:{S}.{us},  {L}] ../../source3/smbd/server.c:{line}(main)\n  {msg}",
        SAMBA,
        "source" = "../../source3/smbd/server.c:{line}(main)"
    ),
    family!(
        "vmware's hostd",
        "techdocs.broadcom.com ESXi log files",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z {L} hostd[{pid}] [Originator@6876 sub=Vimsvc] {msg}",
        LOWER,
        "logger" = "hostd",
        "process_id" = "{pid}",
        "message" = "[Originator@6876 sub=Vimsvc] {msg}"
    ),
    family!(
        "vmware's hostd 8",
        "techdocs.broadcom.com ESXi log files",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z {L} Hostd[{pid}]: [Originator@6876] {msg}",
        ESXI,
        "logger" = "Hostd",
        "process_id" = "{pid}",
        "message" = "[Originator@6876] {msg}"
    ),
    family!(
        "couchbase",
        "docs.couchbase.com manage-logging",
        "[ns_server:{L},{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z,ns_1@127.0.0.1:<0.{n}.0>:janitor:run:{line}]{msg}",
        LOWER,
        "logger" = "ns_server"
    ),
    family!(
        "couchbase's goxdcr",
        "docs.couchbase.com manage-logging",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z {L} GOXDCR.ReplMgr: {msg}",
        FOUR,
        "logger" = "GOXDCR.ReplMgr"
    ),
    family!(
        "vagrant",
        "developer.hashicorp.com vagrant debugging",
        "{L5} global: {msg}",
        WORDS,
        "logger" = "global"
    ),
    family!(
        "logcat, its format time",
        "developer.android.com logcat",
        "{m}-{d} {H}:{M}:{S}.{ms} {L}/WindowManager( {pid}): {msg}",
        LETTERS,
        "logger" = "WindowManager",
        "process_id" = "{pid}"
    ),
    family!(
        "logcat, its format brief",
        "developer.android.com logcat",
        "{L}/WindowManager( {pid}): {msg}",
        LETTERS,
        "logger" = "WindowManager",
        "process_id" = "{pid}"
    ),
    family!(
        "log4j's TTCC",
        "logging.apache.org TTCCLayout",
        "{n} [{thread}] {L} {logger} - {msg}",
        WORDS,
        "logger" = "{logger}",
        "thread" = "{thread}"
    ),
    family!(
        "htcondor",
        "htcondor.readthedocs.io logging",
        "{m}/{d}/{y} {H}:{M}:{S} (pid:{pid}) {msg}",
        &[],
        "process_id" = "{pid}"
    ),
    family!(
        "splunkd",
        "docs.splunk.com what Splunk logs about itself",
        "{m}-{d}-{Y} {H}:{M}:{S}.{ms} +0000 {L5} Metrics - {msg}",
        WORDS,
        "logger" = "Metrics"
    ),
    family!(
        "routeros 6",
        "help.mikrotik.com Log",
        "{b}/{d} {H}:{M}:{S} system,{L} {msg}",
        LOWER,
        "logger" = "system"
    ),
    family!(
        "dates of javascript",
        "tc39.es ecma262 Date.prototype.toString",
        "{a} {b} {d} {Y} {H}:{M}:{S} GMT+0200 (CEST) <{pid}> -- {L} -- {msg}",
        LOWER,
        "process_id" = "{pid}"
    ),
    family!(
        "strongswan",
        "docs.strongswan.org logger",
        "{b} {d} {H}:{M}:{S} 13[IKE] {msg}",
        &[],
        "logger" = "IKE",
        "thread" = "13"
    ),
    family!(
        "freeswitch",
        "developer.signalwire.com mod_logfile",
        "{uuid} {Y}-{m}-{d} {H}:{M}:{S}.{us} 99.97% [{L}] switch_core.c:{line} {msg}",
        NOTICES,
        "request_id" = "{uuid}",
        "source" = "switch_core.c:{line}"
    ),
    family!(
        "java's collector before 9",
        "docs.oracle.com java 8 gctuning",
        "{up}.{ms}: [GC (Allocation Failure) {n}K] {msg}",
        &[],
        "message" = "[GC (Allocation Failure) {n}K] {msg}"
    ),
    family!(
        "fail2ban",
        "github.com/fail2ban jail.conf",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} fail2ban.filter         [{pid}]: {L5}   {msg}",
        WORDS,
        "logger" = "fail2ban.filter",
        "process_id" = "{pid}"
    ),
    family!(
        "salt",
        "docs.saltproject.io logging",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} [salt.minion      :{line}][{L5}   ][{pid}] {msg}",
        WORDS,
        "logger" = "salt.minion",
        "process_id" = "{pid}"
    ),
    family!(
        "home assistant",
        "home-assistant.io logger",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms} {L} (MainThread) [homeassistant.core] {msg}",
        LONG,
        "logger" = "homeassistant.core",
        "thread" = "MainThread"
    ),
    family!(
        "nomad",
        "developer.hashicorp.com nomad monitor",
        "    {Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z [{L}]  client: {msg}",
        WORDS,
        "logger" = "client"
    ),
    family!(
        "istio",
        "istio.io component logging",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{us}Z\t{L}\tads\t{msg}",
        LOWER,
        "logger" = "ads"
    ),
    family!(
        "chef",
        "docs.chef.io debug",
        "[{Y}-{m}-{d}T{H}:{M}:{S}+00:00] {L}: {msg}",
        WORDS
    ),
    family!(
        "puppetserver",
        "puppet.com docs logback",
        "{Y}-{m}-{d}T{H}:{M}:{S}.{ms}Z {L5} [qtp1-12] [puppetserver] {msg}",
        WORDS,
        "logger" = "puppetserver",
        "thread" = "qtp1-12"
    ),
    family!(
        "freeradius",
        "freeradius.org radiusd.conf log",
        "{a} {b} {d} {H}:{M}:{S} {Y} : {L}: {msg}",
        CAPITAL
    ),
    family!(
        "slurm",
        "slurm.schedmd.com slurm.conf LogTimeFormat",
        "[{Y}-{m}-{d}T{H}:{M}:{S}.{ms}] {L}: {msg}",
        LOWER
    ),
    family!(
        "privoxy",
        "privoxy.org config debug",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms} 7f8a1c3d2700 {L}: {msg}",
        CAPITAL
    ),
    family!(
        "tor",
        "torproject.org tor manual Log",
        "{b} {d} {H}:{M}:{S}.{ms} [{L}] {msg}",
        TOR
    ),
    family!(
        "nats",
        "docs.nats.io logging",
        "[{pid}] {Y}/{m}/{d} {H}:{M}:{S}.{us} [{L}] {msg}",
        THREE,
        "process_id" = "{pid}"
    ),
    family!(
        "boost.log",
        "boost.org log default sink",
        "[{Y}-{m}-{d} {H}:{M}:{S}.{us}] [0x00007f8a1c3d2700] [{L}]    {msg}",
        LOWER
    ),
    family!(
        "log4net",
        "logging.apache.org log4net PatternLayout",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} [{tid}] {L5} MyApp.Program [(null)] - {msg}",
        WORDS,
        "logger" = "MyApp.Program"
    ),
    family!(
        "log4cxx",
        "logging.apache.org log4cxx pattern",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} [0x7f8a1c3d2700] {L5} {logger} (engine.cpp:{line}) - {msg}",
        WORDS,
        "logger" = "{logger}",
        "source" = "engine.cpp:{line}"
    ),
    family!(
        "ros",
        "docs.ros.org rosconsole",
        "[{L}] [{s}.{ns}] [talker]: {msg}",
        WORDS,
        "logger" = "talker"
    ),
    family!(
        "jellyfin",
        "jellyfin.org logs",
        "[{Y}-{m}-{d} {H}:{M}:{S}.{ms} +02:00] [{L}] [{n}] Main: {msg}",
        THREE,
        "logger" = "Main"
    ),
    family!(
        "plex",
        "support.plex.tv logs",
        "{b} {d}, {Y} {H}:{M}:{S}.{ms} [{tid}] {L} - {msg}",
        WORDS
    ),
    family!(
        "windows update",
        "learn.microsoft.com windows update logs",
        "{Y}/{m}/{d} {H}:{M}:{S}.{us} {pid}  {tid}  Agent           {msg}",
        &[],
        "logger" = "Agent",
        "process_id" = "{pid}",
        "thread_id" = "{tid}"
    ),
    family!(
        "chocolatey",
        "docs.chocolatey.org troubleshooting",
        "{Y}-{m}-{d} {H}:{M}:{S},{ms} {pid} [{L5}] - {msg}",
        WORDS,
        "process_id" = "{pid}"
    ),
    family!(
        "pacman",
        "man.archlinux.org pacman.conf",
        "[{Y}-{m}-{d}T{H}:{M}:{S}+0200] [ALPM] {msg}",
        &[],
        "logger" = "ALPM"
    ),
    family!(
        "vsftpd",
        "security.appspot.com vsftpd.conf",
        "{a} {b} {d} {H}:{M}:{S} {Y} [pid {pid}] {msg}",
        &[],
        "process_id" = "{pid}"
    ),
    family!(
        "clamav",
        "docs.clamav.net freshclam",
        "{a} {b} {d} {H}:{M}:{S} {Y} -> {msg}",
        &[]
    ),
    family!(
        "rsync's daemon",
        "download.samba.org rsyncd.conf",
        "{Y}/{m}/{d} {H}:{M}:{S} [{pid}] {msg}",
        &[],
        "process_id" = "{pid}"
    ),
    family!(
        "neo4j",
        "neo4j.com docs logging",
        "{Y}-{m}-{d} {H}:{M}:{S}.{ms}+0000 {L5} [o.n.k.Server] {msg}",
        WORDS,
        "logger" = "o.n.k.Server"
    ),
    family!(
        "minecraft",
        "minecraft.wiki server logs",
        "[{H}:{M}:{S}] [Server thread/{L}]: {msg}",
        WORDS,
        "thread" = "Server thread"
    ),
];
