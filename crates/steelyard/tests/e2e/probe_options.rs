//! What options of monitors and `lb parameter` do over real sockets: how probes end their connections and at what cost,
//! which probes are left out, what is told, and how many there are.

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::bindings::rows;
use crate::client::{End, page};
use crate::network::{Host, Network};
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        m26_probes_of_a_thousand_services_never_lack_a_local_port,
        two_thousand_services_that_refuse_at_once_leave_the_program_at_hand,
        m25_probes_end_by_fin_or_rst_as_configured,
        m27_one_checker_is_left_when_a_configuration_is_applied_twenty_times,
        a_service_that_says_so_by_its_status_gets_no_new_work,
        words_in_an_answer_take_a_service_out_of_service_slowly,
        alarms_are_lines_on_standard_error,
        an_answer_that_comes_later_than_was_learnt_takes_the_service_down,
        nitro_tells_how_long_probes_may_take_by_what_was_learnt,
        a_service_at_its_max_client_is_probed_only_if_lb_parameter_says_so,
    ]
}

/// How the connections of probes end, as the service sees it.
fn ends(address: SocketAddr) -> Receiver<End> {
    let listener = TcpListener::bind(address).unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut bytes = Vec::new();
            let end = match stream.and_then(|mut stream| stream.read_to_end(&mut bytes)) {
                Ok(_) => End::Fin,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => End::Reset,
                Err(error) => panic!("{error}"),
            };
            if tell.send(end).is_err() {
                return;
            }
        }
    });
    told
}

/// The next so many ends.
fn next(ends: &Receiver<End>, count: usize) -> Vec<End> {
    (0..count).map(|_| ends.recv_timeout(Duration::from_secs(60)).unwrap()).collect()
}

/// FIN unless it is said otherwise; a service's own setting, or a group's, wins over the global one. So do those of
/// probes that have sent something: the service never answers those of `asked`.
fn m25_probes_end_by_fin_or_rst_as_configured() {
    let place = Place::new();
    let ip = place.ip();
    let [plain, own, group, asked] = [1, 2, 3, 4].map(|n| ends(place.service(n)));
    let text = format!(
        "enable ns feature LB\n\
         add lb monitor m TCP -interval 300 MSEC -resptimeout 200 MSEC\n\
         add lb monitor h HTTP -interval 300 MSEC -resptimeout 200 MSEC -downTime 100 MSEC\n\
         add service plain {ip} TCP 8101\nbind service plain -monitorName m\n\
         add service own {ip} TCP 8102\nbind service own -monitorName m\n\
         add serviceGroup g TCP\nbind serviceGroup g {ip} 8103\nbind serviceGroup g -monitorName m\n\
         add service asked {ip} HTTP 8104\nbind service asked -monitorName h\n"
    );
    let program = Program::launch(&place, &text);
    for service in [&plain, &own, &group, &asked] {
        assert_eq!(next(service, 2), [End::Fin; 2]);
    }
    program.reload(&format!(
        "{text}set lb parameter -monitorConnectionClose RESET\n\
         set service own -monConnectionClose FIN\nset serviceGroup g -monConnectionClose FIN\n"
    ));
    for service in [&plain, &asked] {
        wait_for("an RST", || next(service, 1) == [End::Reset]);
        assert_eq!(next(service, 2), [End::Reset; 2]);
    }
    // Those that came before and during the change are among them.
    for service in [&own, &group] {
        assert_eq!(next(service, 5), [End::Fin; 5]);
    }
    program.reload(&format!(
        "{text}set service own -monConnectionClose RESET\nset serviceGroup g -monConnectionClose RESET\n"
    ));
    for (service, end) in [(&plain, End::Fin), (&own, End::Reset), (&group, End::Reset), (&asked, End::Fin)] {
        wait_for("the other end", || next(service, 1) == [end]);
        assert_eq!(next(service, 2), [end; 2]);
    }
    assert_eq!(program.errors(), "");
}

/// Every address of 127.0.0.0/8 of a host, at one port: accepts, reads to the end, closes.
struct Accepting {
    stop: Arc<AtomicBool>,
    accepted: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
    port: u16,
}

