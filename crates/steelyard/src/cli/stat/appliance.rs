//! The pages of the appliance itself. Labels and their order are those of the command reference.

use steelyard_core::config::HaPartner;
use steelyard_core::config::attribute::Resource;

use super::kinds::{Bound, Form, Kind, Objects, Part};
use super::page::Cell;
use super::page::Value::{Counted, Level};
use super::traffic::{column, line};

/// `stat ns`.
pub static NS: Kind = Kind {
    words: "ns",
    resource: "ns",
    form: Form::Single(&[
        Part {
            title: "System Information:",
            rates: false,
            lines: &[
                line("Up since", Level("starttime")),
                line("Memory usage (MB)", Level("memuseinmb")),
                line("InUse Memory (%)", Level("memusagepcnt")),
                line("Number of CPUs", Level("numcpus")),
                line("Management CPU usage (%)", Level("mgmtcpuusagepcnt")),
                line("Packet CPU usage (%)", Level("pktcpuusagepcnt")),
                line("CPU usage (%)", Level("cpuusagepcnt")),
                line("Average CPU usage (%)", Level("rescpuusagepcnt")),
                line("/flash Used (%)", Level("disk0perusage")),
                line("/flash Available (MB)", Level("disk0avail")),
                line("/var Used (%)", Level("disk1perusage")),
                line("/var Available (MB)", Level("disk1avail")),
                line("System state", Level("hacurstate")),
                line("Master state", Level("hacurmasterstate")),
                line("Last Transition time", Level("transtime")),
                line("# SSL cards present", Level("sslcards")),
                line("# SSL cards UP", Level("sslnumcardsup")),
            ],
            detail: &[
                line("CPU usage", Level("cpuusage")),
                line("Average CPU usage", Level("rescpuusage")),
                line("Memory usage", Level("resmemusage")),
            ],
        },
        Part {
            title: "Throughput Statistics:",
            rates: true,
            lines: &[
                line("Megabits received", Counted("rxmbitsrate", "totrxmbits")),
                line("Megabits transmitted", Counted("txmbitsrate", "tottxmbits")),
            ],
            detail: &[],
        },
        Part {
            title: "TCP Connections:",
            rates: true,
            lines: &[
                line("All client connections", Level("tcpcurclientconn")),
                line("Established client connections", Level("tcpcurclientconnestablished")),
                line("All server connections", Level("tcpcurserverconn")),
                line("Established server connections", Level("tcpcurserverconnestablished")),
            ],
            detail: &[],
        },
        Part {
            title: "HTTP Statistics:",
            rates: true,
            lines: &[
                line("Total requests", Counted("httprequestsrate", "httptotrequests")),
                line("Total responses", Counted("httpresponsesrate", "httptotresponses")),
                line("Request bytes received", Counted("httprxrequestbytesrate", "httptotrxrequestbytes")),
                line("Response bytes received", Counted("httprxresponsebytesrate", "httptotrxresponsebytes")),
            ],
            detail: &[],
        },
        Part {
            title: "SSL Statistics:",
            rates: true,
            lines: &[
                line("SSL transactions", Counted("ssltransactionsrate", "ssltottransactions")),
                line("SSL session hits", Counted("sslsessionhitsrate", "ssltotsessionhits")),
            ],
            detail: &[],
        },
        Part {
            title: "Integrated Cache Statistics:",
            rates: true,
            lines: &[],
            detail: &[
                line("Hits", Counted("cachehitsrate", "cachetothits")),
                line("Misses", Counted("cachemissesrate", "cachetotmisses")),
                line("Origin bandwidth saved(%)", Level("cachepercentoriginbandwidthsaved")),
                line("Maximum memory(KB)", Level("cache64maxmemorykb")),
                line("Maximum memory active value(KB)", Level("cachemaxmemoryactivekb")),
                line("Utilized memory(KB)", Level("cacheutilizedmemorykb")),
                line("Maximum memory(KB) Deprecated", Level("cachemaxmemorykb")),
            ],
        },
        Part {
            title: "Compression Statistics:",
            rates: true,
            lines: &[],
            detail: &[
                line("Total HTTP compression ratio", Level("comptotaldatacompressionratio")),
                line("HTTP compression ratio", Level("compratio")),
                line("Delta compression ratio", Level("delcmpratio")),
            ],
        },
        Part {
            title: "Application Firewall Statistics:",
            rates: true,
            lines: &[],
            detail: &[
                line("requests", Counted("appfirewallrequestsrate", "appfirewallrequests")),
                line("responses", Counted("appfirewallresponsesrate", "appfirewallresponses")),
                line("aborts", Counted("appfirewallabortsrate", "appfirewallaborts")),
                line("redirects", Counted("appfirewallredirectsrate", "appfirewallredirects")),
                line("Misc. Counter 0", Level("misccounter0")),
                line("Misc. Counter 1", Level("misccounter1")),
            ],
        },
    ]),
};

