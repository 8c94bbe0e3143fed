//! The access logs of AWS's Application Load Balancer.
//! `https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html`
//!
//! Values are in a fixed order, separated by spaces, with `-` for a missing one. AWS appends new ones, so
//! a record may have fewer or more than are known here: unknown ones are kept as `rest`.

use super::access_log::add_request;
use super::words::Words;
use crate::failure::Failure;
use crate::json::{Members, Object};
use crate::time;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    /// `address:port`, as two fields.
    Address(&'static str, &'static str),
    Request,
}

const TIME: &str = "timestamp";

const FIELDS: [(&str, Kind); 33] = [
    ("type", Kind::Text),
    (TIME, Kind::Text),
    ("elb", Kind::Text),
    ("client", Kind::Address("client_ip", "client_port")),
    ("target", Kind::Address("target_ip", "target_port")),
    ("request_processing_time", Kind::Number),
    ("target_processing_time", Kind::Number),
    ("response_processing_time", Kind::Number),
    ("elb_status_code", Kind::Number),
    ("target_status_code", Kind::Number),
    ("received_bytes", Kind::Number),
    ("sent_bytes", Kind::Number),
    ("request", Kind::Request),
    ("user_agent", Kind::Text),
    ("ssl_cipher", Kind::Text),
    ("ssl_protocol", Kind::Text),
    ("target_group_arn", Kind::Text),
    ("trace_id", Kind::Text),
    ("domain_name", Kind::Text),
    ("chosen_cert_arn", Kind::Text),
    ("matched_rule_priority", Kind::Number),
    ("request_creation_time", Kind::Text),
    ("actions_executed", Kind::Text),
    ("redirect_url", Kind::Text),
    ("error_reason", Kind::Text),
    ("target_port_list", Kind::Text),
    ("target_status_code_list", Kind::Text),
    ("classification", Kind::Text),
    ("classification_reason", Kind::Text),
    ("conn_trace_id", Kind::Text),
    ("transformed_host", Kind::Text),
    ("transformed_uri", Kind::Text),
    ("request_transform_status", Kind::Text),
];
/// Minimum number of fields, which load balancers have always written.
const MIN_FIELDS: usize = 17;

/// Possible first values.
pub(crate) const TYPES: [&str; 6] = ["http", "https", "h2", "grpcs", "ws", "wss"];

pub(crate) fn parse(text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut words = Words::new(text);
    let mut object = Object::begin(out);
    for (place, (name, kind)) in FIELDS.into_iter().enumerate() {
        if words.is_at_end() && place >= MIN_FIELDS {
            break;
        }
        let expected = format!("the value {name}");
        let before = words.failure(&expected);
        let value = words.any(&expected)?;
        if place == 0 && !TYPES.contains(&value.as_ref()) {
            return Err(before);
        }
        if name == TIME && !time::is_rfc3339(&value) {
            return Err(before);
        }
        if value == "-" || value.is_empty() {
            continue;
        }
        match kind {
            Kind::Text => object.string(name, &value),
            Kind::Number if crate::json::is_number(&value) => object.json(name, &value),
            Kind::Number => return Err(before),
            Kind::Address(ip, port) => {
                let (address, number) = value.rsplit_once(':').ok_or(before)?;
                object.string(ip, address.trim_matches(['[', ']']));
                object.number(port, number);
            }
            Kind::Request => add_request(&mut object, value.trim_end()),
        }
    }
    if !words.is_at_end() {
        object.string("rest", words.rest());
    }
    object.end();
    Ok(())
}
