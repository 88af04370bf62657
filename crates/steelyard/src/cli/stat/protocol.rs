//! The pages of protocols. Labels and their order are those of the command reference.

use super::kinds::{Form, Kind, Part};
use super::page::Value::{Counted, Level};
use super::traffic::line;

/// `stat protocol http`.
pub static HTTP: Kind = Kind {
    words: "protocol http",
    resource: "protocolhttp",
    form: Form::Single(&[Part {
        title: "HTTP Statistics",
        rates: true,
        lines: &[
            line("Total requests", Counted("httprequestsrate", "httptotrequests")),
            line("Total responses", Counted("httpresponsesrate", "httptotresponses")),
            line("Request bytes received", Counted("httprxrequestbytesrate", "httptotrxrequestbytes")),
            line("Response bytes received", Counted("httprxresponsebytesrate", "httptotrxresponsebytes")),
            line("GETs", Counted("httpgetsrate", "httptotgets")),
            line("POSTs", Counted("httppostsrate", "httptotposts")),
            line("Other methods", Counted("httptohersrate", "httptotothers")),
            line("HTTP/1.0 requests", Counted("http10requestsrate", "httptot10requests")),
            line("HTTP/1.1 requests", Counted("http11requestsrate", "httptot11requests")),
            line("Request bytes transmitted", Counted("httptxrequestbytesrate", "httptottxrequestbytes")),
            line("HTTP/1.0 responses", Counted("http10responsesrate", "httptot10responses")),
            line("HTTP/1.1 responses", Counted("http11responsesrate", "httptot11responses")),
            line("Response bytes transmitted", Counted("httptxresponsebytesrate", "httptottxresponsebytes")),
        ],
        detail: &[
            line("Total SPDY requests", Counted("spdystreamsrate", "spdytotstreams")),
            line("Content-length requests", Counted("httpclenrequestsrate", "httptotclenrequests")),
            line("Chunked requests", Counted("httpchunkedrequestsrate", "httptotchunkedrequests")),
            line("Content-length responses", Counted("httpclenresponsesrate", "httptotclenresponses")),
            line("Chunked responses", Counted("httpchunkedresponsesrate", "httptotchunkedresponses")),
            line("Multi-part responses", Counted("httperrnoreusemultipartrate", "httperrnoreusemultipart")),
            line(
                "FIN-terminated responses",
                Counted("httpnoclenchunkresponsesrate", "httptotnoclenchunkresponses"),
            ),
            line("Incomplete headers", Level("httperrincompleteheaders")),
            line(
                "Incomplete request headers",
                Counted("httperrincompleterequestsrate", "httperrincompleterequests"),
            ),
            line(
                "Incomplete response headers",
                Counted("httperrincompleteresponsesrate", "httperrincompleteresponses"),
            ),
            line("HTTP 500 Server-busy Responses", Counted("httperrserverbusyrate", "httperrserverbusy")),
            line("Large/Invalid messages", Level("httperrlargecontent")),
            line("Large/Invalid chunk requests", Level("httperrlargechunk")),
            line("Large/Invalid content-length", Level("httperrlargectlen")),
            line("SPDYv2 requests", Counted("spdyv2streamsrate", "spdyv2totstreams")),
            line("SPDYv3 requests", Counted("spdyv3streamsrate", "spdyv3totstreams")),
        ],
    }]),
};

