//! Lints and documentation during compilation: a compiler wrapper for `cargo xtask test` in CI.
//!
//! `cargo clippy` and `cargo doc` need metadata of every dependency in a form that builds do not
//! produce, so each of them would compile all dependencies again. The tools themselves can use the
//! artifacts of a build. Cargo therefore calls this program in place of the compiler. For each
//! crate of this workspace, it runs clippy and rustdoc beside the compiler with the same arguments;
//! a failure of any fails the crate. Crates that cargo finds compiled have been linted before.
//!
//! ```text
//!   cargo ──▶ xtask ─┬─▶ rustc            artifacts, as without this program
//!                    ├─▶ clippy-driver    warnings are errors; metadata into a folder of its own
//!                    └─▶ rustdoc          the same; libraries and programs, not tests; only if everything is asked for
//! ```
//!
//! Clippy lints a library of this machine with its unit tests, whose crate contains the library. The
//! library alone can only have warnings of the compiler itself, of what nothing but tests uses; these
//! are errors, too.
//!
//! Two things differ unless everything is asked for (`CI_FULL`). Documentation is left out, whose warnings are of links.
//! And unit tests are not optimised: they contain their library a second time, which takes longer to optimise than
//! unoptimised tests take to run (docs/decisions/build-time.md). Cargo has no setting for it, since a library and its tests
//! are one package.
//!
//! Cargo's fingerprints exclude the wrapper, so what it finds compiled without it stays as it is.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use anyhow::{Context, Result};

use crate::workspace::is_everything_tested;

/// Variable that turns this program into the wrapper; its value is a folder for unused output.
pub(crate) const FOLDER: &str = "CANTER_LINTS_FOLDER";

/// Separator of the arguments that clippy-driver reads from its environment.
const SEPARATOR: &str = "__CLIPPY_HACKERY__";

/// Cargo's variable for a compiler wrapper.
const WRAPPER: &str = "RUSTC_WRAPPER";

/// Libraries whose unit tests compute so much that they are optimised like the library.
const OPTIMISED_UNIT_TESTS: [&str; 4] = [
    "canter_formats",
    "canter_matching",
    "canter_split_format",
    "canter_vectors",
];

/// Makes cargo call this program in place of the compiler.
pub(crate) fn stand_in(cargo: &mut Command, folder: &Path) {
    if let Ok(program) = std::env::current_exe() {
        cargo.env(WRAPPER, program).env(FOLDER, folder);
    }
}

/// Makes cargo call the compiler directly again, in case it runs this program.
pub(crate) fn stand_aside(cargo: &mut Command) {
    cargo.env_remove(WRAPPER).env_remove(FOLDER);
}

/// Compiles as cargo asks, and lints and documents crates of the workspace.
pub(crate) fn compile(folder: &Path) -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let rustc = args.next().unwrap_or_else(|| "rustc".into());
    let args: Vec<OsString> = args.collect();
    match compile_and_judge(folder, &rustc, &args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compile_and_judge(folder: &Path, rustc: &OsStr, args: &[OsString]) -> Result<bool> {
    let mut compiler = Command::new(rustc);
    compiler.args(args);
    let judged = Judged::of(args).filter(|_| std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some());
    let Some(judged) = judged else {
        let status = compiler.status().context("cannot run the compiler")?;
        return Ok(status.success());
    };
    if judged.is_linted_with_its_tests() {
        compiler.args(["--deny", "warnings"]);
    }
    let is_whole = is_everything_tested();
    if !is_whole && judged.are_light_unit_tests() {
        compiler.arg("-Copt-level=0");
    }
    let folder = folder.join(judged.name());
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let mut compiler = compiler.spawn().context("cannot run the compiler")?;
    let judges = judged
        .judges(&folder, is_whole)
        .map(|mut judge| run_quietly(&mut judge))
        .collect::<Result<Vec<Output>>>();
    let is_compiled = compiler.wait().context("the compiler was lost")?.success();
    // Printed at the end: cargo reads lines of JSON there, which must not be interleaved.
    let mut is_good = is_compiled;
    for output in judges? {
        std::io::stderr().write_all(&output.stderr)?;
        is_good &= output.status.success();
    }
    Ok(is_good)
}

fn run_quietly(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    output.with_context(|| format!("cannot run {program}"))
}

/// Arguments of a compiler call that makes an artifact.
struct Judged<'a> {
    args: &'a [OsString],
    crate_name: &'a OsStr,
}

