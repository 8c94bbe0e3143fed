//! `canter demo`: logs → splits → two queries in the wasm guest, with what each step took.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use canter_lab::LatencyModel;
use clap::Args;

use super::{build, query};
use crate::args::{EngineArgs, InstanceCaps};
use crate::exit::WrongUse;
use crate::open::tokio_runtime;
use crate::render::{Chart, Colour, Screen, TimelineFile, numbers};
use crate::simulate::CpuChoice;

const AFTER_HELP: &str = "\
Without --dir, the index is created in a new folder under the system's folder for temporary files.
The demo prints its location and how to remove it.

Examples:
  canter demo
  canter demo --docs 100000 --dir ./demo
  canter demo --dir ./demo --keep        # again, on the existing index";

/// Arguments of `canter demo`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DemoArgs {
    /// Number of log lines to generate.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) docs: u64,

    /// Number of splits to build.
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) splits: u64,

    /// Seed of the log lines: the same seed generates the same lines.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Folder of the index [default: a new temporary folder].
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,

    /// Keep the existing index in DIR, and only run the queries.
    #[arg(long, requires = "dir")]
    pub(super) keep: bool,

    #[command(flatten)]
    pub(super) engine: EngineArgs,

    /// Store that is simulated for the queries, as in `canter search --simulate`.
    #[arg(long, value_name = "SPEC", default_value = "s3")]
    pub(super) simulate: LatencyModel,

    /// How computing counts in simulated time: as `measured` on this machine, or not at all (`ignored`), which makes
    /// the timelines reproducible.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "measured",
        hide_possible_values = true
    )]
    pub(super) simulate_cpu: CpuChoice,
}

/// Runs the demo.
pub(crate) fn run(args: &DemoArgs, screen: &Screen) -> Result<()> {
    // First, so that a missing component is reported immediately.
    let started = Instant::now();
    let engine = args.engine.start(InstanceCaps::default())?;
    let engine_started = started.elapsed();
    let folder = build::folder(args)?;
    let uri = folder.display().to_string();
    let runtime = tokio_runtime()?;

    heading(screen, 1, "Build an index")?;
    match args.keep {
        true => build::describe_kept(&uri)?,
        false => build::build(args, &uri)?,
    }
    say(&format!(
        "The search engine is {}, ready in {}.",
        match engine.name() {
            "wasm" => "a WebAssembly component in a sandbox",
            _ => "linked as a Rust library (--engine native)",
        },
        numbers::duration(engine_started)
    ))?;

    let laboratory = query::Laboratory {
        uri,
        engine,
        model: args.simulate.clone(),
        cpu: args.simulate_cpu,
    };
    say(&format!(
        "The queries run on the folder, and again on a simulated remote store:\n\
         {}, in virtual time.",
        args.simulate
    ))?;
    let mut charts = Vec::new();
    for (ord, query) in (2..).zip(query::classics()) {
        heading(screen, ord, query.title)?;
        charts.extend(runtime.block_on(demo_query(&query, &laboratory, screen))?);
    }

    heading(screen, 4, "Look closer")?;
    write_timelines(&folder, &charts)?;
    say(&try_next(&folder, screen))
}

/// Runs a query with an empty cache and then with a full one, and shows answer and cost.
async fn demo_query(
    query: &query::DemoQuery,
    laboratory: &query::Laboratory,
    screen: &Screen,
) -> Result<[Chart; 2]> {
    say(&query.described(screen))?;
    let runs = query::Runs::of(query, laboratory).await?;
    say("")?;
    say(&query.answer(runs.response(), screen))?;
    say("")?;
    say(&runs.cost_table(screen))?;
    say("")?;
    say(&runs.timelines(screen))?;
    say("")?;
    say(&runs.remarks(screen))?;
    Ok(runs.charts())
}

/// Draws all runs into a file next to the index's objects.
fn write_timelines(folder: &Path, charts: &[Chart]) -> Result<()> {
    let path = folder.join("timeline.svg");
    let file = TimelineFile::new(&path).map_err(WrongUse)?;
    file.write("Two queries, cold and warm", charts)?;
    let shown = quoted(&path.display().to_string());
    say(&format!(
        "The timelines of all four runs are drawn in\n{shown}.\n"
    ))?;
    say("")
}

