//! `ssl vserver`: what TLS of a virtual server is set to, and what is bound for it. Kept, shown and saved; it keeps a virtual
//! server shut that asks for client certificates, and does nothing else.
//!
//! There is one for every virtual server with TLS, with or without a line: a table has those of which something was said.

use super::attribute::{Kind, Place, Row};
use super::binding_list::BindingList;
use super::make::resource;
use super::policy_binding::PolicyBinding;
use super::ssl_cert_key::CertKeyBinding;
use super::table::known_by_name;
use super::{Config, PROFILE, TEXT, one_of};

resource! {
    /// TLS of a virtual server.
    pub struct SslVserver "ssl vserver" {
        /// Name of the virtual server.
        name: String = String::new(), Key("vServerName", "vservername", Kind::Name).at_add().ranged().traffic();
        /// Port on which services take in clear what came in TLS.
        clear_text_port: u32 = 0, Option("clearTextPort", "cleartextport", Kind::Number { min: 0, max: 65_534 }).traffic();
        /// ENABLED: keys are exchanged by Diffie-Hellman.
        dh: bool = false, Option("dh", "dh", Kind::Switch).traffic();
        /// File with the parameters of that.
        dh_file: String = String::new(), Option("dhFile", "dhfile", TEXT).traffic();
        /// Connections after which a new key is made for that.
        dh_count: u32 = 0, Option("dhCount", "dhcount", COUNT).traffic();
        /// ENABLED: its private keys are as short as NIST allows.
        dh_short_keys: bool = false, Option("dhKeyExpSizeLimit", "dhkeyexpsizelimit", Kind::Switch).traffic();
        /// DISABLED: clients for export get no RSA key of their own.
        ephemeral_rsa: bool = true, Option("eRSA", "ersa", Kind::Switch).traffic();
        /// Connections after which a new one is made.
        ephemeral_rsa_count: u32 = 0, Option("eRSACount", "ersacount", COUNT).traffic();
        /// DISABLED: each connection has a handshake of its own.
        session_reuse: bool = true, Option("sessReuse", "sessreuse", Kind::Switch).traffic();
        /// Seconds for which a session may be used again.
        session_timeout_s: u32 = 120, Option("sessTimeout", "sesstimeout", SECONDS).traffic();
        /// ENABLED: clients with no cipher in common are sent elsewhere.
        cipher_redirect: bool = false, Option("cipherRedirect", "cipherredirect", Kind::Switch).traffic();
        /// Where they are sent.
        cipher_url: String = String::new(), Option("cipherURL", "cipherurl", TEXT).traffic();
        /// ENABLED: clients that speak SSL 2 alone are sent elsewhere.
        ssl2_redirect: bool = false, Option("sslv2Redirect", "sslv2redirect", Kind::Switch).traffic();
        /// Where these are sent.
        ssl2_url: String = String::new(), Option("sslv2URL", "sslv2url", TEXT).traffic();
        /// ENABLED: clients are asked for a certificate.
        client_auth: bool = false, Option("clientAuth", "clientauth", Kind::Switch).exposure();
        /// Whether they must have one.
        client_cert: &'static str = "", Option("clientCert", "clientcert", one_of(&["Mandatory", "Optional"])).exposure();
        /// ENABLED: redirections of services are made to be by HTTPS.
        ssl_redirect: bool = false, Option("sslRedirect", "sslredirect", Kind::Switch).traffic();
        /// ENABLED: the port in redirections of services is made its own.
        redirect_port_rewrite: bool = false, Option("redirectPortRewrite", "redirectportrewrite", Kind::Switch).traffic();
        /// ENABLED: clients may speak SSL 2.
        ssl2: bool = false, Option("ssl2", "ssl2", Kind::Switch).traffic();
        /// DISABLED: no client may speak SSL 3.
        ssl3: bool = true, Option("ssl3", "ssl3", Kind::Switch).traffic();
        /// DISABLED: no client may speak TLS 1.0.
        tls1: bool = true, Option("tls1", "tls1", Kind::Switch).traffic();
        /// DISABLED: no client may speak TLS 1.1.
        tls11: bool = true, Option("tls11", "tls11", Kind::Switch).traffic();
        /// DISABLED: no client may speak TLS 1.2.
        tls12: bool = true, Option("tls12", "tls12", Kind::Switch).traffic();
        /// ENABLED: clients may speak TLS 1.3.
        tls13: bool = false, Option("tls13", "tls13", Kind::Switch).traffic();
        /// DISABLED: no client may speak DTLS 1.0.
        dtls1: bool = true, Option("dtls1", "dtls1", Kind::Switch).traffic();
        /// ENABLED: clients may speak DTLS 1.2.
        dtls12: bool = false, Option("dtls12", "dtls12", Kind::Switch).traffic();
        /// ENABLED: the certificate follows the host that a client asks for.
        sni: bool = false, Option("SNIEnable", "snienable", Kind::Switch).traffic();
        /// ENABLED: clients are shown that its certificate has not been revoked.
        ocsp_stapling: bool = false, Option("ocspStapling", "ocspstapling", Kind::Switch).traffic();
        /// When what is to be sent is encrypted and sent.
        push_trigger: &'static str = "",
            Option("pushEncTrigger", "pushenctrigger", one_of(&["Always", "Merge", "Ignore", "Timer"])).traffic();
        /// NO: a connection ends without the word of it that TLS has.
        sends_close_notify: bool = true, Option("sendCloseNotify", "sendclosenotify", Kind::YesNo).traffic();
        /// Profile for TLS over datagrams.
        dtls_profile: String = String::new(), Option("dtlsProfileName", "dtlsprofilename", PROFILE).traffic();
        /// Profile that says all of this.
        profile: String = String::new(), Option("sslProfile", "sslprofile", PROFILE).traffic();
        /// ENABLED: browsers are told to come by HTTPS alone.
        hsts: bool = false, Option("HSTS", "hsts", Kind::Switch).traffic();
        /// Seconds for which they are to do so.
        max_age_s: u32 = 0, Option("maxage", "maxage", SECONDS).traffic();
        /// YES: for hosts below its own as well.
        includes_subdomains: bool = false, Option("IncludeSubdomains", "includesubdomains", Kind::YesNo).traffic();
        /// YES: browsers may have that in their own lists.
        preload: bool = false, Option("preload", "preload", Kind::YesNo).traffic();
        /// ENABLED: signatures must have the digest of the certificate.
        strict_signatures: bool = false, Option("strictSigDigestCheck", "strictsigdigestcheck", Kind::Switch).traffic();
        /// ENABLED: clients may send data before the handshake ends.
        early_data: bool = false, Option("zeroRttEarlyData", "zerorttearlydata", Kind::Switch).traffic();
        /// Tickets that a client of TLS 1.3 gets.
        tickets: u32 = 1,
            Option(
                "tls13SessionTicketsPerAuthContext",
                "tls13sessionticketsperauthcontext",
                Kind::Number { min: 1, max: 10 }
            ).traffic();
        /// YES: keys are exchanged anew where a ticket is used.
        dhe_with_psk: bool = false, Option("dheKeyExchangeWithPsk", "dhekeyexchangewithpsk", Kind::YesNo).traffic();
        /// Host whose certificate clients get that ask for none.
        default_sni: String = String::new(), Option("defaultSNI", "defaultsni", TEXT).traffic();
        /// ENABLED: handshakes are logged.
        client_logs: bool = false, Option("sslClientLogs", "sslclientlogs", Kind::Switch).inert();
    }
    plain {
        /// What is bound for it.
        bound: TlsBindings = TlsBindings::default();
    }
}