/// `stat system`.
pub static SYSTEM: Kind = Kind {
    words: "system",
    resource: "system",
    form: Form::Single(&[
        Part {
            title: "System Information:",
            rates: false,
            lines: &[
                line("Up since", Level("starttime")),
                line("Up time", Level("timesincestart")),
                line("System memory (MB)", Level("memsizemb")),
                line("Memory usage (MB)", Level("memuseinmb")),
                line("InUse Memory (%)", Level("memusagepcnt")),
                line("Number of CPUs", Level("numcpus")),
                line("CPU usage (%)", Level("cpuusagepcnt")),
                line("Average CPU usage (%)", Level("rescpuusagepcnt")),
                line("Management CPU usage (%)", Level("mgmtcpuusagepcnt")),
                line("Packet CPU usage (%)", Level("pktcpuusagepcnt")),
            ],
            detail: &[],
        },
        Part {
            title: "System Disks:",
            rates: false,
            lines: &[
                line("/flash Size (MB)", Level("disk0size")),
                line("/flash Used (MB)", Level("disk0used")),
                line("/flash Available (MB)", Level("disk0avail")),
                line("/flash Used (%)", Level("disk0perusage")),
                line("/var Size (MB)", Level("disk1size")),
                line("/var Used (MB)", Level("disk1used")),
                line("/var Available (MB)", Level("disk1avail")),
                line("/var Used (%)", Level("disk1perusage")),
            ],
            detail: &[],
        },
        Part {
            title: "System Health Statistics:",
            rates: false,
            lines: &[],
            detail: &[
                line("-12.0 V Supply Voltage", Level("voltagev12n")),
                line("-5.0 V Supply Voltage", Level("voltagev5n")),
                line("CPU usage", Level("cpuusage")),
                line("Average CPU usage", Level("rescpuusage")),
                line("Slave CPU usage", Level("slavecpuusage")),
                line("Master CPU usage", Level("mastercpuusage")),
                line("Voltage 7 (Volts)", Level("auxvolt7")),
                line("Voltage 6 (Volts)", Level("auxvolt6")),
                line("Voltage 5 (Volts)", Level("auxvolt5")),
                line("Voltage 4 (Volts)", Level("auxvolt4")),
                line("Voltage 3 (Volts)", Level("auxvolt3")),
                line("Voltage 2 (Volts)", Level("auxvolt2")),
                line("Voltage 1 (Volts)", Level("auxvolt1")),
                line("Voltage 0 (Volts)", Level("auxvolt0")),
                line("Voltage Sensor2(Volts)", Level("voltagevsen2")),
                line("5V Standby Voltage(Volts)", Level("voltagev5sb")),
                line("Intel CPU Vtt Power(Volts)", Level("voltagevtt")),
                line("Battery Voltage (Volts)", Level("voltagevbat")),
                line("+12.0 V Supply Voltage", Level("voltagev12p")),
                line("+5.0 V Supply Voltage", Level("voltagev5p")),
                line("Standby 3.3 V Supply Voltage", Level("voltagev33stby")),
                line("Main 3.3 V Supply Voltage", Level("voltagev33main")),
                line("CPU 1 Core Voltage (Volts)", Level("voltagevcc1")),
                line("CPU 0 Core Voltage (Volts)", Level("voltagevcc0")),
                line("Additional Management CPU usage (%)", Level("addimgmtcpuusagepcnt")),
                line("Management CPU 0 usage (%)", Level("mgmtcpu0usagepcnt")),
                line("CPU Fan 0 Speed (RPM)", Level("cpufan0speed")),
                line("CPU Fan 1 Speed (RPM)", Level("cpufan1speed")),
                line("System Fan Speed (RPM)", Level("systemfanspeed")),
                line("System Fan 1 Speed (RPM)", Level("fan0speed")),
                line("System Fan 2 Speed (RPM)", Level("fanspeed")),
                line("CPU 0 Temperature (Celsius)", Level("cpu0temp")),
                line("CPU 1 Temperature (Celsius)", Level("cpu1temp")),
                line("Internal Temperature (Celsius)", Level("internaltemp")),
                line("Power supply 1 status", Level("powersupply1status")),
                line("Power supply 2 status", Level("powersupply2status")),
                line("Power supply 3 status", Level("powersupply3status")),
                line("Power supply 4 status", Level("powersupply4status")),
                line("Fan 0 Speed (RPM)", Level("fan2speed")),
                line("Fan 1 Speed (RPM)", Level("fan3speed")),
                line("Fan 2 Speed (RPM)", Level("fan4speed")),
                line("Fan 3 Speed (RPM)", Level("fan5speed")),
                line("Temperature 0 (Celsius)", Level("auxtemp0")),
                line("Temperature 1 (Celsius)", Level("auxtemp1")),
                line("Temperature 2 (Celsius)", Level("auxtemp2")),
                line("Temperature 3 (Celsius)", Level("auxtemp3")),
            ],
        },
    ]),
};

