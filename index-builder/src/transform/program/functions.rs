//! VRL functions that a transform may call. A function on neither list (of a later version, say) is refused.

use vrl::compiler::function::closure::Definition;
use vrl::compiler::function::{ArgumentList, Compiled, Example, FunctionCompileContext, Parameter};
use vrl::compiler::value::kind;
use vrl::compiler::{Function, TypeState};
use vrl::diagnostic::{DiagnosticMessage, Label, Span};

use super::parse_json::ParseJson;

/// Functions whose results depend only on their arguments.
#[rustfmt::skip]
pub(in crate::transform) const ALLOWED: &[&str] = &[
    "abs", "append", "array", "assert", "assert_eq", "basename", "bool", "camelcase", "ceil", "chunks", "community_id",
    "compact", "contains", "contains_all", "decode_base16", "decode_base64", "decode_charset", "decode_mime_q",
    "decode_percent", "decode_punycode", "del", "dirname", "downcase", "encode_base16", "encode_base64", "encode_charset",
    "encode_csv", "encode_gzip", "encode_json", "encode_key_value", "encode_logfmt", "encode_lz4", "encode_percent",
    "encode_punycode", "encode_snappy", "encode_zlib", "encode_zstd", "ends_with", "exists", "filter", "find", "flatten",
    "float", "floor", "for_each", "format_int", "format_number", "format_timestamp", "from_entries",
    "from_unix_timestamp", "get", "includes", "int", "ip_aton", "ip_cidr_contains", "ip_ntoa", "ip_ntop", "ip_pton",
    "ip_subnet", "ip_to_ipv6", "ipv6_to_ipv4", "is_array", "is_boolean", "is_empty", "is_float", "is_integer", "is_ipv4",
    "is_ipv6", "is_json", "is_null", "is_nullish", "is_object", "is_regex", "is_string", "is_timestamp", "join",
    "kebabcase", "keys", "length", "map_keys", "map_values", "match", "match_any", "match_array", "match_datadog_query",
    "merge", "mod", "object", "object_from_array", "parse_apache_log", "parse_aws_alb_log",
    "parse_aws_cloudwatch_log_subscription_message", "parse_aws_vpc_flow_log", "parse_bytes", "parse_cbor", "parse_cef",
    "parse_common_log", "parse_csv", "parse_duration", "parse_float", "parse_glog", "parse_grok", "parse_influxdb",
    "parse_int", "parse_json", "parse_key_value", "parse_logfmt", "parse_nginx_log", "parse_query_string", "parse_regex",
    "parse_regex_all", "parse_timestamp", "parse_tokens", "parse_url", "parse_user_agent", 
    "parse_yaml", "pascalcase", "pop", "push", "range", "redact", "remove", "replace", "replace_with", "round",
    "screamingsnakecase", "sieve", "slice", "snakecase", "split", "split_path", "starts_with", "string",
    "strip_ansi_escape_codes", "strip_whitespace", "strlen", "tag_types_externally", "tally", "tally_value", "timestamp",
    "to_bool", "to_entries", "to_float", "to_int", "to_regex", "to_string", "to_syslog_facility",
    "to_syslog_facility_code", "to_syslog_level", "to_syslog_severity", "to_unix_timestamp", "truncate", "type_def",
    "unique", "unnest", "upcase", "uuid_from_friendly_id", "values", "zip",
];

const CLOCK: &str = "its result depends on the time at which it runs, and a repeated build must make the same documents";
const CHANCE: &str =
    "its result is another each time, and a repeated build must make the same documents";
const MACHINE: &str = "its result depends on the machine that it runs on, and a repeated build must make the same documents";
const NETWORK: &str = "it asks other machines, and a repeated build must make the same documents, with or without them";
const FILES: &str =
    "it reads files beside the program, and a repeated build must make the same documents";
const YEAR: &str =
    "it takes this year for times without one, and a repeated build must make the same documents";
const DIGITS: &str =
    "its last digits depend on the machine, and a repeated build must make the same documents";
const UNBOUNDED: &str =
    "nothing limits how much a few bytes become, so that one record could take all memory";
const DEEP: &str = "a text that nests deeply ends the process";
const CIPHERS: &str = "transforms have no ciphers and hashes";