impl Accepting {
    fn start(port: u16) -> Accepting {
        let listener = TcpListener::bind(("0.0.0.0", port)).unwrap();
        rustix::net::listen(&listener, 4_096).unwrap();
        let (stop, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopping, counted) = (Arc::clone(&stop), Arc::clone(&accepted));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let _ = stream.and_then(|mut stream| stream.read_to_end(&mut Vec::new()));
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Accepting { stop, accepted, thread: Some(thread), port }
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    /// From here on every connect is refused. Called on the host.
    fn stop(mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = std::net::TcpStream::connect(("127.0.0.1", self.port));
        self.thread.take().unwrap().join().unwrap();
    }
}

/// So many members of the group `g` on a host's own loopback addresses, with a monitor of those options.
fn members(count: u32, host: &Host, monitor: &str) -> String {
    let mut text = format!(
        "enable ns feature LB\nadd serviceGroup g TCP\nadd lb monitor m TCP {monitor}\n\
         bind serviceGroup g -monitorName m\nadd lb vserver v TCP {} 8000\nbind lb vserver v g\n",
        host.ip()
    );
    for n in 0..count {
        let ip = IpAddr::from([127, 1, (n / 250) as u8, (n % 250 + 1) as u8]);
        text += &format!("bind serviceGroup g {ip} 8101\n");
    }
    text
}

/// Sockets in TIME_WAIT on a host.
fn time_waits(host: &Host) -> usize {
    let table = host.enter(|| std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap());
    table.lines().filter(|line| line.split_whitespace().nth(3) == Some("06")).count()
}

/// Every monitor row of the group `g`: how many of its members are UP, and how many of their probes have failed.
fn told(program: &Program) -> (usize, u64) {
    let rows = rows(program, "servicegroup_servicegroupentitymonbindings_binding/g");
    let up = rows.iter().filter(|row| row["monitor_state"] == "UP").count();
    (up, rows.iter().map(|row| crate::asked::number(row, "monitortotalfailedprobes")).sum())
}

/// The host has 100 local ports for a thousand services, and each probe that ends by FIN leaves one of them in TIME_WAIT
/// for a minute. A port serves once for each service, so they do for a minute of a probe each second; by RST none is left.
fn m26_probes_of_a_thousand_services_never_lack_a_local_port() {
    const SERVICES: u32 = 1_000;
    let Some(mut network) = Network::new() else { return };
    let balancer = network.host();
    balancer.enter(|| std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40099").unwrap());
    let services = balancer.enter(|| Accepting::start(8101));
    let place = Place::new();
    let text = members(SERVICES, &balancer, "-interval 1 -resptimeout 900 MSEC");
    let program = balancer.make(|| Program::start_with(&place, &text));
    let probes = |at_least: u64| {
        let from = services.accepted();
        wait_for("probes", || services.accepted() >= from + at_least);
    };
    probes(6 * u64::from(SERVICES));
    let by_fin = time_waits(&balancer);
    assert!(by_fin > 1_000, "{by_fin} in TIME_WAIT: more than there are ports");
    assert_eq!(balancer.enter(|| told(&program)), (SERVICES as usize, 0));
    assert_eq!(program.errors(), "");

    program.reload(&format!("{text}set lb parameter -monitorConnectionClose RESET\n"));
    // Those that were under way still end by FIN.
    probes(2 * u64::from(SERVICES));
    let before = time_waits(&balancer);
    probes(3 * u64::from(SERVICES));
    let by_rst = time_waits(&balancer);
    assert!(by_rst <= before, "{by_rst} in TIME_WAIT after {before}");
    assert_eq!(balancer.enter(|| told(&program)), (SERVICES as usize, 0));
    drop(program);
    balancer.enter(|| services.stop());
}

fn two_thousand_services_that_refuse_at_once_leave_the_program_at_hand() {
    const SERVICES: u32 = 2_000;
    let Some(mut network) = Network::new() else { return };
    let balancer = network.host();
    let services = balancer.enter(|| Accepting::start(8101));
    let place = Place::new();
    let text = members(SERVICES, &balancer, "-interval 2 -resptimeout 1900 MSEC -retries 1 -downTime 2");
    let program = balancer.make(|| Program::start_with(&place, &text));
    let all_are = |up: usize| {
        wait_for("the state of all", || balancer.enter(|| told(&program)).0 == up);
    };
    all_are(SERVICES as usize);
    balancer.enter(|| services.stop());
    // Each answer below is asked for while services fail.
    all_are(0);
    assert_eq!(balancer.enter(|| program.field("lbvserver", "v", "state")), "DOWN");
    let services = balancer.enter(|| Accepting::start(8101));
    all_are(SERVICES as usize);
    assert_eq!(balancer.enter(|| program.field("lbvserver", "v", "state")), "UP");
    assert_eq!(program.errors(), "");
    drop(program);
    balancer.enter(|| services.stop());
}

/// The service is restarted while the configuration is read again, once with the monitor unbound and bound anew. Two
/// checkers of one binding would begin four probes within a second and a half.
fn m27_one_checker_is_left_when_a_configuration_is_applied_twenty_times() {
    let place = Place::new();
    let ip = place.ip();
    let start = || TestService::plain(place.service(1));
    let text = format!(
        "enable ns feature LB\nadd service s {ip} HTTP 8101\n\
         add lb monitor m HTTP -interval 1 -resptimeout 900 MSEC -retries 2 -downTime 1\nbind service s -monitorName m\n\
         add lb vserver v HTTP {ip} 8000\nbind lb vserver v s\n"
    );
    let mut service = Some(start());
    let program = Program::launch(&place, &text);
    program.wait_for_state("service", "s", "UP");
    for round in 0..20 {
        match round {
            5 => service.take().into_iter().for_each(TestService::stop),
            15 => service = Some(start()),
            _ => {}
        }
        let more = if round % 5 == 3 {
            "set lb monitor m HTTP -retries 3\n"
        } else if round == 10 {
            "unbind service s -monitorName m\nbind service s -monitorName m\n"
        } else {
            ""
        };
        program.reload(&format!("{text}{more}"));
    }
    program.wait_for_state("service", "s", "UP");
    let service = service.unwrap();
    let probes = || service.heads_with("HEAD / ").len();
    let next = |count: usize| {
        let from = probes();
        wait_for("probes", || probes() >= from + count);
    };
    next(1);
    let since = Instant::now();
    next(3);
    assert!(since.elapsed() >= Duration::from_secs(2), "three more probes after {:?}", since.elapsed());
    assert_eq!(rows(&program, "service_lbmonitor_binding/s").len(), 1);
    assert_eq!(page(place.vserver(0)), "8101");
}

/// What it has goes on; a normal answer brings it back.
fn a_service_that_says_so_by_its_status_gets_no_new_work() {
    let place = Place::new();
    let ip = place.ip();
    let (gate, leaves) = (Gate::new(), Arc::new(AtomicBool::new(false)));
    let (pass, says) = (gate.clone(), Arc::clone(&leaves));
    let a = TestService::start(place.service(1), move |x| {
        if x.request.method() == "HEAD" {
            return x.answer(if says.load(Ordering::SeqCst) { 503 } else { 200 }, b"");
        }
        pass.pass();
        x.ok("a")
    });
    let b = TestService::named(place.service(2), "b");
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor m HTTP -interval 1 -resptimeout 900 MSEC -retries 1 -trofsCode 503\n\
             add service a {ip} HTTP 8101\nbind service a -monitorName m\n\
             add service b {ip} HTTP 8102\nbind service b -monitorName m\n\
             add lb vserver v HTTP {ip} 8000 -lbMethod ROUNDROBIN\nbind lb vserver v a\nbind lb vserver v b\n"
        ),
    );
    program.wait_for_state("service", "a", "UP");
    let vserver = place.vserver(0);
    let waiting: Vec<_> = (0..4).map(|_| std::thread::spawn(move || page(vserver))).collect();
    let begun = |service: &TestService| service.heads_with("GET").len();
    wait_for("requests at both", || begun(&a) == 2 && begun(&b) == 2);
    leaves.store(true, Ordering::SeqCst);
    program.wait_for_state("service", "a", "TROFS");
    assert!(
        program.wait_for_line("is GOING OUT OF SERVICE").ends_with(
            ": m: Success - HTTP response code 503 received: the service is going out of service."
        )
    );
    let monitor = rows(&program, "service_lbmonitor_binding/a").remove(0);
    assert_eq!(monitor["monitor_state"], "UP", "it counts as UP: {monitor}");
    (0..6).for_each(|_| assert_eq!(page(vserver), "b"));
    assert_eq!(begun(&a), 2);
    gate.open();
    let mut answers: Vec<String> = waiting.into_iter().map(|client| client.join().unwrap()).collect();
    answers.sort();
    assert_eq!(answers, ["a", "a", "b", "b"], "what was under way is not cut");
    leaves.store(false, Ordering::SeqCst);
    program.wait_for_state("service", "a", "UP");
    let answers = [page(vserver), page(vserver)];
    assert!(answers.contains(&"a".to_owned()), "{answers:?}");
    program.wait_at_rest();
}

