//! TLS from files, which may be replaced while the server runs: certificates are valid for weeks, servers run longer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::ring::{default_provider, sign::any_supported_type};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::dated::Dated;
use crate::error::ServerError;
use crate::http::follow;

/// Name of HTTP/2 in the handshake (ALPN).
pub(super) const HTTP2: &[u8] = b"h2";

/// A certificate with its chain, and its key, each in a PEM file.
#[derive(Debug)]
pub struct Identity {
    cert_file: PathBuf,
    key_file: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Identity {
    /// Reads both files.
    pub fn open(cert_file: &Path, key_file: &Path) -> Result<Arc<Self>, ServerError> {
        let current = load(cert_file, key_file).map_err(ServerError::Invalid)?;
        Ok(Arc::new(Self {
            cert_file: cert_file.to_owned(),
            key_file: key_file.to_owned(),
            current: RwLock::new(Arc::new(current)),
        }))
    }

    /// Returns an acceptor of handshakes with this identity.
    pub(super) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, Error> {
        let config =
            ServerConfig::builder_with_details(Arc::new(default_provider()), Arc::new(Dated));
        let mut config = config
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reloads the files whenever they change, for as long as it is polled.
    pub(super) async fn follow(self: Arc<Self>) {
        follow(self, Self::reload, "certificates").await;
    }

    /// Returns whether the files contain a new certificate, which is used from now on.
    fn reload(&self) -> Result<bool, String> {
        let loaded = load(&self.cert_file, &self.key_file)?;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = current.cert != loaded.cert;
        if is_new {
            *current = Arc::new(loaded);
        }
        Ok(is_new)
    }
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

fn load(cert_file: &Path, key_file: &Path) -> Result<CertifiedKey, String> {
    let chain = CertificateDer::pem_file_iter(cert_file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| {
            format!(
                "cannot read certificates from {}: {error}",
                cert_file.display()
            )
        })?;
    if chain.is_empty() {
        return Err(format!(
            "{} has no certificate: it must hold the server's in PEM, and those that vouch for it behind",
            cert_file.display()
        ));
    }
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| {
        format!(
            "cannot read a private key from {}: {error}",
            key_file.display()
        )
    })?;
    let key = any_supported_type(&key)
        .map_err(|error| format!("cannot use the key in {}: {error}", key_file.display()))?;
    let loaded = CertifiedKey::new(chain, key);
    match loaded.keys_match() {
        // Not every kind of key can tell.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(loaded),
        Err(error) => Err(format!(
            "{} and {} do not belong together: {error}",
            cert_file.display(),
            key_file.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::generate_simple_self_signed;

    use super::*;

    #[test]
    fn files_are_exchanged_together_and_halves_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = (
            folder.path().join("cert.pem"),
            folder.path().join("key.pem"),
        );
        let new = || generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let first = new();
        std::fs::write(&cert, first.cert.pem()).unwrap();
        std::fs::write(&key, first.signing_key.serialize_pem()).unwrap();
        let identity = Identity::open(&cert, &key).unwrap();
        let shown = || identity.current.read().unwrap().cert[0].clone();
        assert_eq!(&shown(), first.cert.der());
        assert_eq!(identity.reload(), Ok(false));

        let second = new();
        std::fs::write(&cert, second.cert.pem()).unwrap();
        let error = identity.reload().unwrap_err();
        assert!(error.contains("do not belong together"), "{error}");
        assert_eq!(&shown(), first.cert.der());
        std::fs::write(&key, second.signing_key.serialize_pem()).unwrap();
        assert_eq!(identity.reload(), Ok(true));
        assert_eq!(&shown(), second.cert.der());
    }
}