known_by_name!(SslVserver);

/// What is bound for TLS.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TlsBindings {
    /// The certificates, in binding order.
    pub cert_keys: Vec<CertKeyBinding>,
    /// The policies, in binding order.
    pub policies: BindingList<PolicyBinding>,
    /// Ciphers and groups of them.
    pub ciphers: Choice,
    /// Elliptic curves.
    pub curves: Choice,
}

/// What is chosen from: some words, in binding order, and what is there without any line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// What is there without any line was taken away.
    pub without_default: bool,
    /// What was bound.
    pub names: Vec<String>,
}

impl Config {
    /// TLS of every virtual server that has any: as it was set, or as it is from the start.
    pub fn all_ssl_vservers(&self) -> impl Iterator<Item = SslVserver> {
        let lb = self.lb_vservers.iter().map(|vserver| (&vserver.name, vserver.service_type));
        let cs = self.cs_vservers.iter().map(|vserver| (&vserver.name, vserver.service_type));
        let with_tls = lb.chain(cs).filter(|(_, service_type)| service_type.has_tls());
        with_tls.map(|(name, _)| {
            let fresh = || SslVserver { name: name.clone(), ..SslVserver::default() };
            self.ssl_vservers.find(name).cloned().unwrap_or_else(fresh)
        })
    }
}

/// What `bind ssl vserver` binds of ciphers, and what is bound from the start.
pub(crate) static CIPHER: Row = Row::new(
    Place::Option,
    "cipherName",
    "ciphername",
    TEXT,
    "Cipher, or group of ciphers, that it may use.",
)
.traffic();
/// The same of elliptic curves.
pub(crate) static CURVE: Row =
    Row::new(Place::Option, "eccCurveName", "ecccurvename", TEXT, "Elliptic curve that it may use.")
        .traffic();
/// The group of ciphers that is bound from the start.
pub(crate) const DEFAULT_CIPHERS: &str = "DEFAULT";
/// All elliptic curves, which are bound from the start.
pub(crate) const ALL_CURVES: &str = "ALL";

pub(super) const COUNT: Kind = Kind::Number { min: 0, max: 65_534 };
pub(super) const SECONDS: Kind = Kind::Number { min: 0, max: 4_294_967_294 };
