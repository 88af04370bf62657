//! What `show` prints of every other object, and of a virtual server while it starts (`spec/cli.md` 5 and 7,
//! `spec/methods.md` 2.1).

use libtest_mimic::Trial;

use crate::client::Client;
use crate::place::Place;
use crate::program::{Program, run_with_input};
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![
        a_virtual_server_that_starts_says_that_it_goes_by_round_robin_and_why,
        a_virtual_server_shows_who_serves_in_its_place_and_its_policies,
        what_is_set_and_has_no_line_in_the_layout_is_shown_all_the_same,
        features_and_modes_are_tables,
        the_configuration_as_a_whole_is_told_as_by_the_appliance,
        content_switching_and_tls_have_the_layout_of_the_appliance,
        objects_without_a_documented_layout_show_what_is_configured_and_bound,
        words_in_the_place_of_a_name_are_acted_on_or_refused,
        every_object_is_shown,
    ]
}

/// What the prompt answers to each of these lines.
pub fn answers(data: &str, lines: &str) -> String {
    String::from_utf8(run_with_input(&["cli", "--data", data], lines.as_bytes()).stdout).unwrap()
}

pub fn shown(data: &str, line: &str) -> Vec<String> {
    let printed = answers(data, line);
    let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    assert_eq!(lines.last().map(String::as_str), Some(" Done"), "{line}: {printed}");
    lines
}

pub fn launched(place: &Place, config: &str) -> (Program, String) {
    let program = Program::launch(place, config);
    let data = program.data().to_str().unwrap().to_owned();
    (program, data)
}

/// The lines from one to another, of which both are there.
fn between<'l>(lines: &'l [String], from: &str, to: &str) -> &'l [String] {
    let at = |text: &str| lines.iter().position(|line| line.contains(text));
    let (from, to) = (at(from).expect(from), at(to).expect(to));
    &lines[from..=to]
}

fn a_virtual_server_that_starts_says_that_it_goes_by_round_robin_and_why() {
    let place = Place::new();
    let ip = place.ip();
    let _one = TestService::named(place.service(1), "one");
    let (program, data) = launched(
        &place,
        &format!(
            "enable ns feature LB\nset lb parameter -startupRRFactor 3\n\
             add service one {ip} HTTP 8101\nadd service two {ip} HTTP 8102\n\
             add lb vserver v HTTP {ip} {}\nbind lb vserver v one\nbind lb vserver v two\n",
            place.vserver(0).port()
        ),
    );
    program.wait_for_state("lbvserver", "v", "UP");
    let methods = || between(&shown(&data, "show lb vserver v"), "Configured Method", "\tMode: IP").to_vec();
    let starting = [
        "\tConfigured Method: LEASTCONNECTION",
        "\tCurrent Method: Round Robin, Reason: Bound service's state changed to UP\tBackupMethod: ROUNDROBIN",
        "\tMode: IP",
    ];
    assert_eq!(methods(), starting);
    let (_, told) = program.nitro("/nitro/v1/config/lbvserver/v");
    assert_eq!(told["lbvserver"][0]["lbrrreason"], 3, "the code of that reason (`spec/methods.md` 2.1)");
    // F = 3 for each of two services, of which one is DOWN: six requests (2.2).
    let mut client = Client::connect(place.vserver(0));
    for _ in 0..5 {
        assert_eq!(client.get("/").status(), 200);
    }
    assert_eq!(methods(), starting);
    assert_eq!(client.get("/").status(), 200);
    let done = ["\tConfigured Method: LEASTCONNECTION\tBackupMethod: ROUNDROBIN", "\tMode: IP"];
    assert_eq!(methods(), done);
    let (_, told) = program.nitro("/nitro/v1/config/lbvserver/v");
    assert_eq!(told["lbvserver"][0]["lbrrreason"], 0);
    assert_eq!(answers(&data, "set lb vserver v -lbMethod LEASTBANDWIDTH\n"), " Done\n");
    assert_eq!(
        methods()[..2],
        [
            "\tConfigured Method: LEASTBANDWIDTH",
            "\tCurrent Method: Round Robin, Reason: LB method is changed\tBackupMethod: ROUNDROBIN"
        ]
    );
}

