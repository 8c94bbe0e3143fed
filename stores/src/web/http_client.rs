//! Source of all HTTP clients.
//!
//! reqwest is built without its default cryptography library, which takes longer to compile than
//! the rest of the HTTP stack together. rustls gets another one here, before the first client is
//! built: a client built elsewhere would panic.

use std::sync::Once;

use reqwest::ClientBuilder;

/// Returns the builder of a client with TLS.
pub fn http_client() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program has already chosen a provider, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
}
