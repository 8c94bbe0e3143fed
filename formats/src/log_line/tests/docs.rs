//! The list of docs/log-lines.md is what the families are.

use crate::samples::families;

const DOCS: &str = include_str!("../../../../docs/log-lines.md");
const BEGIN: &str = "<!-- Made from the code: `cargo test -p canter-formats the_list` says how it should be. -->\n\n```text\n";

fn list() -> String {
    let mut list = String::new();
    for family in families() {
        let record = family.records(1, 5).remove(0);
        let message = "GET /index.html 200 in 12 ms";
        let text = record.text.replace(message, "text");
        let text = text.replace('\t', "⇥").replace('\n', " ⏎ ");
        let names = record.fields.keys().map(String::as_str);
        let mut names: Vec<&str> = names.filter(|name| *name != "message").collect();
        names.sort_by_key(|name| !name.contains("time"));
        list += &format!("{}: {}\n    {text}\n", family.name, names.join(", "));
    }
    list
}

#[test]
fn the_list_of_the_documentation_is_that_of_the_code() {
    let list = list();
    let shown = DOCS.split_once(BEGIN).map_or("", |(_, rest)| rest);
    let shown = shown.split("```").next().unwrap_or_default();
    assert_eq!(shown, list, "docs/log-lines.md should have:\n{list}");
}
