//! The HTTP client of a bucket: configured as `object_store` configures its own, with our policy
//! for redirects.
//!
//! `object_store` does not let a connector modify its client, so its options are read back by key.
//! Options without a key (root certificates and headers set by a program) cannot be read; nothing
//! here sets them.

use std::str::FromStr;
use std::time::Duration;

use object_store::client::{ClientConfigKey, ClientOptions};
use reqwest::tls::Certificate;
use reqwest::{Client, ClientBuilder, NoProxy, Proxy};

use crate::http_client;
use crate::web::redirect::same_host_only;

/// Default timeout for connecting. The environment overrides it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn client_of(options: &ClientOptions) -> object_store::Result<Client> {
    use ClientConfigKey as Key;
    let user_agent = text(options, Key::UserAgent);
    let mut builder = http_client()
        .redirect(same_host_only())
        .user_agent(user_agent.unwrap_or(concat!("canter/", env!("CARGO_PKG_VERSION")).to_owned()))
        .https_only(!flag(options, Key::AllowHttp)?)
        .danger_accept_invalid_certs(flag(options, Key::AllowInvalidCertificates)?)
        .http2_keep_alive_while_idle(flag(options, Key::Http2KeepAliveWhileIdle)?)
        .connect_timeout(time(options, Key::ConnectTimeout)?.unwrap_or(CONNECT_TIMEOUT));
    if let Some(timeout) = time(options, Key::Timeout)? {
        builder = builder.timeout(timeout);
    }
    if let Some(timeout) = time(options, Key::ReadTimeout)? {
        builder = builder.read_timeout(timeout);
    }
    if let Some(timeout) = time(options, Key::PoolIdleTimeout)? {
        builder = builder.pool_idle_timeout(timeout);
    }
    if let Some(max_idle) = number(options, Key::PoolMaxIdlePerHost)? {
        builder = builder.pool_max_idle_per_host(max_idle);
    }
    if let Some(interval) = time(options, Key::Http2KeepAliveInterval)? {
        builder = builder.http2_keep_alive_interval(interval);
    }
    if let Some(timeout) = time(options, Key::Http2KeepAliveTimeout)? {
        builder = builder.http2_keep_alive_timeout(timeout);
    }
    if let Some(len) = number(options, Key::Http2MaxFrameSize)? {
        builder = builder.http2_max_frame_size(u32::try_from(len).ok());
    }
    if flag(options, Key::Http1Only)? {
        builder = builder.http1_only();
    }
    if flag(options, Key::Http2Only)? {
        builder = builder.http2_prior_knowledge();
    }
    if flag(options, Key::NoSystemCertificates)? {
        builder = builder.tls_certs_only([]);
    }
    through_proxy(builder, options)?.build().map_err(failed)
}

fn through_proxy(
    mut builder: ClientBuilder,
    options: &ClientOptions,
) -> object_store::Result<ClientBuilder> {
    let Some(url) = text(options, ClientConfigKey::ProxyUrl) else {
        return Ok(builder);
    };
    let mut proxy = Proxy::all(url).map_err(failed)?;
    if let Some(pem) = text(options, ClientConfigKey::ProxyCaCertificate) {
        let certificate = Certificate::from_pem(pem.as_bytes()).map_err(failed)?;
        builder = builder.tls_certs_merge([certificate]);
    }
    if let Some(hosts) = text(options, ClientConfigKey::ProxyExcludes) {
        proxy = proxy.no_proxy(NoProxy::from_string(&hosts));
    }
    Ok(builder.proxy(proxy))
}

fn text(options: &ClientOptions, key: ClientConfigKey) -> Option<String> {
    options.get_config_value(&key)
}

/// Parses a flag as `object_store` does: `true`, `1`, `on` and so on.
fn flag(options: &ClientOptions, key: ClientConfigKey) -> object_store::Result<bool> {
    let Some(value) = text(options, key) else {
        return Ok(false);
    };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" | "y" => Ok(true),
        "0" | "false" | "off" | "no" | "n" | "" => Ok(false),
        _ => Err(unreadable(key, &value, "true or false")),
    }
}

fn number(options: &ClientOptions, key: ClientConfigKey) -> object_store::Result<Option<usize>> {
    text(options, key)
        .map(|value| usize::from_str(&value).map_err(|_| unreadable(key, &value, "a number")))
        .transpose()
}

fn time(options: &ClientOptions, key: ClientConfigKey) -> object_store::Result<Option<Duration>> {
    text(options, key)
        .map(|value| {
            humantime::parse_duration(&value)
                .map_err(|_| unreadable(key, &value, "a time as `10s`"))
        })
        .transpose()
}

fn unreadable(key: ClientConfigKey, value: &str, expect: &str) -> object_store::Error {
    let key = key.as_ref();
    failed(std::io::Error::other(format!(
        "{key} is {value:?}: give {expect}"
    )))
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic {
        store: "HTTP client",
        source: Box::new(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_the_environment_reach_the_client() {
        let set = |key, value: &str| ClientOptions::new().with_config(key, value);
        for (key, value) in [
            (ClientConfigKey::Timeout, "1m 30s"),
            (ClientConfigKey::PoolMaxIdlePerHost, "7"),
            (ClientConfigKey::AllowHttp, "Yes"),
            (ClientConfigKey::ProxyUrl, "http://127.0.0.1:1"),
        ] {
            assert!(client_of(&set(key, value)).is_ok(), "{key:?}");
        }
        for (key, value) in [
            (ClientConfigKey::Timeout, "soon"),
            (ClientConfigKey::PoolMaxIdlePerHost, "few"),
            (ClientConfigKey::AllowHttp, "perhaps"),
        ] {
            let error = client_of(&set(key, value)).unwrap_err().to_string();
            assert!(error.contains(value), "{error}");
        }
    }
}
