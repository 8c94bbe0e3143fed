//! Every HTTP client starts here.
//!
//! reqwest is built without a cryptography library of its own choice, because its default takes longer to compile
//! than the rest of the HTTP stack together. rustls is told of another one here, once, before any client is
//! built: a client that is made elsewhere would panic.

use std::sync::Once;

use reqwest::ClientBuilder;

/// The builder of a client that can speak TLS.
pub fn http_client() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that the program chose a provider before us, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
}