/// `stat system cpu`.
pub static SYSTEM_CPU: Kind = Kind {
    words: "system cpu",
    resource: "systemcpu",
    form: Form::Objects(Objects {
        name: "id",
        all: ("CPU statistics", &[column("CPU Usage(%)", 16, Cell::Field("percpuuse"))]),
        one: ("CPU statistics", &[column("CPU Usage(%)", 16, Cell::Field("percpuuse"))]),
        counters: Part { title: "", rates: false, lines: &[], detail: &[] },
        bound: NOTHING,
    }),
};

/// `stat system memory`.
pub static SYSTEM_MEMORY: Kind = Kind {
    words: "system memory",
    resource: "systemmemory",
    form: Form::Single(&[Part {
        title: "Memory Statistics:",
        rates: false,
        lines: &[
            line("Maximum Memory Available (MB)", Level("memtotavail")),
            line("InUse Memory (%)", Level("memusagepcnt")),
            line("Memory allocated (%)", Level("memtotallocpcnt")),
            line("Shared memory allocated (%)", Level("shmemallocpcnt")),
        ],
        detail: &[],
    }]),
};

/// High availability.
pub static HA_PARTNER: Kind = Kind {
    words: HaPartner::OBJECT,
    resource: "hanode",
    form: Form::Single(&[
        Part {
            title: "HA Summary:",
            rates: false,
            lines: &[
                line("High Availability", Level("hacurstatus")),
                line("System state", Level("hacurstate")),
                line("Master state", Level("hacurmasterstate")),
                line("Last Transition time", Level("transtime")),
            ],
            detail: &[],
        },
        Part {
            title: "HA Statistics:",
            rates: true,
            lines: &[
                line("Heartbeats received", Counted("hapktrxrate", "hatotpktrx")),
                line("Heartbeats sent", Counted("hapkttxrate", "hatotpkttx")),
                line("Propagation timeouts", Level("haerrproptimeout")),
                line("Sync failure", Level("haerrsyncfailure")),
            ],
            detail: &[],
        },
    ]),
};

