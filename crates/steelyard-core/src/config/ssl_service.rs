//! `ssl service` and `ssl serviceGroup`: what TLS with services is set to, and what is bound for it. Probes act on the name
//! of a service and on the check of its certificate; the rest is kept, shown and saved.
//!
//! There is one for every service and group with TLS, with or without a line: a table has those of which something was
//! said. What is only kept has no default, which differs between versions of an appliance: it is printed if it was given.

use super::attribute::Kind;
use super::make::resource;
use super::ssl_vserver::{COUNT, SECONDS, TlsBindings};
use super::table::known_by_name;
use super::{CertKeyBinding, Config, PROFILE, TEXT, one_of};

resource! {
    /// TLS with a service.
    pub struct SslService "ssl service" {
        /// Name of the service.
        name: String = String::new(), Key("serviceName", "servicename", Kind::Name).at_add().ranged().traffic();
        /// ENABLED: keys are exchanged by Diffie-Hellman.
        dh: Option<bool> = None, Option("dh", "dh", Kind::Switch).traffic();
        /// File with the parameters of that.
        dh_file: String = String::new(), Option("dhFile", "dhfile", TEXT).traffic();
        /// Connections after which a new key is made for that.
        dh_count: Option<u32> = None, Option("dhCount", "dhcount", COUNT).traffic();
        /// ENABLED: its private keys are as short as NIST allows.
        dh_short_keys: Option<bool> = None, Option("dhKeyExpSizeLimit", "dhkeyexpsizelimit", Kind::Switch).traffic();
        /// DISABLED: no RSA key is made for export.
        ephemeral_rsa: Option<bool> = None, Option("eRSA", "ersa", Kind::Switch).traffic();
        /// Connections after which a new one is made.
        ephemeral_rsa_count: Option<u32> = None, Option("eRSACount", "ersacount", COUNT).traffic();
        /// DISABLED: each connection has a handshake of its own.
        session_reuse: Option<bool> = None, Option("sessReuse", "sessreuse", Kind::Switch).traffic();
        /// Seconds for which a session may be used again.
        session_timeout_s: Option<u32> = None, Option("sessTimeout", "sesstimeout", SECONDS).traffic();
        /// ENABLED: whoever has no cipher in common is sent elsewhere.
        cipher_redirect: Option<bool> = None, Option("cipherRedirect", "cipherredirect", Kind::Switch).traffic();
        /// Where they are sent.
        cipher_url: String = String::new(), Option("cipherURL", "cipherurl", TEXT).traffic();
        /// ENABLED: whoever speaks SSL 2 alone is sent elsewhere.
        ssl2_redirect: Option<bool> = None, Option("sslv2Redirect", "sslv2redirect", Kind::Switch).traffic();
        /// Where these are sent.
        ssl2_url: String = String::new(), Option("sslv2URL", "sslv2url", TEXT).traffic();
        /// ENABLED: a certificate is asked for.
        client_auth: Option<bool> = None, Option("clientAuth", "clientauth", Kind::Switch).traffic();
        /// Whether there must be one.
        client_cert: &'static str = "", Option("clientCert", "clientcert", one_of(&["Mandatory", "Optional"])).traffic();
        /// ENABLED: redirections are made to be by HTTPS.
        ssl_redirect: Option<bool> = None, Option("sslRedirect", "sslredirect", Kind::Switch).traffic();
        /// ENABLED: the port in redirections is made its own.
        redirect_port_rewrite: Option<bool> = None, Option("redirectPortRewrite", "redirectportrewrite", Kind::Switch).traffic();
        /// ENABLED: it may speak SSL 2.
        ssl2: Option<bool> = None, Option("ssl2", "ssl2", Kind::Switch).traffic();
        /// DISABLED: it must not speak SSL 3.
        ssl3: Option<bool> = None, Option("ssl3", "ssl3", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.0.
        tls1: Option<bool> = None, Option("tls1", "tls1", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.1.
        tls11: Option<bool> = None, Option("tls11", "tls11", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.2.
        tls12: Option<bool> = None, Option("tls12", "tls12", Kind::Switch).traffic();
        /// ENABLED: it may speak TLS 1.3.
        tls13: Option<bool> = None, Option("tls13", "tls13", Kind::Switch).traffic();
        /// DISABLED: it must not speak DTLS 1.0.
        dtls1: Option<bool> = None, Option("dtls1", "dtls1", Kind::Switch).traffic();
        /// ENABLED: it may speak DTLS 1.2.
        dtls12: Option<bool> = None, Option("dtls12", "dtls12", Kind::Switch).traffic();
        /// ENABLED: a ClientHello has the name of the service.
        sni: bool = false, Option("SNIEnable", "snienable", Kind::Switch);
        /// ENABLED: it is asked whether its certificate has been revoked.
        ocsp_stapling: Option<bool> = None, Option("ocspStapling", "ocspstapling", Kind::Switch).traffic();
        /// ENABLED: the certificate of the service is checked.
        server_auth: bool = false, Option("serverAuth", "serverauth", Kind::Switch);
        /// Name of the service, which its certificate must have.
        common_name: String = String::new(), Option("commonName", "commonname", TEXT);
        /// When what is to be sent is encrypted and sent.
        push_trigger: &'static str = "",
            Option("pushEncTrigger", "pushenctrigger", one_of(&["Always", "Merge", "Ignore", "Timer"])).traffic();
        /// NO: a connection ends without the word of it that TLS has.
        sends_close_notify: Option<bool> = None, Option("sendCloseNotify", "sendclosenotify", Kind::YesNo).traffic();
        /// Profile for TLS over datagrams.
        dtls_profile: String = String::new(), Option("dtlsProfileName", "dtlsprofilename", PROFILE).traffic();
        /// Profile that says all of this.
        profile: String = String::new(), Option("sslProfile", "sslprofile", PROFILE).traffic();
        /// ENABLED: signatures must have the digest of the certificate.
        strict_signatures: Option<bool> = None, Option("strictSigDigestCheck", "strictsigdigestcheck", Kind::Switch).traffic();
    }
    plain {
        /// What is bound for it.
        bound: TlsBindings = TlsBindings::default();
    }
}

known_by_name!(SslService);

resource! {
    /// TLS with the members of a group.
    pub struct SslServiceGroup "ssl serviceGroup" {
        /// Name of the group.
        name: String = String::new(), Key("serviceGroupName", "servicegroupname", Kind::Name).at_add().ranged().traffic();
        /// DISABLED: each connection has a handshake of its own.
        session_reuse: Option<bool> = None, Option("sessReuse", "sessreuse", Kind::Switch).traffic();
        /// Seconds for which a session may be used again.
        session_timeout_s: Option<u32> = None, Option("sessTimeout", "sesstimeout", SECONDS).traffic();
        /// DISABLED: it must not speak SSL 3.
        ssl3: Option<bool> = None, Option("ssl3", "ssl3", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.0.
        tls1: Option<bool> = None, Option("tls1", "tls1", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.1.
        tls11: Option<bool> = None, Option("tls11", "tls11", Kind::Switch).traffic();
        /// DISABLED: it must not speak TLS 1.2.
        tls12: Option<bool> = None, Option("tls12", "tls12", Kind::Switch).traffic();
        /// ENABLED: it may speak TLS 1.3.
        tls13: Option<bool> = None, Option("tls13", "tls13", Kind::Switch).traffic();
        /// ENABLED: a ClientHello has the name of the service.
        sni: bool = false, Option("SNIEnable", "snienable", Kind::Switch);
        /// ENABLED: it is asked whether its certificate has been revoked.
        ocsp_stapling: Option<bool> = None, Option("ocspStapling", "ocspstapling", Kind::Switch).traffic();
        /// ENABLED: the certificate of the service is checked.
        server_auth: bool = false, Option("serverAuth", "serverauth", Kind::Switch);
        /// Name of the service, which its certificate must have.
        common_name: String = String::new(), Option("commonName", "commonname", TEXT);
        /// Profile that says all of this.
        profile: String = String::new(), Option("sslProfile", "sslprofile", PROFILE).traffic();
        /// NO: a connection ends without the word of it that TLS has.
        sends_close_notify: Option<bool> = None, Option("sendCloseNotify", "sendclosenotify", Kind::YesNo).traffic();
        /// ENABLED: signatures must have the digest of the certificate.
        strict_signatures: Option<bool> = None, Option("strictSigDigestCheck", "strictsigdigestcheck", Kind::Switch).traffic();
    }
    plain {
        /// What is bound for it.
        bound: TlsBindings = TlsBindings::default();
    }
}

known_by_name!(SslServiceGroup);

/// What probes need to know of TLS with a service.
#[derive(Clone, Copy, Default, Debug)]
pub struct TlsOfService<'c> {
    /// Does a ClientHello ask for the name?
    pub sends_name: bool,
    /// What the service is called; empty if nothing is said.
    pub name: &'c str,
    /// Is its certificate checked?
    pub is_checked: bool,
    /// The certificates that are bound.
    pub cert_keys: &'c [CertKeyBinding],
}

impl Config {
    /// TLS with that service.
    pub fn tls_of_service(&self, service: &str) -> TlsOfService<'_> {
        let Some(tls) = self.ssl_services.find(service) else { return TlsOfService::default() };
        let SslService { sni, server_auth, common_name, bound, .. } = tls;
        of((*sni, *server_auth), common_name, bound)
    }

    /// TLS with the members of that group.
    pub fn tls_of_group(&self, group: &str) -> TlsOfService<'_> {
        let Some(tls) = self.ssl_service_groups.find(group) else { return TlsOfService::default() };
        let SslServiceGroup { sni, server_auth, common_name, bound, .. } = tls;
        of((*sni, *server_auth), common_name, bound)
    }
}

fn of<'c>((sends_name, is_checked): (bool, bool), name: &'c str, bound: &'c TlsBindings) -> TlsOfService<'c> {
    TlsOfService { sends_name, name, is_checked, cert_keys: &bound.cert_keys }
}
