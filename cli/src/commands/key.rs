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
    /// Add a key to a file, and print its secret, which is kept nowhere else
    Add(AddArgs),
}

/// Arguments of `canter key add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The file of keys, which need not be there yet.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,

    /// The key's name, such as whose it is.
    #[arg(long, value_name = "NAME")]
    id: String,

    /// An index that may be asked, by name or with `*` for any part of it; all if none is named. May be given several
    /// times.
    #[arg(long = "index", value_name = "NAME")]
    indexes: Vec<String>,

    /// What may be done: `read`, `write` or `delete`. May be given several times [default: read].
    #[arg(long = "right", value_name = "RIGHT", value_parser = parse_right)]
    rights: Vec<Right>,

    /// A query that every hit must match, whatever is asked for; each of its terms names its field.
    #[arg(long, value_name = "QUERY")]
    filter: Option<String>,

    /// When the key ends, such as 2027-01-01T00:00:00Z [default: never].
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
