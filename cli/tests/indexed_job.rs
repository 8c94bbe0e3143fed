//! The example of an indexed job, on a real S3 server: tasks fail, are repeated and run twice, and each record counts
//! once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use anyhow::{Result, ensure};
use canter_formats::Format;
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_samples::sample;
use canter_tests::{SECRET_KEY, put_objects, run, with_s3};
use serde_json::{Value, json};

const BUCKET: &str = "canter-job";
const INDEX: &str = "s3://canter-job/logs";
const PARTS: u64 = 4;
const OBJECTS: u64 = 30;
const DOCS_OF_OBJECT: u64 = 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/indexed-job")
}

/// Returns a command that runs one of the scripts as a task does.
fn task(script: &str, config: &Path, numbered: Option<(&str, u64)>) -> Command {
    let mut command = Command::new(folder().join(script));
    command
        .env("CANTER", env!("CARGO_BIN_EXE_canter"))
        .env("INDEX", INDEX)
        .env("CONFIG", config)
        .env("INPUT", "s3://canter-job/raw/")
        .env("RECEIPTS", "s3://canter-job/receipts/first")
        .env("PARTS", PARTS.to_string())
        .env("NO_COLOR", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some((variable, part)) = numbered {
        command.env(variable, part.to_string());
    }
    command
}

fn said(output: &Output) -> String {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn num_docs() -> Result<Value> {
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .uri(INDEX, &OpenOptions::default())?
        .build()?;
    let request = json!({"query": "*", "max_hits": 0});
    Ok(run(&searcher, &request)?.json["num_hits"].clone())
}

#[test]
fn tasks_that_fail_and_repeat_build_each_record_once() {
    with_s3(
        "tasks_that_fail_and_repeat_build_each_record_once",
        SECRET_KEY,
        |server| {
            let temporary = tempfile::tempdir()?;
            let config = temporary.path().join("index-config.yaml");
            std::fs::write(&config, "version: 0.8\nindex_id: logs\n")?;
            server.make_bucket(BUCKET)?;
            let objects = (0..OBJECTS).map(|ord| {
                let lines = sample(Format::Ndjson, DOCS_OF_OBJECT, ord).bytes;
                (format!("raw/{ord:03}.ndjson"), lines)
            });
            put_objects("s3://canter-job", objects.collect())?;

            // One of the tasks does not run at first, one is killed, and one runs twice at once.
            let mut killed =
                task("build-part.sh", &config, Some(("JOB_COMPLETION_INDEX", 0))).spawn()?;
            killed.kill()?;
            killed.wait()?;
            let numbers = ["JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "PART"];
            let started: Vec<_> = [
                (numbers[0], 0),
                (numbers[1], 1),
                (numbers[2], 2),
                (numbers[2], 2),
            ]
            .into_iter()
            .map(|numbered| task("build-part.sh", &config, Some(numbered)).spawn())
            .collect::<Result<_, _>>()?;
            for child in started {
                let output = child.wait_with_output()?;
                ensure!(output.status.success(), "{}", said(&output));
            }
            let early = task("publish.sh", &config, None).output()?;
            ensure!(
                !early.status.success() && said(&early).contains("3 receipts instead of 4"),
                "{}",
                said(&early)
            );
            ensure!(num_docs()? == 0);

            let last = task("build-part.sh", &config, Some((numbers[0], 3))).output()?;
            ensure!(last.status.success(), "{}", said(&last));
            // The publication is repeated, too.
            for _ in 0..2 {
                let published = task("publish.sh", &config, None).output()?;
                ensure!(published.status.success(), "{}", said(&published));
                ensure!(num_docs()? == OBJECTS * DOCS_OF_OBJECT);
            }
            let nameless = task("build-part.sh", &config, None).output()?;
            ensure!(
                said(&nameless).contains("which part is this"),
                "{}",
                said(&nameless)
            );
            Ok(())
        },
    );
}