fn words_in_an_answer_take_a_service_out_of_service_slowly() {
    let place = Place::new();
    let ip = place.ip();
    let words = Arc::new(Mutex::new("welcome"));
    let says = Arc::clone(&words);
    let _service = TestService::start(place.service(1), move |x| {
        let text = *says.lock().unwrap();
        x.ok(text)
    });
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor h HTTP-ECV -send \"GET /\" -recv welcome -trofsString \"closing soon\" -interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC\n\
             add lb monitor t TCP-ECV -send \"GET / HTTP/1.1\\r\\nHost: t\\r\\n\\r\\n\" -recv welcome -trofsString \"closing soon\" -interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC\n\
             add service h {ip} HTTP 8101\nbind service h -monitorName h\n\
             add service t {ip} TCP 8101\nbind service t -monitorName t\n"
        ),
    );
    for (text, state) in
        [("welcome", "UP"), ("we are closing soon", "TROFS"), ("welcome", "UP"), ("gone", "DOWN")]
    {
        *words.lock().unwrap() = text;
        for service in ["h", "t"] {
            program.wait_for_state("service", service, state);
        }
    }
}

/// A service whose every answer takes as long as the test says.
fn as_slow_as(address: SocketAddr, delay: &Arc<Mutex<Duration>>) -> TestService {
    let delay = Arc::clone(delay);
    TestService::start(address, move |x| {
        let wait = *delay.lock().unwrap();
        std::thread::sleep(wait);
        x.ok("late")
    })
}