fn a_virtual_server_shows_who_serves_in_its_place_and_its_policies() {
    let place = Place::new();
    let ip = place.ip();
    let (_program, data) = launched(
        &place,
        &format!(
            "enable ns feature LB\nadd service s {ip} HTTP 8101\nadd lb vserver b HTTP\n\
             add lb vserver v HTTP {ip} {} -persistenceType SOURCEIP -timeout 15 -backupVServer b \
             -redirectURL \"http://e.example/\" -soMethod CONNECTION -soThreshold 10 -soPersistence ENABLED \
             -soPersistenceTimeOut 5 -healthThreshold 50 -rule \"CLIENT.IP.SRC\"\n\
             add rewrite policy p true NOREWRITE\nbind lb vserver v s -order 7\n\
             bind lb vserver v -policyName p -priority 10 -gotoPriorityExpression END -type REQUEST\n\
             bind lb vserver v -policyName q -priority 11\n",
            place.vserver(0).port()
        ),
    );
    let lines = shown(&data, "show lb vserver v");
    assert_eq!(
        between(&lines, "\tRule", "\tVserver IP and Port"),
        [
            "\tRule: CLIENT.IP.SRC",
            "\tMode: IP",
            "\tPersistence: SOURCEIP\tPersistence Mask: 255.255.255.255\tPersistence Timeout: 15 min",
            "\tBackup: b",
            "\tRedirect URL: http://e.example/",
            "\tSpillover Method: CONNECTION\tSpillover Threshold: 10",
            "\tSpillover Persistence: ENABLED\tSpillover Persistence Timeout: 5 min",
            "\tVserver IP and Port insertion: OFF ",
        ]
    );
    assert_eq!(
        between(&lines, "\tCurrent Active Order", " Done"),
        [
            "\tCurrent Active Order: None",
            "\tHealth Threshold: 50",
            "",
            &format!("1) s ({ip}: 8101) - HTTP State: DOWN\tWeight: 1 Order: 7"),
            "1)\tRewrite Policy Name: p\tPriority: 10",
            "\tGotoPriority Expression: END",
            "\tFlowtype: REQUEST",
            "2)\tPolicy Name: q\tPriority: 11",
            " Done",
        ],
        "what is configured otherwise than by default is shown, whether the layout has a line for it or not"
    );
}

fn what_is_set_and_has_no_line_in_the_layout_is_shown_all_the_same() {
    let place = Place::new();
    let (_program, data) = launched(
        &place,
        "enable ns feature LB\nadd netProfile np -srcIP 127.0.0.1\n\
         add server s 192.0.2.1 -comment \"two words\"\nadd service web s HTTP 80 -netProfile np -healthMonitor NO\n\
         add serviceGroup sg HTTP -netProfile np\n\
         add lb monitor m HTTP -trofsCode 503 -netProfile np\n",
    );
    assert_eq!(
        shown(&data, "show server s"),
        [
            "1)\tName:     s      State:ENABLED",
            "\tIPAddress:   192.0.2.1",
            "\tComment: \"two words\"",
            " Done"
        ]
    );
    assert_eq!(
        between(&shown(&data, "show service web"), "\tTraffic Domain", " Done"),
        ["\tTraffic Domain: 0", "\tHealth Monitor: NO", "\tNet Profile: np", "", " Done"]
    );
    assert_eq!(
        between(&shown(&data, "show serviceGroup sg"), "\tContentInspection", " Done"),
        ["\tContentInspection profile name: ???", "\tNet Profile: np", "", " Done"]
    );
    assert_eq!(
        between(&shown(&data, "show lb monitor m"), "  Response codes", " Done"),
        ["  Response codes...:200", "  Net Profile......:np", "  Trofscode........:503", " Done"]
    );
}

