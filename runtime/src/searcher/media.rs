//! Media types of Elasticsearch's API, which its clients ask for in headers: the guest sees none, so that its host adds what they
//! mean.
//!
//! ```text
//!   Accept: application/vnd.elasticsearch+json; compatible-with=8   the answer's content type is the same
//!   Accept: application/json                                       `_cat` answers in JSON
//! ```
//!
//! `edge-adapters/js/src/media.ts` decides alike, in another language.

use std::borrow::Cow;

use super::refusal::Api;

/// Elasticsearch's own media types begin so; behind it stands the syntax.
const VENDOR: &str = "application/vnd.elasticsearch+";

const JSON: &str = "application/json";

/// A longer header is shown in part.
const MAX_SHOWN_CHARS: usize = 100;

/// What the headers of a request ask of the form of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaTypes {
    /// Whether the request is for Elasticsearch's API. Otherwise nothing is asked.
    is_elastic: bool,
    /// Whether JSON is wanted more than text.
    prefers_json: bool,
    /// What JSON is called in the answer, if not as usual.
    json: Option<&'static str>,
}

/// A media type that no answer can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid media-type value on headers [{header}]: {problem}")]
pub struct InvalidMediaType {
    header: &'static str,
    problem: String,
}

impl InvalidMediaType {
    /// What Elasticsearch calls it.
    pub const KIND: &str = "media_type_header_exception";
}

/// One media type of a header.
struct MediaType<'h> {
    /// In small letters, without parameters.
    name: String,
    /// Of the API that an answer is to be compatible with.
    version: Option<&'h str>,
    /// How much it is wanted, of 1.
    weight: f32,
}

impl MediaTypes {
    /// Reads the values of the `Accept` and `Content-Type` headers of a request.
    ///
    /// # Errors
    /// If they ask for a version of Elasticsearch's API that there is not, or for two.
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
        // As Elasticsearch does: its client for JavaScript says both of all requests, and shows tables.
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

    /// The query string with which the guest is asked: `_cat` is told of JSON in it.
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

    /// Headers that an answer of this content type has to have; each takes the place of one of its name.
    pub fn headers(
        &self,
        content_type: Option<&str>,
    ) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let is_json = self.is_elastic && content_type == Some(JSON);
        let own_type = self.json.filter(|_| is_json);
        let own_type = own_type.map(|json| ("content-type", json));
        // Clients believe nobody else, whatever the answer says.
        let product = is_json.then_some(("x-elastic-product", "Elasticsearch"));
        own_type.into_iter().chain(product)
    }

    /// Adds them to an answer's headers.
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

    /// The version that it names, if it is one of Elasticsearch's own.
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

    /// What an answer in JSON is called to whom this was said, if not as usual. Bodies of many lines are answered with one.
    fn json_name(&self) -> Option<&'static str> {
        let is_vendors = self.name != JSON && self.is_json();
        is_vendors.then_some(match self.version {
            Some("8") => "application/vnd.elasticsearch+json;compatible-with=8",
            Some(_) => "application/vnd.elasticsearch+json;compatible-with=9",
            None => "application/vnd.elasticsearch+json",
        })
    }
}