fn alarms_are_lines_on_standard_error() {
    let place = Place::new();
    let ip = place.ip();
    let delay = Arc::new(Mutex::new(Duration::ZERO));
    let service = as_slow_as(place.service(1), &delay);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor m HTTP -interval 3 -resptimeout 2900 MSEC -resptimeoutThresh 20 -alertRetries 2 -retries 1 -downTime 100 MSEC\n\
             add service s {ip} HTTP 8101\nbind service s -monitorName m\n"
        ),
    );
    program.wait_for_state("service", "s", "UP");
    *delay.lock().unwrap() = Duration::from_millis(600);
    let line = program.wait_for_error("above it");
    let start =
        format!("steelyard: s ({ip}:8101): m: 20 % of the response timeout is 580.000 ms, the answer took ");
    let took = line.strip_prefix(&start).and_then(|rest| rest.strip_suffix(" ms, which is above it"));
    let took: f64 = took.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
    assert!(took >= 600.0, "{line}");
    *delay.lock().unwrap() = Duration::ZERO;
    program.wait_for_error("which is not above it any more");
    assert_eq!(program.field("service", "s", "state"), "UP");
    service.stop();
    let line = program.wait_for_error("probes failed");
    assert_eq!(
        line,
        format!(
            "steelyard: s ({ip}:8101): m: 2 probes failed, one after the other: \
             Failure - TCP syn sent, reset received."
        )
    );
    // Its next failures are told no more.
    let failed = || {
        crate::asked::number(&rows(&program, "service_lbmonitor_binding/s")[0], "monitorcurrentfailedprobes")
    };
    wait_for("further failures", || failed() >= 6);
    assert_eq!(program.errors().matches("probes failed").count(), 1, "{}", program.errors());
}

