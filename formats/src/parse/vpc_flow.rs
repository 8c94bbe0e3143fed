//! AWS's VPC flow logs as delivered to S3: the first line names the values.
//! `https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html`

use super::plain_name;
use crate::failure::Failure;
use crate::json::{Members, Object};
use crate::layout::Column;

/// The fields of version 2, in the default format, used if the first line has no names.
const DEFAULT: [&str; 14] = [
    "version",
    "account_id",
    "interface_id",
    "srcaddr",
    "dstaddr",
    "srcport",
    "dstport",
    "protocol",
    "packets",
    "bytes",
    "start",
    "end",
    "action",
    "log_status",
];

/// Numeric fields among those documented by AWS; everything else is text, including an account's id of twelve digits.
const NUMBERS: [&str; 15] = [
    "version",
    "srcport",
    "dstport",
    "protocol",
    "packets",
    "bytes",
    "start",
    "end",
    "tcp_flags",
    "traffic_path",
    "packets_lost_no_route",
    "packets_lost_blackhole",
    "packets_lost_mtu_exceeded",
    "packets_lost_ttl_expired",
    "encryption_status",
];

/// Returns the names on the first line: none if it contains values already.
pub(crate) fn names(record: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(record);
    if !is_header(&text) {
        return Vec::new();
    }
    text.split_ascii_whitespace().map(plain_name).collect()
}

/// Returns whether a line names the values of flow logs.
pub(crate) fn is_header(line: &str) -> bool {
    const KNOWN: [&str; 8] = [
        "version",
        "account-id",
        "interface-id",
        "srcaddr",
        "dstaddr",
        "srcport",
        "dstport",
        "log-status",
    ];
    let num_known = line
        .split_ascii_whitespace()
        .filter(|word| KNOWN.contains(word))
        .count();
    num_known >= 2 && !line.contains([',', ';', '"', '{'])
}

/// Returns whether a line has the values of version 2 in the default format, as CloudWatch keeps them without their names.
pub(crate) fn is_flow(line: &str) -> bool {
    let values: Vec<&str> = line.split_ascii_whitespace().collect();
    let [
        version,
        account,
        interface,
        _,
        _,
        numbers @ ..,
        action,
        status,
    ] = values.as_slice()
    else {
        return false;
    };
    let is_number = |value: &&str| *value == "-" || value.bytes().all(|byte| byte.is_ascii_digit());
    values.len() == DEFAULT.len()
        && *version == "2"
        && (account.len() == 12 || *account == "unknown")
        && interface.starts_with("eni-")
        && numbers.iter().all(is_number)
        && matches!(*action, "ACCEPT" | "REJECT" | "-")
        && matches!(*status, "OK" | "NODATA" | "SKIPDATA")
}

pub(crate) fn parse(text: &str, columns: &[Column], out: &mut Vec<u8>) -> Result<(), Failure> {
    let values: Vec<&str> = text.split_ascii_whitespace().collect();
    let num_columns = match columns.len() {
        0 => DEFAULT.len(),
        num => num,
    };
    if values.len() != num_columns {
        return Err(Failure {
            reason: "wrong_number_of_values",
            message: format!("the record has {} values, not {num_columns}", values.len()),
        });
    }
    let mut object = Object::begin(out);
    let named = columns.iter().map(|Column { name, .. }| name.as_str());
    let default = DEFAULT.into_iter().take(match columns.is_empty() {
        true => DEFAULT.len(),
        false => 0,
    });
    for (name, value) in named.chain(default).zip(values) {
        match value {
            "-" => {}
            _ if NUMBERS.contains(&name) => object.number(name, value),
            _ => object.string(name, value),
        }
    }
    object.end();
    Ok(())
}