fn features_and_modes_are_tables() {
    let place = Place::new();
    let (_program, data) = launched(&place, "enable ns feature LB SSL\nenable ns mode FR CKA\n");
    let lines = shown(&data, "show ns feature");
    let start = [
        "",
        "\tFeature                        Acronym              Status",
        "\t-------                        -------              ------",
        " 1)\tWeb Logging                    WL                   OFF",
        " 2)\tSurge Protection               SP                   OFF",
        " 3)\tLoad Balancing                 LB                   ON",
    ];
    assert_eq!(lines[..6], start);
    assert!(lines.contains(&" 9)\tSSL Offloading                 SSL                  ON".to_owned()));
    assert_eq!(lines.iter().filter(|line| line.ends_with(" ON")).count(), 2);
    let modes = shown(&data, "show ns mode");
    assert_eq!(modes[1], "\tMode                                    Acronym              Status");
    assert_eq!(modes[3], " 1)\tFast Ramp                               FR                   ON");
    assert_eq!(modes.iter().filter(|line| line.ends_with(" ON")).count(), 2);
}

fn the_configuration_as_a_whole_is_told_as_by_the_appliance() {
    let place = Place::new();
    let (program, data) =
        launched(&place, "set ns config -IPAddress 192.0.2.5 -netmask 255.255.255.0\nset ns hostName lb01\n");
    let whole = || shown(&data, "show ns config");
    let head = [
        "\tNetScaler IP: 192.0.2.5  (mask: 255.255.255.0)",
        "\tNumber of MappedIP(s): 0",
        "\tNode: Standalone",
    ];
    let lines = whole();
    assert_eq!(lines[..3], head);
    for (line, label) in lines[3..].iter().zip([
        "\t                   System Time: ",
        "\t      Last Config Changed Time: ",
        "\t        Last Config Saved Time: ",
    ]) {
        let date = line.strip_prefix(label).expect(label);
        assert_eq!((date.len(), date.split_whitespace().count()), (24, 5), "{line}");
    }
    assert_eq!(lines[6..], ["\tConfig Changed since Last Saved Config: FALSE", " Done"]);
    assert_eq!(answers(&data, "add server s 192.0.2.9\n"), " Done\n");
    assert_eq!(whole()[6], "\tConfig Changed since Last Saved Config: TRUE");
    assert_eq!(shown(&data, "show ns hostName"), ["\tHostname:  lb01", " Done"]);
    let info = shown(&data, "show ns info");
    assert!(info[0].starts_with("\tNetScaler NS14.1: Build ") && info[2] == head[0], "{info:?}");
    let license = shown(&data, "show ns license");
    assert_eq!(license[..2], ["\tLicense status:", "\t                   Web Logging: YES"]);
    assert!(license.contains(&"\t                Load Balancing: YES".to_owned()));
    let (_, known) = program.nitro("/nitro/v1/config/nshardware");
    let serial = known["nshardware"]["serialno"].as_str().unwrap();
    assert!(shown(&data, "show ns hardware").contains(&format!("\tSerial no: {serial}")));
}

