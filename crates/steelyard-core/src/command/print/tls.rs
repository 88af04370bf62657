//! Certificates and TLS of virtual servers as lines.

use super::{add, attributes, each, head, line, policies, shows_the_same, word};
use crate::config::{
    ALL_CURVES, CertKeyBinding, Choice, Config, DEFAULT_CIPHERS, OcspResponderBinding, SslVserver,
};

/// Certificates, and who signed them.
pub(super) fn print(config: &Config, out: &mut String) {
    config.ssl_cert_keys.iter().for_each(|pair| add(pair, out));
    for pair in config.ssl_cert_keys.iter().filter(|pair| !pair.issuer.is_empty()) {
        head("link ssl certKey", &pair.name, out);
        word(&pair.issuer, out);
        out.push('\n');
    }
}

/// What is bound to certificates; what TLS of virtual servers is set to, and what is bound for it.
pub(super) fn bindings(config: &Config, out: &mut String) {
    for pair in &config.ssl_cert_keys {
        for responder in &pair.ocsp_responders {
            head("bind ssl certKey", &pair.name, out);
            attributes(responder, &OcspResponderBinding::default(), out);
        }
    }
    for vserver in &config.ssl_vservers {
        let fresh = SslVserver { name: vserver.name.clone(), ..SslVserver::default() };
        if !shows_the_same(vserver, &fresh) {
            line("set", vserver, &fresh, out);
        }
        for binding in &vserver.cert_keys {
            head(BIND, &vserver.name, out);
            attributes(binding, &CertKeyBinding::default(), out);
        }
        chosen(&vserver.name, "cipherName", DEFAULT_CIPHERS, &vserver.ciphers, out);
        chosen(&vserver.name, "eccCurveName", ALL_CURVES, &vserver.curves, out);
        policies(BIND, &vserver.name, &vserver.policies, out);
    }
}

/// First without what is there from the start, then with what was bound.
fn chosen(name: &str, option: &str, default: &str, choice: &Choice, out: &mut String) {
    if choice.without_default {
        each("unbind ssl vserver", name, option, &[default.to_owned()], out);
    }
    each(BIND, name, option, &choice.names, out);
}

const BIND: &str = "bind ssl vserver";
