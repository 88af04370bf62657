//! `ns ip`: an address that the appliance owns, and what it answers there.

use std::net::{IpAddr, Ipv4Addr};

use super::attribute::Kind;
use super::make::{resource, words};
use super::table::Keyed;
use super::{TRAFFIC_DOMAIN, one_of};

words! {
    /// What an address is for.
    pub enum IpType {
        /// Server-side connections and probes leave from it.
        Snip = "SNIP",
        /// Clients connect to it.
        Vip = "VIP",
        /// Management.
        Nsip = "NSIP",
    }
    not carried ["GSLBsiteIP", "CLIP", "LSN", "MIP"]
}

resource! {
    /// An address of the appliance.
    pub struct NsIp "ns ip" {
        /// The address, an IPv4 one.
        address: String = String::new(), Key("IPAddress", "ipaddress", Kind::Ip).at_add().ranged();
        /// Mask of its subnet.
        netmask: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED), Required("netmask", "netmask", Kind::Ip);
        /// What it is for.
        kind: IpType = IpType::Snip, Option("type", "type", Kind::Word(IpType::WORDS)).at_add();
        /// ENABLED: a route to the address alone is advertised.
        host_route: Option<bool> = None, Option("hostRoute", "hostroute", Kind::Switch).traffic();
        /// Tag of that route.
        tag: u32 = 0, Option("tag", "tag", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Gateway of that route.
        host_route_gateway: Option<IpAddr> = None, Option("hostRtGw", "hostrtgw", Kind::Ip).traffic();
        /// Metric of that route.
        metric: Option<u32> = None, Option("metric", "metric", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Which virtual servers on it must be UP for the route to be advertised.
        rhi_level: &'static str = "ONE_VSERVER",
            Option(
                "vserverRHILevel",
                "vserverrhilevel",
                one_of(&["ONE_VSERVER", "ALL_VSERVERS", "NONE", "VSVR_CNTRLD"])
            ).traffic();
        /// How the route is advertised.
        rhi_mode: &'static str = "DYNAMIC_ROUTING",
            Option("vserverRHIMode", "vserverrhimode", one_of(&["DYNAMIC_ROUTING", "RISE"])).traffic();
        /// Type of the announcement by OSPF.
        ospf_lsa_type: &'static str = "TYPE5",
            Option("ospfLSAType", "ospflsatype", one_of(&["TYPE1", "TYPE5"])).traffic();
        /// OSPF area of that announcement.
        ospf_area: Option<u32> = None,
            Option("ospfArea", "ospfarea", Kind::Number { min: 0, max: u32::MAX - 1 }).traffic();
        /// DISABLED: requests for its hardware address are not answered.
        arp: bool = true, Option("arp", "arp", Kind::Switch).traffic();
        /// DISABLED: pings are not answered.
        icmp: bool = true, Option("icmp", "icmp", Kind::Switch).traffic();
        /// DISABLED: no virtual server answers on it.
        vserver: bool = true, Option("vServer", "vserver", Kind::Switch).traffic();
        /// Management by Telnet.
        telnet: bool = true, Option("telnet", "telnet", Kind::Switch).inert();
        /// Management by FTP.
        ftp: bool = true, Option("ftp", "ftp", Kind::Switch).inert();
        /// Management by a browser.
        gui: &'static str = "ENABLED",
            Option("gui", "gui", one_of(&["ENABLED", "SECUREONLY", "DISABLED"])).inert();
        /// Management by SSH.
        ssh: bool = true, Option("ssh", "ssh", Kind::Switch).inert();
        /// Management by SNMP.
        snmp: bool = true, Option("snmp", "snmp", Kind::Switch).inert();
        /// ENABLED: the appliance can be managed on it.
        management: bool = false, Option("mgmtAccess", "mgmtaccess", Kind::Switch).inert();
        /// ENABLED: nothing but management is answered on it.
        restrict_access: bool = false, Option("restrictAccess", "restrictaccess", Kind::Switch).inert();
        /// ENABLED: routing protocols may use it.
        dynamic_routing: bool = false, Option("dynamicRouting", "dynamicrouting", Kind::Switch).traffic();
        /// ENABLED: the time to live of packets to it is counted down.
        decrement_ttl: bool = false, Option("decrementTTL", "decrementttl", Kind::Switch).traffic();
        /// ENABLED: OSPF may use it.
        ospf: bool = false, Option("ospf", "ospf", Kind::Switch).traffic();
        /// ENABLED: BGP may use it.
        bgp: bool = false, Option("bgp", "bgp", Kind::Switch).traffic();
        /// ENABLED: RIP may use it.
        rip: bool = false, Option("rip", "rip", Kind::Switch).traffic();
        /// ENABLED: a route to its subnet is advertised.
        network_route: Option<bool> = None, Option("networkRoute", "networkroute", Kind::Switch).traffic();
        /// DISABLED: the address is not answered for at all.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add().traffic();
        /// Virtual router that it belongs to.
        virtual_router: Option<u32> = None, Option("vrID", "vrid", Kind::Number { min: 1, max: 255 }).traffic();
        /// Which virtual servers on it must be UP for pings to be answered.
        icmp_response: &'static str = "",
            Option(
                "icmpResponse",
                "icmpresponse",
                one_of(&["NONE", "ONE_VSERVER", "ALL_VSERVERS", "VSVR_CNTRLD"])
            ).traffic();
        /// Which appliance of a cluster owns it.
        owner: Option<u32> = None,
            Option("ownerNode", "ownernode", Kind::Number { min: 0, max: 255 }).at_add().traffic();
        /// Which virtual servers on it must be UP for its hardware address to be told.
        arp_response: &'static str = "",
            Option("arpResponse", "arpresponse", one_of(&["NONE", "ONE_VSERVER", "ALL_VSERVERS"])).traffic();
        /// NO: nobody answers on it while its owner in a cluster is down.
        owner_down_response: bool = true,
            Option("ownerDownResponse", "ownerdownresponse", Kind::YesNo).traffic();
        /// Traffic domain that it belongs to.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().traffic();
        /// ENABLED: it is advertised from the default partition.
        advertise_on_default_partition: Option<bool> = None,
            Option("advertiseOnDefaultPartition", "advertiseondefaultpartition", Kind::Switch).traffic();
        /// YES: it is offered to clients of Multipath TCP.
        mptcp_advertise: Option<bool> = None, Option("mptcpAdvertise", "mptcpadvertise", Kind::YesNo).traffic();
        /// Which appliance of a cluster answers for its hardware address.
        arp_owner: Option<u32> = None,
            Option("arpOwner", "arpowner", Kind::Number { min: 0, max: 255 }).traffic();
    }
}

impl NsIp {
    /// The address; `None` for one that was never set.
    pub fn ip(&self) -> Option<IpAddr> {
        self.address.parse().ok()
    }
}

impl Keyed for NsIp {
    /// It is its own name.
    type Address = ();

    fn name(&self) -> &str {
        &self.address
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}