/// Functions that are not for transforms, with the reasons.
#[rustfmt::skip]
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("now", CLOCK), ("uuid_v4", CHANCE), ("uuid_v7", CHANCE), ("random_bool", CHANCE), ("random_bytes", CHANCE),
    ("random_float", CHANCE), ("random_int", CHANCE), ("get_env_var", MACHINE), ("get_hostname", MACHINE),
    ("get_timezone_name", MACHINE), ("dns_lookup", NETWORK), ("reverse_dns", NETWORK), ("http_request", NETWORK),
    ("encode_proto", FILES), ("parse_proto", FILES), ("parse_etld", FILES), ("validate_json_schema", FILES),
    ("log", "a transform has no log: drop a record with `abort \"why\"`, or set `%route = \"reject\"`"),
    ("parse_groks", YEAR), ("parse_klog", YEAR), ("parse_linux_authorization", YEAR),
    ("parse_syslog", "it takes this year for times without one, and a repeated build must make the same documents: \
                      files of syslog are read without it (`--input-format syslog`, `--year`)"),
    ("haversine", DIGITS), ("shannon_entropy", DIGITS),
    ("decode_gzip", UNBOUNDED), ("decode_lz4", UNBOUNDED), ("decode_snappy", UNBOUNDED), ("decode_zlib", UNBOUNDED),
    ("decode_zstd", UNBOUNDED),
    ("parse_ruby_hash", DEEP), ("parse_xml", DEEP), ("unflatten", DEEP),
    ("set", "a path from a record that is very long ends the process: assign to a path that is written out, or make keys with \
             `object_from_array`"),
    ("crc", CIPHERS), ("decrypt", CIPHERS), ("decrypt_ip", CIPHERS), ("encrypt", CIPHERS), ("encrypt_ip", CIPHERS),
    ("hmac", CIPHERS), ("md5", CIPHERS), ("seahash", CIPHERS), ("sha1", CIPHERS), ("sha2", CIPHERS), ("sha3", CIPHERS),
    ("xxhash", CIPHERS),
];

/// Returns all functions that a program may name, including those that are refused with a reason.
pub(super) fn checked() -> Vec<Box<dyn Function>> {
    let mut all: Vec<Box<dyn Function>> = Vec::new();
    for function in vrl::stdlib::all() {
        let name = function.identifier();
        let refused = match (why_refused(name), ALLOWED.contains(&name)) {
            (Some(why), _) => Some(why),
            (None, true) => None,
            (None, false) => Some("nobody has looked yet at what its result depends on"),
        };
        match (refused, name) {
            (None, "parse_json") => all.push(Box::new(ParseJson(function))),
            _ => all.push(Box::new(Checked { function, refused })),
        }
    }
    for (name, why) in REFUSED {
        if !all.iter().any(|function| function.identifier() == *name) {
            all.push(Box::new(Elsewhere { name, why }));
        }
    }
    all
}

fn why_refused(name: &str) -> Option<&'static str> {
    let found = REFUSED.iter().find(|(refused, _)| *refused == name);
    found.map(|(_, why)| *why)
}

/// Refuses the call of a function at its place in the program.
#[derive(Debug, thiserror::Error)]
#[error("the function `{name}` cannot be used in a transform: {why}")]
pub(super) struct Refusal {
    name: &'static str,
    why: &'static str,
    span: Span,
}

impl DiagnosticMessage for Refusal {
    fn code(&self) -> usize {
        0
    }

    fn labels(&self) -> Vec<Label> {
        vec![Label::primary("called here", self.span)]
    }
}

/// A VRL function with checked arguments.
#[derive(Debug)]
struct Checked {
    function: Box<dyn Function>,
    refused: Option<&'static str>,
}

impl Checked {
    /// Requires an argument that names a zone to be the same everywhere.
    fn check_zone(
        &self,
        state: &TypeState,
        arguments: &ArgumentList,
        span: Span,
    ) -> Result<(), Refusal> {
        let has_zone = |parameter: &Parameter| parameter.keyword == "timezone";
        if !self.function.parameters().iter().any(has_zone) {
            return Ok(());
        }
        let why = match arguments.optional_literal("timezone", state) {
            Err(_) => "`timezone` must be written out, so that it is never `local`",
            Ok(Some(zone)) if matches!(zone.to_string_lossy().as_ref(), "" | "local") => {
                "`timezone` is that of the machine, and a repeated build must make the same documents: name one, \
                 such as \"Europe/Berlin\" (without one it is UTC)"
            }
            Ok(_) => return Ok(()),
        };
        let name = self.identifier();
        Err(Refusal { name, why, span })
    }
}

