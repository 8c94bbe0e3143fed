//! `canter key`: API keys for `canter serve`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use canter_access::{NewKey, Right, add_key};
use clap::{Args, Subcommand};
use jiff::Timestamp;

use crate::exit::{WrongUse, note};

/// Arguments of `canter key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Add a key to a file, and print its secret; the file keeps only its hash
    Add(AddArgs),
}

/// Arguments of `canter key add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// File of keys; created if it does not exist.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,

    /// Name of the key, such as its owner.
    #[arg(long, value_name = "NAME")]
    id: String,

    /// Index that the key gives access to: a name, in which `*` stands for any text. May be given several times
    /// [default: all indexes].
    #[arg(long = "index", value_name = "NAME")]
    indexes: Vec<String>,

    /// Right that the key grants: `read`, `write` or `delete`. May be given several times [default: read].
    #[arg(long = "right", value_name = "RIGHT", value_parser = parse_right)]
    rights: Vec<Right>,

    /// Query that every hit must match, whatever the request; each of its terms must name its field.
    #[arg(long, value_name = "QUERY")]
    filter: Option<String>,

    /// Time at which the key expires, such as 2027-01-01T00:00:00Z [default: never].
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
}

fn parse_right(text: &str) -> Result<Right, String> {
    match text {
        "read" => Ok(Right::Read),
        "write" => Ok(Right::Write),
        "delete" => Ok(Right::Delete),
        _ => Err("none of read, write and delete".to_owned()),
    }
}

/// Carries out the command.
pub(crate) fn run(command: &KeyCommand) -> Result<()> {
    let KeyCommand::Add(args) = command;
    let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let new = NewKey {
        id: args.id.clone(),
        indexes: some(&args.indexes),
        rights: (!args.rights.is_empty()).then(|| args.rights.clone()),
        filter: args.filter.clone(),
        expires: args.expires,
    };
    let secret = add_key(&args.file, new).map_err(WrongUse)?;
    let token = format!("{}.{secret}", args.id);
    writeln!(std::io::stdout(), "{token}")?;
    note(format_args!(
        "send it as Authorization: Bearer {}.…; {} has its hash only",
        args.id,
        args.file.display()
    ));
    Ok(())
}
