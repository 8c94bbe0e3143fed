//! `cargo xtask guest`: core module → packed → component without imports → native code.

mod order;
mod pack;
mod tables;

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use crate::step::{run, run_quietly, step};
use crate::workspace::{PRECOMPILE, Workspace};

const TARGET: &str = "wasm32-unknown-unknown";

/// Maximum size of the component after gzip -9, as edge platforms store and load it.
/// ARCHITECTURE.md describes its contents under "What is in the component".
const MAX_GZIP_LEN: usize = 2_230_000;

/// Builds `<target>/guest/canter-guest.wasm` and `canter-guest.cwasm`. Unchanged inputs are not
/// processed again.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let component = compile_all(workspace)?;
    run(
        "guest: build the ahead-of-time compiler",
        &mut workspace.build_binary(PRECOMPILE),
    )?;
    precompile(workspace, &component)
}

/// Compiles everything for WebAssembly: the component, whose path is returned, and its loops
/// separately.
pub(crate) fn compile_all(workspace: &Workspace) -> Result<PathBuf> {
    let component = build_component(workspace)?;
    run(
        "guest: compile its loops by themselves, for tests",
        &mut compile(workspace, "canter-kernels")?,
    )?;
    Ok(component)
}

/// Compiles the component for this machine, with the ahead-of-time compiler, which must be built.
pub(crate) fn precompile(workspace: &Workspace, component: &Path) -> Result<()> {
    let mut precompile = Command::new(workspace.dev_binary(PRECOMPILE));
    precompile
        .arg(component)
        .arg(component.with_extension("cwasm"));
    run("guest: compile ahead of time", &mut precompile)
}

/// Builds `<target>/guest/canter-guest.wasm` and returns its path.
pub(crate) fn build_component(workspace: &Workspace) -> Result<PathBuf> {
    ensure_target(workspace, TARGET)?;
    run(
        "guest: compile to wasm",
        &mut compile(workspace, "canter-guest-component")?,
    )?;
    step("guest: make the component", || encode(workspace))
}

/// Returns the command that compiles a package with the guest's settings.
fn compile(workspace: &Workspace, package: &str) -> Result<Command> {
    Ok(workspace.cargo(&[
        "rustc",
        "--package",
        package,
        "--crate-type",
        "cdylib",
        "--profile",
        "guest",
        "--target",
        TARGET,
        "--config",
        &without_paths_of_this_machine(workspace)?,
        "--",
        // Inlines no more than for size, but still vectorizes loops.
        "-Cllvm-args=-inline-threshold=5",
    ]))
}

/// Returns the setting that shortens the paths in panic messages, so that the component is the same
/// bytes wherever it is built. Cargo adds it to the flags in `.cargo/config.toml`.
fn without_paths_of_this_machine(workspace: &Workspace) -> Result<String> {
    let cargo_home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()
            .context("there is no home folder; set CARGO_HOME")?
            .join(".cargo"),
    };
    let mut flags = vec![format!(
        "--remap-path-prefix={}/=",
        workspace.root.display()
    )];
    let sources = cargo_home.join("registry/src");
    for registry in fs::read_dir(&sources).into_iter().flatten() {
        let folder = registry?.path();
        flags.push(format!("--remap-path-prefix={}/=", folder.display()));
    }
    let flags: Vec<String> = flags.iter().map(|flag| format!("{flag:?}")).collect();
    Ok(format!("target.{TARGET}.rustflags=[{}]", flags.join(",")))
}

/// Installs the toolchain of `rust-toolchain.toml` if the wasm target is missing: rustup may be
/// configured not to do so itself.
pub(crate) fn ensure_target(workspace: &Workspace, target: &str) -> Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(&workspace.root)
        .output()
        .context("cannot run rustc")?;
    let libdir = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && Path::new(libdir.trim()).is_dir() {
        return Ok(());
    }
    step("guest: install the toolchain", || {
        // Without the override that rustup's proxy has set, so that it reads rust-toolchain.toml
        // with its targets.
        run_quietly(
            Command::new("rustup")
                .args(["toolchain", "install"])
                .env_remove("RUSTUP_TOOLCHAIN")
                .current_dir(&workspace.root),
        )
        .with_context(|| format!("the Rust target {target} is missing; install it, or rustup"))
    })
}

/// Encodes the core module as a component, and returns its path.
fn encode(workspace: &Workspace) -> Result<PathBuf> {
    let module_path = workspace
        .target_dir
        .join(TARGET)
        .join("guest/canter_guest_component.wasm");
    let mut module =
        fs::read(&module_path).with_context(|| format!("cannot read {}", module_path.display()))?;
    let path = workspace.guest_dir().join("canter-guest.wasm");
    // Packing takes half a minute, and every command that needs the guest calls this function.
    let marker = path.with_extension("made-of");
    let made_of = fingerprint(&module);
    if path.is_file() && made_of.is_some() && fs::read_to_string(&marker).ok() == made_of {
        return Ok(path);
    }
    tables::drop_tables(&module_path, &mut module)?;
    let packed = pack::pack(&module)?;
    let component = ComponentEncoder::default()
        .module(&packed)
        .and_then(|encoder| encoder.validate(true).encode())
        .context("the module does not make a component")?;
    check_no_imports(&component)?;
    let gzip_len = gzip_len(&component)?;
    if gzip_len > MAX_GZIP_LEN {
        bail!(
            "the component has {gzip_len} bytes after gzip -9, and may have {MAX_GZIP_LEN}; \
             see \"What is in the component\" in ARCHITECTURE.md"
        );
    }
    write_if_changed(&path, &component)?;
    if let Some(made_of) = made_of {
        fs::write(&marker, made_of).context("cannot note what the component is made of")?;
    }
    eprintln!(
        "   {}: {} bytes, {gzip_len} after gzip -9, no imports",
        path.display(),
        component.len(),
    );
    Ok(path)
}

/// Returns a fingerprint of the component's input and of this program; `None` if cargo has replaced
/// the program meanwhile.
fn fingerprint(module: &[u8]) -> Option<String> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let made = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hasher = DefaultHasher::new();
    hasher.write(module);
    Some(format!("{:x} {made:?}", hasher.finish()))
}

/// Checks that the component imports nothing. (Its core module imports the functions that create
/// and drop a session's handle, which the component itself supplies.)
fn check_no_imports(component: &[u8]) -> Result<()> {
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(component) {
        match payload.context("the component is malformed")? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(imports) if depth == 0 => {
                let import = imports.into_iter().next().transpose();
                if let Some(import) = import.context("the component is malformed")? {
                    bail!(
                        "the component imports {:?}; the guest performs no I/O",
                        import.name
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn gzip_len(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// Writes a file unless it is equal, so that its dependents are not built again.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|current| current == bytes) {
        return Ok(());
    }
    let folder = path.parent().context("no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