impl Function for Checked {
    fn identifier(&self) -> &'static str {
        self.function.identifier()
    }

    fn usage(&self) -> &'static str {
        self.function.usage()
    }

    fn category(&self) -> &'static str {
        self.function.category()
    }

    fn return_kind(&self) -> u16 {
        self.function.return_kind()
    }

    fn pure(&self) -> bool {
        self.function.pure()
    }

    fn examples(&self) -> &'static [Example] {
        self.function.examples()
    }

    fn compile(
        &self,
        state: &TypeState,
        ctx: &mut FunctionCompileContext,
        arguments: ArgumentList,
    ) -> Compiled {
        let (name, span) = (self.identifier(), ctx.span());
        if let Some(why) = self.refused {
            return Err(Box::new(Refusal { name, why, span }));
        }
        self.check_zone(state, &arguments, span)
            .map_err(|refusal| Box::new(refusal) as Box<dyn DiagnosticMessage>)?;
        self.function.compile(state, ctx, arguments)
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.function.parameters()
    }

    fn closure(&self) -> Option<Definition> {
        self.function.closure()
    }
}

/// A VRL function of other builds. A program that calls it gets the reason, instead of an error that it does not exist.
#[derive(Debug)]
struct Elsewhere {
    name: &'static str,
    why: &'static str,
}

impl Function for Elsewhere {
    fn identifier(&self) -> &'static str {
        self.name
    }

    fn usage(&self) -> &'static str {
        self.why
    }

    fn category(&self) -> &'static str {
        "System"
    }

    fn return_kind(&self) -> u16 {
        kind::ANY
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn compile(
        &self,
        _: &TypeState,
        ctx: &mut FunctionCompileContext,
        _: ArgumentList,
    ) -> Compiled {
        let (name, why, span) = (self.name, self.why, ctx.span());
        Err(Box::new(Refusal { name, why, span }))
    }

    /// Returns the parameters that any of them has.
    fn parameters(&self) -> &'static [Parameter] {
        const fn any(keyword: &'static str) -> Parameter {
            Parameter::optional(keyword, kind::ANY, "")
        }
        const PARAMETERS: &[Parameter] = &[
            any("value"),
            any("algorithm"),
            any("key"),
            any("iv"),
            any("name"),
            any("url"),
            any("method"),
            any("headers"),
            any("body"),
            any("class"),
            any("qtype"),
            any("options"),
            any("variant"),
            any("mode"),
            any("ciphertext"),
            any("plaintext"),
            any("ip"),
            any("desc_file"),
            any("message_type"),
            any("schema_definition"),
            any("ignore_unknown_formats"),
            any("psl"),
            any("plus_parts"),
        ];
        PARAMETERS
    }
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, REFUSED, checked};
    use std::collections::BTreeSet;

    /// A function in a new version of the crate must be reviewed before programs can call it.
    #[test]
    fn every_function_is_allowed_or_refused() {
        let known: BTreeSet<&str> = vrl::stdlib::all()
            .iter()
            .map(|function| function.identifier())
            .collect();
        let allowed: BTreeSet<&str> = ALLOWED.iter().copied().collect();
        let refused: BTreeSet<&str> = REFUSED.iter().map(|(name, _)| *name).collect();
        assert_eq!(allowed.intersection(&refused).count(), 0);
        let all: BTreeSet<&str> = allowed.union(&refused).copied().collect();
        let unseen: Vec<_> = known.difference(&all).collect();
        assert!(unseen.is_empty(), "on neither list: {unseen:?}");
        let gone: Vec<_> = allowed.difference(&known).collect();
        assert!(
            gone.is_empty(),
            "allowed, and there is no such function: {gone:?}"
        );
        let offered = checked();
        let offered: BTreeSet<&str> = offered
            .iter()
            .map(|function| function.identifier())
            .collect();
        assert_eq!(offered, all);
    }
}
