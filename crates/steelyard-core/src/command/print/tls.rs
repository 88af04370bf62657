//! Certificates, and TLS of services, groups and virtual servers, as lines.

use super::{add, attributes, each, head, line, policies, shows_the_same, word};
use crate::config::attribute::Resource;
use crate::config::{
    ALL_CURVES, CertKeyBinding, Choice, Config, DEFAULT_CIPHERS, OcspResponderBinding, TlsBindings,
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

/// What is bound to certificates; what TLS of services, groups and virtual servers is set to, and what is bound for it.
pub(super) fn bindings(config: &Config, out: &mut String) {
    for pair in &config.ssl_cert_keys {
        for responder in &pair.ocsp_responders {
            head("bind ssl certKey", &pair.name, out);
            attributes(responder, &OcspResponderBinding::default(), out);
        }
    }
    config.ssl_services.iter().for_each(|tls| settings(tls, &tls.name, &tls.bound, out));
    config.ssl_service_groups.iter().for_each(|tls| settings(tls, &tls.name, &tls.bound, out));
    config.ssl_vservers.iter().for_each(|tls| settings(tls, &tls.name, &tls.bound, out));
}

fn settings<T: Resource + Default>(tls: &T, name: &str, bound: &TlsBindings, out: &mut String) {
    let fresh = tls.fresh();
    if !shows_the_same(tls, &fresh) {
        line("set", tls, &fresh, out);
    }
    let bind = format!("bind {}", T::OBJECT);
    for binding in &bound.cert_keys {
        head(&bind, name, out);
        attributes(binding, &CertKeyBinding::default(), out);
    }
    chosen::<T>(name, ("cipherName", DEFAULT_CIPHERS), &bound.ciphers, out);
    chosen::<T>(name, ("eccCurveName", ALL_CURVES), &bound.curves, out);
    policies(&bind, name, &bound.policies, out);
}

/// First without what is there from the start, then with what was bound.
fn chosen<T: Resource>(name: &str, (option, default): (&str, &str), choice: &Choice, out: &mut String) {
    if choice.without_default {
        each(&format!("unbind {}", T::OBJECT), name, option, &[default.to_owned()], out);
    }
    each(&format!("bind {}", T::OBJECT), name, option, &choice.names, out);
}