/// `stat protocol ip`.
pub static IP: Kind = Kind {
    words: "protocol ip",
    resource: "protocolip",
    form: Form::Single(&[Part {
        title: "IP Statistics",
        rates: true,
        lines: &[
            line("IP packets received", Counted("iprxpktsrate", "iptotrxpkts")),
            line("IP bytes received", Counted("iprxbytesrate", "iptotrxbytes")),
            line("IP packets transmitted", Counted("iptxpktsrate", "iptottxpkts")),
            line("IP bytes transmitted", Counted("iptxbytesrate", "iptottxbytes")),
            line("Megabits received", Counted("iprxmbitsrate", "iptotrxmbits")),
            line("Megabits transmitted", Counted("iptxmbitsrate", "iptottxmbits")),
            line("Total routed IP packets", Counted("iproutedpktsrate", "iptotroutedpkts")),
            line("Total routed IP Mbits", Counted("iproutedmbitsrate", "iptotroutedmbits")),
        ],
        detail: &[
            line("IP fragments received", Level("iptotfragments")),
            line("Successful reassembly", Level("iptotsuccreassembly")),
            line("Reassembly attempted", Level("iptotreassemblyattempt")),
            line("IP address lookups", Level("iptotaddrlookup")),
            line("IP address lookup failure", Level("iptotaddrlookupfail")),
            line("UDP fragments forwarded", Level("iptotudpfragmentsfwd")),
            line("TCP fragments forwarded", Level("iptottcpfragmentsfwd")),
            line("Fragmentation packets created", Level("iptotfragpktsgen")),
            line("Bad IP checksums", Level("iptotbadchecksums")),
            line("Unsuccessful reassembly", Level("iptotunsuccreassembly")),
            line("Reassembled data too big", Level("iptottoobig")),
            line("Zero fragment length received", Level("iptotzerofragmentlen")),
            line("Duplicate fragments received", Level("iptotdupfragments")),
            line("Out of order fragment received", Level("iptotoutoforderfrag")),
            line("Unknown destination received", Level("iptotunknowndstrcvd")),
            line("Bad Transport", Level("iptotbadtransport")),
            line("VIP down", Level("iptotvipdown")),
            line("Fix header failure", Level("iptotfixheaderfail")),
            line("TTL expired during transit", Level("iptotttlexpired")),
            line("max non-TCP clients", Level("iptotmaxclients")),
            line("Unknown services", Level("iptotunknownsvcs")),
            line("land-attacks", Level("iptotlandattacks")),
            line("Invalid IP header size", Level("iptotinvalidheadersz")),
            line("Invalid IP packet size", Level("iptotinvalidpacketsize")),
            line("Truncated IP packet", Level("iptottruncatedpackets")),
            line("Truncated non-IP packet", Level("noniptottruncatedpackets")),
            line("ZERO next hop", Level("iptotzeronexthop")),
            line("Packets with len > 1514 rcvd", Level("iptotbadlens")),
            line("Packets with bad MAC sent", Level("iptotbadmacaddrs")),
        ],
    }]),
};