fn content_switching_and_tls_have_the_layout_of_the_appliance() {
    let place = Place::new();
    let ip = place.ip();
    let (_program, data) = launched(
        &place,
        &format!(
            "enable ns feature LB CS SSL\nadd lb vserver v HTTP\n\
             add cs vserver c HTTP {ip} 8085 -comment uid=1\nadd cs action a -targetLBVserver v\n\
             add cs policy p -rule \"HTTP.REQ.URL.STARTSWITH(\\\"/a\\\")\" -action a\n\
             bind cs vserver c -policyName p -priority 10\nbind cs vserver c -lbvserver v\n\
             add lb vserver t SSL {ip} 8443\nadd ssl certKey ck -cert x.crt -key x.key\n\
             bind ssl vserver t -certkeyName ck -SNICert\n"
        ),
    );
    let of_c = [
        "\tState: DOWN",
        "\tClient Idle Timeout: 180 sec",
        "\tDown state flush: ENABLED",
        "\tDisable Primary Vserver On Down : DISABLED",
        "\tComment: uid=1",
        "\tAppflow logging: ENABLED",
        "\tPort Rewrite : DISABLED",
        "\tState Update: DISABLED",
        "\tDefault: v\tContent Precedence: RULE",
        "\tVserver IP and Port insertion: OFF",
        "\tL2Conn: OFF\tCase Sensitivity: ON",
        "\tAuthentication: OFF",
        "\t401 Based Authentication: OFF",
        "\tPush: DISABLED\tPush VServer: ",
        "\tPush Label Rule: none",
        "\tListen Policy: NONE",
        "\tIcmpResponse: PASSIVE",
        "\tRHIstate: PASSIVE",
        "\tTraffic Domain: 0",
        "",
        "1)\tContent-Based Policy: p\tPriority: 10\tHits: 0",
        " Done",
    ];
    let lines = shown(&data, "show cs vserver c");
    assert_eq!(lines[0], format!("\tc ({ip}:8085) - HTTP\tType: CONTENT"));
    assert_eq!(lines[1..], of_c);
    let of_t = [
        "",
        "\tAdvanced SSL configuration for VServer t:",
        "\tDH: DISABLED",
        "\tDH Private-Key Exponent Size Limit: DISABLED\tEphemeral RSA: ENABLED\t\tRefresh Count: 0",
        "\tSession Reuse: ENABLED\t\tTimeout: 120 seconds",
        "\tCipher Redirect: DISABLED",
        "\tSSLv2 Redirect: DISABLED",
        "\tClearText Port: 0",
        "\tClient Auth: DISABLED",
        "\tSSL Redirect: DISABLED",
        "\tNon FIPS Ciphers: DISABLED",
        "\tSNI: DISABLED",
        "\tOCSP Stapling: DISABLED",
        "\tHSTS: DISABLED",
        "\tHSTS IncludeSubDomains: NO",
        "\tHSTS Max-Age: 0",
        "\tHSTS Preload: NO",
        "\tSSLv2: DISABLED  SSLv3: ENABLED  TLSv1.0: ENABLED  TLSv1.1: ENABLED  TLSv1.2: ENABLED  TLSv1.3: DISABLED",
    ];
    let lines = shown(&data, "show ssl vserver t");
    assert_eq!(lines[..of_t.len()], of_t);
    assert_eq!(lines[lines.len() - 2], "1)\tCertKey Name: ck\tServer Certificate for SNI");
    assert_eq!(shown(&data, "show ssl vserver")[0], "1) Vserver Name: t");
    assert_eq!(
        shown(&data, "show ssl certKey ck"),
        ["\tName: ck", "\tCert Path: x.crt", "\tKey Path: x.key", "\tFormat: PEM", " Done"]
    );
}

fn objects_without_a_documented_layout_show_what_is_configured_and_bound() {
    let place = Place::new();
    let (_program, data) = launched(
        &place,
        "enable ns feature LB\nadd lb vserver v HTTP\nadd lb group g -persistenceType SOURCEIP\nbind lb group g v\n\
         add system group ops\nbind system group ops -userName nsroot\nbind system group ops -policyName operator 5\n\
         add HA node 1 192.0.2.6\nset lb parameter -startupRRFactor 4\n",
    );
    let group = shown(&data, "show lb group g");
    assert_eq!(group[..2], ["\tName: g", "\tPersistence Type: SOURCEIP"]);
    assert_eq!(group[group.len() - 2], "\t1)\tV Server Name: v");
    assert_eq!(
        shown(&data, "show system group ops"),
        ["\tName: ops", "\t1)\tUser Name: nsroot", "\t1)\tPolicy Name: operator\tPriority: 5", " Done"]
    );
    let nodes = shown(&data, "show HA node");
    assert_eq!(nodes[0], "1)\tNode ID:      0");
    assert!(nodes.windows(2).any(|lines| lines == ["2)\tNode ID:      1", "\tIP:\t192.0.2.6"]), "{nodes:?}");
    let parameter = shown(&data, "show lb parameter");
    assert_eq!(parameter[0], "Global LB parameters:");
    assert!(parameter.contains(&"\tStartup RR Factor: 4".to_owned()), "{parameter:?}");
}

