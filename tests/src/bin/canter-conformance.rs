//! Program of the conformance test: sends one list of requests to every host and prints the table.
//! `cargo xtask conformance` builds the hosts, and runs this program.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use canter_tests::conformance::hosts::{self, Host};
use canter_tests::conformance::{
    Extent, HostReport, Machine, Request, Site, markdown_table, read_requests, run_host_to,
    run_reference,
};
use clap::Parser;

/// Markers around the table in the document.
const TABLE_START: &str = "<!-- The table: cargo xtask conformance -->\n";
const TABLE_END: &str = "<!-- The end of the table. -->\n";

/// Sends one list of requests to every host, and compares the answers byte for byte.
#[derive(Parser)]
struct Args {
    /// Run only these hosts and the reference host
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    host: Vec<String>,
    /// Reference host: its answers are checked, and the others are compared with it
    #[arg(long, default_value = "native", value_name = "NAME")]
    reference: String,
    /// Fail if this machine lacks a requirement of one of these hosts
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    require: Vec<String>,
    /// Send only requests with this text in their name
    #[arg(long, value_name = "TEXT")]
    request: Option<String>,
    /// Maximum number of wrong answers to show for each host
    #[arg(long, default_value_t = 10)]
    max_problems: usize,
    /// Send most requests once to hosts other than the reference, not three times
    #[arg(long, conflicts_with = "write")]
    short: bool,
    /// Write the table into this document
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// List the names of hosts and requests, and exit
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the test, and returns whether everything is as required.
fn run(args: &Args) -> Result<bool> {
    let hosts = hosts::all();
    let requests = chosen_requests(args)?;
    if args.list {
        let names = hosts.iter().map(|host| host.name());
        names.for_each(|name| println!("host {name}"));
        let names = requests.iter().map(|request| &request.name);
        names.for_each(|name| println!("request {name}"));
        return Ok(true);
    }
    let names = args.host.iter().chain(&args.require);
    for name in names.chain([&args.reference]) {
        ensure!(
            hosts.iter().any(|host| host.name() == name),
            "there is no host {name:?}: see --list"
        );
    }
    let reports = run_hosts(args, &hosts, &requests)?;
    let table = markdown_table(&reports);
    let how = match args.short {
        true => {
            "once to every program, every second to hosts that share one, and every sixth without caches and twice with \
             them"
        }
        false => "without caches, and twice with them",
    };
    println!("{} requests, each sent {how}\n\n{table}", requests.len());
    if let Some(path) = &args.write {
        write_table(path, &table)?;
    }
    Ok(reports.iter().all(|report| is_good(args, report)))
}

fn run_hosts(
    args: &Args,
    hosts: &[Box<dyn Host>],
    requests: &[Request],
) -> Result<Vec<HostReport>> {
    let machine = Machine::locate()?;
    let site = Site::start()?;
    let is_reference = |host: &dyn Host| host.name() == args.reference;
    let hosts = || hosts.iter().map(Box::as_ref);
    let first = hosts()
        .find(|host| is_reference(*host))
        .context("no such host")?;
    announce(first);
    let (report, reference) = run_reference(first, &machine, &site, requests)?;
    tell(args, &report);
    let mut reports = vec![report];
    for host in hosts().filter(|host| !is_reference(*host)) {
        if !args.host.is_empty() && !args.host.iter().any(|name| name == host.name()) {
            continue;
        }
        announce(host);
        let extent = match args.short {
            true => Extent::Short,
            false => Extent::Whole,
        };
        let report = run_host_to(extent, host, &machine, &site, requests, &reference);
        tell(args, &report);
        reports.push(report);
    }
    Ok(reports)
}

fn chosen_requests(args: &Args) -> Result<Vec<Request>> {
    let mut requests = read_requests()?;
    if let Some(text) = &args.request {
        requests.retain(|request| request.name.contains(&**text));
        ensure!(!requests.is_empty(), "no request has {text:?} in its name");
    }
    Ok(requests)
}

fn announce(host: &dyn Host) {
    eprintln!("   {}: {}", host.name(), host.title());
}

fn tell(args: &Args, report: &HostReport) {
    for line in report.account(args.max_problems) {
        eprintln!("   {line}");
    }
}

fn is_good(args: &Args, report: &HostReport) -> bool {
    let is_required = args.require.iter().any(|name| name == report.name);
    if is_required && !report.is_green() && !report.is_red() {
        eprintln!("   {} is required, and this machine lacks it", report.name);
    }
    report.is_green() || !is_required && !report.is_red()
}

/// Writes the table between its two markers.
fn write_table(path: &PathBuf, table: &str) -> Result<()> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let (before, rest) = text
        .split_once(TABLE_START)
        .with_context(|| format!("{shown} has no line {TABLE_START:?}"))?;
    let (_, after) = rest
        .split_once(TABLE_END)
        .with_context(|| format!("{shown} has no line {TABLE_END:?}"))?;
    let text = format!("{before}{TABLE_START}\n{table}\n{TABLE_END}{after}");
    fs::write(path, text).with_context(|| format!("cannot write {shown}"))
}