impl<'a> Judged<'a> {
    /// Returns `None` if the compiler is only asked about itself.
    fn of(args: &'a [OsString]) -> Option<Judged<'a>> {
        let at = args.iter().position(|arg| arg == "--crate-name")?;
        let crate_name = args.get(at + 1)?.as_os_str();
        let makes_something = values(args, "--emit").any(|emit| emit.contains("link"));
        (makes_something && crate_name != "___").then_some(Judged { args, crate_name })
    }

    /// Returns a name that is unique among the calls of a build.
    fn name(&self) -> PathBuf {
        let args = self.args.iter().rev().filter_map(|arg| arg.to_str());
        let mut extra = args.filter_map(|arg| arg.strip_prefix("extra-filename="));
        let mut name = self.crate_name.to_owned();
        name.push(extra.next().unwrap_or_default());
        name.into()
    }

    /// Returns the commands that judge the crate; `documents` says whether rustdoc is among them.
    fn judges(&self, folder: &Path, documents: bool) -> impl Iterator<Item = Command> {
        let is_build_script = self.crate_name == "build_script_build";
        let is_documented =
            documents && self.is_for_this_machine() && !self.is_test() && !is_build_script;
        let clippy = (!self.is_linted_with_its_tests()).then(|| self.clippy(folder));
        let rustdoc = is_documented.then(|| self.rustdoc(folder));
        clippy.into_iter().chain(rustdoc)
    }

    /// Returns whether the crate is a library with unit tests. Libraries without them have other
    /// types than `lib`: they are for WebAssembly or for Python.
    fn is_linted_with_its_tests(&self) -> bool {
        let is_library = values(self.args, "--crate-type").eq(["lib"]);
        is_library && self.is_for_this_machine() && !self.is_test()
    }

    /// Returns whether these are unit tests of a library that need not be optimised.
    fn are_light_unit_tests(&self) -> bool {
        let is_of_library = || {
            let mut paths = self.args.iter().map(Path::new);
            paths.any(|path| path.ends_with("src/lib.rs"))
        };
        let are_optimised = || {
            let mut names = OPTIMISED_UNIT_TESTS.iter();
            names.any(|name| self.crate_name == *name)
        };
        self.is_test() && is_of_library() && !are_optimised()
    }

    fn is_for_this_machine(&self) -> bool {
        values(self.args, "--target").next().is_none()
    }

    fn is_test(&self) -> bool {
        self.args.iter().any(|arg| arg == "--test")
    }

    /// Returns the clippy command, which makes metadata only.
    fn clippy(&self, folder: &Path) -> Command {
        let mut command = Command::new("clippy-driver");
        command
            .arg("rustc")
            .args(self.kept(|flag, _| !matches!(flag, "--emit" | "--out-dir" | "incremental")))
            .args(["--emit=metadata", "--out-dir"])
            .arg(folder)
            .env(
                "CLIPPY_ARGS",
                format!("--deny{SEPARATOR}warnings{SEPARATOR}"),
            );
        command
    }

    /// Returns the rustdoc command, with the arguments that describe the crate.
    fn rustdoc(&self, folder: &Path) -> Command {
        let is_program = values(self.args, "--crate-type").any(|kind| kind == "bin");
        let mut command = Command::new("rustdoc");
        command
            .args(self.kept(|flag, _| {
                !matches!(
                    flag,
                    "--emit" | "--out-dir" | "incremental" | "metadata" | "extra-filename"
                )
            }))
            .args(is_program.then_some("--document-private-items"))
            .args(["--deny", "warnings", "--out-dir"])
            .arg(folder);
        command
    }

    /// Returns the arguments without the flags and `-C` options that `keeps` rejects, and without
    /// output paths.
    fn kept(&self, keeps: impl Fn(&str, &str) -> bool) -> Vec<OsString> {
        let mut kept = Vec::new();
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            let text = arg.to_str().unwrap_or_default();
            let (flag, value) = text.split_once('=').unwrap_or((text, ""));
            match flag {
                "--json" => {
                    let told = value.split(',').filter(|kind| *kind != "artifacts");
                    kept.push(format!("--json={}", told.collect::<Vec<_>>().join(",")).into());
                }
                "-C" | "--out-dir" | "--emit" if value.is_empty() => {
                    let Some(option) = args.next() else {
                        break;
                    };
                    let shown = option.to_str().unwrap_or_default();
                    let (name, value) = shown.split_once('=').unwrap_or((shown, ""));
                    let name = if flag == "-C" { name } else { flag };
                    if keeps(name, value) {
                        kept.extend([arg.clone(), option.clone()]);
                    }
                }
                _ if keeps(flag, value) => kept.push(arg.clone()),
                _ => {}
            }
        }
        kept
    }
}