fn words_in_the_place_of_a_name_are_acted_on_or_refused() {
    let place = Place::new();
    let ip = place.ip();
    let (_program, data) = launched(
        &place,
        &format!(
            "enable ns feature LB\nadd server s {ip}\nadd service web s HTTP 8101\nadd serviceGroup sg HTTP\n\
             bind serviceGroup sg s 8102\nadd ns ip 192.0.2.77 255.255.255.255 -type VIP\n\
             add ns ip 192.0.2.78 255.255.255.0\n"
        ),
    );
    let member = format!("\t1)     {ip}:8102\tState: DOWN\tServer Name: s\tServer ID: None\tWeight: 1");
    assert!(!shown(&data, "show serviceGroup").contains(&member));
    let with_members = shown(&data, "show serviceGroup -includeMembers");
    assert!(with_members[0] == "1)\tsg - HTTP" && with_members.contains(&member), "{with_members:?}");
    assert_eq!(shown(&data, "show service -internal"), [" Done"]);
    assert_eq!(shown(&data, "show service -all")[0], format!("1)\tweb ({ip}:8101) - HTTP"));
    assert_eq!(
        shown(&data, "show service -summary"),
        [format!("1)  web  {ip}  8101  HTTP  DOWN"), " Done".to_owned()]
    );
    let addresses = shown(&data, "show ns ip -type VIP");
    assert!(addresses.len() == 4 && addresses[2].starts_with("1)\t192.0.2.77 "), "{addresses:?}");
    for (line, error) in [
        ("show service web -all", "ERROR: Arguments cannot both be specified [name, all]\n"),
        ("show ns mode -internal", "ERROR: No such argument [-internal]\n"),
        ("show ns version x", "ERROR: No such argument [x]\n"),
        ("show ns runningConfig -withDefaults", "ERROR: Operation not supported here [-withDefaults]\n"),
        ("show vlan", "ERROR: Operation not supported here [show vlan]\n"),
    ] {
        assert!(answers(&data, line).starts_with(error), "{line}: {}", answers(&data, line));
    }
}

fn every_object_is_shown() {
    let place = Place::new();
    let (_program, data) = launched(&place, "enable ns feature LB\nadd lb vserver v HTTP\n");
    for what in [
        "server",
        "service",
        "serviceGroup",
        "lb vserver",
        "lb monitor",
        "lb parameter",
        "lb group",
        "lb profile",
        "lb persistentSessions",
        "lb monbindings",
        "netProfile",
        "ns ip",
        "ns feature",
        "ns mode",
        "ns hostName",
        "ns config",
        "ns param",
        "ns spParams",
        "ns version",
        "ns hardware",
        "ns license",
        "ns capacity",
        "ns info",
        "ns runningConfig",
        "ns savedConfig",
        "ns ns.conf",
        "system user",
        "system group",
        "system cmdPolicy",
        "system parameter",
        "system session",
        "cs vserver",
        "cs policy",
        "cs action",
        "ssl certKey",
        "ssl vserver",
        "ssl service",
        "ssl serviceGroup",
        "HA node",
        "interface",
        "cluster instance",
        "svcbindings",
        "serviceGroupBindings",
        "system file -fileLocation /nsconfig/ssl",
    ] {
        shown(&data, &format!("show {what}"));
    }
    assert!(shown(&data, "show system user").contains(&"1)\tName: nsroot".to_owned()));
}
