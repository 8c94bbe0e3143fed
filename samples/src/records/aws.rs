//! Logs that AWS writes into buckets.

use serde_json::{Map, Value, json};

use super::super::rng::Rng;
use super::values::{AGENTS, PATHS};

type Made = (Vec<u8>, Vec<Value>);

/// Writes CloudTrail's events:
/// `https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-log-file-examples.html`
pub(super) fn cloudtrail(rng: &mut Rng, num_docs: u64) -> Made {
    let doc = |n| {
        let (day, time) = rng.may(n);
        let name = rng.pick(&["RunInstances", "GetObject", "AssumeRole"]);
        let mut doc = json!({
            "eventVersion": "1.10",
            "userIdentity": {
                "type": "IAMUser", "principalId": rng.hex(12), "userName": rng.pick(&["alice", "bob"]),
                "sessionContext": {"attributes": {"mfaAuthenticated": "false"}},
            },
            "eventTime": format!("2024-05-{day:02}T{time}Z"),
            "eventSource": "ec2.amazonaws.com",
            "eventName": name,
            "awsRegion": rng.pick(&["us-east-1", "eu-west-1"]),
            "sourceIPAddress": rng.ip(),
            "userAgent": rng.pick(&AGENTS),
            "requestParameters": {"instancesSet": {"items": [{"instanceId": rng.hex(17)}]}},
            "responseElements": null,
            "requestID": rng.hex(32),
            "eventID": rng.hex(32),
            "readOnly": n % 2 == 0,
            "eventType": "AwsApiCall",
            "managementEvent": true,
            "recipientAccountId": "123456789012",
            "eventCategory": "Management",
        });
        if let (0, Some(fields)) = (n % 7, doc.as_object_mut()) {
            fields.insert("errorCode".into(), json!("AccessDenied"));
            fields.insert(
                "errorMessage".into(),
                json!("User is not authorized }] to perform"),
            );
        }
        doc
    };
    let docs: Vec<Value> = (0..num_docs).map(doc).collect();
    (json!({"Records": docs}).to_string().into_bytes(), docs)
}

/// Writes entries in the current syntax, some in that before `conn_trace_id`:
/// `https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html`.
pub(super) fn alb(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let timestamp = format!("2024-05-{day:02}T{time}.{:06}Z", rng.modulo(1_000_000));
        let kind = rng.pick(&["http", "https", "h2"]);
        let (client, port, target) = (rng.ip(), 1_024 + rng.modulo(60_000), rng.ip());
        let is_sent = !rng.one_in(5);
        let (path, agent) = (rng.pick(&PATHS), rng.pick(&AGENTS));
        let (received, sent, trace) = (rng.modulo(2_000), rng.modulo(90_000), rng.hex(24));
        let status = if is_sent { 200 } else { 503 };
        let path = format!("{kind}://www.example.com:443{path}");
        let request = format!("GET {path} HTTP/1.1");
        let mut doc = alb_doc(&timestamp, is_sent);
        let mut add = |name: &str, value: Value| {
            if let Some(fields) = doc.as_object_mut() {
                fields.insert(name.into(), value);
            }
        };
        add("type", json!(kind));
        add("client_ip", json!(client));
        add("client_port", json!(port));
        add("received_bytes", json!(received));
        add("sent_bytes", json!(sent));
        add("request", json!(request));
        add("path", json!(path));
        add("trace_id", json!(format!("Root=1-58337262-{trace}")));
        if agent != "-" {
            add("user_agent", json!(agent));
        }
        let times = match is_sent {
            true => "0.001 0.25 0.000",
            false => "-1 -1 -1",
        };
        let mut target_text = "-".to_string();
        let mut target_status = "-";
        if is_sent {
            add("target_ip", json!(target));
            add("target_port", json!(80));
            add("target_status_code", json!(200));
            add("target_port_list", json!(format!("{target}:80")));
            add("target_status_code_list", json!("200"));
            target_text = format!("{target}:80");
            target_status = "200";
        }
        let tls = match kind {
            "http" => "- -",
            _ => {
                add("ssl_cipher", json!("ECDHE-RSA-AES128-GCM-SHA256"));
                add("ssl_protocol", json!("TLSv1.2"));
                "ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2"
            }
        };
        text.push_str(&format!(
            "{kind} {timestamp} app/my-lb/50dc6c495c0c9188 {client}:{port} {target_text} {times} {status} \
             {target_status} {received} {sent} \"{request}\" \"{agent}\" {tls} \
             arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/t/73e2 \
             \"Root=1-58337262-{trace}\" \"www.example.com\" \"-\" 0 {timestamp} \"waf,forward\" \"-\" \"-\" \
             \"{target_text}\" \"{target_status}\" \"-\" \"-\""
        ));
        if n % 4 != 0 {
            let id = format!("TID_{trace}");
            text.push_str(&format!(" {id}"));
            add("conn_trace_id", json!(id));
        }
        text.push('\n');
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}

