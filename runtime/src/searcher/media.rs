//! Media types of Elasticsearch's API, which its clients request in headers: the guest sees no headers, so its host
//! handles them.
//!
//! ```text
//!   Accept: application/vnd.elasticsearch+json; compatible-with=8   the answer's content type is the same
//!   Accept: application/json                                       `_cat` answers in JSON
//! ```
//!
//! `edge-adapters/js/src/media.ts` implements the same rules in another language; the tests of both use
//! `media/cases.json`.

use std::borrow::Cow;

use crate::Api;

/// Prefix of Elasticsearch's own media types; the syntax follows.
const VENDOR: &str = "application/vnd.elasticsearch+";

const JSON: &str = "application/json";

/// Maximum length of a header in messages, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// The form of the answer that a request's headers ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaTypes {
    /// True if the request is for Elasticsearch's API; otherwise the headers are ignored.
    is_elastic: bool,
    /// True if JSON is preferred to text.
    prefers_json: bool,
    /// The content type of JSON in the answer, if not the default.
    json: Option<&'static str>,
}

/// Error of a media type that no answer can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid media-type value on headers [{header}]: {problem}")]
pub struct InvalidMediaType {
    header: &'static str,
    problem: String,
}

impl InvalidMediaType {
    /// Elasticsearch's name for the error.
    pub const KIND: &str = "media_type_header_exception";
}

/// One media type of a header.
struct MediaType<'h> {
    /// In lower case, without parameters.
    name: String,
    /// Version of the API that the answer must be compatible with.
    version: Option<&'h str>,
    /// Weight of the type, from 0 to 1.
    weight: f32,
}

