//! Error texts of stores, shortened for people.

/// Replaces a store's XML by its error code. The XML is long, contains request ids and signatures,
/// and is not meant for people.
pub fn without_xml(text: &str) -> String {
    let Some((before, xml)) = ["<?xml", "<Error"]
        .iter()
        .find_map(|start| text.find(start).map(|at| text.split_at(at)))
    else {
        return text.to_owned();
    };
    let code = xml
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"))
        .map(|(code, _)| code)
        .filter(|code| code.len() <= 100 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let before = before.trim_end().trim_end_matches(':');
    match code {
        Some(code) => format!("{before}: {code}"),
        None => before.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_in_xml_is_its_code() {
        let check = |text: &str, expect: &str| assert_eq!(without_xml(text), expect);
        let xml = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>x</Message>";
        check(
            &format!("403 Forbidden: {xml}"),
            "403 Forbidden: AccessDenied",
        );
        check("403: <Error><Code>&lt;a b</Code>", "403");
        check("500: <Error><Co", "500");
        check("connection reset", "connection reset");
    }
}
