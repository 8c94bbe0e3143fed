//! The access logs of Apache and Nginx: the common log format, and the combined one with two more values;
//! either with the virtual host before it. `https://httpd.apache.org/docs/2.4/logs.html#accesslog`
//!
//! ```text
//! 83.149.9.216 - frank [17/May/2015:10:05:03 +0000] "GET /a?b HTTP/1.1" 200 2326 "referrer" "agent"
//! ```

use std::net::IpAddr;

use super::words::Words;
use crate::failure::Failure;
use crate::json::Object;
use crate::time;

/// Reads the user. A user's name may contain spaces; the time follows it in brackets.
fn user_of<'t>(text: &'t str, words: &mut Words<'t>) -> Result<&'t str, Failure> {
    let name = words.word("the user (or -)")?;
    let at = words.rest().find(" [");
    let Some(at) = at.filter(|_| !words.rest().starts_with('[')) else {
        return Ok(name);
    };
    let start = text.len() - words.rest().len() - name.len() - 1;
    let end = text.len() - words.rest().len() + at;
    while !words.is_at_end() && !words.rest().starts_with('[') {
        words.word("the user (or -)")?;
    }
    Ok(text.get(start..end).unwrap_or(name))
}

pub(crate) fn parse(text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut words = Words::new(text);
    let mut client = words.word("the client")?;
    let vhost = vhost_of(client, words.rest());
    if vhost.is_some() {
        client = words.word("the client")?;
    }
    let identity = words.word("the identity (or -)")?;
    let user = user_of(text, &mut words)?;
    let before_time = words.failure("a time such as [17/May/2015:10:05:03 +0000]");
    let timestamp = words.bracketed("a time such as [17/May/2015:10:05:03 +0000]")?;
    let timestamp = time::of_access_log(timestamp).ok_or(before_time)?;
    let request = words.quoted("the request in quotes")?;
    let before_status = words.failure("a status of three digits");
    let status = words.word("a status of three digits")?;
    if time::number(status, 3).is_none() {
        return Err(before_status);
    }
    let before_size = words.failure("the size (or -)");
    let size = words.word("the size (or -)")?;
    if size != "-" && size.parse::<u64>().is_err() {
        return Err(before_size);
    }
    let mut object = Object::begin(out);
    object.string("timestamp", &timestamp);
    if let Some((host, port)) = vhost {
        object.string("vhost", host);
        if let Some(port) = port {
            object.json("vhost_port", plain_number(port));
        }
    }
    match client.parse::<IpAddr>() {
        Ok(_) => object.string("client_ip", client),
        Err(_) => object.string("client_host", client),
    }
    for (name, value) in [("identity", identity), ("user", user)] {
        if value != "-" {
            object.string(name, value);
        }
    }
    add_request(&mut object, &request);
    object.json("status", plain_number(status));
    // Apache writes `-` for no bytes at all.
    object.json("size", if size == "-" { "0" } else { plain_number(size) });
    for name in ["referrer", "user_agent"] {
        if words.is_at_end() {
            break;
        }
        let value = words.quoted(&format!("the {name} in quotes"))?;
        if value != "-" {
            object.string(name, &value);
        }
    }
    // Additional values that a server was configured to append.
    if !words.is_at_end() {
        object.string("rest", words.rest());
    }
    object.end();
    Ok(())
}

/// Returns the virtual host and its port, if the first word is one and another follows it: `%v:%p %h %l %u …`, which
/// Apache calls `vhost_combined`, and `%v %h …`.
fn vhost_of<'t>(first: &'t str, rest: &str) -> Option<(&'t str, Option<&'t str>)> {
    if first == "-" || first.parse::<IpAddr>().is_ok() {
        return None;
    }
    let (second, behind) = rest.split_once(' ')?;
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let (host, port) = match first.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, Some(port)),
        _ => (first, None),
    };
    // Identity and user precede the time; a user's name may contain spaces.
    let num_words = behind
        .split(" [")
        .next()
        .unwrap_or_default()
        .split(' ')
        .count();
    let is_client = second.parse::<IpAddr>().is_ok() || (port.is_some() && second != "-");
    (is_client && num_words >= 2 && !second.starts_with('[')).then_some((host, port))
}

/// Removes leading zeros, which JSON does not allow.
fn plain_number(digits: &str) -> &str {
    match digits.trim_start_matches(['0', '+']) {
        "" => "0",
        digits => digits,
    }
}

/// Adds `GET /a?b HTTP/1.1` as a whole, and its parts if it has three.
pub(super) fn add_request(object: &mut Object<'_>, request: &str) {
    if request == "-" || request.is_empty() {
        return;
    }
    object.string("request", request);
    let mut parts = request.splitn(2, ' ');
    let method = parts.next().unwrap_or_default();
    let Some((target, protocol)) = parts.next().and_then(|rest| rest.rsplit_once(' ')) else {
        return;
    };
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_method || !protocol.starts_with("HTTP/") {
        return;
    }
    object.string("method", method);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    object.string("path", path);
    if !query.is_empty() {
        object.string("query", query);
    }
    object.string("protocol", protocol);
}
