//! Host that is a program with a port: it is started, prints its address, and is sent HTTP.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::Running;
use super::client::Client;
use crate::conformance::{Answer, Call};

/// Timeout of a start, far longer than one takes, including compiling a component.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Time after which a program that does not end is killed.
const END_TIMEOUT: Duration = Duration::from_secs(3);
/// Number of last lines to show when something fails.
const NUM_LAST_LINES: usize = 20;

/// Running program, and a client for its port.
pub(crate) struct Listening {
    process: Process,
    client: Client,
    /// Caches and settings; removed at the end.
    _folder: TempDir,
}

impl Listening {
    /// Starts a program, and waits for a line of its output that contains `http://127.0.0.1:PORT`.
    pub(crate) fn start(command: &mut Command, folder: TempDir) -> Result<Self> {
        let mut process = Process::spawn(command)?;
        let origin = process.wait_for_origin()?;
        Ok(Self {
            client: Client::new(&origin)?,
            process,
            _folder: folder,
        })
    }

    /// Returns the origin, such as `http://127.0.0.1:8080`.
    pub(super) fn origin(&self) -> &str {
        self.client.origin()
    }

    /// Sends a request with a method and a target, with these headers only.
    pub(crate) fn send_with<'a>(
        &self,
        asked: (&str, &str),
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        body: Option<&str>,
    ) -> Result<Answer> {
        let answer = self.client.send_with(asked, headers, body);
        answer.with_context(|| self.process.account())
    }
}

impl Running for Listening {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        let answer = self.client.send(call);
        answer.with_context(|| self.process.account())
    }
}

/// Child process whose output is read; dropping it ends the process.
pub(super) struct Process {
    shown: String,
    child: Child,
    lines: Receiver<String>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
}

impl Process {
    pub(super) fn spawn(command: &mut Command) -> Result<Self> {
        let shown = format!("{command:?}");
        // Proxies of the machine do not apply to loopback.
        for name in [
            "http_proxy",
            "https_proxy",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
        ] {
            command.env_remove(name);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {shown}"))?;
        let last_lines = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, lines) = channel();
        let stdout = child.stdout.take().context("stdout")?;
        let stderr = child.stderr.take().context("stderr")?;
        pass_lines(stdout, sender.clone(), last_lines.clone());
        pass_lines(stderr, sender, last_lines.clone());
        Ok(Self {
            shown,
            child,
            lines,
            last_lines,
        })
    }

    /// Returns the origin in the first line that contains one.
    fn wait_for_origin(&mut self) -> Result<String> {
        let started = Instant::now();
        loop {
            let left = START_TIMEOUT.saturating_sub(started.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(origin) = origin_in(&line) {
                        return Ok(origin);
                    }
                }
                Err(RecvTimeoutError::Timeout) => bail!("it does not listen: {}", self.account()),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("it ended with {status}: {}", self.account());
                }
            }
        }
    }

    /// Returns the command and its last output.
    pub(super) fn account(&self) -> String {
        let lines = self.last_lines.lock();
        let lines = lines.unwrap_or_else(PoisonError::into_inner);
        let said: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("{}\n    {}", self.shown, said.join("\n    "))
    }
}

impl Drop for Process {
    /// Asks the process and its children to end, and kills them if they do not.
    fn drop(&mut self) {
        self.signal("TERM");
        let asked = Instant::now();
        while asked.elapsed() < END_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        self.signal("KILL");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Signals the process group that the child leads. The group lives as long as one of its
    /// processes.
    fn signal(&self, name: &str) {
        let script = format!("kill -{name} -{} 2>/dev/null", self.child.id());
        let _ = Command::new("sh").args(["-c", &script]).status();
    }
}

fn pass_lines(
    output: impl Read + Send + 'static,
    sender: Sender<String>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
) {
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let mut last = last_lines.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == NUM_LAST_LINES {
                last.pop_front();
            }
            last.push_back(line.clone());
            drop(last);
            // The receiver may be gone once the address is known.
            let _ = sender.send(line);
        }
    });
}

/// Returns `http://127.0.0.1:PORT` from a line that announces a listening server.
fn origin_in(line: &str) -> Option<String> {
    let lowered = line.to_lowercase();
    if !["listening", "serving"]
        .iter()
        .any(|word| lowered.contains(word))
    {
        return None;
    }
    let start = line.find("http://127.0.0.1:")?;
    let port_at = start + "http://127.0.0.1:".len();
    let rest = &line[port_at..];
    let len = rest.bytes().take_while(u8::is_ascii_digit).count();
    let port: u16 = rest[..len].parse().ok()?;
    (port != 0).then(|| format!("http://127.0.0.1:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_program_listens_is_read_from_what_it_says() {
        for (line, expected) in [
            (
                "listening on http://127.0.0.1:7280",
                Some("http://127.0.0.1:7280"),
            ),
            (
                "Serving HTTP on http://127.0.0.1:41/",
                Some("http://127.0.0.1:41"),
            ),
            (
                "\u{1b}[32mINFO\u{1b}[0m Listening on http://127.0.0.1:5\u{1b}[0m",
                Some("http://127.0.0.1:5"),
            ),
            ("store at http://127.0.0.1:7280", None),
            ("listening on http://127.0.0.1:0", None),
        ] {
            assert_eq!(origin_in(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_program_that_ends_is_told_with_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such option >&2; exit 3"]);
        let error = Listening::start(&mut command, tempfile::tempdir().unwrap())
            .err()
            .unwrap();
        let text = format!("{error:#}");
        assert!(
            text.contains("no such option") && text.contains("exit status: 3"),
            "{text}"
        );
    }
}