/// Returns the fields that depend on nothing but the time and on whether a target got the request.
fn alb_doc(timestamp: &str, is_sent: bool) -> Value {
    let seconds = |of_sent: f64| match is_sent {
        true => json!(of_sent),
        false => json!(-1),
    };
    json!({
        "timestamp": timestamp, "elb": "app/my-lb/50dc6c495c0c9188",
        "request_processing_time": seconds(0.001),
        "target_processing_time": seconds(0.25),
        "response_processing_time": seconds(0.000),
        "elb_status_code": if is_sent { 200 } else { 503 },
        "method": "GET", "protocol": "HTTP/1.1",
        "target_group_arn": "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/t/73e2",
        "domain_name": "www.example.com",
        "matched_rule_priority": 0, "request_creation_time": timestamp,
        "actions_executed": "waf,forward",
    })
}

const CLOUDFRONT: [&str; 33] = [
    "date",
    "time",
    "x-edge-location",
    "sc-bytes",
    "c-ip",
    "cs-method",
    "cs(Host)",
    "cs-uri-stem",
    "sc-status",
    "cs(Referer)",
    "cs(User-Agent)",
    "cs-uri-query",
    "cs(Cookie)",
    "x-edge-result-type",
    "x-edge-request-id",
    "x-host-header",
    "cs-protocol",
    "cs-bytes",
    "time-taken",
    "x-forwarded-for",
    "ssl-protocol",
    "ssl-cipher",
    "x-edge-response-result-type",
    "cs-protocol-version",
    "fle-status",
    "fle-encrypted-fields",
    "c-port",
    "time-to-first-byte",
    "x-edge-detailed-result-type",
    "sc-content-type",
    "sc-content-len",
    "sc-range-start",
    "sc-range-end",
];

