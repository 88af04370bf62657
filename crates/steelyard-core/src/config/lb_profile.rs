//! `lb profile`: settings that several virtual servers share. Kept, shown and saved; no virtual server takes any from it.

use super::attribute::Kind;
use super::make::resource;
use super::secret::Secret;
use super::table::known_by_name;
use super::{SHORT_TEXT, TEXT};

resource! {
    /// Settings that several virtual servers share.
    pub struct LbProfile "lb profile" {
        /// Name of the profile.
        name: String = String::new(), Key("lbprofilename", "lbprofilename", Kind::Name).at_add().traffic();
        /// ENABLED: queries go to the database that has the data.
        database_specific: bool = false, Option("dbsLb", "dbslb", Kind::Switch).traffic();
        /// ENABLED: one appliance of a cluster handles a connection alone.
        process_local: bool = false, Option("processLocal", "processlocal", Kind::Switch).inert();
        /// DISABLED: scripts may read the cookie of persistence.
        http_only_cookie: bool = true, Option("httpOnlyCookieFlag", "httponlycookieflag", Kind::Switch).traffic();
        /// What that cookie is encrypted with.
        cookie_passphrase: Option<Secret> = None, Option("cookiePassphrase", "cookiepassphrase", Kind::Secret).traffic();
        /// ENABLED: that cookie is hashed.
        secured_cookie: bool = false,
            Option("useSecuredPersistenceCookie", "usesecuredpersistencecookie", Kind::Switch).traffic();
        /// ENABLED: that cookie is encrypted.
        encrypted_cookie: bool = false,
            Option("useEncryptedPersistenceCookie", "useencryptedpersistencecookie", Kind::Switch).traffic();
        /// What is written behind the cookie of persistence.
        literal_cookie_attribute: String = String::new(),
            Option("literalADCCookieAttribute", "literaladccookieattribute", TEXT).traffic();
        /// What gives what is written behind it.
        computed_cookie_attribute: String = String::new(),
            Option("computedADCCookieAttribute", "computedadccookieattribute", TEXT).traffic();
        /// YES: who an MQTT client is, is kept.
        stores_mqtt_client: bool = false,
            Option("storeMqttClientIdAndUsername", "storemqttclientidandusername", Kind::YesNo).traffic();
        /// How hash methods find a service.
        hash_algorithm: String = String::new(), Option("lbHashAlgorithm", "lbhashalgorithm", SHORT_TEXT).traffic();
        /// Keys of each service, with that algorithm.
        hash_fingers: Option<u32> = None,
            Option("lbHashFingers", "lbhashfingers", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// How far that algorithm looks.
        hash_window: String = String::new(), Option("lbHashAlgoWinSize", "lbhashalgowinsize", SHORT_TEXT).traffic();
        /// YES: proximity is measured from here.
        proximity_from_self: bool = false, Option("proximityFromSelf", "proximityfromself", Kind::YesNo).traffic();
    }
}

known_by_name!(LbProfile);
