//! `cargo xtask lambda`: packages of the Lambda functions, and the example that runs them locally.
//!
//! ```text
//!   <target>/lambda/arm64/canter-search.zip    each with one program, `bootstrap`
//!   <target>/lambda/arm64/canter-indexer.zip
//!   <target>/lambda/x86_64/…
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::step::{run, run_quietly, step};
use crate::tools::zigbuild;
use crate::workspace::Workspace;

const USAGE: &str = "usage: cargo xtask lambda [--arch arm64|x86_64]…";

const EXAMPLE: &str = "native-lambda";
const EXAMPLE_USAGE: &str = "usage: cargo xtask example native-lambda [QUERY [INDEX]]";

/// Packages and their programs.
const PACKAGES: [(&str, &str); 2] = [
    ("canter-search", "canter-lambda-search"),
    ("canter-indexer", "canter-lambda-indexer"),
];
/// Minor version of glibc in `provided.al2023`: a program that needs a newer one does not start
/// there.
const GLIBC_MINOR: u32 = 34;
/// Maximum size of a package. Lambda accepts five times as much by upload; growth beyond this limit
/// means that something was included by mistake.
const MAX_ZIP_BYTES: u64 = 10_000_000;

/// Processor architecture, by its name at Lambda.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arch {
    Arm64,
    X86,
}

impl Arch {
    const ALL: [Self; 2] = [Self::Arm64, Self::X86];

    fn name(self) -> &'static str {
        match self {
            Self::Arm64 => "arm64",
            Self::X86 => "x86_64",
        }
    }

    fn target(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64-unknown-linux-gnu",
            Self::X86 => "x86_64-unknown-linux-gnu",
        }
    }

    fn is_this_machines(self) -> bool {
        let own = match self {
            Self::Arm64 => "aarch64",
            Self::X86 => "x86_64",
        };
        cfg!(target_os = "linux") && std::env::consts::ARCH == own
    }
}