/// Returns the values of a flag, in the form `--flag=value` or `--flag value`.
fn values<'a>(args: &'a [OsString], flag: &'a str) -> impl Iterator<Item = &'a str> {
    let texts = || args.iter().filter_map(|arg| arg.to_str());
    let behind = texts()
        .zip(texts().skip(1))
        .filter(move |(arg, _)| *arg == flag);
    let within = texts().filter_map(move |arg| arg.strip_prefix(flag)?.strip_prefix('='));
    behind.map(|(_, value)| value).chain(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn shown(command: &Command) -> String {
        let args: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        args.join(" ")
    }

    const LIBRARY: &str = "--crate-name canter_x --edition=2024 x/src/lib.rs --error-format=json \
        --json=diagnostic-rendered-ansi,artifacts,future-incompat --crate-type lib --emit=dep-info,metadata,link \
        -C opt-level=1 -C metadata=7 -C extra-filename=-7a --out-dir deps -C incremental=inc -L dependency=deps \
        --extern serde=deps/libserde.rmeta";

    #[test]
    fn a_program_is_linted_and_documented_into_a_folder_of_its_own() {
        let args = args(&LIBRARY.replace("--crate-type lib", "--crate-type bin"));
        let judged = Judged::of(&args).unwrap();
        assert_eq!(judged.name(), Path::new("canter_x-7a"));
        let judges: Vec<String> = judged
            .judges(Path::new("out"), true)
            .map(|judge| shown(&judge))
            .collect();
        let same = "--crate-name canter_x --edition=2024 x/src/lib.rs --error-format=json \
                    --json=diagnostic-rendered-ansi,future-incompat --crate-type bin -C opt-level=1";
        let found = "-L dependency=deps --extern serde=deps/libserde.rmeta";
        assert_eq!(
            judges,
            [
                format!(
                    "rustc {same} -C metadata=7 -C extra-filename=-7a {found} --emit=metadata --out-dir out"
                ),
                format!("{same} {found} --document-private-items --deny warnings --out-dir out"),
            ]
        );
    }

    #[test]
    fn a_library_is_documented_and_linted_with_its_tests() {
        let args = args(LIBRARY);
        let judged = Judged::of(&args).unwrap();
        assert!(judged.is_linted_with_its_tests());
        let judges: Vec<Command> = judged.judges(Path::new("out"), true).collect();
        let programs: Vec<&OsStr> = judges.iter().map(Command::get_program).collect();
        assert_eq!(programs, ["rustdoc"]);
        assert_eq!(judged.judges(Path::new("out"), false).count(), 0);
    }

    #[test]
    fn tests_and_other_machines_are_linted_only() {
        for more in [
            "--test",
            "--target wasm32-unknown-unknown",
            "--target=wasm32-wasip2",
        ] {
            let args = args(&format!("{LIBRARY} {more}"));
            let judges = Judged::of(&args)
                .unwrap()
                .judges(Path::new("out"), true)
                .count();
            assert_eq!(judges, 1, "{more}");
        }
    }

    #[test]
    fn most_unit_tests_of_libraries_are_not_optimised() {
        let are_light = |line: &str| Judged::of(&args(line)).unwrap().are_light_unit_tests();
        assert!(!are_light(LIBRARY));
        assert!(are_light(&format!("{LIBRARY} --test")));
        let heavy = LIBRARY.replace("canter_x", "canter_matching");
        assert!(!are_light(&format!("{heavy} --test")));
        let tests_beside = LIBRARY.replace("x/src/lib.rs", "x/tests/lib.rs");
        assert!(!are_light(&format!("{tests_beside} --test")));
    }

    #[test]
    fn a_compiler_that_is_asked_about_itself_is_let_alone() {
        for line in [
            "-vV",
            "- --crate-name ___ --print=file-names --crate-type bin",
            "--crate-name canter_x --emit=metadata x/src/lib.rs",
        ] {
            assert!(Judged::of(&args(line)).is_none(), "{line}");
        }
    }
}
