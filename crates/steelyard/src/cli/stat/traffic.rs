//! The pages of what carries traffic: virtual servers, services, groups and their members (`spec/cli.md` 5).

use super::kinds::{Bound, Form, Kind, Objects, Part};
use super::page::Value::{Counted, Level, Ratio};
use super::page::{Cell, Column, Line, Value};

/// `stat lb vserver`.
pub static LB_VSERVER: Kind = Kind {
    words: "lb vserver",
    resource: "lbvserver",
    form: Form::Objects(Objects {
        name: "name",
        all: (
            "Virtual Server(s) Summary",
            &[
                column("vsvrIP", 16, Cell::Field("primaryipaddress")),
                column("port", 5, Cell::Port("primaryport")),
                column("Protocol", 12, Cell::Field("type")),
                column("State", 12, Cell::State("state")),
                column("Req/s", 8, Cell::Rate("requestsrate")),
                column("CPU-PM", 8, Cell::Field("cpuusagepm")),
            ],
        ),
        one: (
            "Virtual Server Summary",
            &[
                column("vsvrIP", 16, Cell::Field("primaryipaddress")),
                column("port", 5, Cell::Port("primaryport")),
                column("Protocol", 12, Cell::Field("type")),
                column("State", 12, Cell::State("state")),
                column("Health", 8, Cell::Field("vslbhealth")),
                column("actSvcs", 8, Cell::Field("actsvcs")),
                column("inactSvcs", 8, Cell::Field("inactsvcs")),
            ],
        ),
        counters: Part {
            title: "Virtual Server Statistics",
            rates: true,
            lines: OF_LB_VSERVER,
            detail: &[
                line(
                    "Client TTLB transactions",
                    Counted("cltttlbtransactionsrate", "totcltttlbtransactions"),
                ),
                line("Tolerating TTLB transactions", TOLERATING),
                line("Frustrating TTLB transactions", FRUSTRATING),
            ],
        },
        bound: &[
            Bound { resource: "service", name: "name", columns: OF_BOUND },
            Bound { resource: "servicegroupmember", name: "servicegroupname", columns: OF_BOUND },
        ],
    }),
};

/// `stat cs vserver`.
pub static CS_VSERVER: Kind = Kind {
    words: "cs vserver",
    resource: "csvserver",
    form: Form::Objects(Objects {
        name: "name",
        all: ("Vserver(s) Summary", OF_CS_VSERVER),
        one: ("Vserver Summary", OF_CS_VSERVER),
        counters: Part {
            title: "VServer Stats:",
            rates: true,
            lines: &[
                line("Vserver hits", Counted("hitsrate", "tothits")),
                line("Requests", REQUESTS),
                line("Responses", RESPONSES),
                line("Request bytes", REQUEST_BYTES),
                line("Response bytes", RESPONSE_BYTES),
                line("Total Packets rcvd", PACKETS_IN),
                line("Total Packets sent", PACKETS_OUT),
                line("Current client connections", Level("curclntconnections")),
                line("Current Client Est connections", Level("establishedconn")),
                line("Current server connections", Level("cursrvrconnections")),
                line("Spill Over Threshold", Level("sothreshold")),
                line("Spill Over Hits", Level("totspillovers")),
                line("Labeled Connection", Level("labelledconn")),
                line("Push Labeled Connection", Level("pushlabel")),
                line("Deferred Request", Counted("deferredreqrate", "deferredreq")),
                line("Invalid Request/Response", Level("invalidrequestresponse")),
                line("Invalid Request/Response Dropped", Level("invalidrequestresponsedropped")),
                line("Vserver Down Backup Hits", Level("totvserverdownbackuphits")),
                line("Current Multipath TCP sessions", Level("curmptcpsessions")),
                line("Current Multipath TCP subflows", Level("cursubflowconn")),
                line("Apdex for client response times.", Ratio("cltresponsetimeapdex")),
                line("Average client TTLB", Level("avgcltttlb")),
            ],
            detail: &[
                line(
                    "Client TTLB transactions",
                    Counted("cltttlbtransactionsrate", "totcltttlbtransactions"),
                ),
                line("Tolerating TTLB transactions", TOLERATING),
                line("Frustrating TTLB transactions", FRUSTRATING),
            ],
        },
        bound: &[],
    }),
};

/// `stat ssl vserver`.
pub static SSL_VSERVER: Kind = Kind {
    words: "ssl vserver",
    resource: "sslvserver",
    form: Form::Objects(Objects {
        name: "vservername",
        all: ("Virtual Server Summary", OF_SSL_VSERVER),
        one: ("Virtual Server Summary", OF_SSL_VSERVER),
        counters: Part {
            title: "VServer Stats:",
            rates: true,
            lines: &[
                line(
                    "Client Authentication Success",
                    Counted("sslclientauthsuccessrate", "ssltotclientauthsuccess"),
                ),
                line(
                    "Client Authentication Failure",
                    Counted("sslclientauthfailurerate", "ssltotclientauthfailure"),
                ),
                line("Total encrypted bytes", Counted("sslctxencbytesrate", "sslctxtotencbytes")),
                line("Total decrypted bytes", Counted("sslctxdecbytesrate", "sslctxtotdecbytes")),
                line(
                    "Total hardware encrypted bytes",
                    Counted("sslctxhwencbytesrate", "sslctxtothwencbytes"),
                ),
                line(
                    "Total hardware decrypted bytes",
                    Counted("sslctxhwdec_bytesrate", "sslctxtothwdec_bytes"),
                ),
                line("Total new sessions created", Counted("sslctxsessionnewrate", "sslctxtotsessionnew")),
                line("Total session hits", Counted("sslctxsessionhitsrate", "sslctxtotsessionhits")),
            ],
            detail: &[],
        },
        bound: &[],
    }),
};

