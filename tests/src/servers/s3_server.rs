//! Real S3 server on loopback: versitygw over a folder whose subfolders are buckets.
//!
//! ```text
//!   test ── runs itself again, with AWS_… set ──▶ the same test ─▶ forwarder ─▶ versitygw ─▶ folder
//! ```
//!
//! Stores take their settings from the environment of the process. Each test therefore runs in a
//! separate process, and calls the same functions as the command line.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail, ensure};

use crate::Forwarder;

/// Path of the program, if it is not in `<target>/tools`.
const PROGRAM_VARIABLE: &str = "CANTER_VERSITYGW";
/// Makes a missing server a failure.
const REQUIRE_VARIABLE: &str = "CANTER_REQUIRE_S3";
/// Folder of the server, set in the process that runs a test.
const FOLDER_VARIABLE: &str = "CANTER_S3_TEST_FOLDER";
/// Exit code: another program took the port between its selection and its use.
const EXIT_PORT_TAKEN: i32 = 75;
/// Timeout of a start, far longer than a start takes.
const START_TIMEOUT: Duration = Duration::from_secs(30);

const ACCESS_KEY: &str = "canter-tests";
/// Secret key of the server and of clients that may access it.
pub const SECRET_KEY: &str = "the-right-secret-of-the-tests";

/// Running server behind a [`Forwarder`]. Dropping the last clone stops it.
#[derive(Clone)]
pub struct S3Server {
    process: Arc<Mutex<Process>>,
    forwarder: Arc<Forwarder>,
    folder: PathBuf,
}

/// Process of the server, which can be stopped and started.
struct Process {
    program: PathBuf,
    folder: PathBuf,
    child: Option<Child>,
}

/// Runs the test named `test` against a server, in a separate process that has the endpoint and the
/// credentials in its environment. `secret` is the secret key that clients use. Skips the test with
/// a message if there is no server program.
///
/// # Panics
/// The test fails, or a server is missing where one is required.
pub fn with_s3(test: &str, secret: &str, body: impl FnOnce(&S3Server) -> Result<()>) {
    let Some(program) = find_program() else {
        skip(test);
        return;
    };
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        let server = S3Server::start(program, folder.into()).expect("the S3 server starts");
        body(&server).unwrap_or_else(|error| panic!("{error:?}"));
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..3 {
        let status = run_alone(test, secret, folder.path()).expect("the test starts again");
        match status {
            Some(0) => return,
            Some(EXIT_PORT_TAKEN) => {}
            _ => panic!("{test} failed in its own process; see above"),
        }
    }
    panic!("no free port in three attempts");
}

/// Runs one test of this program in a separate process, and returns its exit code.
fn run_alone(test: &str, secret: &str, folder: &Path) -> Result<Option<i32>> {
    let port = free_port()?;
    let mut command = Command::new(env::current_exe()?);
    for (name, _) in env::vars_os() {
        let lowered = name.to_string_lossy().to_lowercase();
        if lowered.starts_with("aws_") || lowered.ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    let output = command
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(FOLDER_VARIABLE, folder)
        .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        .env("AWS_SECRET_ACCESS_KEY", secret)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
        .output()?;
    // The macros show this output only if the test fails.
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        !output.status.success() || said.contains("1 passed"),
        "there is no test {test:?}"
    );
    Ok(output.status.code())
}

impl S3Server {
    /// Starts a server over `folder`, behind the port that the environment names.
    fn start(program: PathBuf, folder: PathBuf) -> Result<Self> {
        let endpoint = env::var("AWS_ENDPOINT_URL")?;
        let port = endpoint.rsplit(':').next().unwrap_or_default().parse()?;
        let Ok(forwarder) = Forwarder::start(port) else {
            std::process::exit(EXIT_PORT_TAKEN);
        };
        let server = Self {
            process: Arc::new(Mutex::new(Process {
                program,
                folder: folder.clone(),
                child: None,
            })),
            forwarder: Arc::new(forwarder),
            folder,
        };
        server.restart()?;
        Ok(server)
    }

    /// Creates a bucket and returns its folder.
    pub fn make_bucket(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Returns the forwarder through which all requests pass.
    pub fn forwarder(&self) -> &Forwarder {
        &self.forwarder
    }

    /// Kills the server's process.
    pub fn kill(&self) {
        self.forwarder.set_target(None);
        self.process().kill();
    }

    /// Kills the server if it runs, starts it over the same folder, and returns when it answers.
    pub fn restart(&self) -> Result<()> {
        self.kill();
        let address = self.process().start()?;
        self.forwarder.set_target(Some(address));
        Ok(())
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    fn start(&mut self) -> Result<SocketAddr> {
        // If another program takes the port before the server does, tries again with another port.
        for _ in 0..3 {
            if let Some(address) = self.start_on(free_port()?)? {
                return Ok(address);
            }
        }
        bail!("{} does not start: see above", self.program.display());
    }

    fn start_on(&mut self, port: u16) -> Result<Option<SocketAddr>> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // By default, without --keep-alive, a connection carries one request.
        let child = Command::new(&self.program)
            .args(["--port", &address.to_string(), "--quiet"])
            .args(["--access", ACCESS_KEY, "--secret", SECRET_KEY])
            .arg("posix")
            .arg(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        let child = self.child.insert(child);
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            if child.try_wait()?.is_some() {
                return Ok(None);
            }
            if TcpStream::connect(address).is_ok() {
                return Ok(Some(address));
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("{} does not listen", self.program.display());
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The process may have ended by itself; it must be waited for in either case.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Returns the server that the environment names, else the one that `cargo xtask test` installed.
fn find_program() -> Option<PathBuf> {
    if let Some(program) = env::var_os(PROGRAM_VARIABLE).filter(|program| !program.is_empty()) {
        return Some(program.into());
    }
    // <target>/debug/deps/<this program>
    let program = env::current_exe().ok()?;
    let name = format!("versitygw{}", env::consts::EXE_SUFFIX);
    let installed = program.ancestors().nth(3)?.join("tools").join(name);
    installed.is_file().then_some(installed)
}

/// Reports a skipped test, also where the output of passing tests is hidden.
fn skip(test: &str) {
    let is_required = env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value != "0")
        || env::var_os("CI").is_some() && Command::new("go").arg("version").output().is_ok();
    assert!(
        !is_required,
        "{test} needs versitygw, which is not installed: run `cargo xtask test`, or name the program \
         in {PROGRAM_VARIABLE}"
    );
    // The test harness captures the output of the macros.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED {test}: versitygw is not installed (`cargo xtask test` installs it where Go is)"
    );
}