impl MediaTypes {
    /// Parses the values of the `Accept` and `Content-Type` headers of a request.
    ///
    /// # Errors
    /// If they request an unsupported version of Elasticsearch's API, or two versions.
    pub fn read<'h>(
        path: &str,
        accept: impl IntoIterator<Item = &'h str>,
        content_type: Option<&'h str>,
    ) -> Result<Self, InvalidMediaType> {
        if Api::of(path) != Api::Elasticsearch {
            return Ok(Self::default());
        }
        let accepted = accept.into_iter().flat_map(|value| value.split(','));
        let accepted: Vec<MediaType<'_>> = accepted.map(MediaType::read).collect();
        let sent = content_type.map(MediaType::read);
        let mut known = None;
        let of_accept = accepted.iter().map(|media| ("Accept", media));
        let of_sent = sent.iter().map(|media| ("Content-Type", media));
        for (header, media) in of_accept.chain(of_sent) {
            let Some(version) = media.checked_version(header)? else {
                continue;
            };
            if *known.get_or_insert(version) != version {
                let problem = "they ask for two versions: Accept and Content-Type must have the same compatible-with";
                return Err(InvalidMediaType {
                    header: "Accept, Content-Type",
                    problem: problem.to_owned(),
                });
            }
        }
        let wanted = heaviest(accepted.iter());
        let wanted_json = heaviest(accepted.iter().filter(|media| media.is_json()));
        let json = match wanted_json {
            Some(media) => media.json_name(),
            None => sent.as_ref().and_then(MediaType::json_name),
        };
        // As Elasticsearch does: its JavaScript client sends both types with all requests, and shows tables.
        let takes_text = |json: &MediaType<'_>| {
            let mut others = accepted.iter();
            others.any(|other| other.name == "text/plain" && other.weight >= json.weight)
        };
        Ok(Self {
            is_elastic: true,
            prefers_json: wanted.is_some_and(|wanted| wanted.is_json() && !takes_text(wanted)),
            json,
        })
    }

    /// Returns the query string for the guest: it tells `_cat` that JSON is wanted.
    #[must_use]
    pub fn query<'q>(&self, path: &str, query: &'q str) -> Cow<'q, str> {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let first = match segments.next() {
            Some("api") => segments.nth(2),
            first => first,
        };
        let says_format = || {
            let mut names = query.split('&').map(|part| part.split('=').next());
            names.any(|name| name == Some("format"))
        };
        if !self.is_elastic || !self.prefers_json || first != Some("_cat") || says_format() {
            return Cow::Borrowed(query);
        }
        Cow::Owned(match query.is_empty() {
            true => "format=json".to_owned(),
            false => format!("{query}&format=json"),
        })
    }

    /// Returns headers that an answer of this content type must have; each replaces one of the same name.
    pub fn headers(
        &self,
        content_type: Option<&str>,
    ) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let is_json = self.is_elastic && content_type == Some(JSON);
        let own_type = self.json.filter(|_| is_json);
        let own_type = own_type.map(|json| ("content-type", json));
        // Clients trust only this header, whatever the answer contains.
        let product = is_json.then_some(("x-elastic-product", "Elasticsearch"));
        own_type.into_iter().chain(product)
    }

    /// Adds these headers to those of an answer.
    pub fn add_to(&self, headers: &mut Vec<(String, String)>) {
        let is = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
        let content_type = headers.iter().find(|(known, _)| is(known, "content-type"));
        let content_type = content_type.map(|(_, value)| value.clone());
        for (name, value) in self.headers(content_type.as_deref()) {
            headers.retain(|(known, _)| !is(known, name));
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

impl<'h> MediaType<'h> {
    fn read(text: &'h str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let (mut version, mut weight) = (None, 1.0);
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "compatible-with" => version = Some(value),
                "q" => weight = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        Self {
            name,
            version,
            weight,
        }
    }

    /// Returns the version in the type, if it is one of Elasticsearch's own.
    fn checked_version(&self, header: &'static str) -> Result<Option<&'h str>, InvalidMediaType> {
        if !self.name.starts_with(VENDOR) {
            return Ok(None);
        }
        match self.version {
            None | Some("8" | "9") => Ok(self.version),
            Some(other) => {
                let shown: String = other.chars().take(MAX_SHOWN_CHARS).collect();
                Err(InvalidMediaType {
                    header,
                    problem: format!(
                        "compatible-with={shown} is not known: this server answers as compatible-with=8 and \
                         compatible-with=9"
                    ),
                })
            }
        }
    }

    fn is_json(&self) -> bool {
        let vendors = self.name.strip_prefix(VENDOR);
        self.name == JSON || matches!(vendors, Some("json" | "x-ndjson"))
    }

    /// Returns the content type of a JSON answer to a client that sent this type, if not the default. Bodies of many
    /// lines are answered with one object.
    fn json_name(&self) -> Option<&'static str> {
        let is_vendors = self.name != JSON && self.is_json();
        is_vendors.then_some(match self.version {
            Some("8") => "application/vnd.elasticsearch+json;compatible-with=8",
            Some(_) => "application/vnd.elasticsearch+json;compatible-with=9",
            None => "application/vnd.elasticsearch+json",
        })
    }
}

/// Returns the type with the highest weight, the first of several. A weight of 0 excludes a type.
fn heaviest<'m, 'h: 'm>(all: impl Iterator<Item = &'m MediaType<'h>>) -> Option<&'m MediaType<'h>> {
    let wanted = all.filter(|media| media.weight > 0.0);
    wanted.reduce(|best, next| match next.weight > best.weight {
        true => next,
        false => best,
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const EIGHT: &str = "application/vnd.elasticsearch+json;compatible-with=8";

    /// Cases that the JavaScript hosts share.
    #[derive(Deserialize)]
    struct Cases {
        answers: Vec<AnswerCase>,
        /// Content types of answers that stay unchanged.
        untouched: Vec<String>,
        queries: Vec<QueryCase>,
    }

    /// Headers, and the content type of the answer or a part of the error message.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct AnswerCase {
        case: String,
        accept: String,
        content_type: String,
        answered: Option<String>,
        refused: Option<String>,
    }

    /// A requested path and query string, and the query string for the guest.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct QueryCase {
        case: String,
        accept: String,
        path: String,
        query: String,
        asked: String,
    }

    fn cases() -> Cases {
        serde_json::from_str(include_str!("media/cases.json")).unwrap()
    }

    fn read(path: &str, accept: &str, content_type: &str) -> Result<MediaTypes, InvalidMediaType> {
        let accept = Some(accept).filter(|value| !value.is_empty());
        let content_type = Some(content_type).filter(|value| !value.is_empty());
        MediaTypes::read(path, accept, content_type)
    }

    /// Returns the headers of an answer in JSON, ordered by name.
    fn headers_of(media: MediaTypes) -> Vec<(String, String)> {
        let mut headers = vec![("Content-Type".to_owned(), JSON.to_owned())];
        media.add_to(&mut headers);
        let headers = headers.into_iter();
        let mut headers: Vec<_> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        headers.sort();
        headers
    }

    #[test]
    fn an_answer_has_the_media_type_that_was_asked_for() {
        let cases = cases().answers;
        assert!(cases.len() > 5);
        for one in cases {
            let what = &one.case;
            let read = read("/logs/_search", &one.accept, &one.content_type);
            match (read, one.answered, one.refused) {
                (Ok(media), Some(answered), None) => {
                    let expected = [
                        ("content-type".to_owned(), answered),
                        ("x-elastic-product".to_owned(), "Elasticsearch".to_owned()),
                    ];
                    assert_eq!(headers_of(media), expected, "{what}");
                }
                (Err(error), None, Some(refused)) => {
                    assert!(error.to_string().contains(&refused), "{what}: {error}");
                }
                (read, ..) => panic!("{what}: {read:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_json_or_of_another_api_stays_as_it_is() {
        let media = read("/logs/_search", EIGHT, "").unwrap();
        assert_eq!(media.headers(None).count(), 0);
        let untouched = cases().untouched;
        assert!(!untouched.is_empty());
        for content_type in untouched {
            assert_eq!(
                media.headers(Some(&content_type)).count(),
                0,
                "{content_type}"
            );
        }
        let other = "application/vnd.elasticsearch+json;compatible-with=7";
        let media = read("/api/v1/logs/search", other, "").unwrap();
        assert_eq!(media.headers(Some(JSON)).count(), 0);
        assert_eq!(media.query("/api/v1/logs/search", "query=a"), "query=a");
    }

    #[test]
    fn cat_answers_in_json_to_who_wants_that_most() {
        let cases = cases().queries;
        assert!(cases.len() > 5);
        for one in cases {
            let media = read(&one.path, &one.accept, "").unwrap();
            assert_eq!(
                media.query(&one.path, &one.query),
                one.asked,
                "{}",
                one.case
            );
        }
    }
}