/// Well within the response timeout, which holds again once the service is DOWN.
fn an_answer_that_comes_later_than_was_learnt_takes_the_service_down() {
    let place = Place::new();
    let ip = place.ip();
    let delay = Arc::new(Mutex::new(Duration::ZERO));
    let service = as_slow_as(place.service(1), &delay);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor m HTTP -interval 600 MSEC -resptimeout 590 MSEC -deviation 100 MSEC -retries 1 -downTime 100 MSEC\n\
             add service s {ip} HTTP 8101\nbind service s -monitorName m\n"
        ),
    );
    wait_for("what is to be learnt", || service.begun() >= 7);
    program.wait_for_state("service", "s", "UP");
    *delay.lock().unwrap() = Duration::from_millis(250);
    program.wait_for_line("is DOWN: m: Failure - time out while waiting for the response.");
    program.wait_for_state("service", "s", "UP");
    assert_eq!(*delay.lock().unwrap(), Duration::from_millis(250));
}

/// `spec/methods.md` 4.6: the response timeout while it learns, then the mean and the deviation; of two services the longer.
fn nitro_tells_how_long_probes_may_take_by_what_was_learnt() {
    let place = Place::new();
    let ip = place.ip();
    let _fast = TestService::named(place.service(1), "fast");
    let _slow = TestService::slow(place.service(2), "slow", 200);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor m HTTP -interval 600 MSEC -resptimeout 590 MSEC -deviation 100 MSEC -retries 1\n\
             add lb monitor learns HTTP -interval 20940 -resptimeout 7 -deviation 1\n\
             add lb monitor plain HTTP\nadd lb monitor unbound HTTP -deviation 1\n\
             add service fast {ip} HTTP 8101\nbind service fast -monitorName m\nbind service fast -monitorName learns\n\
             add service slow {ip} HTTP 8102\nbind service slow -monitorName m\nbind service slow -monitorName plain\n"
        ),
    );
    let told = |monitor: &str| {
        let monitor = rows(&program, &format!("lbmonitor/{monitor}")).remove(0);
        ["dynamicresponsetimeout", "dynamicinterval"].map(|field| monitor[field].as_u64().unwrap())
    };
    assert_eq!(told("learns"), [7, 20_940]);
    assert_eq!((told("plain"), told("unbound")), ([0, 0], [0, 0]));
    wait_for("both are learnt", || told("m")[0] != 590);
    let [limit_ms, interval_ms] = told("m");
    assert!(limit_ms >= 300, "{limit_ms}");
    assert_eq!(interval_ms, 600);
}

fn a_service_at_its_max_client_is_probed_only_if_lb_parameter_says_so() {
    let place = Place::new();
    let ip = place.ip();
    let gate = Gate::new();
    let pass = gate.clone();
    let service = TestService::start(place.service(1), move |x| {
        if x.request.method() != "HEAD" {
            pass.pass();
        }
        x.ok("s")
    });
    let text = format!(
        "enable ns feature LB\n\
         add lb monitor m HTTP -interval 200 MSEC -resptimeout 190 MSEC -retries 100\n\
         add service s {ip} HTTP 8101 -maxClient 1\nbind service s -monitorName m\n\
         add lb vserver v HTTP {ip} 8000\nbind lb vserver v s\n"
    );
    let program = Program::launch(&place, &text);
    program.wait_for_state("service", "s", "UP");
    let vserver = place.vserver(0);
    let waiting = std::thread::spawn(move || page(vserver));
    wait_for("the request to be there", || service.heads_with("GET").len() == 1);
    let probes = || service.heads_with("HEAD").len();
    let last = || rows(&program, "service_lbmonitor_binding/s")[0]["lastresponse"].clone();
    const LEFT_OUT: &str =
        "Unknown - not probed while the service has as many connections as its -maxClient.";
    wait_for("a probe that is left out", || last() == LEFT_OUT);
    let before = probes();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((probes(), program.field("service", "s", "state")), (before, "UP".into()));
    program.reload(&format!("{text}set lb parameter -monitorSkipMaxClient ENABLED\n"));
    wait_for("probes all the same", || probes() >= before + 3);
    assert_eq!(last(), "Success - HTTP response code 200 received.");
    gate.open();
    assert_eq!(waiting.join().unwrap(), "s");
    program.wait_at_rest();
}
