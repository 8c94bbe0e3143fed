//! Conversion of an HTTP answer to the form that the event's service expects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use canter_runtime::Api;
use canter_runtime::session::HttpResponse;
use serde_json::{Map, Value, json};

use super::event::Shape;

/// Maximum length of an invocation's answer: 6 MB, minus the overhead around the body.
pub(crate) const MAX_PAYLOAD_BYTES: usize = (6 << 20) - (64 << 10);

/// Maximum length of an answer through a load balancer: 1 MB, minus the same overhead.
const MAX_ALB_BYTES: usize = (1 << 20) - (64 << 10);

/// Returns the response in the form that the service expects. If it is too long, returns an error
/// in the form of the API that the client uses.
pub(crate) fn shaped(response: HttpResponse, shape: Shape, api: Api) -> Value {
    let (body, is_base64, len) = text_of(response.body);
    let (carrier, max_bytes) = match shape {
        Shape::Alb { .. } => ("a load balancer", MAX_ALB_BYTES),
        _ => ("Lambda", MAX_PAYLOAD_BYTES),
    };
    if len > max_bytes {
        let message = format!(
            "the answer takes {len} bytes, and {carrier} carries {max_bytes}; ask for fewer hits, \
             or for fewer buckets"
        );
        return shaped(too_long(api, &message, response.headers), shape, api);
    }
    let mut answer = Map::new();
    answer.insert("statusCode".to_owned(), response.status.into());
    if let Shape::Alb { is_multi } = shape {
        let description = format!("{} {}", response.status, reason_of(response.status));
        answer.insert("statusDescription".to_owned(), description.into());
        if is_multi {
            let listed = |(name, value)| (name, json!([value]));
            let headers: Map<_, _> = response.headers.into_iter().map(listed).collect();
            answer.insert("multiValueHeaders".to_owned(), headers.into());
            return with_body(answer, body, is_base64);
        }
    }
    let headers = response.headers.into_iter();
    let headers: Map<_, _> = headers.map(|(name, value)| (name, value.into())).collect();
    answer.insert("headers".to_owned(), headers.into());
    with_body(answer, body, is_base64)
}

fn with_body(mut answer: Map<String, Value>, body: String, is_base64: bool) -> Value {
    answer.insert("body".to_owned(), body.into());
    answer.insert("isBase64Encoded".to_owned(), is_base64.into());
    answer.into()
}

/// Returns a body as a JSON string, whether it is in base64, and its length in the payload.
fn text_of(body: Vec<u8>) -> (String, bool, usize) {
    match String::from_utf8(body) {
        Ok(text) => {
            let len = escaped_len(&text);
            (text, false, len)
        }
        Err(error) => {
            let text = STANDARD.encode(error.as_bytes());
            let len = text.len();
            (text, true, len)
        }
    }
}

/// Returns the length of a string as JSON.
fn escaped_len(text: &str) -> usize {
    let len_of = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(len_of).sum()
}

/// Returns an error response that keeps the given headers, except for those that it has itself.
fn too_long(api: Api, message: &str, mut headers: Vec<(String, String)>) -> HttpResponse {
    let mut response = HttpResponse::refusal(api, 500, message);
    headers.retain(|(name, _)| response.headers.iter().all(|(own, _)| name != own));
    response.headers.extend(headers);
    response
}

/// Returns the reason phrase, which load balancers require.
fn reason_of(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        303 => "See Other",
        304 => "Not Modified",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(body: Vec<u8>) -> HttpResponse {
        HttpResponse {
            status: 200,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body,
        }
    }

    fn shaped(response: HttpResponse, shape: Shape) -> Value {
        super::shaped(response, shape, Api::Quickwit)
    }

    #[test]
    fn each_service_has_its_shape() {
        let headers = json!({"content-type": "application/json"});
        let plain = json!({
            "statusCode": 200, "headers": headers, "body": "{}", "isBase64Encoded": false,
        });
        assert_eq!(shaped(response(b"{}".to_vec()), Shape::V2), plain);
        assert_eq!(shaped(response(b"{}".to_vec()), Shape::V1), plain);
        let alb = shaped(response(b"{}".to_vec()), Shape::Alb { is_multi: true });
        assert_eq!(alb["statusDescription"], "200 OK");
        assert_eq!(
            alb["multiValueHeaders"],
            json!({"content-type": ["application/json"]})
        );
        assert_eq!(alb.get("headers"), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_in_base64() {
        let answer = shaped(response(vec![0xff, 0xfe]), Shape::V2);
        assert_eq!(answer["body"], "//4=");
        assert_eq!(answer["isBase64Encoded"], true);
    }

    #[test]
    fn an_answer_that_lambda_does_not_carry_is_said_to_be_one() {
        // Each quote takes two bytes of the payload.
        let body = vec![b'"'; MAX_PAYLOAD_BYTES / 2 + 1];
        let answer = shaped(response(body), Shape::V2);
        assert_eq!(answer["statusCode"], 500);
        assert!(answer["body"].as_str().unwrap().contains("fewer hits"));
        let answer = shaped(response(vec![b'a'; MAX_PAYLOAD_BYTES]), Shape::V2);
        assert_eq!(answer["statusCode"], 200);
    }

    #[test]
    fn an_answer_that_is_not_carried_is_told_in_the_form_of_the_api_that_was_asked() {
        let told = |api: Api| -> (Value, Value) {
            let mut long = response(vec![b'a'; MAX_PAYLOAD_BYTES + 1]);
            let header = |name: &str| (name.to_owned(), "1".to_owned());
            long.headers.push(header("x-canter-requests"));
            let answer = super::shaped(long, Shape::V2, api);
            let body = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
            (body, answer["headers"].clone())
        };
        let (body, headers) = told(Api::Quickwit);
        assert!(body["message"].as_str().unwrap().contains("fewer hits"));
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["x-canter-requests"], "1");
        let (body, headers) = told(Api::Elasticsearch);
        assert_eq!(body["error"]["type"], "exception");
        assert_eq!(body["status"], 500);
        assert_eq!(headers["x-elastic-product"], "Elasticsearch");
    }

    #[test]
    fn a_load_balancer_carries_less() {
        let alb = Shape::Alb { is_multi: false };
        let answer = shaped(response(vec![b'a'; MAX_ALB_BYTES + 1]), alb);
        assert_eq!(answer["statusCode"], 500);
        assert!(answer["body"].as_str().unwrap().contains("a load balancer"));
        let answer = shaped(response(vec![b'a'; MAX_ALB_BYTES]), alb);
        assert_eq!(answer["statusCode"], 200);
    }

    #[test]
    fn the_length_in_the_payload_is_what_json_takes() {
        let text: String = (0..300_u32).filter_map(char::from_u32).collect();
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(escaped_len(&text), json.len() - 2);
    }
}