/// Writes lines to stdout and flushes, so that they appear while the next step runs.
pub(super) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    Ok(out.flush()?)
}

fn heading(screen: &Screen, number: u32, title: &str) -> Result<()> {
    let line = screen.either("─", "-");
    let start = format!("{} {number} {title} ", line.repeat(2));
    let rest = screen
        .width
        .saturating_sub(console::measure_text_width(&start));
    let text = format!("{start}{}", line.repeat(rest));
    say(&format!("\n{}\n", screen.paint(Colour::Bold, &text)))
}

/// Returns commands that can be pasted unchanged.
fn try_next(folder: &Path, screen: &Screen) -> String {
    let program = program_name();
    let index = quoted(&folder.display().to_string());
    let split = folder
        .join("splits")
        .read_dir()
        .ok()
        .and_then(|mut files| files.next()?.ok())
        .map(|file| quoted(&file.path().display().to_string()));
    let commands = [
        vec![
            format!("{program} search --index {index}"),
            "--query 'body:DataXceiver AND tenant_id:[1 TO 9]'".to_owned(),
            "--max-hits 3 --profile".to_owned(),
            "--simulate r2,seed=7".to_owned(),
        ],
        vec![
            format!("{program} search --index {index}"),
            "--query tenant_id:42".to_owned(),
            "--sort-by timestamp --max-hits 5".to_owned(),
        ],
        vec![
            format!("{program} search --index {index}"),
            "--query '*' --max-hits 0".to_owned(),
            r#"--aggs '{"tenants":{"terms":{"field":"tenant_id","size":10}}}'"#.to_owned(),
        ],
        vec![format!("{program} index describe --index {index}")],
        match split {
            Some(split) => vec![format!("{program} split inspect"), split],
            None => Vec::new(),
        },
        vec![
            format!("rm -r {index}"),
            "# when you have seen enough".to_owned(),
        ],
    ];
    let mut text = format!("The index is in {index}.\n\n");
    for command in commands.iter().filter(|command| !command.is_empty()) {
        text.push_str(&continued(command, screen.width));
    }
    text
}

/// Returns a shell command in lines of at most `width` where its parts permit it.
fn continued(parts: &[String], width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (ord, part) in parts.iter().enumerate() {
        let len = console::measure_text_width(part);
        // Reserves room for the backslash that a further part may need.
        if ord > 0 && column + 1 + len + 2 > width {
            text.push_str(" \\\n    ");
            column = 4;
        } else if ord > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(part);
        column += len;
    }
    text.push('\n');
    text
}

/// Returns how this program can be called from here: by its bare name only if it was called so.
fn program_name() -> String {
    let called = std::env::args().next().unwrap_or_default();
    if !called.is_empty() && !called.contains(std::path::MAIN_SEPARATOR) {
        return called;
    }
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(&called);
    let short = path.strip_prefix(&here).unwrap_or(path);
    quoted(&short.display().to_string())
}

/// Quotes an argument for a shell.
fn quoted(text: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._-+:@%\\".contains(character);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_go_on_in_the_next_line() {
        let check = |width: usize, expect: &str| {
            let parts = ["canter search", "--index i", "--query q"].map(str::to_owned);
            assert_eq!(continued(&parts, width), expect);
        };
        check(80, "canter search --index i --query q\n");
        check(30, "canter search --index i \\\n    --query q\n");
        check(5, "canter search \\\n    --index i \\\n    --query q\n");
    }

    #[test]
    fn paths_can_be_pasted() {
        let check = |text: &str, expect: &str| assert_eq!(quoted(text), expect);
        check("/tmp/canter-demo", "/tmp/canter-demo");
        check("/tmp/my demo", "'/tmp/my demo'");
        check("it's", r"'it'\''s'");
        check("$HOME", "'$HOME'");
    }
}