/// `stat interface`.
pub static INTERFACE: Kind = Kind {
    words: "interface",
    resource: "Interface",
    form: Form::Objects(Objects {
        name: "id",
        all: ("Interface(s) Summary", OF_INTERFACE),
        one: ("Interface Summary", OF_INTERFACE),
        counters: Part {
            title: "Interface Statistics",
            rates: true,
            lines: &[
                line("Bytes received", Counted("rxbytesrate", "totrxbytes")),
                line("Bytes transmitted", Counted("txbytesrate", "tottxbytes")),
                line("Packets received", Counted("rxpktsrate", "totrxpkts")),
                line("Packets transmitted", Counted("txpktsrate", "tottxpkts")),
                line("Multicast packets", Level("nictotmulticastpkts")),
                line("NetScaler packets", Counted("netscalerpktsrate", "totnetscalerpkts")),
                line("Error packets received (hw)", Counted("errpktrxrate", "errpktrx")),
                line("Error packets transmitted (hw)", Level("errpkttx")),
                line("Packets dropped in Rx (sw)", Counted("errdroppedrxpktsrate", "errdroppedrxpkts")),
                line("Packets dropped in Tx (sw)", Counted("errdroppedtxpktsrate", "errdroppedtxpkts")),
            ],
            detail: &[
                line("Jumbo Packets Received", Counted("jumbopktsreceivedrate", "jumbopktsreceived")),
                line(
                    "Jumbo Packets Transmitted",
                    Counted("jumbopktstransmittedrate", "jumbopktstransmitted"),
                ),
                line(
                    "Tagged Packets Received on Trunk",
                    Counted("trunkpktsreceivedrate", "trunkpktsreceived"),
                ),
                line(
                    "Tagged Packets transmitted on Trunk",
                    Counted("trunkpktstransmittedrate", "trunkpktstransmitted"),
                ),
                line("LACPDUs received", Counted("rxlacpdurate", "rxlacpdu")),
                line("LACPDUs transmitted", Counted("txlacpdurate", "txlacpdu")),
                line("Inbound packets discarded(hw)", Counted("errifindiscardsrate", "errifindiscards")),
                line(
                    "Outbound packets discarded(hw)",
                    Counted("nicerrifoutdiscardsrate", "nicerrifoutdiscards"),
                ),
                line("Link re-initializations", Level("linkreinits")),
                line("MAC moves registered", Counted("macmovedrate", "totmacmoved")),
                line("Receive CRC errors", Counted("rxcrcerrorsrate", "rxcrcerrors")),
            ],
        },
        bound: NOTHING,
    }),
};

/// `stat aaa`.
pub static AAA: Kind = Kind {
    words: "aaa",
    resource: "aaa",
    form: Form::Single(&[Part {
        title: "AAA Statistics",
        rates: true,
        lines: &[
            line("Authentication failures", Counted("aaaauthfailrate", "aaaauthfail")),
            line("Authentication successes", Counted("aaaauthsuccessrate", "aaaauthsuccess")),
            line("Non HTTP authorization failures", Counted("aaaauthnonhttpfailrate", "aaaauthnonhttpfail")),
            line(
                "Non HTTP authorization successes",
                Counted("aaaauthnonhttpsuccessrate", "aaaauthnonhttpsuccess"),
            ),
            line("HTTP authorization failures", Counted("aaaauthonlyhttpfailrate", "aaaauthonlyhttpfail")),
            line(
                "HTTP authorization successes",
                Counted("aaaauthonlyhttpsuccessrate", "aaaauthonlyhttpsuccess"),
            ),
            line("Current AAA sessions", Counted("aaacursessionsrate", "aaacursessions")),
            line("AAA sessions", Counted("aaasessionsrate", "aaatotsessions")),
            line("Timed out AAA sessions", Counted("aaasessiontimeoutrate", "aaatotsessiontimeout")),
            line("Current AAATM sessions", Counted("aaacurtmsessionsrate", "aaacurtmsessions")),
            line("AAATM sessions", Counted("aaatmsessionsrate", "aaatottmsessions")),
            line("Current ICA sessions", Counted("aaacuricasessionsrate", "aaacuricasessions")),
            line("Current ICA connections", Counted("aaacuricaconnrate", "aaacuricaconn")),
            line("Current ICAOnly connections", Counted("aaacuricaonlyconnrate", "aaacuricaonlyconn")),
        ],
        detail: &[],
    }]),
};

const OF_INTERFACE: &[crate::cli::stat::page::Column] = &[
    column("RxBytes", 16, Cell::Field("totrxbytes")),
    column("TxBytes", 12, Cell::Field("tottxbytes")),
    column("RxPkts", 12, Cell::Field("totrxpkts")),
    column("TxPkts", 12, Cell::Field("tottxpkts")),
];
const NOTHING: &[Bound] = &[];
