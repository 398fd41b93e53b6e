//! How to encrypt.

use std::path::PathBuf;

use super::Warnings;
use zerolap_load_requests::{Tls, TlsVersion};

#[derive(Debug, Default)]
pub(in crate::arguments) struct TlsDraft {
    pub(in crate::arguments) is_on: bool,
    pub(in crate::arguments) certificate: Option<PathBuf>,
    pub(in crate::arguments) key: Option<PathBuf>,
    pub(in crate::arguments) authorities: Option<PathBuf>,
    pub(in crate::arguments) skip_verify: bool,
    pub(in crate::arguments) versions: Vec<TlsVersion>,
    pub(in crate::arguments) server_name: Option<String>,
}

impl TlsDraft {
    pub(super) fn finish(self, warnings: &mut Warnings) -> Option<Tls> {
        if !self.is_on {
            let given = [
                (self.certificate.is_some(), "--cert"),
                (self.key.is_some(), "--key"),
                (self.authorities.is_some(), "--cacert"),
                (self.skip_verify, "--tls-skip-verify"),
                (!self.versions.is_empty(), "--tls-protocols"),
                (self.server_name.is_some(), "--sni"),
            ];
            for (is_given, argument) in given {
                warnings.without_effect(is_given, argument, "--tls is not given");
            }
            return None;
        }
        let Self { certificate, key, authorities, skip_verify, versions, server_name, .. } = self;
        warnings.without_effect(certificate.is_none() && key.is_some(), "--key", "--cert is not given");
        warnings.without_effect(
            skip_verify && authorities.is_some(),
            "--cacert",
            "with --tls-skip-verify any certificate is taken",
        );
        let key = certificate.as_ref().map(|certificate| key.unwrap_or_else(|| certificate.clone()));
        Some(Tls { certificate, key, authorities, skip_verify, server_name, versions })
    }
}
