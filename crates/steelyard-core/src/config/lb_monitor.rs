//! `lb monitor`: what is asked of a service, how often, and what answer keeps it UP. One list has the options of every
//! type; which of them a type has is for `command::apply` to check.

use std::net::IpAddr;

use super::attribute::{CodeRange, Kind, Span};
use super::lb_vserver::MSSQL_VERSIONS;
use super::make::resource;
use super::monitor_type::MonitorType;
use super::secret::Secret;
use super::ssl_cert_key::CertKeyBinding;
use super::table::known_by_name;
use super::{PROFILE, TEXT, one_of};

resource! {
    /// A monitor (`spec/methods.md` 4.1).
    pub struct LbMonitor "lb monitor" {
        /// Name of the monitor.
        name: String = String::new(),
            Key("monitorName", "monitorname", Kind::Name).at_add();
        /// What a probe does.
        kind: MonitorType = MonitorType::Tcp, Required("type", "type", Kind::Word(MonitorType::WORDS)).at_add();
        /// What follows from a bad answer seen in passing.
        action: &'static str = "DOWN", Option("action", "action", one_of(&["NONE", "LOG", "DOWN"])).traffic();
        /// Status codes that keep the service UP.
        resp_codes: Vec<CodeRange> = Vec::new(), Option("respCode", "respcode", Kind::Codes);
        /// Request of the probe: method and path.
        http_request: String = "HEAD /".to_owned(), Option("httpRequest", "httprequest", TEXT);
        /// Request of the probe of an RTSP server.
        rtsp_request: String = "OPTIONS *".to_owned(), Option("rtspRequest", "rtsprequest", TEXT).traffic();
        /// Header lines to send with the request, as they stand.
        custom_headers: String = String::new(), Option("customHeaders", "customheaders", TEXT);
        /// How often a probe by SIP may be passed on.
        max_forwards: u32 = 1, Option("maxForwards", "maxforwards", Kind::Number { min: 0, max: 255 }).traffic();
        /// Method of a probe by SIP.
        sip_method: &'static str = "",
            Option("sipMethod", "sipmethod", one_of(&["OPTIONS", "INVITE", "REGISTER"])).traffic();
        /// What a probe by SIP asks for.
        sip_uri: String = String::new(), Option("sipURI", "sipuri", TEXT).traffic();
        /// What a probe by SIP registers.
        sip_register_uri: String = String::new(), Option("sipregURI", "sipreguri", TEXT).traffic();
        /// What is sent, with the escapes \r \n \t \" \\ \xHH.
        send: String = String::new(), Option("send", "send", TEXT);
        /// What must be in the answer: text with those escapes, or a regular expression as re/.../.
        receive: String = String::new(), Option("recv", "recv", TEXT);
        /// Name that is asked for; without one the root.
        query: String = String::new(), Option("query", "query", TEXT);
        /// What about that name is asked: IPv4 addresses, the SOA record, IPv6 addresses.
        query_type: &'static str = "", Option("queryType", "querytype", one_of(&["Address", "Zone", "AAAA"]));
        /// Script that probes.
        script: String = String::new(), Option("scriptName", "scriptname", Kind::Text { max: 63 });
        /// What the script is told.
        script_arguments: String = String::new(), Option("scriptArgs", "scriptargs", Kind::Text { max: 512 });
        /// What else it is told, and nobody else.
        secure_arguments: Option<Secret> = None, Option("secureArgs", "secureargs", Kind::Secret);
        /// Address of who runs the script.
        dispatcher_ip: Option<IpAddr> = None, Option("dispatcherIP", "dispatcherip", Kind::Ip);
        /// Port of who runs the script.
        dispatcher_port: Option<u16> = None, Option("dispatcherPort", "dispatcherport", Kind::Port { min: 1 });
        /// Who logs in.
        user: String = String::new(), Option("userName", "username", TEXT);
        /// With what password.
        password: Option<Secret> = None, Option("password", "password", Kind::Secret);
        /// With what second password.
        secondary_password: Option<Secret> = None, Option("secondaryPassword", "secondarypassword", Kind::Secret).traffic();
        /// Where a log-on page of Citrix is.
        logon_point: String = String::new(), Option("logonpointName", "logonpointname", TEXT).traffic();
        /// Version of a logon agent of Citrix.
        las_version: String = String::new(), Option("lasVersion", "lasversion", TEXT).traffic();
        /// Key that is shared with a RADIUS server.
        radius_key: Option<Secret> = None, Option("radKey", "radkey", Kind::Secret).traffic();
        /// What the probe calls itself to a RADIUS server.
        radius_nas_id: String = String::new(), Option("radNASid", "radnasid", TEXT).traffic();
        /// Address that it gives itself there.
        radius_nas_ip: Option<IpAddr> = None, Option("radNASip", "radnasip", Kind::Ip).traffic();
        /// Type of a RADIUS account.
        radius_account_type: u32 = 1,
            Option("radAccountType", "radaccounttype", Kind::Number { min: 0, max: 15 }).traffic();
        /// Address in a RADIUS account.
        radius_framed_ip: Option<IpAddr> = None, Option("radFramedIP", "radframedip", Kind::Ip).traffic();
        /// Access point in a RADIUS account.
        radius_apn: String = String::new(), Option("radAPN", "radapn", TEXT).traffic();
        /// Number of the caller in a RADIUS account.
        radius_msisdn: String = String::new(), Option("radMSISDN", "radmsisdn", TEXT).traffic();
        /// Session of a RADIUS account.
        radius_account_session: String = String::new(), Option("radAccountSession", "radaccountsession", TEXT).traffic();
        /// ENABLED: its response times count for the method LRTM.
        lrtm: Option<bool> = None, Option("LRTM", "lrtm", Kind::Switch);
        /// By how much a response time may lie above what was learnt; 0 leaves it at the response timeout.
        deviation: Span = Span::seconds(0),
            Option("deviation", "deviation", Kind::Span { max: 20_939, floor_ms: 0, unit: "units1" });
        /// Time between two probes; longer than the response timeout.
        interval: Span = Span::seconds(5),
            Option("interval", "interval", Kind::Span { max: 20_940, floor_ms: 20, unit: "units3" });
        /// Time after which a probe without an answer has failed.
        resptimeout: Span = Span::seconds(2),
            Option("resptimeout", "resptimeout", Kind::Span { max: 20_939, floor_ms: 10, unit: "units4" });
        /// Percent of the response timeout beyond which an alarm is given.
        resptimeout_threshold: u32 = 0,
            Option("resptimeoutThresh", "resptimeoutthresh", Kind::Number { min: 0, max: 100 });
        /// Probes that decide whether a service is DOWN.
        retries: u32 = 3, Option("retries", "retries", Kind::Number { min: 1, max: 127 });
        /// How many of those must fail; 0 means all, one after the other.
        failure_retries: u32 = 0, Option("failureRetries", "failureretries", Kind::Number { min: 0, max: 32 });
        /// Failures one after the other after which an alarm is given.
        alert_retries: u32 = 0, Option("alertRetries", "alertretries", Kind::Number { min: 0, max: 32 });
        /// Successes one after the other that make a service UP again.
        success_retries: u32 = 1, Option("successRetries", "successretries", Kind::Number { min: 1, max: 32 });
        /// Time before a service that is DOWN is probed again.
        down_time: Span = Span::seconds(30),
            Option("downTime", "downtime", Kind::Span { max: 20_939, floor_ms: 20, unit: "units2" });
        /// Address to probe in place of the service's own.
        dest_ip: Option<IpAddr> = None, Option("destIP", "destip", Kind::Ip);
        /// Port to probe in place of the service's own.
        dest_port: Option<u16> = None, Option("destPort", "destport", Kind::Port { min: 1 });
        /// DISABLED takes it out of the state of every service it is bound to.
        enabled: bool = true, Option("state", "state", Kind::Switch);
        /// YES turns success and failure around.
        reverse: bool = false, Option("reverse", "reverse", Kind::YesNo);
        /// YES: the address to probe is reached by way of the service.
        transparent: bool = false, Option("transparent", "transparent", Kind::YesNo);
        /// YES: it is reached through a tunnel.
        ip_tunnel: bool = false, Option("ipTunnel", "iptunnel", Kind::YesNo).traffic();
        /// YES: probes carry a type of service.
        tos: bool = false, Option("tos", "tos", Kind::YesNo);
        /// Which type of service that is.
        tos_id: Option<u32> = None, Option("tosId", "tosid", Kind::Number { min: 1, max: 63 });
        /// YES: probes go through TLS.
        secure: bool = false, Option("secure", "secure", Kind::YesNo);
        /// YES: a Citrix server is asked whether the user may log in.
        validates_credentials: bool = false, Option("validateCred", "validatecred", Kind::YesNo).traffic();
        /// Domain of the user.
        domain: String = String::new(), Option("domain", "domain", TEXT).traffic();
        /// Addresses of which one must be in the answer.
        ips: Vec<IpAddr> = Vec::new(), Option("IPAddress", "ipaddress", Kind::Ips);
        /// Newsgroup that must exist.
        group: String = String::new(), Option("group", "group", TEXT).traffic();
        /// File that must exist.
        file: String = String::new(), Option("fileName", "filename", TEXT);
        /// Where an LDAP search begins.
        base_dn: String = String::new(), Option("baseDN", "basedn", TEXT).traffic();
        /// Who asks the LDAP server.
        bind_dn: String = String::new(), Option("bindDN", "binddn", TEXT).traffic();
        /// What is searched there.
        filter: String = String::new(), Option("filter", "filter", TEXT).traffic();
        /// What must be found there.
        attribute: String = String::new(), Option("attribute", "attribute", TEXT).traffic();
        /// Database to ask.
        database: String = String::new(), Option("database", "database", TEXT).traffic();
        /// The same, of Oracle.
        oracle_sid: String = String::new(), Option("oracleSid", "oraclesid", TEXT).traffic();
        /// What is asked.
        sql_query: String = String::new(), Option("sqlQuery", "sqlquery", TEXT).traffic();
        /// What must be true of the answer.
        eval_rule: Option<String> = None, Option("evalRule", "evalrule", super::EXPRESSION).traffic();
        /// Version of the protocol of a Microsoft database.
        mssql_protocol_version: &'static str = "70",
            Option("mssqlProtocolVersion", "mssqlprotocolversion", one_of(MSSQL_VERSIONS)).traffic();
        /// What is read by SNMP.
        snmp_oid: String = String::new(), Option("snmpOID", "Snmpoid", TEXT).traffic();
        /// Community that may read it.
        snmp_community: String = String::new(), Option("snmpCommunity", "snmpcommunity", TEXT).traffic();
        /// Highest value that keeps the service UP.
        snmp_threshold: String = String::new(), Option("snmpThreshold", "snmpthreshold", TEXT).traffic();
        /// Version of SNMP.
        snmp_version: &'static str = "", Option("snmpVersion", "snmpversion", one_of(&["V1", "V2"])).traffic();
        /// What a load monitor reads.
        metric_table: String = String::new(), Option("metricTable", "metrictable", Kind::Text { max: 99 }).traffic();
        /// Application that a Citrix server must have.
        application: String = String::new(), Option("application", "application", TEXT).traffic();
        /// Where its site is.
        site_path: String = String::new(), Option("sitePath", "sitepath", TEXT).traffic();
        /// StoreFront store.
        store: String = String::new(), Option("storename", "storename", TEXT).traffic();
        /// NO: the account service of StoreFront is left out.
        storefront_account_service: bool = true,
            Option("storefrontacctservice", "storefrontacctservice", Kind::YesNo).traffic();
        /// YES: what StoreFront stands on is asked for as well.
        storefront_checks_servers: bool = false,
            Option("storefrontcheckbackendservices", "storefrontcheckbackendservices", Kind::YesNo).traffic();
        /// Profile that says where probes come from.
        net_profile: String = String::new(), Option("netProfile", "netprofile", PROFILE);
        /// Host that a probe by Diameter says it is.
        origin_host: String = String::new(), Option("originHost", "originhost", TEXT).traffic();
        /// Realm that it says it is in.
        origin_realm: String = String::new(), Option("originRealm", "originrealm", TEXT).traffic();
        /// Address that it says it has.
        host_ip: Option<IpAddr> = None, Option("hostIPAddress", "hostipaddress", Kind::Ip).traffic();
        /// Vendor that it says it is of.
        vendor_id: Option<u32> = None,
            Option("vendorId", "vendorid", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Product that it says it is.
        product: String = String::new(), Option("productName", "productname", TEXT).traffic();
        /// Revision that it says it is of.
        firmware_revision: Option<u32> = None,
            Option("firmwareRevision", "firmwarerevision", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Applications whose log-in it says it knows.
        auth_applications: Vec<u32> = Vec::new(), Option("authApplicationId", "authapplicationid", ANY_NUMBERS).traffic();
        /// Applications whose accounts it says it knows.
        acct_applications: Vec<u32> = Vec::new(), Option("acctApplicationId", "acctapplicationid", ANY_NUMBERS).traffic();
        /// Whether it says it can do TLS.
        inband_security: &'static str = "",
            Option("inbandSecurityId", "inbandsecurityid", one_of(&["NO_INBAND_SECURITY", "TLS"])).traffic();
        /// Vendors that it says it knows.
        supported_vendors: Vec<u32> = Vec::new(),
            Option("supportedVendorIds", "supportedvendorids", Kind::Numbers { min: 1, max: u32::MAX }).traffic();
        /// Vendor of what follows.
        vendor_specific_vendor: Option<u32> = None,
            Option("vendorSpecificVendorId", "vendorspecificvendorid", Kind::Number { min: 1, max: u32::MAX }).traffic();
        /// Applications of that vendor whose log-in it says it knows.
        vendor_specific_auth_applications: Vec<u32> = Vec::new(),
            Option("vendorSpecificAuthApplicationIds", "vendorspecificauthapplicationids", ANY_NUMBERS).traffic();
        /// Applications of that vendor whose accounts it says it knows.
        vendor_specific_acct_applications: Vec<u32> = Vec::new(),
            Option("vendorSpecificAcctApplicationIds", "vendorspecificacctapplicationids", ANY_NUMBERS).traffic();
        /// Account of Kerberos that logs in.
        kcd_account: String = String::new(), Option("kcdAccount", "kcdaccount", Kind::Text { max: 32 }).traffic();
        /// ENABLED: which databases a server has is kept.
        keeps_databases: bool = false, Option("storedb", "storedb", Kind::Switch).traffic();
        /// Status code by which a service says that it is going out of service.
        trofs_code: Option<u32> = None,
            Option("trofscode", "trofscode", Kind::Number { min: 0, max: u32::MAX });
        /// Words by which it says so.
        trofs_string: String = String::new(), Option("trofsstring", "trofsstring", TEXT);
        /// TLS profile of probes.
        ssl_profile: String = String::new(), Option("sslProfile", "sslprofile", PROFILE).traffic();
        /// What the probe calls itself to an MQTT server.
        mqtt_client: String = String::new(), Option("mqttClientIdentifier", "mqttclientidentifier", TEXT).traffic();
        /// Version of MQTT.
        mqtt_version: u32 = 4, Option("mqttVersion", "mqttversion", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// YES: a probe is gRPC's health check.
        grpc_health_check: bool = false, Option("grpcHealthCheck", "grpchealthcheck", Kind::YesNo).traffic();
        /// Codes of gRPC that keep the service UP.
        grpc_codes: Vec<u32> = vec![12], Option("grpcStatusCode", "grpcstatuscode", ANY_NUMBERS).traffic();
        /// Which of its services a server is asked about.
        grpc_service: String = String::new(), Option("grpcServiceName", "grpcservicename", TEXT).traffic();
    }
    plain {
        /// What a load monitor reads, and how much is too much.
        metrics: Vec<MetricBinding> = Vec::new();
        /// Certificates with which probes show who they are, and by which they know others.
        cert_keys: Vec<CertKeyBinding> = Vec::new();
    }
    by kind {
        "respcode" resp_codes = good_codes;
    }
}

known_by_name!(LbMonitor);

resource! {
    /// A figure that a load monitor reads.
    pub struct MetricBinding "lb monitor" {
        /// Name of the figure.
        metric: String = String::new(), Option("metric", "metric", Kind::Text { max: 37 }).traffic();
        /// Highest value at which a service gets requests.
        threshold: Option<u32> = None,
            Option("metricThreshold", "metricthreshold", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Its weight among the figures.
        weight: u32 = 1, Option("metricWeight", "metricweight", super::WEIGHT).traffic();
    }
}

const ANY_NUMBERS: Kind = Kind::Numbers { min: 0, max: u32::MAX };
