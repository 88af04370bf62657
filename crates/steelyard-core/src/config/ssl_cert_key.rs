//! `ssl certKey`: a certificate and its key, by the names of their files. Kept, shown and saved; what the files hold is not
//! looked at here.

use super::attribute::{Kind, Place, Row};
use super::make::resource;
use super::secret::Secret;
use super::table::known_by_name;
use super::{PROFILE, SHORT_TEXT, TEXT, one_of};

resource! {
    /// A certificate and its key.
    pub struct SslCertKey "ssl certKey" {
        /// Name of the pair.
        name: String = String::new(), Key("certkeyName", "certkey", Kind::Name).at_add().traffic();
        /// File of the certificate.
        cert: String = String::new(), Option("cert", "cert", TEXT).at_add().traffic();
        /// File of the private key.
        key: String = String::new(), Option("key", "key", TEXT).at_add().traffic();
        /// The key has a pass phrase.
        has_password: bool = false, Option("password", "password", Kind::Bare).at_add().traffic();
        /// Name of the key in a FIPS module.
        fips_key: String = String::new(), Option("fipsKey", "fipskey", PROFILE).at_add().traffic();
        /// Name of the key in another hardware module.
        hsm_key: String = String::new(), Option("hsmKey", "hsmkey", PROFILE).at_add().traffic();
        /// Format of the files.
        inform: &'static str = "PEM", Option("inform", "inform", one_of(&["DER", "PEM", "PFX"])).at_add().traffic();
        /// Pass phrase of the key.
        passphrase: Option<Secret> = None, Option("passplain", "passplain", Kind::Secret).at_add().traffic();
        /// The same as an appliance encrypts it.
        encrypted_passphrase: String = String::new(), Option("passcrypt", "passcrypt", SHORT_TEXT).at_add().traffic();
        /// ENABLED: an alarm is given before it expires.
        expiry_monitor: Option<bool> = None, Option("expiryMonitor", "expirymonitor", Kind::Switch).inert();
        /// Days before that for which the alarm is given.
        notification_period: Option<u32> = None,
            Option("notificationPeriod", "notificationperiod", Kind::Number { min: 10, max: 100 }).inert();
        /// YES: the file has the certificates of those who signed it as well.
        bundle: bool = false, Option("bundle", "bundle", Kind::YesNo).at_add().traffic();
        /// Whether its files go when it is removed.
        deletes_files: &'static str = "NO",
            Option("deleteCertKeyFilesOnRemoval", "deletecertkeyfilesonremoval", one_of(&["NO", "IF_EXPIRED", "YES"])).inert();
    }
    plain {
        /// Name of the pair of who signed it; empty if it is not linked.
        issuer: String = String::new();
        /// Who is asked whether it has been revoked, in binding order.
        ocsp_responders: Vec<OcspResponderBinding> = Vec::new();
    }
}

known_by_name!(SslCertKey);

resource! {
    /// Who is asked whether a certificate has been revoked.
    pub struct OcspResponderBinding "ssl certKey" {
        /// Name of the OCSP responder.
        responder: String = String::new(), Option("ocspResponder", "ocspresponder", PROFILE).traffic();
        /// Its place among them; the smallest is asked first.
        priority: Option<u32> = None, Option("priority", "priority", Kind::Number { min: 0, max: u32::MAX }).traffic();
    }
}

resource! {
    /// A certificate that is bound to a virtual server, a service, a group or a monitor.
    pub struct CertKeyBinding "ssl vserver" {
        /// Name of the certificate and its key.
        cert_key: String = String::new(), Option("certkeyName", "certkeyname", PROFILE).traffic();
        /// It is a certificate by which others are known.
        is_ca: bool = false, Option("CA", "ca", Kind::Bare).traffic();
        /// Whether a list of revoked certificates is asked for.
        crl_check: &'static str = "", Option("crlCheck", "crlcheck", one_of(&["Mandatory", "Optional"])).traffic();
        /// Whether it is asked if a certificate has been revoked.
        ocsp_check: &'static str = "", Option("ocspCheck", "ocspcheck", one_of(&["Mandatory", "Optional"])).traffic();
        /// Its name is not sent to clients that are asked for a certificate.
        skips_name: bool = false, Option("skipCAName", "skipcaname", Kind::Bare).traffic();
        /// It is for clients that ask for a host of its names.
        is_sni: bool = false, Option("SNICert", "snicert", Kind::Bare).traffic();
    }
}

impl CertKeyBinding {
    /// May the two not be bound to one object? A certificate can be bound once to show who one is, once to know others
    /// by, and once for those who ask for its names.
    pub(crate) fn is_same(&self, other: &CertKeyBinding) -> bool {
        let kind = |binding: &CertKeyBinding| (binding.is_ca, binding.is_sni);
        self.cert_key.eq_ignore_ascii_case(&other.cert_key) && kind(self) == kind(other)
    }
}

/// What `link ssl certKey` links to.
pub(crate) static ISSUER: Row = Row::new(
    Place::Required,
    "linkCertKeyName",
    "linkcertkeyname",
    Kind::Name,
    "Certificate of who signed this one.",
)
.traffic();

/// What `update ssl certKey` leaves out.
pub(crate) static NO_DOMAIN_CHECK: Row = Row::new(
    Place::Option,
    "noDomainCheck",
    "nodomaincheck",
    Kind::Bare,
    "The new certificate may be for another domain.",
)
.inert();

/// What `rm ssl certKey` removes besides.
pub(crate) static DELETES_FILES: Row =
    Row::new(Place::Option, "deletefromdevice", "deletefromdevice", Kind::Bare, "Its files go as well.")
        .inert();
