//! The project's own commands: `cargo xtask demo | check | test | conformance | yaml-tests | tools |
//! guest | js | wasi | fastly | lambda | example | clients | python | peers | dist`.
//!
//! This program has few dependencies (no wasmtime, no tantivy): commands that need them run other
//! programs.

mod beside;
mod check;
mod commands;
mod guest;
mod hosts;
mod lints;
mod packages;
mod peers;
mod step;
mod tools;
mod workspace;

use std::process::ExitCode;

use hosts::{conformance, lambda, wasi};
use packages::{clients, npm, python};
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo [ARGS]   generate logs, index them, search them in the wasm guest
  check         format, lint and unit-test the packages that differ from the main branch
  test [crates|hosts|packages]
                run everything that CI checks, or one part of it: format, lints, documentation and the crates' tests;
                the same requests to every host; the packages and clients
  conformance [ARGS]
                send one list of requests to every host and compare the answers; without
                arguments, write the table into docs/conformance.md (--help shows the arguments)
  yaml-tests [ARGS]
                run OpenSearch's and Elasticsearch's YAML tests against a server of this build (--help shows the arguments)
  tools [--all] install third-party programs that tests run into <target>/tools;
                --all: also those that take a quarter of an hour to compile
  guest         build the guest component into <target>/guest and compile it ahead of time
  js [test]     build the npm package, the Worker and the browser example; test them
  wasi          build the WASI component into <target>/guest and compile it ahead of time
  fastly        build the program for Fastly Compute into <target>/guest
  lambda [--arch arm64|x86_64]
                build the packages of the Lambda functions into <target>/lambda
  example native-lambda [QUERY [INDEX]]
                run the Lambda search function on this machine
  clients       run Elasticsearch's own clients against a server of this build
  python [test|spark]
                build the Python package as a wheel; test it, or its data source for Spark
  peers [build] [--docs N] [--splits N]
                compare aggregations with DuckDB over the same documents: answers and times; with `build`, compare
                the cost to build, store and search an index with Parquet and tantivy
  dist          build the self-contained release binary <target>/dist/canter";

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(lints::FOLDER) {
        return lints::compile(folder.as_ref());
    }
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    let result = Workspace::locate().and_then(|workspace| match command.as_deref() {
        Some("demo") => commands::demo(&workspace, &rest),
        Some("check") if rest.is_empty() => check::check(&workspace),
        Some("test") => commands::test(&workspace, &rest),
        Some("conformance") => conformance::conformance(&workspace, &rest),
        Some("yaml-tests") => conformance::yaml_tests(&workspace, &rest),
        Some("tools") if rest.is_empty() => tools::install(&workspace, false),
        Some("tools") if rest == ["--all"] => tools::install(&workspace, true),
        Some(beside::COMMAND) if rest.len() == 1 => beside::run(&workspace, &rest[0]),
        Some("guest") if rest.is_empty() => guest::build(&workspace),
        Some("js") => npm::js(&workspace, &rest),
        Some("wasi") if rest.is_empty() => wasi::build(&workspace),
        Some("fastly") if rest.is_empty() => wasi::build_fastly(&workspace),
        Some("example") => lambda::example(&workspace, &rest),
        Some("lambda") => lambda::lambda(&workspace, &rest),
        Some("clients") => clients::clients(&workspace, &rest),
        Some("python") => python::python(&workspace, &rest),
        Some("peers") => peers::peers(&workspace, &rest),
        Some("dist") if rest.is_empty() => commands::dist(&workspace),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
