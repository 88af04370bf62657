//! `lb parameter`: settings of load balancing as a whole.

use super::attribute::Kind;
use super::make::resource;
use super::secret::Secret;
use super::{SHORT_TEXT, TEXT, one_of};

resource! {
    /// Settings of load balancing as a whole.
    pub struct LbParameter "lb parameter" {
        /// DISABLED: scripts may read the cookie of persistence.
        http_only_cookie: bool = true, Option("httpOnlyCookieFlag", "httponlycookieflag", Kind::Switch).traffic();
        /// ENABLED: that cookie is hashed.
        secured_cookie: bool = false,
            Option("useSecuredPersistenceCookie", "usesecuredpersistencecookie", Kind::Switch).traffic();
        /// ENABLED: that cookie is encrypted.
        encrypted_cookie: bool = false,
            Option("useEncryptedPersistenceCookie", "useencryptedpersistencecookie", Kind::Switch).traffic();
        /// Words from which the key for that is made.
        cookie_passphrase: Option<Secret> = None,
            Option("cookiePassphrase", "cookiepassphrase", Kind::Secret).traffic();
        /// NO: each packet engine counts connections for itself.
        consolidated_connections: bool = true, Option("consolidatedLConn", "consolidatedlconn", Kind::YesNo).traffic();
        /// NO: hash methods leave a service's port out.
        port_in_hash: bool = true, Option("usePortForHashLb", "useportforhashlb", Kind::YesNo).traffic();
        /// NO: a route is looked up for a service on a connected network.
        prefer_direct_route: bool = true, Option("preferDirectRoute", "preferdirectroute", Kind::YesNo).traffic();
        /// Requests per service in startup round robin; 0 derives them from the rate.
        startup_rr_factor: u32 = 0,
            Option("startupRRFactor", "startuprrfactor", Kind::Number { min: 0, max: u32::MAX });
        /// DISABLED: a service that has as many connections as its maxClient is not probed.
        monitor_skips_max_client: bool = false,
            Option("monitorSkipMaxClient", "monitorskipmaxclient", Kind::Switch);
        /// How probes end their connections.
        monitor_close: &'static str = "FIN",
            Option("monitorConnectionClose", "monitorconnectionclose", one_of(&["RESET", "FIN"]));
        /// ENABLED: packets from services differ by hardware address for each virtual server, in layer 2 mode.
        vserver_specific_mac: bool = false, Option("vServerSpecificMac", "vserverspecificmac", Kind::Switch).traffic();
        /// DISABLED: a service that is bound cannot be removed.
        allow_bound_service_removal: bool = true,
            Option("AllowBoundSvcRemoval", "allowboundsvcremoval", Kind::Switch);
        /// ON: a service keeps its own state while its server is disabled.
        retain_service_state: bool = false, Option("retainservicestate", "retainservicestate", Kind::OnOff).traffic();
        /// Most sessions of persistence for each packet engine.
        sessions_threshold: Option<u32> = None,
            Option("sessionsThreshold", "sessionsthreshold", Kind::Number { min: 1, max: u32::MAX }).traffic();
        /// Seconds for which an answer about a domain name holds; 0 for what the answer says.
        dbs_ttl_s: u32 = 0, Option("dbsTTL", "dbsttl", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Most requests in a pipeline whose connection is kept from translation.
        max_pipeline_nat: Option<u32> = None,
            Option("maxPipelineNat", "maxpipelinenat", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// What is written behind the cookie of persistence.
        literal_cookie_attribute: String = String::new(),
            Option("literalADCCookieAttribute", "literaladccookieattribute", TEXT).traffic();
        /// A variable that holds what is written there.
        computed_cookie_attribute: String = String::new(),
            Option("computedADCCookieAttribute", "computedadccookieattribute", TEXT).traffic();
        /// YES: the client and user of an MQTT connection are kept.
        stores_mqtt_client: bool = false,
            Option("storeMqttClientIdAndUsername", "storemqttclientidandusername", Kind::YesNo).traffic();
        /// NO: MQTT messages that are very long are passed on.
        drops_mqtt_jumbo: bool = true, Option("dropMqttJumboMessage", "dropmqttjumbomessage", Kind::YesNo).traffic();
        /// How hash methods find a service.
        hash_algorithm: String = String::new(), Option("lbHashAlgorithm", "lbhashalgorithm", SHORT_TEXT).traffic();
        /// How many places a service has there.
        hash_fingers: Option<u32> = None,
            Option("lbHashFingers", "lbhashfingers", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// How many of those are looked at.
        hash_window: String = String::new(), Option("lbHashAlgoWinSize", "lbhashalgowinsize", SHORT_TEXT).traffic();
        /// What happens when a policy has no answer.
        undefined_action: String = String::new(), Option("undefAction", "undefaction", TEXT).traffic();
        /// YES: proximity is measured from here.
        proximity_from_self: bool = false, Option("proximityFromSelf", "proximityfromself", Kind::YesNo).traffic();
        /// YES: a service of lower rank wins over persistence.
        order_over_persistence: bool = false,
            Option("overridePersistencyforOrder", "overridepersistencyfororder", Kind::YesNo).traffic();
    }
}