/// Returns the values of one record of CloudFront, and the document.
fn cloudfront_record(rng: &mut Rng, n: u64) -> (Vec<String>, Value) {
    let (day, time) = rng.may(n);
    let date = format!("2024-05-{day:02}");
    let agent = rng.pick(&AGENTS);
    let (ip, id, bytes) = (rng.ip(), rng.hex(20), rng.modulo(100_000));
    let (path, port) = (rng.pick(&PATHS), 1_024 + rng.modulo(60_000));
    let values: [&str; 33] = [
        &date,
        &time,
        "FRA56-C1",
        &bytes.to_string(),
        &ip,
        "GET",
        "d111111abcdef8.cloudfront.net",
        path,
        "200",
        "-",
        &agent.replace(' ', "%20"),
        "-",
        "-",
        "Hit",
        &id,
        "www.example.com",
        "https",
        "23",
        "0.125",
        "-",
        "TLSv1.3",
        "TLS_AES_128_GCM_SHA256",
        "Hit",
        "HTTP/2.0",
        "-",
        "-",
        &port.to_string(),
        "0.125",
        "Hit",
        "text/html",
        "78",
        "-",
        "-",
    ];
    let mut doc = json!({
        "timestamp": format!("{date}T{time}Z"), "date": date, "time": time,
        "x_edge_location": "FRA56-C1", "sc_bytes": bytes, "c_ip": ip, "cs_method": "GET",
        "cs_host": "d111111abcdef8.cloudfront.net", "cs_uri_stem": path, "sc_status": 200,
        "x_edge_result_type": "Hit", "x_edge_request_id": id, "x_host_header": "www.example.com",
        "cs_protocol": "https", "cs_bytes": 23, "time_taken": 0.125, "ssl_protocol": "TLSv1.3",
        "ssl_cipher": "TLS_AES_128_GCM_SHA256", "x_edge_response_result_type": "Hit",
        "cs_protocol_version": "HTTP/2.0", "c_port": port, "time_to_first_byte": 0.125,
        "x_edge_detailed_result_type": "Hit", "sc_content_type": "text/html", "sc_content_len": 78,
    });
    if let (true, Some(fields)) = (agent != "-", doc.as_object_mut()) {
        fields.insert("cs_user_agent".into(), json!(agent));
    }
    (values.map(str::to_owned).to_vec(), doc)
}

/// Writes CloudFront's logs:
/// `https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html`
pub(super) fn cloudfront(rng: &mut Rng, num_docs: u64) -> Made {
    let mut text = format!("#Version: 1.0\n#Fields: {}\n", CLOUDFRONT.join(" "));
    let mut docs = Vec::new();
    for n in 0..num_docs {
        let (values, doc) = cloudfront_record(rng, n);
        text.push_str(&values.join("\t"));
        text.push('\n');
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}

/// Writes CloudFront's logs in the output format `json` of standard logging v2.
pub(super) fn cloudfront_json(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (values, doc) = cloudfront_record(rng, n);
        let names = CLOUDFRONT.iter().map(|name| (*name).to_string());
        let object: Map<String, Value> = names.zip(values.into_iter().map(Value::from)).collect();
        text.push_str(&format!("{}\n", Value::Object(object)));
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}

/// Writes the default format of version 2 and two fields of later ones:
/// `https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html`.
pub(super) fn vpc_flow(rng: &mut Rng, num_docs: u64) -> Made {
    let mut text =
        "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes \
                    start end action log-status vpc-id tcp-flags\n"
            .to_string();
    let mut docs = Vec::new();
    for n in 0..num_docs {
        let (from, to) = (rng.ip(), rng.ip());
        let start = 1_714_521_600 + n * 3;
        if rng.one_in(20) {
            text.push_str(&format!(
                "2 123456789010 eni-1235b8ca123456789 - - - - - - - {start} {} - NODATA vpc-0a1b -\n",
                start + 60
            ));
            docs.push(json!({
                "version": 2, "account_id": "123456789010", "interface_id": "eni-1235b8ca123456789",
                "start": start, "end": start + 60, "log_status": "NODATA", "vpc_id": "vpc-0a1b",
            }));
            continue;
        }
        let (port, packets) = (1_024 + rng.modulo(60_000), 1 + rng.modulo(50));
        let action = rng.pick(&["ACCEPT", "ACCEPT", "REJECT"]);
        text.push_str(&format!(
            "2 123456789010 eni-1235b8ca123456789 {from} {to} {port} 443 6 {packets} {} {start} {} {action} OK \
             vpc-0a1b 19\n",
            packets * 64,
            start + 60
        ));
        docs.push(json!({
            "version": 2, "account_id": "123456789010", "interface_id": "eni-1235b8ca123456789",
            "srcaddr": from, "dstaddr": to, "srcport": port, "dstport": 443, "protocol": 6,
            "packets": packets, "bytes": packets * 64, "start": start, "end": start + 60,
            "action": action, "log_status": "OK", "vpc_id": "vpc-0a1b", "tcp_flags": 19,
        }));
    }
    (text.into_bytes(), docs)
}