/// Builds the packages for the given processors, or for both.
pub(crate) fn lambda(workspace: &Workspace, args: &[String]) -> Result<()> {
    let zig = match zigbuild::install(workspace) {
        Ok(zig) => Some(zig),
        Err(error) => {
            eprintln!("   cargo-zigbuild cannot be installed: {error:#}");
            None
        }
    };
    for arch in asked_for(args)? {
        let programs = build(workspace, arch, zig.as_ref())?;
        step(&format!("lambda: package for {}", arch.name()), || {
            let folder = workspace.target_dir.join("lambda").join(arch.name());
            fs::create_dir_all(&folder)?;
            for (package, program) in PACKAGES {
                let zipped = folder.join(format!("{package}.zip"));
                package_program(&programs.join(program), &zipped)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Runs the search function on this machine; `args` are the example's name, a query and an index.
pub(crate) fn example(workspace: &Workspace, args: &[String]) -> Result<()> {
    let [name, given @ ..] = args else {
        bail!("{EXAMPLE_USAGE}");
    };
    if name != EXAMPLE || given.len() > 2 {
        bail!("{EXAMPLE_USAGE}");
    }
    let mut build = workspace.build_binary("canter-lambda-search");
    run("example: build", build.args(["--bin", EXAMPLE]))?;
    run_quietly(Command::new(workspace.dev_binary(EXAMPLE)).args(given))
}

fn asked_for(args: &[String]) -> Result<Vec<Arch>> {
    let mut archs = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let name = args.next().filter(|_| arg == "--arch");
        let found = name.and_then(|name| Arch::ALL.into_iter().find(|arch| arch.name() == name));
        archs.push(found.context(USAGE)?);
    }
    match archs.is_empty() {
        true => Ok(Arch::ALL.into()),
        false => Ok(archs),
    }
}

/// Builds the programs and returns their folder. Only the Lambda crate is built, which excludes
/// wasmtime, a dependency of other members of the workspace.
fn build(workspace: &Workspace, arch: Arch, zig: Option<&zigbuild::Zigbuild>) -> Result<PathBuf> {
    let name = format!("lambda: build for {}", arch.name());
    let common = [
        "--profile",
        "function",
        "--package",
        "canter-lambda",
        "--bins",
    ];
    let target = arch.target();
    let mut command = match zig {
        Some(zig) => {
            add_target(target)?;
            let with_glibc = format!("{target}.2.{GLIBC_MINOR}");
            let mut command = workspace.cargo(&["zigbuild", "--target", &with_glibc]);
            zig.set_env(&mut command)?;
            command
        }
        None if arch.is_this_machines() => workspace.cargo(&["build", "--target", target]),
        None => bail!(
            "for {} on this machine, cargo-zigbuild is needed: `pip install cargo-zigbuild`",
            arch.name()
        ),
    };
    run(&name, command.args(common))?;
    Ok(workspace.target_dir.join(target).join("function"))
}

/// Installs the standard library for another processor. Without rustup, it is assumed to be
/// present.
fn add_target(target: &str) -> Result<()> {
    let added = Command::new("rustup")
        .args(["target", "add", target])
        .output();
    match added {
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!("rustup target add {target}: {said}")
        }
        _ => Ok(()),
    }
}

/// Writes a zip with the program as `bootstrap`, the name that Lambda starts. The same program
/// gives the same bytes.
fn package_program(program: &Path, zipped: &Path) -> Result<()> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let needed = newest_glibc(&bytes);
    ensure!(
        needed <= GLIBC_MINOR,
        "{} needs glibc 2.{needed}, and Lambda's provided.al2023 has 2.{GLIBC_MINOR}: build it with \
         cargo-zigbuild (`pip install cargo-zigbuild`)",
        program.display()
    );
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .unix_permissions(0o755);
    let mut zip = ZipWriter::new(File::create(zipped)?);
    zip.start_file("bootstrap", options)?;
    zip.write_all(&bytes)?;
    zip.finish()?;
    let len = fs::metadata(zipped)?.len();
    let (megabytes, unpacked) = (len as f64 / 1e6, bytes.len() as f64 / 1e6);
    eprintln!(
        "   {}: {megabytes:.2} MB ({unpacked:.1} MB unpacked)",
        zipped.display()
    );
    ensure!(
        len <= MAX_ZIP_BYTES,
        "{} is longer than {MAX_ZIP_BYTES} bytes",
        zipped.display()
    );
    Ok(())
}

/// Returns the newest minor version of glibc 2 that a program requires.
fn newest_glibc(program: &[u8]) -> u32 {
    let prefix = b"GLIBC_2.";
    let places = (0..program.len()).filter(|at| program[*at..].starts_with(prefix));
    let minor_at = |at: usize| {
        let digits = program[at + prefix.len()..].iter();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).take(4);
        String::from_utf8(digits.copied().collect())
            .ok()?
            .parse()
            .ok()
    };
    places.filter_map(minor_at).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_the_one_that_counts() {
        assert_eq!(
            newest_glibc(b"\0GLIBC_2.4\0GLIBC_2.17\0GLIBC_2.3.4\0GLIBC_PRIVATE\0"),
            17
        );
        assert_eq!(newest_glibc(b""), 0);
        assert_eq!(newest_glibc(b"GLIBC_2."), 0);
    }

    #[test]
    fn processors_are_asked_for_by_name() {
        let names = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let archs = asked_for(&args).ok()?;
            Some(archs.into_iter().map(Arch::name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["arm64", "x86_64"]);
        assert_eq!(names(&["--arch", "x86_64"]).unwrap(), ["x86_64"]);
        assert_eq!(names(&["--arch", "sparc"]), None);
        assert_eq!(names(&["arm64"]), None);
    }

    #[test]
    fn a_package_holds_an_executable_bootstrap() {
        let folder = std::env::temp_dir().join(format!("canter-xtask-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (program, zipped) = (folder.join("program"), folder.join("package.zip"));
        fs::write(&program, b"program").unwrap();
        package_program(&program, &zipped).unwrap();
        let mut zip = zip::ZipArchive::new(File::open(&zipped).unwrap()).unwrap();
        let file = zip.by_name("bootstrap").unwrap();
        assert_eq!(file.unix_mode().unwrap() & 0o777, 0o755);
        drop(file);
        fs::write(&program, b"\0GLIBC_2.36\0").unwrap();
        let error = package_program(&program, &zipped).unwrap_err().to_string();
        assert!(error.contains("needs glibc 2.36"), "{error}");
        #[expect(
            clippy::disallowed_methods,
            reason = "the folder that this test has made"
        )]
        fs::remove_dir_all(&folder).unwrap();
    }
}