/// `stat protocol tcp`.
pub static TCP: Kind = Kind {
    words: "protocol tcp",
    resource: "protocoltcp",
    form: Form::Single(&[Part {
        title: "TCP Statistics",
        rates: true,
        lines: &[
            line("Server active connections", Level("tcpactiveserverconn")),
            line("Established client connections", Level("tcpcurclientconnestablished")),
            line("Established server connections", Level("tcpcurserverconnestablished")),
            line("TCP packets received", Counted("tcprxpktsrate", "tcptotrxpkts")),
            line("TCP bytes received", Counted("tcprxbytesrate", "tcptotrxbytes")),
            line("TCP packets transmitted", Counted("tcptxpktsrate", "tcptottxpkts")),
            line("TCP bytes transmitted", Counted("tcptxbytesrate", "tcptottxbytes")),
            line("All client connections", Level("tcpcurclientconn")),
            line("Opened client connections", Counted("tcpclientconnopenedrate", "tcptotclientconnopened")),
            line("All server connections", Level("tcpcurserverconn")),
            line("Opened server connections", Counted("tcpserverconnopenedrate", "tcptotserverconnopened")),
            line("Surge queue", Level("tcpsurgequeuelen")),
            line("Spare connections", Level("tcpspareconn")),
        ],
        detail: &[
            line("Opening server connections", Level("tcpcurserverconnopening")),
            line("Opening client connections", Level("tcpcurclientconnopening")),
            line("Closing client connections", Level("tcpcurclientconnclosing")),
            line("Closing server connections", Level("tcpcurserverconnclosing")),
            line("Client idle flushed", Counted("tcpzombiecltconnflushedrate", "tcptotzombiecltconnflushed")),
            line(
                "Client half opened flushed",
                Counted("tcpzombiehalfopencltconnflushedrate", "tcptotzombiehalfopencltconnflushed"),
            ),
            line(
                "Client active half closed flushed",
                Counted(
                    "tcpzombieactivehalfclosecltconnflushedrate",
                    "tcptotzombieactivehalfclosecltconnflushed",
                ),
            ),
            line(
                "Client passive half closed flushed",
                Counted(
                    "tcpzombiepassivehalfclosecltconnflushedrate",
                    "tcptotzombiepassivehalfclosecltconnflushed",
                ),
            ),
            line(
                "Server idle connections flushed",
                Counted("tcpzombiesvrconnflushedrate", "tcptotzombiesvrconnflushed"),
            ),
            line(
                "Server half opened flushed",
                Counted("tcpzombiehalfopensvrconnflushedrate", "tcptotzombiehalfopensvrconnflushed"),
            ),
            line(
                "Server active half closed flushed",
                Counted(
                    "tcpzombieactivehalfclosesvrconnflushedrate",
                    "tcptotzombieactivehalfclosesvrconnflushed",
                ),
            ),
            line(
                "Server passive half closed flushed",
                Counted(
                    "tcpzombiepassivehalfclosesrvconnflushedrate",
                    "tcptotzombiepassivehalfclosesrvconnflushed",
                ),
            ),
            line("Zombie cleanup calls", Counted("pcbzombiecallrate", "pcbtotzombiecall")),
            line("SYN packets received", Counted("tcpsynrate", "tcptotsyn")),
            line("Server probes", Counted("tcpsynproberate", "tcptotsynprobe")),
            line("FIN packets from server", Counted("tcpsvrfinrate", "tcptotsvrfin")),
            line("FIN packets from client", Counted("tcpcltfinrate", "tcptotcltfin")),
            line("Time wait to SYN", Counted("tcpwaittosynrate", "tcpwaittosyn")),
            line("Data in TIME_WAIT", Counted("tcpwaittodatarate", "tcpwaittodata")),
            line("SYN packets held", Counted("tcpsynheldrate", "tcptotsynheld")),
            line("SYN packets flushed", Counted("tcpsynflushrate", "tcptotsynflush")),
            line("TIME_WAIT connections closed", Counted("tcpfinwaitclosedrate", "tcptotfinwaitclosed")),
            line("Bad TCP checksum", Counted("tcperrbadchecksumrate", "tcperrbadchecksum")),
            line("Data after FIN", Counted("tcperrdataafterfinrate", "tcperrdataafterfin")),
            line("SYN in SYN_RCVD state", Counted("tcperrsyninsynrcvdrate", "tcperrsyninsynrcvd")),
            line("SYN in ESTABLISHED state", Counted("tcperrsyninestrate", "tcperrsyninest")),
            line("SYN_SENT incorrect ACK packet", Counted("tcperrsynsentbadackrate", "tcperrsynsentbadack")),
            line("RST packets received", Counted("tcperrrstrate", "tcperrrst")),
            line("RST on not ESTABLISHED", Counted("tcperrrstnonestrate", "tcperrrstnonest")),
            line("RST out of window", Counted("tcperrrstoutofwindowrate", "tcperrrstoutofwindow")),
            line("RST in TIME_WAIT", Counted("tcperrrstintimewaitrate", "tcperrrstintimewait")),
            line("Server out of order packets", Counted("tcperrsvroutoforderrate", "tcperrsvroutoforder")),
            line("Client out of order packets", Counted("tcperrcltoutoforderrate", "tcperrcltoutoforder")),
            line("TCP hole on client connection", Counted("tcperrcltholerate", "tcperrclthole")),
            line("TCP hole on server connection", Counted("tcperrsvrholerate", "tcperrsvrhole")),
            line(
                "Seq number SYN cookie reject",
                Counted("tcperrcookiepktseqrejectrate", "tcperrcookiepktseqreject"),
            ),
            line(
                "Signature SYN cookie reject",
                Counted("tcperrcookiepktsigrejectrate", "tcperrcookiepktsigreject"),
            ),
            line(
                "Seq number SYN cookie drop",
                Counted("tcperrcookiepktseqdroprate", "tcperrcookiepktseqdrop"),
            ),
            line(
                "MSS SYN cookie reject",
                Counted("tcperrcookiepktmssrejectrate", "tcperrcookiepktmssreject"),
            ),
            line("Any IP port allocation failure", Counted("tcperranyportfailrate", "tcperranyportfail")),
            line("IP port allocation failure", Counted("tcperripportfailrate", "tcperripportfail")),
            line("Stray packets", Counted("tcperrstraypktrate", "tcperrstraypkt")),
            line("RST packets sent", Counted("tcperrsentrstrate", "tcperrsentrst")),
            line("Bad state connections", Counted("tcperrbadstateconnrate", "tcperrbadstateconn")),
            line("RST threshold dropped", Counted("tcperrrstthresholdrate", "tcperrrstthreshold")),
            line("Packets out of window", Counted("tcperroutofwindowpktsrate", "tcperroutofwindowpkts")),
            line(
                "SYNs dropped (Congestion)",
                Counted("tcperrsyndroppedcongestionrate", "tcperrsyndroppedcongestion"),
            ),
            line("Client retransmissions", Counted("tcperrcltretrasmitrate", "tcperrcltretrasmit")),
            line("Full packet retransmissions", Counted("tcperrfullretrasmitrate", "tcperrfullretrasmit")),
            line("SYN packet retries", Counted("tcperrsynretryrate", "tcperrsynretry")),
            line("SYN packets timeout", Counted("tcperrsyngiveuprate", "tcperrsyngiveup")),
            line("TCP retransmission", Counted("tcperrretransmitrate", "tcperrretransmit")),
            line(
                "1st retransmission",
                Counted("tcperrfirstretransmissionsrate", "tcperrfirstretransmissions"),
            ),
            line(
                "3rd retransmission",
                Counted("tcperrthirdretransmissionsrate", "tcperrthirdretransmissions"),
            ),
            line(
                "5th retransmission",
                Counted("tcperrfifthretransmissionsrate", "tcperrfifthretransmissions"),
            ),
            line(
                "7th retransmission",
                Counted("tcperrseventhretransmissionsrate", "tcperrseventhretransmissions"),
            ),
            line("Fast retransmits", Counted("tcperrfastretransmissionsrate", "tcperrfastretransmissions")),
            line("Server retransmissions", Counted("tcperrsvrretrasmitrate", "tcperrsvrretrasmit")),
            line(
                "Partial packet retransmissions",
                Counted("tcperrpartialretrasmitrate", "tcperrpartialretrasmit"),
            ),
            line("FIN packet retries", Counted("tcperrfinretryrate", "tcperrfinretry")),
            line("FIN packets timeout", Counted("tcperrfingiveuprate", "tcperrfingiveup")),
            line(
                "2nd retransmission",
                Counted("tcperrsecondretransmissionsrate", "tcperrsecondretransmissions"),
            ),
            line(
                "4th retransmission",
                Counted("tcperrforthretransmissionsrate", "tcperrforthretransmissions"),
            ),
            line(
                "6th retransmission",
                Counted("tcperrsixthretransmissionsrate", "tcperrsixthretransmissions"),
            ),
            line(
                "TCP retransmission giveup",
                Counted("tcperrretransmitgiveuprate", "tcperrretransmitgiveup"),
            ),
            line("TCP level cip failure", Counted("tcperrcipallocrate", "tcperrcipalloc")),
        ],
    }]),
};

