//! How leaves of query strings travel: their types are of tantivy's grammar, which reads none back.

use serde::{Deserialize, Serialize};
use tantivy_query_grammar::{Delimiter, UserInputBound, UserInputLeaf, UserInputLiteral};

#[derive(Serialize, Deserialize)]
#[serde(remote = "UserInputLeaf")]
pub(super) enum TextLeaf {
    Literal(#[serde(with = "TextLiteral")] UserInputLiteral),
    All,
    Range {
        field: Option<String>,
        #[serde(with = "TextBound")]
        lower: UserInputBound,
        #[serde(with = "TextBound")]
        upper: UserInputBound,
    },
    Set {
        field: Option<String>,
        elements: Vec<String>,
    },
    Exists {
        field: String,
    },
    Regex {
        field: Option<String>,
        pattern: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "UserInputLiteral")]
struct TextLiteral {
    field_name: Option<String>,
    phrase: String,
    #[serde(with = "TextDelimiter")]
    delimiter: Delimiter,
    slop: u32,
    prefix: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "UserInputBound")]
enum TextBound {
    Inclusive(String),
    Exclusive(String),
    Unbounded,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Delimiter")]
enum TextDelimiter {
    SingleQuotes,
    DoubleQuotes,
    None,
}