/// The one that is wanted most, the first of several. A weight of 0 says that it is not wanted.
fn heaviest<'m, 'h: 'm>(all: impl Iterator<Item = &'m MediaType<'h>>) -> Option<&'m MediaType<'h>> {
    let wanted = all.filter(|media| media.weight > 0.0);
    wanted.reduce(|best, next| match next.weight > best.weight {
        true => next,
        false => best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EIGHT: &str = "application/vnd.elasticsearch+json;compatible-with=8";
    const NINE: &str = "application/vnd.elasticsearch+json;compatible-with=9";

    fn read(accept: &str, content_type: &str) -> Result<MediaTypes, InvalidMediaType> {
        let given = |value: &'static str| Some(value).filter(|value| !value.is_empty());
        let (accept, content_type) = (leaked(accept), leaked(content_type));
        MediaTypes::read("/logs/_search", given(accept), given(content_type))
    }

    fn leaked(text: &str) -> &'static str {
        Box::leak(text.to_owned().into_boxed_str())
    }

    #[test]
    fn an_answer_has_the_media_type_that_was_asked_for() {
        let own_7 = "application/vnd.elasticsearch+json; compatible-with=7";
        let ndjson_8 = "application/vnd.elasticsearch+x-ndjson; compatible-with=8";
        for (accept, content_type, expect) in [
            ("", "", Ok(JSON)),
            ("*/*", "application/json", Ok(JSON)),
            ("application/json", EIGHT, Ok(JSON)),
            (EIGHT, "", Ok(EIGHT)),
            (
                "Application/VND.elasticsearch+JSON; Compatible-With=\"9\"",
                "",
                Ok(NINE),
            ),
            (
                "text/plain,application/vnd.elasticsearch+json; compatible-with=8",
                "",
                Ok(EIGHT),
            ),
            (EIGHT, EIGHT, Ok(EIGHT)),
            ("", ndjson_8, Ok(EIGHT)),
            ("*/*", EIGHT, Ok(EIGHT)),
            (EIGHT, ndjson_8, Ok(EIGHT)),
            (
                "application/vnd.elasticsearch+json",
                "",
                Ok("application/vnd.elasticsearch+json"),
            ),
            (own_7, "", Err("[Accept]: compatible-with=7")),
            ("", own_7, Err("[Content-Type]: compatible-with=7")),
            (EIGHT, NINE, Err("two versions")),
            (
                "application/vnd.elasticsearch+json;compatible-with=",
                "",
                Err("is not known"),
            ),
            ("application/vnd.other+json;compatible-with=7", "", Ok(JSON)),
        ] {
            match (read(accept, content_type), expect) {
                (Ok(media), Ok(expect)) => {
                    let mut headers = vec![("Content-Type".to_owned(), JSON.to_owned())];
                    media.add_to(&mut headers);
                    headers.sort();
                    let product = ("x-elastic-product", "Elasticsearch");
                    let names = |name: &str| name.to_ascii_lowercase();
                    let headers = headers.iter();
                    let headers: Vec<_> = headers
                        .map(|(name, value)| (names(name), value.as_str()))
                        .collect();
                    let expected = [("content-type", expect), product];
                    let expected = expected.map(|(name, value)| (name.to_owned(), value));
                    assert_eq!(headers, expected, "{accept:?} {content_type:?}");
                }
                (Err(error), Err(expect)) => {
                    assert!(error.to_string().contains(expect), "{error}");
                }
                (read, _) => panic!("{accept:?} {content_type:?}: {read:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_json_or_of_another_api_stays_as_it_is() {
        let media = read(EIGHT, "").unwrap();
        for content_type in [None, Some("text/plain; charset=utf-8"), Some("text/html")] {
            assert_eq!(media.headers(content_type).count(), 0, "{content_type:?}");
        }
        let other = "application/vnd.elasticsearch+json;compatible-with=7";
        let media = MediaTypes::read("/api/v1/logs/search", [other], None).unwrap();
        assert_eq!(media.headers(Some(JSON)).count(), 0);
        assert_eq!(media.query("/api/v1/logs/search", "query=a"), "query=a");
    }

    #[test]
    fn cat_answers_in_json_to_who_wants_that_most() {
        for (accept, path, query, expect) in [
            (JSON, "/_cat/indices", "", "format=json"),
            (EIGHT, "/_cat/indices/logs", "v=true", "v=true&format=json"),
            (JSON, "/api/v1/_elastic/_cat/health", "", "format=json"),
            (
                JSON,
                "/_cat/indices",
                "h=index&format=txt",
                "h=index&format=txt",
            ),
            (JSON, "/_cat/indices", "format", "format"),
            ("text/plain,application/json", "/_cat/indices", "", ""),
            ("application/json, text/plain, */*", "/_cat/indices", "", ""),
            (
                "application/vnd.elasticsearch+json; compatible-with=9,text/plain",
                "/_cat/indices",
                "v=true",
                "v=true",
            ),
            (
                "text/plain;q=0.5, application/json;q=0.9",
                "/_cat/indices",
                "",
                "format=json",
            ),
            ("application/json;q=0", "/_cat/indices", "", ""),
            ("*/*", "/_cat/indices", "", ""),
            ("", "/_cat/indices", "", ""),
            (JSON, "/logs/_search", "q=a", "q=a"),
        ] {
            let media = read(accept, "").unwrap();
            assert_eq!(media.query(path, query), expect, "{accept} {path}?{query}");
        }
    }
}