/// `stat service`.
pub static SERVICE: Kind = Kind {
    words: "service",
    resource: "service",
    form: Form::Objects(Objects {
        name: "name",
        all: ("Service(s) Summary", OF_SERVICES),
        one: ("Service Summary", OF_SERVICE),
        counters: Part {
            title: "Service Statistics",
            rates: true,
            lines: &[
                line("Service hits", Counted("vsvrservicehitsrate", "vsvrservicehits")),
                line("Requests", REQUESTS),
                line("Responses", RESPONSES),
                line("Request bytes", REQUEST_BYTES),
                line("Response bytes", RESPONSE_BYTES),
                line("Throughput (Mbps)", Counted("throughputrate", "throughput")),
                line("Current client connections", Level("curclntconnections")),
                line("Requests in surge queue", Level("surgecount")),
                line("Current server connections", Level("cursrvrconnections")),
                line("Current Server Est connections", Level("svrestablishedconn")),
                line("Connections in reuse pool", Level("curreusepool")),
                line("Maximum server connections", Level("maxclients")),
                line("Active transactions", Level("activetransactions")),
                line("Average server TTFB", Level("avgsvrttfb")),
                line("Current load on the service", Level("curload")),
            ],
            detail: &[
                line("Current flags on the service", Level("curtflags")),
                line("Server TTLB transactions", Level("totsvrttlbtransactions")),
                line("Tolerating TTLB transactions", Level("toleratingttlbtransactions")),
                line("Frustrating TTLB transactions", Level("frustratingttlbtransactions")),
            ],
        },
        bound: &[],
    }),
};

/// `stat serviceGroup`.
pub static SERVICE_GROUP: Kind = Kind {
    words: "serviceGroup",
    resource: "servicegroup",
    form: Form::Objects(Objects {
        name: "servicegroupname",
        all: ("Service Group(s) Summary", OF_GROUP),
        one: ("Service Group Summary", OF_GROUP),
        counters: NONE,
        bound: &[Bound { resource: "servicegroupmember", name: "servicegroupname", columns: OF_BOUND }],
    }),
};

/// `stat serviceGroupMember`.
pub static SERVICE_GROUP_MEMBER: Kind = Kind {
    words: "serviceGroupMember",
    resource: "servicegroupmember",
    form: Form::Objects(Objects {
        name: "servicegroupname",
        all: ("Service Group Member(s) Summary", OF_SERVICES),
        one: ("Service Group Member Summary", OF_SERVICE),
        counters: Part {
            title: "Service Group Member Statistics",
            rates: true,
            lines: &[
                line("Requests", REQUESTS),
                line("Responses", RESPONSES),
                line("Request bytes", REQUEST_BYTES),
                line("Response bytes", RESPONSE_BYTES),
                line("Current client connections", Level("curclntconnections")),
                line("Requests in surge queue", Level("surgecount")),
                line("Current server connections", Level("cursrvrconnections")),
                line("Current Server Est connections", Level("svrestablishedconn")),
                line("Connections in reuse pool", Level("curreusepool")),
                line("Maximum server connections", Level("maxclients")),
                line("Average server TTFB", Level("avgsvrttfb")),
            ],
            detail: &[
                line("Server TTLB transactions", Level("totsvrttlbtransactions")),
                line("Tolerating TTLB transactions", Level("toleratingttlbtransactions")),
                line("Frustrating TTLB transactions", Level("frustratingttlbtransactions")),
            ],
        },
        bound: &[],
    }),
};

/// `stat lb monitor`.
pub static LB_MONITOR: Kind = Kind {
    words: "lb monitor",
    resource: "lbmonitor",
    form: Form::Objects(Objects {
        name: "monitorname",
        all: ("Monitor(s) Summary", OF_MONITOR),
        one: ("Monitor Summary", OF_MONITOR),
        counters: NONE,
        bound: &[],
    }),
};