/// `stat protocol udp`.
pub static UDP: Kind = Kind {
    words: "protocol udp",
    resource: "protocoludp",
    form: Form::Single(&[Part {
        title: "UDP Statistics",
        rates: true,
        lines: &[
            line("Packets received", Counted("udprxpktsrate", "udptotrxpkts")),
            line("Bytes received", Counted("udprxbytesrate", "udptotrxbytes")),
            line("Packets transmitted", Counted("udptxpktsrate", "udptottxpkts")),
            line("Bytes transmitted", Counted("udptxbytesrate", "udptottxbytes")),
            line("Unknown service", Level("udptotunknownsvcpkts")),
            line("Bad UDP checksum", Level("udpbadchecksum")),
        ],
        detail: &[],
    }]),
};

/// `stat ssl`.
pub static SSL: Kind = Kind {
    words: "ssl",
    resource: "ssl",
    form: Form::Single(&[Part {
        title: "SSL Summary",
        rates: true,
        lines: &[
            line("Crypto Utilization(%)", Level("sslcryptoutilizationstat")),
            line("SSL sessions", Counted("sslsessionsrate", "ssltotsessions")),
            line("New SSL sessions", Counted("sslnewsessionsrate", "ssltotnewsessions")),
            line("SSLv2 sessions", Level("ssltotsslv2sessions")),
            line("TLSv1.1 sessions", Level("ssltottlsv11sessions")),
            line("SSLv2 SSL handshakes", Counted("sslsslv2handshakesrate", "ssltotsslv2handshakes")),
            line("Bytes encrypted", Counted("sslencrate", "ssltotenc")),
            line("Bytes decrypted", Counted("ssldecrate", "ssltotdec")),
        ],
        detail: &[],
    }]),
};