/// In the order of the appliance.
const OF_LB_VSERVER: &[Line] = &[
    line("Vserver hits", Counted("hitsrate", "tothits")),
    line("Requests", REQUESTS),
    line("Responses", RESPONSES),
    line("Request bytes", REQUEST_BYTES),
    line("Response bytes", RESPONSE_BYTES),
    line("Total Packets rcvd", PACKETS_IN),
    line("Total Packets sent", PACKETS_OUT),
    line("Current client connections", Level("curclntconnections")),
    line("Current Client Est connections", Level("establishedconn")),
    line("Current server connections", Level("cursrvrconnections")),
    line("Current Persistence Sessions", Level("curpersistencesessions")),
    line("Current Backup Persistence Sessions", Level("curbackuppersistencesessions")),
    line("Requests in surge queue", Level("surgecount")),
    line("Requests in vserver's surgeQ", Level("vsvrsurgecount")),
    line("Requests in service's surgeQs", Level("svcsurgecount")),
    line("Spill Over Threshold", Level("sothreshold")),
    line("Spill Over Hits", Level("totspillovers")),
    line("Labeled Connection", Level("labelledconn")),
    line("Push Labeled Connection", Level("pushlabel")),
    line("Deferred Request", Counted("deferredreqrate", "deferredreq")),
    line("Invalid Request/Response", Level("invalidrequestresponse")),
    line("Invalid Request/Response Dropped", Level("invalidrequestresponsedropped")),
    line("Vserver Down Backup Hits", Level("totvserverdownbackuphits")),
    line("Current Multipath TCP sessions", Level("curmptcpsessions")),
    line("Current Multipath TCP subflows", Level("cursubflowconn")),
    line("Apdex for client response times.", Ratio("cltresponsetimeapdex")),
    line("Average client TTLB", Level("avgcltttlb")),
    line("No of TCPConn ReasmQ 75% reached", Level("totalconnreassemblyqueue75")),
    line("No of TCPConn ReasmQ Flushed", Level("totalconnreassemblyqueueflush")),
    line("No of Server Busy Error", Counted("svrbusyerrrate", "totalsvrbusyerr")),
];
const OF_CS_VSERVER: &[Column] = &[
    column("IP", 16, Cell::Field("primaryipaddress")),
    column("port", 5, Cell::Port("primaryport")),
    column("Protocol", 12, Cell::Field("type")),
    column("State", 12, Cell::State("state")),
    column("Req/s", 8, Cell::Rate("requestsrate")),
];
const OF_SSL_VSERVER: &[Column] = &[
    column("vsvrIP", 16, Cell::Field("primaryipaddress")),
    column("port", 5, Cell::Port("primaryport")),
    column("Protocol", 12, Cell::Field("type")),
    column("State", 12, Cell::State("state")),
    column("Health", 8, Cell::Field("vslbhealth")),
    column("actSvcs", 8, Cell::Field("actsvcs")),
];
const OF_SERVICES: &[Column] = &[
    column("IP", 16, Cell::Field("primaryipaddress")),
    column("port", 5, Cell::Port("primaryport")),
    column("Type", 12, Cell::Field("servicetype")),
    column("State", 12, Cell::State("state")),
    column("Req/s", 8, Cell::Rate("requestsrate")),
    column("ClntConn", 8, Cell::Field("curclntconnections")),
];
const OF_SERVICE: &[Column] = &[
    column("IP", 16, Cell::Field("primaryipaddress")),
    column("port", 5, Cell::Port("primaryport")),
    column("Type", 12, Cell::Field("servicetype")),
    column("State", 12, Cell::State("state")),
    column("MaxConn", 8, Cell::Field("maxclients")),
    column("SvrTTFB", 8, Cell::Field("avgsvrttfb")),
];
/// As below the counters of a virtual server.
const OF_BOUND: &[Column] = &[
    column("IP", 16, Cell::Field("primaryipaddress")),
    column("port", 5, Cell::Port("primaryport")),
    column("Type", 12, Cell::Field("servicetype")),
    column("State", 12, Cell::State("state")),
    column("Hits", 8, Cell::Field("vsvrservicehits")),
    column("Hits/s", 8, Cell::Rate("vsvrservicehitsrate")),
];
const OF_GROUP: &[Column] =
    &[column("State", 16, Cell::State("state")), column("Type", 12, Cell::Field("servicetype"))];
const OF_MONITOR: &[Column] =
    &[column("Type", 16, Cell::Field("type")), column("State", 12, Cell::State("state"))];
const NONE: Part = Part { title: "", rates: false, lines: &[], detail: &[] };

const REQUESTS: Value = Counted("requestsrate", "totalrequests");
const RESPONSES: Value = Counted("responsesrate", "totalresponses");
const REQUEST_BYTES: Value = Counted("requestbytesrate", "totalrequestbytes");
const RESPONSE_BYTES: Value = Counted("responsebytesrate", "totalresponsebytes");
const PACKETS_IN: Value = Counted("pktsrecvdrate", "totalpktsrecvd");
const PACKETS_OUT: Value = Counted("pktssentrate", "totalpktssent");
const TOLERATING: Value = Counted("toleratingttlbtransactionsrate", "toleratingttlbtransactions");
const FRUSTRATING: Value = Counted("frustratingttlbtransactionsrate", "frustratingttlbtransactions");

/// A column of a table.
pub const fn column(head: &'static str, width: usize, cell: Cell) -> Column {
    Column { head, width, cell }
}

/// A line of counters.
pub const fn line(label: &'static str, value: Value) -> Line {
    Line { label, value }
}
